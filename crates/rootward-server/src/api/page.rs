//! The page and its assets, and whatever else is asked for and not there.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, Uri};

use crate::api::problem::Problem;

/// Answers everything that no other route answers.
pub(super) async fn page(uri: Uri) -> Result<Response, Problem> {
    let Some(asset) = rootward_ui::find(uri.path()) else {
        return Err(Problem::not_found(
            "nothing is served at this path; the page is at /, the API begins at /api/v1/overview"
                .into(),
        ));
    };
    let mut response = asset.body.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(rootward_ui::CONTENT_SECURITY_POLICY),
    );
    Ok(response)
}
