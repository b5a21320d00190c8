//! The sidecar beside real servers. What needs none is proved with the binary in `rootward-cli`.

mod servers;
