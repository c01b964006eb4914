//! Reasons for which several runs give no answer.

use ::matrix::StateError;
use plan::PlanError;
use probes::ProbeError;
use report::limits::LimitsError;
use session::SessionError;
use store::StoreError;
use tune::JournalError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A request that cannot be.
    #[error("{0}")]
    Wrong(String),
    /// A request that could not be done here.
    #[error("{0}")]
    Failed(String),
    /// One of the runs.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Something that a run needs is not here.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// A plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The limits that a run file keeps.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The folder of a matrix.
    #[error(transparent)]
    State(#[from] StateError),
    /// The journal of changes.
    #[error(transparent)]
    Journal(#[from] JournalError),
}
