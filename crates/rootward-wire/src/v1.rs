//! Version 1: the report, the bodies of the probe endpoints, the API of the aggregator, and their schemas.

pub mod api;
pub mod convert;
pub mod probe;
pub mod read;
pub mod report;
pub mod schema;

pub use convert::{Reading, to_core, to_core_noting};
pub use probe::{LivezBody, PublicStatus, Readiness, ReadyzBody, StartupzBody, StatusBody};
pub use read::{parse, read, read_noting};
pub use report::{CONTRACT, ComponentBody, FindingBody, ReportBody};
