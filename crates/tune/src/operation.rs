//! One change of the running machine that can be undone.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Targets of a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file of the kernel.
    File(String),
    /// CPUs that a thread may use.
    Thread(ThreadId),
    /// Policy and priority of a thread: `fifo:50`, `other, nice 5`.
    Priority(ThreadId),
    /// A kernel folder to create: a control group, a resctrl group.
    Folder(String),
    /// A number in the driver of a network interface; switches are 0 or 1.
    Nic {
        /// The interface, in this network namespace.
        interface: String,
        /// Name in [`sys::ethtool::Setting`], or [`BROADCAST_LIMIT`] or [`BROADCAST_QUEUE`] of a macvlan.
        setting: String,
    },
    /// A swap area: `on`, `on, priority 5` or `off`.
    Swap(String),
}

/// Number of macvlans in a group above which the group uses the kernel's work queue; -1: it never does.
pub(super) const BROADCAST_LIMIT: &str = "broadcast-limit";
/// Number of frames that a macvlan requests for that queue.
pub(super) const BROADCAST_QUEUE: &str = "broadcast-queue";

/// A thread: its id and its start time in clock ticks since boot, which distinguishes it from a later thread with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadId {
    /// Number.
    pub tid: u32,
    /// Start time in clock ticks since boot.
    pub started: u64,
    /// Name, for display.
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

/// A change: the target and its new value. A folder's value is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// The target of the change.
    pub target: Target,
    /// New value.
    pub value: String,
}

impl Operation {
    /// Writes a kernel file.
    pub fn write(path: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            target: Target::File(path.into()),
            value: value.into(),
        }
    }

    /// Creates a kernel folder.
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
