//! Health on the application's servers, as a service sees it.

mod access;
mod grpc;
mod grpc_port;
mod grpc_watch;
mod layers;
mod liveness;
mod lives;
mod servers_of_ours;
#[path = "../it/support.rs"]
#[expect(dead_code, reason = "written for the tests of the own port, too")]
mod support;
mod walk;
