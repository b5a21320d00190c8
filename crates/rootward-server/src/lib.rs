//! The aggregator: poller, driver loop, API, metrics, wiring.
