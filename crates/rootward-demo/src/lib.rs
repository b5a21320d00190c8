//! The demo: a small shop in one process, and the stories it tells.
