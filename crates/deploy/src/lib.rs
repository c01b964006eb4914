//! Packs triptime for the machines that it measures on, without a registry: the OCI image of its own binary ([`image`]), a disk that boots
//! by itself ([`disk`]), a podman quadlet ([`quadlet()`]) and a Kubernetes Job ([`job()`]).
//!
//! Everything is text or octets made from what is given: the same input gives the same output, octet for octet.

#![forbid(unsafe_code)]

pub mod disk;
pub mod image;
mod job;
mod quadlet;
mod yaml;

pub use job::{JobSpec, PodNetwork, job};
pub use quadlet::{QuadletSpec, Setting, UnitFile, UnitNetwork, quadlet};
pub use yaml::documents;

/// Capabilities of a protection application's container: real-time priority, locked memory, packet sockets. Nothing that changes network
/// or clock.
pub const CAPABILITIES: [&str; 3] = ["SYS_NICE", "IPC_LOCK", "NET_RAW"];

/// Where the binary is in a container.
pub const PROGRAM: &str = "/usr/bin/triptime";

/// Where run files go in a container.
pub const RUNS: &str = "/runs";
