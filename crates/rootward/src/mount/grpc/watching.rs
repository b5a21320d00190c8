//! One watch: what is so at once, then each change, until it is given up or health ends.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::OwnedSemaphorePermit;
use tokio_stream::Stream;
use tokio_stream::wrappers::WatchStream;
use tonic::Status;
use tonic_health::pb::HealthCheckResponse;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::shared::Shared;

use super::board::{MAX_WATCHES, Seen, Whom, subscribe};
use super::response;

/// The answers of one watch.
pub(super) struct Watching {
    whom: Whom,
    told: Option<ServingStatus>,
    /// None when it is over.
    seen: Option<WatchStream<Seen>>,
    /// Given back with the watch.
    _place: OwnedSemaphorePermit,
}

impl Watching {
    pub(super) fn begin(shared: &Arc<Shared>, whom: Whom) -> Result<Self, Status> {
        let place = shared.board.place().ok_or_else(|| {
            let text = format!("{MAX_WATCHES} watches are open, which is as many as may be");
            Status::resource_exhausted(text)
        })?;
        Ok(Self {
            whom,
            told: None,
            seen: Some(WatchStream::new(subscribe(shared))),
            _place: place,
        })
    }
}

impl Stream for Watching {
    type Item = Result<HealthCheckResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        while let Some(seen) = &mut this.seen {
            match ready!(Pin::new(seen).poll_next(context)) {
                Some(Seen::Now(statuses)) => {
                    let status = statuses.of(&this.whom);
                    if this.told.replace(status) != Some(status) {
                        return Poll::Ready(Some(Ok(response(status))));
                    }
                }
                Some(Seen::Ended) | None => {
                    this.seen = None;
                    let stopped = Status::unavailable("health is checked no longer");
                    return Poll::Ready(Some(Err(stopped)));
                }
            }
        }
        Poll::Ready(None)
    }
}
