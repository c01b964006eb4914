//! Conclusions from the time between two messages.

use crate::goose::outcome::Outcome;
use crate::order::OrderPlace;
use crate::sequence::WINDOW;

/// No publisher sends the messages of one control block at shorter intervals for long: numbers beyond those that the
/// time allows were never sent, and are not lost. IEC 61850-8-1 leaves the retransmission curve to the publisher, but
/// states MinTime and timeAllowedtoLive in whole milliseconds; devices begin with 1 to 20 ms and double that. This is a
/// tenth of the shortest of them, and the shortest interval that `publish` uses.
pub const SHORTEST_INTERVAL_NS: u64 = 100_000;

/// Number of messages that may be missing after any time: a message delayed on its way, or states that changed at once.
const ALWAYS_ALLOWED: u64 = WINDOW as u64;

/// Conclusions for the next message, from the time since the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    /// True if the last message has expired.
    pub(super) is_overdue: bool,
    /// Time since the last message in ns; `None` without time stamps.
    pub(super) elapsed_ns: Option<i64>,
    /// Maximum number of messages that may have been sent and lost.
    pub(super) most_missing: u64,
}

impl Time {
    /// The conclusions `elapsed_ns` after the last message.
    pub(super) fn of(elapsed_ns: Option<i64>, is_overdue: bool) -> Self {
        Self {
            is_overdue,
            elapsed_ns,
            most_missing: most_missing(elapsed_ns),
        }
    }
}

/// Maximum number of messages that may have been lost in this time; unlimited if the time is not known.
fn most_missing(elapsed_ns: Option<i64>) -> u64 {
    let Some(elapsed_ns) = elapsed_ns else { return u64::MAX };
    let elapsed_ns = u64::try_from(elapsed_ns).unwrap_or(0);
    ALWAYS_ALLOWED + elapsed_ns / SHORTEST_INTERVAL_NS
}

/// Number of equal intervals that show a heartbeat.
const ALIKE: usize = 3;
/// Shorter intervals belong to a burst, in which more than three may be equal.
const SHORTEST_BEAT_NS: i64 = 250_000_000;

/// The heartbeat of a publisher: the interval at which it repeats an unchanged state, once that is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beat {
    intervals: [i64; ALIKE],
}

impl Beat {
    /// Takes the time since the previous message.
    pub(super) fn take(&mut self, outcome: Outcome, elapsed_ns: Option<i64>) {
        if !outcome.is_taken() {
            return;
        }
        let is_next = outcome == Outcome::Repetition(OrderPlace::Next);
        self.intervals.rotate_left(1);
        self.intervals[ALIKE - 1] = elapsed_ns.filter(|_| is_next).unwrap_or(0);
    }

    /// True if a silence is longer than two and a half of the last three intervals, which were equal.
    pub(super) fn is_missed(&self, silence_ns: i64) -> bool {
        let shortest = self.intervals.into_iter().min().unwrap_or(0);
        let longest = self.intervals.into_iter().max().unwrap_or(0);
        let is_steady = shortest >= SHORTEST_BEAT_NS && longest - shortest <= shortest / 4;
        is_steady && silence_ns > longest.saturating_mul(5) / 2
    }
}
