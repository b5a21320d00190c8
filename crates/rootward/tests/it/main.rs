//! The embedding crate as a service sees it.

mod access;
mod builder;
mod changes;
mod deep;
mod drain;
mod endpoints;
mod formats;
mod hostile;
mod local_checks;
mod metrics;
mod public_failures;
mod replace;
mod runner;
mod secrets;
mod startup;
mod support;
mod tls;
mod under_harm;
mod vitals;
