//! The name at the end of a path.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

use crate::api::problem::Problem;

/// What a path ends with, decoded. Names may hold slashes, escaped or not.
#[derive(Debug)]
pub(super) struct Named(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => Err(Problem::bad_request(
                "the name at the end of the path is not UTF-8".into(),
            )),
        }
    }
}
