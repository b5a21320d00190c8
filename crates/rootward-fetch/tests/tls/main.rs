//! TLS on real sockets: whom it trusts, what each way to fail is called, and that a silent handshake ends in time.

mod authority;
mod exchanges;
mod roots;
mod server;
