//! A question about a late sample.

use units::Monotonic;

/// The direction of the time between the two instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// A thread slept until `from` and ran at `to`.
    WakeUp,
    /// A thread span and missed the time between `from` and `to`.
    Gap,
    /// A frame was at one point at `from` and at the next at `to`, on this CPU, with this thread running there: who took it,
    /// or who was interrupted for it.
    Hop,
    /// A thread waited from `from` on for a frame, and had it at `to`.
    Frame,
}

/// A question about one sample: where did its time go?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The CPU the thread is pinned to, or the frame arrived on.
    pub cpu: u32,
    /// The thread's number (`gettid`).
    pub thread: i32,
    /// Due instant, or begin of the gap.
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
