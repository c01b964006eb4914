//! What a run file holds, in the words of the measurement. No SQL here.
//!
//! Every instant (`at_ns`, `start_ns`, `end_ns`) is nanoseconds of `CLOCK_MONOTONIC` since the run's start; the wall-clock
//! time of an instant is [`RunInfo::started`] plus it.

use crate::explanation::Explanation;
use stats::Histogram;
use units::Realtime;

/// What is known of a run when it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInfo {
    /// Unique name of the run: start time and random digits.
    pub id: String,
    /// The subcommand, such as `wakeup`.
    pub command: String,
    /// The command line as it was given.
    pub arguments: Vec<String>,
    /// Version of triptime that measured.
    pub tool_version: String,
    /// Wall-clock time of the run's start.
    pub started: Realtime,
    /// Length of a window.
    pub window_ns: u64,
}

/// How a run ended, as an opened file shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Ran to its end.
    Complete,
    /// Ended by a signal, a full disk, or never closed (killed, power cut): every closed window is there.
    Interrupted,
}

/// Which clock a series' values are differences of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesClock {
    /// Both instants from `CLOCK_MONOTONIC`: a clock step cannot touch the values.
    Monotonic,
    /// At least one instant from `CLOCK_REALTIME`: a clock step in a window makes its values doubtful.
    Realtime,
}

/// A named stream of samples in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSpec {
    /// Name such as `wakeup/cpu1` or `age/MU01`.
    pub name: String,
    /// One sentence: between which two instants a sample lies.
    pub what: String,
    /// Clock of the two instants.
    pub clock: SeriesClock,
    /// Nominal time between samples, if the series is periodic.
    pub interval_ns: Option<f64>,
    /// Samples above this are counted as `overflow` and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// What the series was measured with (policy, priority, CPU, engine…), in the order to show.
    pub settings: Vec<(String, String)>,
}

/// Settings that more than a person reads: whose socket a series comes from, why it has no samples, and how the two clocks of a
/// one-way series agree.
pub mod setting {
    /// The series of the same socket or capture that is told what happened to all of it: frames dropped, not read or not placed.
    pub const SOCKET: &str = "socket";
    /// Why a series that was to be measured has no samples, in words.
    pub const NOT_MEASURED: &str = "not measured";
    /// The name that a series was to have, which another series of the run has.
    pub const ANOTHER_IS: &str = "another is called";
    /// How far the two clocks may be apart, as it was stated, in ns; or [`MEASURED`].
    pub const CLOCK_UNCERTAINTY_NS: &str = "clock uncertainty (ns)";
    /// How the two clocks relate, in words.
    pub const CLOCK_RELATION: &str = "clock relation";
    /// In place of a stated uncertainty: nothing is known of how the clocks relate.
    pub const NOT_STATED: &str = "not stated";
    /// In place of a stated uncertainty: it is to be taken from the series `clock/*` of the run.
    pub const MEASURED: &str = "measured";
    /// The publisher's share of a measured uncertainty, in ns, as it was stated.
    pub const PUBLISHER_UNCERTAINTY_NS: &str = "publisher's clock uncertainty (ns)";
    /// Of an imported series: the tool that measured it.
    pub const TOOL: &str = "tool";
    /// The tool whose files have the exact maximum, and may have no more.
    pub const CYCLICTEST: &str = "cyclictest";
    /// Of a capture: who made its stamps, in words. Left out where nobody says.
    pub const STAMPED_BY: &str = "stamped by";
    /// Of a capture: the steps that its stamps come in, in ns.
    pub const STAMP_STEP_NS: &str = "stamps in steps of (ns)";
}

/// A step of the wall clock is noticed, and its [`EventKind::ClockStep`] dated, at most this long after it: the recorder looks ten times a
/// second, and may be held up.
pub const STEP_NOTICED_NS: u64 = 200_000_000;

/// Number of a series in its run, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u32);

/// What happened to the samples that were due. All counts are since the window's (or the run's) start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Samples that were due: cycles scheduled, frames sent, samples published.
    pub expected: u64,
    /// Samples measured.
    pub received: u64,
    /// Due, and never came.
    pub lost: u64,
    /// Came after their deadline (the series' settings say which).
    pub late: u64,
    /// Came again, with the same contents as far as these are known.
    pub duplicate: u64,
    /// Came with the number of one that had come, and other contents: one of the two is not true.
    pub conflicting: u64,
    /// Came after a later one.
    pub reordered: u64,
    /// Outside the histogram's range: kept as its end value, so quantiles and extremes are bounds.
    pub clipped: u64,
    /// Periods skipped because the thread overran: scheduled, not measured.
    pub missed: u64,
    /// Above the series' threshold.
    pub overflow: u64,
    /// Records lost between the measuring thread and the recorder: the series is not whole.
    pub overrun: u64,
    /// Of a series of gaps: how long the CPU was watched for them, in ns. Elsewhere 0.
    pub watched_ns: u64,
}

