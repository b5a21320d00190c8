//! One binary of end-to-end tests. They need what `./test` prepares, except for `layering`, which only reads.

mod alone;
mod distress;
mod layering;
mod postgres;
mod process;
mod redis;
mod run;
mod shop;
mod stopping;
mod storm;
