//! Scenarios as text against the whole engine, in virtual time.

mod book;
mod confirm;
mod laws;
mod localise;
mod localise_bytes;
mod localise_known;
mod maps;
mod observer;
mod polls;
mod pushed;
mod reload;
mod scenarios;
mod world;
