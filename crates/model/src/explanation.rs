//! Causes of late samples, as far as the kernel's own events show them.

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
    /// Nothing ran although something was due, and this is a virtual machine: its host ran something else.
    Hypervisor,
    /// Nothing ran although something was due, and the counter of system management interrupts increased.
    Smi,
    /// The kernel did not run the thread although it was ready: real-time throttling, or the CPU quota of a control group.
    Throttled,
    /// The thread was stopped: by a signal, a debugger or a freezer.
    Stopped,
    /// The CPU was idle, and late to leave its idle state.
    IdleExit,
    /// The CPU was busy, and the timer interrupt came late: interrupts were off.
    InterruptsOff,
    /// Nothing else took most of the time: it went into the kernel's own path from timer to thread.
    Path,
    /// The events do not show the cause.
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

    /// The word in files.
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

    /// The cause with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.word() == word)
    }
}

/// A part of a latency: its name and its length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// A stage (`timer interrupt`, `wake-up`, `switch-in`, `return to user space`), or the occupant of the CPU (`thread kworker/1:2
    /// (pid 77, priority 120)`, `interrupt virtio0-input.0`, `softirq NET_RX`).
    pub what: String,
    /// Length in ns.
    pub ns: u64,
}

/// How many CPUs stood still at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// This CPU only: the other watched CPUs kept running, so the cause is on this CPU.
    OneCpu,
    /// Every watched CPU: the host, or a system management interrupt.
    AllCpus,
    /// No other CPU was watched.
    Unknown,
}

/// How the time of one sample was spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The main cause.
    pub cause: Cause,
    /// One sentence for a person: the occupant of the CPU and the time it took.
    pub text: String,
    /// One CPU, or all at once.
    pub extent: Extent,
    /// Stages from the due instant to the sample, in order of time; they add up to the latency. Empty for a gap seen by a spinning
    /// thread.
    pub stages: Vec<Part>,
    /// Occupants of the CPU during that time, the longest first. With [`Explanation::unexplained_ns`] they add up to the latency.
    pub occupants: Vec<Part>,
    /// The part for which the events show no occupant, in ns.
    pub unexplained_ns: u64,
    /// Changes of counters around the sample: steal time, throttling, system management interrupts.
    pub around: Vec<String>,
}

/// Words between a guest's own explanation and that of its host.
const ON_THE_HOST: &str = "; on the host: ";

impl Explanation {
    /// Adds the host's explanation of the same time to that of its guest.
    pub fn add_host(&mut self, host: &Self) {
        self.text = format!("{}{ON_THE_HOST}{}", self.text, host.text);
    }

    /// The sentence of the host; `None` if it was not asked, or did not answer.
    pub fn on_the_host(&self) -> Option<&str> {
        self.text.split_once(ON_THE_HOST).map(|(_, host)| host)
    }
}

/// Total of a series' samples that had one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CauseTotal {
    /// The cause.
    pub cause: Cause,
    /// Number of samples.
    pub count: u64,
    /// Sum of their values, in ns.
    pub total_ns: u64,
    /// The largest of their values, in ns.
    pub max_ns: u64,
}
