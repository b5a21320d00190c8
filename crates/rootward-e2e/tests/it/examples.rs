//! The examples run as their pages say, and the files for Kubernetes, Compose and systemd ask for what the programs
//! really serve. No cluster and no container is started: the files are read, and the programs started with what is in
//! them, on ports and in directories of the test.

mod manifests;
mod programs;
mod started;
mod yaml;
