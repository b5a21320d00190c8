//! The embedding crate as a service sees it.

mod builder;
mod deep;
mod endpoints;
mod hostile;
mod runner;
mod secrets;
mod startup;
mod support;
mod under_harm;
mod vitals;
