//! What went wrong between us and the cluster.

use std::path::PathBuf;

/// What went wrong between us and the cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// This process is in no pod, or the pod has no service account.
    #[error("{0}")]
    NotInAPod(String),
    /// A file of the service account.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// The server cannot be reached, does not answer in time, or is not the one that its certificate should name.
    #[error("{server}: {why}")]
    Unreachable {
        /// Its address.
        server: String,
        /// Why.
        why: String,
    },
    /// The server says no.
    #[error("{what}: status {status}: {message}{hint}", hint = hint(*status))]
    Refused {
        /// The request, such as `GET /api/v1/...`.
        what: String,
        /// HTTP status.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// The answer is no ConfigMap.
    #[error("{what}: the answer is no ConfigMap: {why}")]
    Unexpected {
        /// The request.
        what: String,
        /// Why.
        why: String,
    },
}

impl ClusterError {
    /// Whether the same request may be answered otherwise a moment later.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => *status == 429 || *status >= 500 || self.is_conflict(),
            _ => false,
        }
    }

    /// Whether somebody else has changed the object in between.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { status: 409, .. })
    }
}

fn hint(status: u16) -> &'static str {
    match status {
        401 => " (the service account's token is not accepted)",
        403 => " (the service account needs the verbs get and update on this ConfigMap)",
        404 => " (apply the ConfigMap first, or correct CONFIGMAP_NAMESPACE and CONFIGMAP_NAME)",
        _ => "",
    }
}
