//! Events during a run that are not samples.

use crate::series::SeriesId;

/// Longest time in ns between a step of the wall clock and its [`EventKind::ClockStep`], where the event gives no earliest instant.
pub const STEP_NOTICED_NS: u64 = 200_000_000;

/// A kind of event. The text form is part of the run file and of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A load began.
    LoadStarted,
    /// A load ended.
    LoadStopped,
    /// A step of a plan began.
    StepStarted,
    /// A step of a plan ended.
    StepStopped,
    /// An action of a plan began or ended.
    Action,
    /// An action of a plan did not run, or did not do its work: the step was not measured under it.
    ActionFailed,
    /// `CLOCK_REALTIME` jumped against `CLOCK_MONOTONIC`.
    ClockStep,
    /// Time synchronisation changed: port state, grandmaster, servo, leap second, daemon.
    TimeSync,
    /// From here on, this clock is not known to agree with the publisher's.
    ClockDoubt,
    /// From here on, this clock is known to agree again.
    ClockGood,
    /// The kernel held real-time threads back.
    RtThrottled,
    /// A real-time thread of this program was ready, but waited for a thread of higher priority.
    HeldUp,
    /// The run, or another instrument, kept the host out of idle states that it enters in normal service, so the host behaved unlike in service.
    HeldByUs,
    /// The hypervisor ran something else on the CPU of a measuring thread.
    Steal,
    /// Page faults in a measuring thread after its warm-up.
    PageFaults,
    /// A measuring thread ran on a CPU that it was not assigned to.
    Migration,
    /// Another program changed the policy or the CPUs of a measuring thread.
    ThreadChanged,
    /// Another measurement, or a real-time thread of another process, shared a CPU or an interface with this one.
    SecondMeasurement,
    /// The processor is emulated: its durations say nothing about any real machine.
    Emulated,
    /// The ring between a measuring thread and the recorder was full.
    RecorderOverrun,
    /// The packet socket dropped frames before they were read.
    SocketDrop,
    /// The NIC, or the kernel's receive path after it, lost frames before any socket.
    NicDrop,
    /// Frames of a capture could not be read, or have no time stamp: the measurement is incomplete.
    Incomplete,
    /// Some of the frames that were traced from point to point could not be seen, or not be paired for certain.
    HopGap,
    /// An interface lost or found its carrier.
    Link,
    /// A relay took a decision, or could not take one.
    Relay,
    /// Something in a stream changed: smpSynch, confRev, simulation.
    Stream,
    /// A stream had a restart, a silence of unknown length or a second publisher, which its counters do not show.
    StreamDoubt,
    /// A shot of a test set does not count, because the test set itself missed or could not see something.
    NotCounted,
    /// A negative control of a test set did not hold: its measurements may have another cause than its own frames.
    ControlFailed,
    /// A device did nothing, and nothing shows that it was able to act.
    Unproven,
    /// A right or a feature was refused, and the run continued without it.
    Refused,
    /// The run was ended early.
    Interrupted,
    /// The measurement ended at a sample above the limit set for that.
    Break,
    /// System management interrupts occurred.
    Smi,
    /// Anything else worth reading.
    Note,
}

impl EventKind {
    /// Every kind, in the order they are documented.
    pub const ALL: [Self; 36] = [
        Self::LoadStarted,
        Self::LoadStopped,
        Self::StepStarted,
        Self::StepStopped,
        Self::Action,
        Self::ActionFailed,
        Self::ClockStep,
        Self::TimeSync,
        Self::ClockDoubt,
        Self::ClockGood,
        Self::RtThrottled,
        Self::HeldUp,
        Self::HeldByUs,
        Self::Steal,
        Self::PageFaults,
        Self::Migration,
        Self::ThreadChanged,
        Self::SecondMeasurement,
        Self::Emulated,
        Self::RecorderOverrun,
        Self::SocketDrop,
        Self::NicDrop,
        Self::Incomplete,
        Self::HopGap,
        Self::Link,
        Self::Relay,
        Self::Stream,
        Self::StreamDoubt,
        Self::NotCounted,
        Self::ControlFailed,
        Self::Unproven,
        Self::Refused,
        Self::Interrupted,
        Self::Break,
        Self::Smi,
        Self::Note,
    ];

    /// The word in files and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::LoadStarted => "load-started",
            Self::LoadStopped => "load-stopped",
            Self::StepStarted => "step-started",
            Self::StepStopped => "step-stopped",
            Self::Action => "action",
            Self::ActionFailed => "action-failed",
            Self::ClockStep => "clock-step",
            Self::TimeSync => "time-sync",
            Self::ClockDoubt => "clock-doubt",
            Self::ClockGood => "clock-good",
            Self::RtThrottled => "rt-throttled",
            Self::HeldUp => "held-up",
            Self::HeldByUs => "held-by-us",
            Self::Steal => "steal",
            Self::PageFaults => "page-faults",
            Self::Migration => "migration",
            Self::ThreadChanged => "thread-changed",
            Self::SecondMeasurement => "second-measurement",
            Self::Emulated => "emulated",
            Self::RecorderOverrun => "recorder-overrun",
            Self::SocketDrop => "socket-drop",
            Self::NicDrop => "nic-drop",
            Self::Incomplete => "incomplete",
            Self::HopGap => "hop-gap",
            Self::Link => "link",
            Self::Relay => "relay",
            Self::Stream => "stream",
            Self::StreamDoubt => "stream-doubt",
            Self::NotCounted => "not-counted",
            Self::ControlFailed => "control-failed",
            Self::Unproven => "unproven",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
            Self::Break => "break",
            Self::Smi => "smi",
            Self::Note => "note",
        }
    }

    /// True if events of this kind may cast doubt on samples; loads, steps, actions that ran, refused rights and notes do not.
    pub fn touches_samples(self) -> bool {
        !matches!(
            self,
            Self::LoadStarted
                | Self::LoadStopped
                | Self::StepStarted
                | Self::StepStopped
                | Self::Action
                | Self::Refused
                | Self::Note
        )
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Something that happened during the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When it happened or ended, or when it was noticed: the end of its span.
    pub at_ns: u64,
    /// An instant at which it had not happened yet: the start of its span. `None`: unknown, so its span may begin with the run.
    pub since_ns: Option<u64>,
    /// Its kind.
    pub kind: EventKind,
    /// The affected series; `None`: every series that its kind affects, see `docs/doubts.md`.
    pub series: Option<SeriesId>,
    /// Description for a person: the event, its place and its size.
    pub text: String,
}

impl Event {
    /// True for a word of a watch over a clock: from here on, the clock is in doubt or good. A doubt with a known start is about that span
    /// alone, and no word.
    #[must_use]
    pub fn is_clock_word(&self) -> bool {
        matches!(self.kind, EventKind::ClockDoubt | EventKind::ClockGood) && self.since_ns.is_none()
    }
}

impl Event {
    /// True if this event's span and the given one share an instant. An event of unknown start shares one with every span that
    /// begins before its end.
    pub fn overlaps(&self, start_ns: u64, end_ns: u64) -> bool {
        self.since_ns
            .is_none_or(|since_ns| since_ns <= end_ns && start_ns <= self.at_ns.max(since_ns))
    }
}
