//! The other formats in which an instance says the same: each in a file, made from the same view.

pub(super) mod accept;
pub(super) mod health_json;
pub(super) mod openmetrics;
pub(super) mod verbose;
