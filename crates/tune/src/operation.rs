//! One change of the running machine that can be taken back.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Targets of a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file of the kernel.
    File(String),
    /// The CPUs that a thread may use.
    Thread(ThreadId),
    /// The policy and priority of a thread: `fifo:50`, `other, nice 5`.
    Priority(ThreadId),
    /// A folder of the kernel that is made: a control group, a resctrl group.
    Folder(String),
    /// A number that the driver of a network interface keeps; switches are 0 or 1.
    Nic {
        /// The interface, in this network namespace.
        interface: String,
        /// As [`sys::ethtool::Setting`] names it, or [`BROADCAST_LIMIT`] or [`BROADCAST_QUEUE`] of a macvlan.
        setting: String,
    },
    /// A swap area: `on`, `on, priority 5` or `off`.
    Swap(String),
}

/// A group that more macvlans than this joined goes through the kernel's work queue; -1: none does.
pub(super) const BROADCAST_LIMIT: &str = "broadcast-limit";
/// Frames that a macvlan asks that queue to hold.
pub(super) const BROADCAST_QUEUE: &str = "broadcast-queue";

/// A thread: its number and its start time in ticks since boot, by which the same number is told from a later thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadId {
    /// Number.
    pub tid: u32,
    /// Ticks.
    pub started: u64,
    /// Its name, for a person.
    pub name: String,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(path),
            Self::Thread(thread) => write!(f, "CPUs of thread {} ({})", thread.name, thread.tid),
            Self::Priority(thread) => write!(f, "priority of thread {} ({})", thread.name, thread.tid),
            Self::Folder(path) => write!(f, "folder {path}"),
            Self::Nic { interface, setting } => write!(f, "{setting} of {interface}"),
            Self::Swap(path) => write!(f, "swap {path}"),
        }
    }
}

/// A change: the target and the value it gets. A folder's value is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// The target of the change.
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

    /// Changes a setting of a network interface.
    pub fn nic(interface: impl Into<String>, setting: impl Into<String>, value: i64) -> Self {
        Self {
            target: Target::Nic {
                interface: interface.into(),
                setting: setting.into(),
            },
            value: value.to_string(),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Target::Folder(path) => write!(f, "mkdir {path}"),
            target => write!(f, "{target} = {}", self.value),
        }
    }
}
