//! Events beside the measurement.

use crate::series::SeriesId;

/// A step of the wall clock whose [`EventKind::ClockStep`] does not say since when it may have been is dated at most this long after it.
pub const STEP_NOTICED_NS: u64 = 200_000_000;

/// A kind of event beside the measurement. The text form is part of the run file and of the JSON.
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
    /// `CLOCK_REALTIME` jumped against `CLOCK_MONOTONIC`.
    ClockStep,
    /// Time synchronisation changed: port state, grandmaster, servo, leap second, daemon.
    TimeSync,
    /// From here on this clock is not known to agree with the publisher's.
    ClockDoubt,
    /// From here on it is again.
    ClockGood,
    /// The kernel held real-time threads back.
    RtThrottled,
    /// A real-time thread of ours was ready, and waited for a thread of higher priority.
    HeldUp,
    /// The run held idle states off that the host enters by itself: it is another host in service.
    HeldByUs,
    /// The hypervisor ran something else on our CPU.
    Steal,
    /// Page faults in a measuring thread after its warm-up.
    PageFaults,
    /// A measuring thread ran on a CPU it was not meant for.
    Migration,
    /// Somebody changed the policy or the CPUs of a measuring thread.
    ThreadChanged,
    /// Another measurement, or a real-time thread of another process, shared a CPU or an interface with this one.
    SecondMeasurement,
    /// The processor is emulated: how long anything took says nothing of any machine.
    Emulated,
    /// The ring between a measuring thread and the recorder was full.
    RecorderOverrun,
    /// The packet socket dropped frames before we read them.
    SocketDrop,
    /// The NIC or the kernel behind it lost frames before any socket.
    NicDrop,
    /// Frames of a capture could not be read, or have no stamp: what was measured is not all there was.
    Incomplete,
    /// Of frames that were traced from point to point, some could not be seen or paired for certain.
    HopGap,
    /// An interface lost or found its carrier.
    Link,
    /// A relay decided something, or could not.
    Relay,
    /// Something in a stream changed: smpSynch, confRev, simulation.
    Stream,
    /// Something happened to a stream that its counters do not show: a restart, a silence of unknown length, a second publisher.
    StreamDoubt,
    /// A shot of a test set does not count, for what the test set itself missed or could not see.
    NotCounted,
    /// A negative control of a test set did not hold: what it measured may have another cause than what it published.
    ControlFailed,
    /// Nothing shows that a device which did nothing could have done something.
    Unproven,
    /// A right or a feature was refused, and the run went on without it.
    Refused,
    /// The run was ended early.
    Interrupted,
    /// A sample above the value that was to end the measurement ended it.
    Break,
    /// System management interrupts came.
    Smi,
    /// Anything else worth reading.
    Note,
}

impl EventKind {
    /// Every kind, in the order they are documented.
    pub const ALL: [Self; 34] = [
        Self::LoadStarted,
        Self::LoadStopped,
        Self::StepStarted,
        Self::StepStopped,
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

    /// The word for it in files and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::LoadStarted => "load-started",
            Self::LoadStopped => "load-stopped",
            Self::StepStarted => "step-started",
            Self::StepStopped => "step-stopped",
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

    /// True where it may say something against samples; loads, steps, refused rights and notes do not.
    pub fn touches_samples(self) -> bool {
        !matches!(
            self,
            Self::LoadStarted | Self::LoadStopped | Self::StepStarted | Self::StepStopped | Self::Refused | Self::Note
        )
    }

    /// The kind a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Something that happened during the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When it happened, was noticed, or was over: the end of its span.
    pub at_ns: u64,
    /// Before this instant it had not happened: the begin of its span. `None`: nothing is known, and it may reach as far as the run does.
    pub since_ns: Option<u64>,
    /// Its kind.
    pub kind: EventKind,
    /// The series it touches; `None`: those that its kind touches, see `docs/doubts.md`.
    pub series: Option<SeriesId>,
    /// For a person: what, where, how much.
    pub text: String,
}

impl Event {
    /// True where its span and this one have an instant in common. An event whose begin is not known has one in common with every span.
    pub fn overlaps(&self, start_ns: u64, end_ns: u64) -> bool {
        self.since_ns
            .is_none_or(|since_ns| since_ns <= end_ns && start_ns <= self.at_ns.max(since_ns))
    }
}
