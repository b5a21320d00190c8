//! Tells HTTP/1 clients that keep their connection to open another one, elsewhere, once the instance is leaving.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use http::header::CONNECTION;
use http::{HeaderValue, Method, Request, Response, StatusCode, Version};
use hyper::service::Service;
use pin_project_lite::pin_project;

use crate::drain::Drain;

const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// A service whose answers say `connection: close` while the instance drains.
pub(super) struct Announcing<S> {
    pub(super) service: S,
    pub(super) drain: Drain,
    /// Whether a request has come.
    pub(super) heard: Arc<AtomicBool>,
}

impl<S, I, B> Service<Request<I>> for Announcing<S>
where
    S: Service<Request<I>, Response = Response<B>>,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = Announced<S::Future>;

    fn call(&self, request: Request<I>) -> Self::Future {
        self.heard.store(true, Ordering::Relaxed);
        // HTTP/2 has GOAWAY for this, and a tunnel has no next request.
        let tells = request.version() <= Version::HTTP_11 && request.method() != Method::CONNECT;
        Announced {
            drain: tells.then(|| self.drain.clone()),
            answer: self.service.call(request),
        }
    }
}

pin_project! {
    pub(super) struct Announced<F> {
        drain: Option<Drain>,
        #[pin]
        answer: F,
    }
}

impl<F, B, E> Future for Announced<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut answer = ready!(this.answer.poll(cx))?;
        let is_draining = this.drain.as_ref().is_some_and(Drain::is_draining);
        if is_draining && answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            answer.headers_mut().insert(CONNECTION, CLOSE);
        }
        Poll::Ready(Ok(answer))
    }
}
