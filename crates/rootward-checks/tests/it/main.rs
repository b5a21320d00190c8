//! The ready-made checks against stand-ins with real sockets, and against real servers.

mod fan_out;
mod postgresql;
mod redis;
mod servers;
mod service;
mod support;