impl Counters {
    /// Adds another window's counts.
    pub fn add(&mut self, other: &Self) {
        self.expected += other.expected;
        self.received += other.received;
        self.lost += other.lost;
        self.late += other.late;
        self.duplicate += other.duplicate;
        self.conflicting += other.conflicting;
        self.reordered += other.reordered;
        self.clipped += other.clipped;
        self.missed += other.missed;
        self.overflow += other.overflow;
        self.overrun += other.overrun;
        self.watched_ns += other.watched_ns;
    }
}

/// One closed window of one series, as it is handed to the file.
#[derive(Debug, Clone)]
pub struct Window {
    /// Series it belongs to.
    pub series: SeriesId,
    /// Start of the window.
    pub start_ns: u64,
    /// End of the window; the last one may be shorter than the rest.
    pub end_ns: u64,
    /// What happened in it.
    pub counters: Counters,
    /// Sum of the samples, for exact means over any set of windows. `i128` because delivery deltas may be negative.
    pub sum_ns: i128,
    /// Smallest sample, exact. `None` without samples.
    pub min_ns: Option<i64>,
    /// Largest sample, exact. `None` without samples.
    pub max_ns: Option<i64>,
    /// Its histogram: negative samples are recorded as 0 and counted in `clipped`.
    pub histogram: Histogram,
}

/// A window as it is read back. Its histogram may have been merged with its neighbours' to keep the file small, so it is
/// asked for by series, not by window; quantiles were taken before.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowRow {
    /// Start of the window.
    pub start_ns: u64,
    /// End of the window.
    pub end_ns: u64,
    /// What happened in it.
    pub counters: Counters,
    /// How many samples its histogram held.
    pub samples: u64,
    /// Exact sum of the samples in ns.
    pub sum_ns: i128,
    /// Mean of the samples; `None` without samples.
    pub mean_ns: Option<f64>,
    /// Smallest sample.
    pub min_ns: Option<i64>,
    /// Largest sample.
    pub max_ns: Option<i64>,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 99 % quantile.
    pub p99_ns: Option<u64>,
    /// 99.9 % quantile.
    pub p999_ns: Option<u64>,
}

/// One sample worth looking at: among the worst of its series, or above its threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Spike {
    /// Series it belongs to.
    pub series: SeriesId,
    /// When it was measured.
    pub at_ns: u64,
    /// The sample.
    pub value_ns: i64,
    /// CPU it was measured on.
    pub cpu: Option<u32>,
    /// Cycle, frame or sample number.
    pub sequence: Option<u64>,
    /// Where its time went, where the flight recorder ran.
    pub explanation: Option<Explanation>,
}

/// The kernel's events around one spike, as the crate `trace` encodes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flight {
    /// Series of the spike.
    pub series: SeriesId,
    /// Instant of the spike.
    pub at_ns: u64,
    /// The events; see `docs/formats/flight.md`.
    pub bytes: Vec<u8>,
}

/// What kind of thing happened beside the measurement. The text form is part of the run file and of the JSON.
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
    /// Something in a stream changed: smpSynch, confRev, simulation.
    Stream,
    /// Something happened to a stream that its counters do not show: a restart, a silence of unknown length, a second publisher.
    StreamDoubt,
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
    pub const ALL: [Self; 27] = [
        Self::LoadStarted,
        Self::LoadStopped,
        Self::StepStarted,
        Self::StepStopped,
        Self::ClockStep,
        Self::TimeSync,
        Self::ClockDoubt,
        Self::ClockGood,
        Self::RtThrottled,
        Self::Steal,
        Self::PageFaults,
        Self::Migration,
        Self::ThreadChanged,
        Self::SecondMeasurement,
        Self::RecorderOverrun,
        Self::SocketDrop,
        Self::NicDrop,
        Self::Incomplete,
        Self::HopGap,
        Self::Link,
        Self::Stream,
        Self::StreamDoubt,
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
            Self::Steal => "steal",
            Self::PageFaults => "page-faults",
            Self::Migration => "migration",
            Self::ThreadChanged => "thread-changed",
            Self::SecondMeasurement => "second-measurement",
            Self::RecorderOverrun => "recorder-overrun",
            Self::SocketDrop => "socket-drop",
            Self::NicDrop => "nic-drop",
            Self::Incomplete => "incomplete",
            Self::HopGap => "hop-gap",
            Self::Link => "link",
            Self::Stream => "stream",
            Self::StreamDoubt => "stream-doubt",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
            Self::Break => "break",
            Self::Smi => "smi",
            Self::Note => "note",
        }
    }

    /// The kind a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Something that happened during the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub at_ns: u64,
    /// What kind of thing.
    pub kind: EventKind,
    /// The series it touches; `None` means all of them.
    pub series: Option<SeriesId>,
    /// For a person: what, where, how much.
    pub text: String,
}

/// How the value of a fact begins that cannot be on this machine, such as `not applicable: a veth has no PHY`. It is known, and
/// no limit can be held against it.
pub const NOT_APPLICABLE: &str = "not applicable";

/// One fact of the inventory. A fact that could not be read says why: unknown is not empty and not zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Group to show it under, such as `kernel` or `cpu`.
    pub group: String,
    /// Its name in the group, such as `release`.
    pub name: String,
    /// What was read, or why nothing could be.
    pub value: Result<String, String>,
    /// Where it was read from, such as `/proc/cmdline`.
    pub source: String,
}
