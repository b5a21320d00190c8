//! The draining server as its clients see it. Real sockets.

mod bounds;
mod clients;
mod drain;
mod none_failed;
