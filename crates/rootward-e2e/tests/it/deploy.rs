//! A rolling deploy: three instances of a service behind HAProxy are restarted one after the other under load, and
//! nobody notices. The same without a drain delay, where they do.
//!
//! A request that fails fails for good: HAProxy is told not to try again, and the clients do not either.

mod balancer;
mod instance;
mod load;
mod servers;
