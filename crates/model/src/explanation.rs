//! Why a sample was as long as it was, as far as the kernel's own events tell.

use serde::{Deserialize, Serialize};

/// The main cause of a late sample. The word is part of the run file and of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Another thread had the CPU.
    Thread,
    /// The handler of a device's or the machine's own interrupt.
    Interrupt,
    /// Deferred interrupt work.
    Softirq,
    /// Nothing ran while something was due, and this is a virtual machine: its host ran something else.
    Hypervisor,
    /// Nothing ran while something was due, and the counter of system management interrupts moved.
    Smi,
    /// The kernel held the thread back although it was ready: real-time throttling, or a control group's CPU quota.
    Throttled,
    /// The thread was stopped: by a signal, a debugger or a freezer.
    Stopped,
    /// The CPU was idle, and late to leave its idle state.
    IdleExit,
    /// The CPU was at work, and the timer interrupt came late: interrupts were off.
    InterruptsOff,
    /// Nothing foreign took the larger part: the time went into the kernel's own way from timer to thread.
    Path,
    /// The events do not tell.
    Unexplained,
}

impl Cause {
    /// Every cause, in the order they are documented.
    pub const ALL: [Self; 11] = [
        Self::Thread,
        Self::Interrupt,
        Self::Softirq,
        Self::Hypervisor,
        Self::Smi,
        Self::Throttled,
        Self::Stopped,
        Self::IdleExit,
        Self::InterruptsOff,
        Self::Path,
        Self::Unexplained,
    ];

    /// The word for it in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Interrupt => "interrupt",
            Self::Softirq => "softirq",
            Self::Hypervisor => "hypervisor",
            Self::Smi => "smi",
            Self::Throttled => "throttled",
            Self::Stopped => "stopped",
            Self::IdleExit => "idle-exit",
            Self::InterruptsOff => "interrupts-off",
            Self::Path => "path",
            Self::Unexplained => "unexplained",
        }
    }

    /// The cause a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.word() == word)
    }
}

/// A part of a latency: what it went to, and how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// A stage (`timer interrupt`, `wake-up`, `switch-in`, `return to user space`), or who had the CPU (`thread kworker/1:2
    /// (pid 77, priority 120)`, `interrupt virtio0-input.0`, `softirq NET_RX`).
    pub what: String,
    /// How long, in ns.
    pub ns: u64,
}

/// How many CPUs stood still at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// This CPU only, and others that were watched went on: the cause is on this CPU.
    OneCpu,
    /// Every CPU that was watched: the host, or a system management interrupt.
    AllCpus,
    /// No other CPU was watched.
    Unknown,
}

/// Where the time of one sample went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The main cause.
    pub cause: Cause,
    /// One sentence for a person: who, how long.
    pub text: String,
    /// One CPU, or all at once.
    pub extent: Extent,
    /// From the due instant to the sample, in order of time; they add up to the latency. Empty for a gap seen by a spinning thread.
    pub stages: Vec<Part>,
    /// The occupants of the CPU meanwhile, the longest first. With [`Explanation::unexplained_ns`] they add up to the latency.
    pub occupants: Vec<Part>,
    /// The part for which the events name nobody.
    pub unexplained_ns: u64,
    /// Changes of the counters around it: steal time, throttling, system management interrupts.
    pub around: Vec<String>,
}

/// Samples of a series that had one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CauseTotal {
    /// The cause.
    pub cause: Cause,
    /// How many samples.
    pub count: u64,
    /// Their values added up, in ns.
    pub total_ns: u64,
    /// The largest of them.
    pub max_ns: u64,
}
