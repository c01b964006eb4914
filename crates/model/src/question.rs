//! A question about a late sample.

use units::Monotonic;

/// The kind of sample that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// A thread slept until `from`, its due instant, and ran at `to`.
    WakeUp,
    /// A thread spun and missed the time between `from` and `to`.
    Gap,
    /// A frame was at one point at `from` and at the next at `to`, on this CPU. This thread ran there: it took the frame, or was
    /// interrupted for it.
    Hop,
    /// A thread waited for a frame from `from` on, and had it at `to`.
    Frame,
}

/// A question about one sample: how was its time spent?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The CPU that the thread is pinned to, or that the frame arrived on.
    pub cpu: u32,
    /// The thread's number (`gettid`).
    pub thread: i32,
    /// Due instant, or start of the gap.
    pub from: Monotonic,
    /// The sample's instant, or end of the gap.
    pub to: Monotonic,
    /// The kind of sample.
    pub kind: QuestionKind,
}

impl Question {
    /// The latency, in ns.
    pub fn ns(&self) -> u64 {
        u64::try_from(self.to - self.from).unwrap_or(0)
    }
}
