//! One binary of end-to-end tests. They need what `./test` prepares, except for `layering` and `documents`, which only read.

mod alone;
mod distress;
mod documents;
mod layering;
mod postgres;
mod process;
mod redis;
mod run;
mod shop;
mod stopping;
mod storm;
