//! Packages triptime for the machines under test, without a registry: the OCI image of its own binary ([`image`]), a bootable disk ([`disk`]), a
//! podman quadlet ([`quadlet()`]) and a Kubernetes Job ([`job()`]).
//!
//! All output is text or bytes computed from the input only: the same input gives the same bytes.

#![forbid(unsafe_code)]

pub mod disk;
pub mod image;
mod job;
mod quadlet;
mod yaml;

pub use job::{JobSpec, PodNetwork, job};
pub use quadlet::{QuadletSpec, Setting, UnitFile, UnitNetwork, quadlet};
pub use yaml::documents;

/// Capabilities of a protection application's container: real-time priority, locked memory, packet sockets. None of them can change the network or
/// the clock.
pub const CAPABILITIES: [&str; 3] = ["SYS_NICE", "IPC_LOCK", "NET_RAW"];

/// Path of the binary in a container.
pub const PROGRAM: &str = "/usr/bin/triptime";

/// Folder of run files in a container.
pub const RUNS: &str = "/runs";
