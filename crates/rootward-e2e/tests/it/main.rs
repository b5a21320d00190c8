//! One binary of end-to-end tests. They need what `./test` prepares, except for `documents`, `layering` and `rustdoc`,
//! which only read.

mod agent;
mod alone;
mod conform;
mod deploy;
mod distress;
mod documents;
mod examples;
mod layering;
mod postgres;
mod process;
mod redis;
mod run;
mod rustdoc;
mod shop;
mod stopping;
mod storm;
