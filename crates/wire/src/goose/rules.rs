//! What each message of a GOOSE stream is: a new state, a repetition, an old one; and when the stream has expired.
//!
//! Rules of IEC 61850-8-1 as a subscriber applies them: a new state has a higher stNum and begins with sqNum 0; repetitions
//! count sqNum up; the next message comes within timeAllowedtoLive. What is behind the last message is old while that one is
//! live (the replay rule of IEC 62351-6), and a publisher that began again after that. What is further ahead than the time since the
//! last message allows is no loss either, however many numbers it left out: see [`SHORTEST_INTERVAL_NS`].

use super::Frame;
use crate::order::{Order, Place};
use crate::sequence::WINDOW;

const NS_PER_MS: f64 = 1e6;

/// No publisher sends the messages of one control block closer than this for long: more numbers than the time allows are not lost,
/// but were never sent. IEC 61850-8-1 leaves the retransmission curve to the publisher, but states MinTime and timeAllowedtoLive in
/// whole milliseconds; devices begin with 1 to 20 ms and double that. This is a tenth of the shortest of them, and the shortest
/// that `publish` sends.
pub const SHORTEST_INTERVAL_NS: u64 = 100_000;

/// So many messages may be missing whatever the time: one that was held up on its way, or states that changed at once.
const ALWAYS_ALLOWED: u64 = WINDOW as u64;

/// What the messages of a stream were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Changes of state, the first one seen not counted.
    pub states: u64,
    /// Messages of a state that was known, duplicates and late ones among them.
    pub repetitions: u64,
    /// States that never came: stNum jumped over them. Each had at least one message, which is counted as lost.
    pub missed_states: u64,
    /// States that did not begin with sqNum 0: their first messages were lost, or, where the time does not allow that, the publisher
    /// does not reset it.
    pub begun_late: u64,
    /// Messages from before the last one, too far back to be late, while that was live: replayed, or of a second publisher.
    pub old: u64,
    /// Times the publisher began again: with lower numbers, after the last message had expired, or with numbers further ahead than
    /// the time since the last message allows.
    pub restarts: u64,
    /// Times no message came for longer than the last one allowed.
    pub expired: u64,
    /// Messages with timeAllowedtoLive 0, which is not allowed: their expiry is not judged.
    pub without_life: u64,
}

/// The fields that the rules are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// State number.
    pub st_num: u32,
    /// Sequence number within the state.
    pub sq_num: u32,
    /// timeAllowedtoLive, ms.
    pub tal_ms: u32,
}

impl Numbers {
    /// Those of a message.
    pub fn of(frame: &Frame<'_>) -> Self {
        Self {
            st_num: frame.st_num(),
            sq_num: frame.sq_num(),
            tal_ms: frame.time_allowed_to_live(),
        }
    }
}

/// When a message came, in ns of one clock or of two. Between two messages the shorter of the two times counts: an application
/// that was held up has not heard the stream, but the kernel has; and a step of the wall clock is no silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Instants {
    /// By the clock of the receive stamps, which may be stepped.
    pub stamp_ns: Option<i64>,
    /// By a clock that only runs on.
    pub steady_ns: Option<i64>,
}

impl Instants {
    /// An instant that only a receive stamp tells.
    pub fn stamped(stamp_ns: Option<i64>) -> Self {
        Self {
            stamp_ns,
            steady_ns: None,
        }
    }

    /// Time since `before`, ns; `None` when no clock tells both.
    fn since(self, before: Self) -> Option<i64> {
        let between = |now: Option<i64>, before: Option<i64>| Some(now?.saturating_sub(before?));
        let stamped = between(self.stamp_ns, before.stamp_ns);
        let steady = between(self.steady_ns, before.steady_ns);
        stamped.into_iter().chain(steady).min()
    }
}

/// What one message was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The first of the stream.
    First,
    /// A new state, after so many that never came.
    NewState(u64),
    /// The publisher began again.
    Restart,
    /// A repetition, with its place among the others: `Next`, `Gap`, `Duplicate` or `Late`.
    Repetition(Place),
    /// From before the last message, while that is live.
    Old,
}

impl Outcome {
    /// Whether a subscriber takes the message: else it is a duplicate, late or old.
    pub fn is_taken(self) -> bool {
        !matches!(self, Self::Old | Self::Repetition(Place::Duplicate | Place::Late))
    }

