//! One ConfigMap of the cluster in which this process is a pod: read, and brought up to date.
//!
//! The pod's service account opens the API server, whose certificate is checked against the account's own root. It takes the rights `get`
//! and `update` on the ConfigMap, which are those that roles of checkups give.

#![forbid(unsafe_code)]

mod client;
mod error;
mod map;
#[cfg(test)]
mod tests;

pub use client::{Cluster, Patience};
pub use error::ClusterError;
pub use map::{ConfigMap, MapName};
