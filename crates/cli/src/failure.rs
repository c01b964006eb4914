//! Errors that end a command without a result: one message, one exit status.

use bed::BedError;
use bed::load::LoadError;
use campaign::CampaignError;
use clap::error::{ContextKind, ContextValue};
use lab::LabError;
use place::PlaceError;
use plan::PlanError;
use probes::ProbeError;
use report::limits::LimitsError;
use session::SessionError;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;
use store::StoreError;
use sys::{ErrorKind, SysError};
use trace::TraceError;
use units::foreign;

/// Exit status: wrong usage or configuration.
pub(crate) const USAGE: u8 = 2;
/// Exit status: could not measure or decide.
pub(crate) const COULD_NOT_MEASURE: u8 = 3;

/// Reason for a command to end without a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// An invalid request; status 2.
    #[error("{0}")]
    Usage(String),
    /// A valid request that could not be carried out here; status 3.
    #[error("{0}")]
    CouldNotMeasure(String),
}

impl Failure {
    /// Shows the message; returns the exit status.
    pub(crate) fn show(&self) -> u8 {
        say(self);
        self.status()
    }

    /// Failure to write a JSON document.
    pub(crate) fn of_document(error: &io::Error) -> Self {
        Self::CouldNotMeasure(format!("cannot make the JSON document: {error}"))
    }

    /// Exit status of this failure.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::CouldNotMeasure(_) => COULD_NOT_MEASURE,
        }
    }
}

/// Prints a message on standard error. All messages pass here, because many contain text of others.
pub(crate) fn say(message: &dyn Display) {
    let _ = writeln!(io::stderr(), "triptime: {}", foreign::message(&message.to_string()));
}

/// Prints a usage error, or the help that was requested.
pub(crate) fn show_usage(message: &clap::Error) -> ExitCode {
    let _ = message.print();
    if is_of_cyclictest(message, std::env::args().nth(1).as_deref()) {
        let _ = writeln!(
            io::stderr(),
            "tip: `triptime cyclictest` takes cyclictest's own options as they are: triptime cyclictest -S -m -p 90 -i 200 -l 100000 -h 400 -q"
        );
    }
    ExitCode::from(if message.use_stderr() { USAGE } else { 0 })
}

/// True for an option that cyclictest has and `wakeup` has not: hands that know the former type it.
fn is_of_cyclictest(message: &clap::Error, command: Option<&str>) -> bool {
    const SHORT: [&str; 4] = ["-m", "-S", "-t", "-l"];
    let option = match message.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.as_str(),
        _ => return false,
    };
    message.kind() == clap::error::ErrorKind::UnknownArgument && command == Some("wakeup") && SHORT.contains(&option)
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Refused(text) => Self::Usage(text),
            LabError::Sys(error) | LabError::Bed(BedError::Sys(error)) => error.into(),
            LabError::Bed(BedError::NotAvailable(text)) => Self::CouldNotMeasure(text),
            LabError::Place(error) => error.into(),
            LabError::Io { .. } => Self::CouldNotMeasure(error.to_string()),
        }
    }
}

impl From<SysError> for Failure {
    fn from(error: SysError) -> Self {
        match error.kind() {
            ErrorKind::Usage => Self::Usage(error.to_string()),
            ErrorKind::CouldNotMeasure => Self::CouldNotMeasure(error.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::NotFound { .. }
            | StoreError::NotARunFile { .. }
            | StoreError::NewerSchema { .. }
            | StoreError::Damaged { .. }
            | StoreError::Exists { .. }
            | StoreError::InTheWay { .. } => Self::Usage(text),
            _ => Self::CouldNotMeasure(text),
        }
    }
}

impl From<ProbeError> for Failure {
    fn from(error: ProbeError) -> Self {
        match error {
            ProbeError::Sys(error) => error.into(),
            ProbeError::Trace(error) => error.into(),
            ProbeError::Usage(text) => Self::Usage(text),
            ProbeError::NoTraffic(text) | ProbeError::Unsynchronised(text) => Self::CouldNotMeasure(text),
            ProbeError::Panicked(_) => Self::CouldNotMeasure(error.to_string()),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error.kind() {
            ErrorKind::Usage => Self::Usage(error.to_string()),
            ErrorKind::CouldNotMeasure => Self::CouldNotMeasure(error.to_string()),
        }
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        Self::CouldNotMeasure(error.to_string())
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::CouldNotMeasure(error.to_string())
    }
}

impl From<LimitsError> for Failure {
    fn from(error: LimitsError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Store(error) => error.into(),
            SessionError::Probe(error) => error.into(),
            SessionError::Sys(error) => error.into(),
            SessionError::Bed(BedError::Sys(error)) => error.into(),
            SessionError::Bed(error @ BedError::NotAvailable(_)) => Self::CouldNotMeasure(error.to_string()),
            SessionError::Memory(why)
            | SessionError::Room(why)
            | SessionError::StepsLost(why)
            | SessionError::PlaceLost(why) => Self::CouldNotMeasure(why),
            SessionError::Place(error) => error.into(),
            SessionError::Load(error) => error.into(),
            SessionError::Wrong(why) => Self::Usage(why),
            SessionError::Trace(error) => error.into(),
        }
    }
}

impl From<CampaignError> for Failure {
    fn from(error: CampaignError) -> Self {
        match error {
            CampaignError::Wrong(text) => Self::Usage(text),
            CampaignError::Failed(text) => Self::CouldNotMeasure(text),
            CampaignError::Session(error) => error.into(),
            CampaignError::Probe(error) => error.into(),
            CampaignError::Plan(error) => error.into(),
            CampaignError::Store(error) => error.into(),
            CampaignError::Limits(error) => error.into(),
            CampaignError::State(error) => error.into(),
            CampaignError::Certificate(error) => Self::Usage(error.to_string()),
            CampaignError::Journal(error) => Self::CouldNotMeasure(error.to_string()),
        }
    }
}

impl From<Failure> for CampaignError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Usage(text) => Self::Wrong(text),
            Failure::CouldNotMeasure(text) => Self::Failed(text),
        }
    }
}