    /// Whether the time since the message before is measured.
    pub fn is_measured(self) -> bool {
        !matches!(self, Self::Old | Self::Repetition(Place::Duplicate))
    }
}

/// The state of the rules. Taking a message allocates nothing.
#[derive(Debug, Clone)]
pub struct Rules {
    ns_per_ms: f64,
    last: Option<Last>,
    /// The silence since the last message was found too long, and counted.
    is_expired: bool,
    order: Order,
    /// Added to sqNum, which goes from its highest value to 1.
    base: u64,
    counts: Counts,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    message: Numbers,
    at: Instants,
}

impl Default for Rules {
    /// Silence may last timeAllowedtoLive.
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl Rules {
    /// Rules by which silence may last `tal_factor` times timeAllowedtoLive: with 2, one lost message does not make a stream
    /// expire. Factors that are no number above 0 count as 1.
    pub fn new(tal_factor: f64) -> Self {
        let factor = if tal_factor.is_finite() && tal_factor > 0.0 {
            tal_factor
        } else {
            1.0
        };
        Self {
            ns_per_ms: NS_PER_MS * factor,
            last: None,
            is_expired: false,
            order: Order::default(),
            base: 0,
            counts: Counts::default(),
        }
    }

    /// What the messages were so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Messages that never came, as far as that is certain.
    pub fn lost(&self) -> u64 {
        self.order.lost + self.counts.missed_states
    }

    /// Places where sqNum left out at least one message.
    pub fn gaps(&self) -> u64 {
        self.order.gaps
    }

    /// Messages that came again.
    pub fn duplicates(&self) -> u64 {
        self.order.duplicates
    }

    /// Messages that came after a later one.
    pub fn late(&self) -> u64 {
        self.order.late + self.counts.old
    }

    /// Takes the next message. Also gives by how much it came after the time the last one allowed, in ns.
    pub fn accept(&mut self, message: Numbers, at: Instants) -> (Outcome, Option<i64>) {
        let Some(last) = self.last else {
            self.order.begin(number(0, message.sq_num));
            self.take(message, at);
            return (Outcome::First, None);
        };
        let overdue = self.overdue(at).or(self.is_expired.then_some(0));
        let time = Time {
            is_overdue: overdue.is_some(),
            most_missing: most_missing(at.since(last.at)),
        };
        let outcome = self.place(message, last.message, time);
        if !outcome.is_taken() {
            return (outcome, None);
        }
        self.counts.expired += u64::from(overdue.is_some() && !self.is_expired);
        self.take(message, at);
        (outcome, overdue)
    }

    /// Looks at the clock between messages. The first time that the last message has expired, gives by how much, in ns.
    pub fn expire(&mut self, now: Instants) -> Option<i64> {
        if self.is_expired {
            return None;
        }
        let overdue = self.overdue(now)?;
        self.is_expired = true;
        self.counts.expired += 1;
        Some(overdue)
    }

    /// Nothing more comes: what is missing is lost, and a silence that lasts until `end` may be one message too long.
    pub fn finish(&mut self, end: Instants) -> Option<i64> {
        self.order.settle();
        self.expire(end)
    }

    /// Whether a message was taken and has not been found expired.
    pub fn is_live(&self) -> bool {
        self.last.is_some() && !self.is_expired
    }

    /// When the last message expires by the clock that only runs on; `None` when that cannot be said or has been.
    pub fn deadline_ns(&self) -> Option<i64> {
        let last = self.last.filter(|last| !self.is_expired && last.message.tal_ms > 0)?;
        Some(last.at.steady_ns?.saturating_add(self.allowed_ns(last.message)))
    }

    /// The last message taken.
    pub fn last(&self) -> Option<Numbers> {
        self.last.map(|last| last.message)
    }

    /// Time since the last message taken, ns.
    pub fn silence_ns(&self, now: Instants) -> Option<i64> {
        now.since(self.last?.at)
    }

    /// By how much `now` is after the time that the last message allowed, in ns.
    pub(super) fn overdue(&self, now: Instants) -> Option<i64> {
        let last = self.last?;
        let elapsed = now.since(last.at)?;
        let allowed = self.allowed_ns(last.message);
        (allowed > 0 && elapsed > allowed).then(|| elapsed - allowed)
    }

    fn allowed_ns(&self, message: Numbers) -> i64 {
        (f64::from(message.tal_ms) * self.ns_per_ms) as i64
    }

    fn take(&mut self, message: Numbers, at: Instants) {
        self.counts.without_life += u64::from(message.tal_ms == 0);
        self.last = Some(Last { message, at });
        self.is_expired = false;
    }

    fn place(&mut self, message: Numbers, last: Numbers, time: Time) -> Outcome {
        let ahead = message.st_num.wrapping_sub(last.st_num);
        if ahead == 0 {
            return self.repetition(message.sq_num, last.sq_num, time);
        }
        // stNum goes from its highest value to 1: close to both ends, a lower one may be the next.
        let wrapped = message.st_num < last.st_num && ahead < 1 << 16;
        if message.st_num > last.st_num || wrapped {
            let missed = u64::from(ahead) - 1 - u64::from(wrapped && ahead > 1);
            let Some(most_missing) = time.most_missing.checked_sub(missed) else {
                return match wrapped {
                    true => self.behind(message.sq_num, time.is_overdue),
                    false => self.restart(message.sq_num),
                };
            };
            self.new_state(message.sq_num, most_missing);
            self.counts.states += 1;
            self.counts.missed_states += missed;
            return Outcome::NewState(missed);
        }
        self.behind(message.sq_num, time.is_overdue)
    }

    fn repetition(&mut self, sq_num: u32, last: u32, time: Time) -> Outcome {
        // sqNum goes from its highest value to 1; one from before that may come late.
        let round = u64::from(u32::MAX);
        let base = match sq_num.abs_diff(last) > u32::MAX / 2 {
            true if sq_num < last => self.base + round,
            true => self.base.saturating_sub(round),
            false => self.base,
        };
        let number = number(base, sq_num);
        match self.order.place(number) {
            Place::Restart => return self.behind(sq_num, time.is_overdue),
            Place::Duplicate if time.is_overdue && sq_num < last => return self.behind(sq_num, time.is_overdue),
            // Lower, and no round further on: it is behind after all.
            Place::Gap(missing) if missing > time.most_missing && sq_num < last => {
                return self.behind(sq_num, time.is_overdue);
            }
            Place::Gap(missing) if missing > time.most_missing => return self.restart(sq_num),
            _ => {}
        }
        self.base = self.base.max(base);
        self.counts.repetitions += 1;
        Outcome::Repetition(self.order.accept(number))
    }

    /// A message from before the last one.
    fn behind(&mut self, sq_num: u32, is_overdue: bool) -> Outcome {
        if !is_overdue {
            self.counts.old += 1;
            return Outcome::Old;
        }
        self.restart(sq_num)
    }

    fn restart(&mut self, sq_num: u32) -> Outcome {
        self.begin(sq_num);
        self.counts.restarts += 1;
        Outcome::Restart
    }

    /// A state is due to begin with sqNum 0: what is missing until `sq_num` is lost, where the time allows that.
    fn new_state(&mut self, sq_num: u32, most_missing: u64) {
        self.counts.begun_late += u64::from(sq_num != 0);
        self.begin(sq_num);
        if u64::from(sq_num) <= most_missing {
            self.order.begin(number(0, 0) - 1);
            self.order.accept(number(0, sq_num));
        }
    }

    /// Goes on from `sq_num`; what is missing before it is settled.
    fn begin(&mut self, sq_num: u32) {
        self.order.settle();
        self.base = 0;
        self.order.begin(number(0, sq_num));
    }
}

/// What the time since the last message says of the next one.
#[derive(Debug, Clone, Copy)]
struct Time {
    /// The last message has expired.
    is_overdue: bool,
    /// So many messages may have been sent and lost.
    most_missing: u64,
}

/// Messages that may have been lost in this time; any number where it is not known.
fn most_missing(elapsed_ns: Option<i64>) -> u64 {
    let Some(elapsed_ns) = elapsed_ns else { return u64::MAX };
    let elapsed_ns = u64::try_from(elapsed_ns).unwrap_or(0);
    ALWAYS_ALLOWED + elapsed_ns / SHORTEST_INTERVAL_NS
}

/// sqNum as a number that only grows: 1 more, so that there is one before 0.
fn number(base: u64, sq_num: u32) -> u64 {
    base + u64::from(sq_num) + 1
}

#[cfg(test)]
mod tests;
