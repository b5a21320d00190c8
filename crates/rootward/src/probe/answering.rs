//! An answer that may still have to be waited for. All but those of `/health/deep` are there at once, and cost no more
//! than if nothing could be waited for.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::reply::Reply;

/// An answer, now or later.
pub(crate) enum Answering {
    /// Taken out when it is asked for.
    Now(Option<Reply>),
    Later(Pin<Box<dyn Future<Output = Reply> + Send>>),
}

impl From<Reply> for Answering {
    fn from(reply: Reply) -> Self {
        Self::Now(Some(reply))
    }
}

impl Future for Answering {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Reply> {
        match self.get_mut() {
            Self::Now(reply) => reply.take().map_or(Poll::Pending, Poll::Ready),
            Self::Later(reply) => reply.as_mut().poll(context),
        }
    }
}
