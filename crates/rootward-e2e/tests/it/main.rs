//! One binary of end-to-end tests. They need what `./test` prepares, except for `layering`, which only reads.

mod layering;
mod postgres;
mod process;
mod redis;
mod run;
mod shop;
mod stopping;
