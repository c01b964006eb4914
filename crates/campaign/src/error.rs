//! Reasons why several runs give no answer.

use ::matrix::StateError;
use certificate::CertificateError;
use plan::PlanError;
use probes::ProbeError;
use report::limits::LimitsError;
use session::SessionError;
use store::StoreError;
use tune::JournalError;

/// Reasons why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// An impossible request.
    #[error("{0}")]
    Wrong(String),
    /// The request failed on this machine.
    #[error("{0}")]
    Failed(String),
    /// Error of one of the runs.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A requirement of a run is missing on this machine.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Error of a plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Error of a run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Error of the limits stored in a run file.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// Error of a matrix's folder.
    #[error(transparent)]
    State(#[from] StateError),
    /// Error of a certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Error of the journal of changes.
    #[error(transparent)]
    Journal(#[from] JournalError),
}
