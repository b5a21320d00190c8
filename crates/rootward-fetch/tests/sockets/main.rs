//! Real sockets that misbehave on purpose.

mod keep_alive;
mod one_exchange;
mod server;
