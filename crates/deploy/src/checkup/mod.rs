//! A checkup by the contract of KubeVirt's checkups (kiagnose): parameters and result are in one ConfigMap.
//!
//! | key | what |
//! | --- | --- |
//! | `spec.timeout` | how long the checkup may take, as Go writes durations: `10m`, `1h30m` |
//! | `spec.param.NAME` | a parameter |
//! | `status.startTimestamp`, `status.completionTimestamp` | RFC 3339, UTC |
//! | `status.succeeded` | `true` or `false` |
//! | `status.failureReason` | why it did not succeed; empty if it did |
//! | `status.result.NAME` | a figure |

mod manifest;
mod parameters;
mod status;
#[cfg(test)]
mod tests;

pub use manifest::{CheckupSpec, manifests};
pub use parameters::{PARAMETERS, Parameters, timeout};
pub use status::{Outcome, finished, started};

/// Key of the time that the checkup may take.
pub const TIMEOUT: &str = "spec.timeout";
/// What keys of parameters begin with.
pub const PARAMETER: &str = "spec.param.";
/// What everything begins with that the checkup writes.
pub const STATUS: &str = "status.";
/// Variable of the environment that says in which namespace the ConfigMap is.
pub const NAMESPACE_VARIABLE: &str = "CONFIGMAP_NAMESPACE";
/// Variable of the environment that says how the ConfigMap is called.
pub const NAME_VARIABLE: &str = "CONFIGMAP_NAME";
/// Variable of the environment that names the node.
pub const NODE_VARIABLE: &str = "NODE_NAME";
