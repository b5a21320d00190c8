//! What a service embeds: checks, background runner, probe listener on its own thread, latches, metrics.
