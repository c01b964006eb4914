//! Conclusions from the time between two messages.

use crate::goose::outcome::Outcome;
use crate::order::OrderPlace;
use crate::sequence::WINDOW;

/// No publisher sends the messages of one control block closer than this for long: more numbers than the time allows are not lost,
/// but were never sent. IEC 61850-8-1 leaves the retransmission curve to the publisher, but states MinTime and timeAllowedtoLive in
/// whole milliseconds; devices begin with 1 to 20 ms and double that. This is a tenth of the shortest of them, and the shortest
/// that `publish` sends.
pub const SHORTEST_INTERVAL_NS: u64 = 100_000;

/// So many messages may be missing whatever the time: one that was held up on its way, or states that changed at once.
const ALWAYS_ALLOWED: u64 = WINDOW as u64;

/// The state of the next message's timing, from the time since the last one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    /// The last message has expired.
    pub(super) is_overdue: bool,
    /// How long that is, ns; `None` where no clock tells.
    pub(super) elapsed_ns: Option<i64>,
    /// So many messages may have been sent and lost.
    pub(super) most_missing: u64,
}

impl Time {
    /// `elapsed_ns` after the last message.
    pub(super) fn of(elapsed_ns: Option<i64>, is_overdue: bool) -> Self {
        Self {
            is_overdue,
            elapsed_ns,
            most_missing: most_missing(elapsed_ns),
        }
    }
}

/// Messages that may have been lost in this time; any number where it is not known.
fn most_missing(elapsed_ns: Option<i64>) -> u64 {
    let Some(elapsed_ns) = elapsed_ns else { return u64::MAX };
    let elapsed_ns = u64::try_from(elapsed_ns).unwrap_or(0);
    ALWAYS_ALLOWED + elapsed_ns / SHORTEST_INTERVAL_NS
}

/// Intervals that have to be alike.
const ALIKE: usize = 3;
/// Shorter ones are of a burst, in which more follows than three alike.
const SHORTEST_BEAT_NS: i64 = 250_000_000;

/// The heartbeat of a publisher: the interval at which it repeats a state that stands, once that is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beat {
    intervals: [i64; ALIKE],
}

impl Beat {
    /// Takes the time since the message before.
    pub(super) fn take(&mut self, outcome: Outcome, elapsed_ns: Option<i64>) {
        if !outcome.is_taken() {
            return;
        }
        let is_next = outcome == Outcome::Repetition(OrderPlace::Next);
        self.intervals.rotate_left(1);
        self.intervals[ALIKE - 1] = elapsed_ns.filter(|_| is_next).unwrap_or(0);
    }

    /// True if a silence is longer than two and a half of the last three intervals, which were alike.
    pub(super) fn is_missed(&self, silence_ns: i64) -> bool {
        let shortest = self.intervals.into_iter().min().unwrap_or(0);
        let longest = self.intervals.into_iter().max().unwrap_or(0);
        let is_steady = shortest >= SHORTEST_BEAT_NS && longest - shortest <= shortest / 4;
        is_steady && silence_ns > longest.saturating_mul(5) / 2
    }
}
