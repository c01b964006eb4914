//! Values of keys, and the errors for wrong ones.

use serde::Deserialize;
use session::SessionError;
use units::CpuList;

/// Why a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Neither a plan inside the binary nor a file.
    #[error("{name}: no such plan (inside triptime: {have}; or give the path of a TOML file)")]
    NotFound {
        /// The requested name.
        name: String,
        /// Names of the embedded plans.
        have: String,
    },
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A step that the plan does not have.
    #[error("--step {label}: the plan {plan} has no such step (it has: {have})")]
    Step {
        /// Plan name.
        plan: String,
        /// The requested label.
        label: String,
        /// Labels of its steps.
        have: String,
    },
    /// Named CPUs that cannot be used.
    #[error("{plan}: {problem}")]
    Cpu {
        /// Plan name or file.
        plan: String,
        /// The CPUs, the key that names them, and why they cannot be used.
        problem: String,
    },
    /// The text is not TOML, or has a wrong key or value. The message has line, column and key.
    #[error("{name}: {problem}")]
    Invalid {
        /// Plan name or file.
        name: String,
        /// The mistake and its position.
        problem: String,
    },
}

impl From<PlanError> for SessionError {
    fn from(error: PlanError) -> Self {
        Self::Wrong(error.to_string())
    }
}

/// A duration in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Duration(pub u64);

impl TryFrom<String> for Duration {
    type Error = units::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_ns(&text).map(Self)
    }
}

/// CPUs that a role gets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Cpus {
    /// The lowest CPU that is neither isolated nor owned by another process, if there is one.
    First,
    /// The isolated CPUs that no other process owns; if there are none, every CPU except the housekeeping ones; if none are left, the housekeeping
    /// ones.
    Rest,
    /// Every CPU that no other process owns.
    All,
    /// Every CPU that no other process owns and that is not judged, for loads.
    Others,
    /// The listed CPUs.
    List(CpuList),
}

impl TryFrom<String> for Cpus {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "first" => Ok(Self::First),
            "rest" => Ok(Self::Rest),
            "all" => Ok(Self::All),
            "others" => Ok(Self::Others),
            list => match list.parse::<CpuList>() {
                Ok(list) if !list.is_empty() => Ok(Self::List(list)),
                _ => Err(format!(
                    "\"{list}\" is not \"first\", \"rest\", \"all\", \"others\" or a CPU list such as 1-3,5"
                )),
            },
        }
    }
}

/// The two roles a CPU can have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuRoles {
    /// Loads, recorder, test set.
    pub housekeeping: Cpus,
    /// Device under test.
    pub measured: Cpus,
}

/// The mistake in a table, with its key, but without the line: only the reader of the whole plan knows the line.
pub(super) fn in_words(error: &toml::de::Error) -> String {
    error.to_string().trim_end().replace('\n', " ")
}
