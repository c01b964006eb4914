//! Containers of an OCI runtime.

mod config;
#[cfg(test)]
mod tests;

pub use config::{CAPABILITIES, ContainerSpec, HugePages, Network, PROGRAM, RUNS, config};
