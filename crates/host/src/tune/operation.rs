//! One change of the running machine that can be taken back.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file of the kernel.
    File(String),
    /// The CPUs that a thread may use: its number and its start time in ticks since boot, by which the same number is told from a
    /// later thread.
    Thread {
        /// Number.
        tid: u32,
        /// Ticks.
        started: u64,
        /// Its name, for a person.
        name: String,
    },
    /// A folder of the kernel that is made: a control group, a resctrl group.
    Folder(String),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(path),
            Self::Thread { tid, name, .. } => write!(f, "CPUs of thread {name} ({tid})"),
            Self::Folder(path) => write!(f, "folder {path}"),
        }
    }
}

/// A change: the target and the value it gets. A folder's value is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// What is changed.
    pub target: Target,
    /// To what.
    pub value: String,
}

impl Operation {
    /// Writes a file of the kernel.
    pub fn write(path: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            target: Target::File(path.into()),
            value: value.into(),
        }
    }

    /// Makes a folder of the kernel.
    pub fn folder(path: impl Into<String>) -> Self {
        Self {
            target: Target::Folder(path.into()),
            value: String::new(),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Folder(path) => write!(f, "mkdir {path}"),
            Target::File(path) => write!(f, "{path} = {}", self.value),
            Target::Thread { .. } => write!(f, "{} = {}", self.target, self.value),
        }
    }
}
