//! Supervision of one GOOSE stream: states, repetitions, silence.
//!
//! Rules of IEC 61850-8-1 as a subscriber applies them: a new state has a higher stNum and begins with sqNum 0; repetitions
//! count sqNum up; the next message comes within timeAllowedtoLive. A lower stNum is an old message while the last one is
//! live, and a publisher that began again after that.

use crate::order::{Order, Place};
use crate::sink::{Budget, EventKind, Notes};
use units::format_ns;
use wire::ether::Mac;
use wire::goose::Frame;

const MS_NS: i64 = 1_000_000;

/// What the messages of a stream were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GooseCounts {
    /// Changes of state, the first one seen not counted.
    pub states: u64,
    /// Repetitions of a state.
    pub repetitions: u64,
    /// States that never came: stNum jumped over them. Each had at least one message, which is counted as lost.
    pub missed_states: u64,
    /// States that did not begin with sqNum 0: their first messages were lost, or the publisher does not reset it.
    pub begun_late: u64,
    /// Messages of a state before the last one, while that was live.
    pub old: u64,
    /// Times the publisher began again with a lower stNum, after the last message had expired.
    pub restarts: u64,
    /// Times no message came for longer than the last one allowed.
    pub expired: u64,
    /// Messages with timeAllowedtoLive 0, which is not allowed: their expiry is not judged.
    pub without_life: u64,
}

/// The fields that the rules are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) st_num: u32,
    pub(crate) sq_num: u32,
    pub(crate) tal_ms: u32,
}

impl Message {
    pub(crate) fn of(frame: &Frame<'_>) -> Self {
        Self {
            st_num: frame.st_num(),
            sq_num: frame.sq_num(),
            tal_ms: frame.time_allowed_to_live(),
        }
    }
}

/// What one message was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The first of the stream.
    First,
    /// A new state, after so many that never came.
    NewState(u64),
    /// The publisher began again.
    Restart,
    /// A repetition, with its place among the others.
    Repetition(Place),
    /// Of an old state.
    Old,
}

impl Outcome {
    /// Whether a subscriber takes the message: else it is a duplicate, late or old.
    fn is_taken(self) -> bool {
        !matches!(self, Self::Old | Self::Repetition(Place::Duplicate | Place::Late))
    }

    /// Whether the time since the message before is measured.
    pub(crate) fn is_measured(self) -> bool {
        !matches!(self, Self::Old | Self::Repetition(Place::Duplicate))
    }
}

/// The state of the rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    last: Option<Last>,
    order: Order,
    /// Added to sqNum, which goes from its highest value to 1.
    base: u64,
    pub(crate) counts: GooseCounts,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    message: Message,
    time_ns: Option<i64>,
}

impl Rules {
    /// Messages that never came, as far as that is certain.
    pub(crate) fn lost(&self) -> u64 {
        self.order.lost + self.counts.missed_states
    }

    pub(crate) fn duplicates(&self) -> u64 {
        self.order.duplicates
    }

    /// Messages that came after a later one.
    pub(crate) fn late(&self) -> u64 {
        self.order.late + self.counts.old
    }

    /// Takes the next message. Also gives by how much it came after the time the last one allowed, in ns.
    pub(crate) fn accept(&mut self, message: Message, time_ns: Option<i64>) -> (Outcome, Option<i64>) {
        let Some(last) = self.last else {
            self.last = Some(Last { message, time_ns });
            self.order.begin(number(0, message.sq_num));
            self.counts.without_life += u64::from(message.tal_ms == 0);
            return (Outcome::First, None);
        };
        let overdue = last.overdue(time_ns);
        let outcome = self.place(message, last.message, overdue);
        if !outcome.is_taken() {
            return (outcome, None);
        }
        self.counts.expired += u64::from(overdue.is_some());
        self.counts.without_life += u64::from(message.tal_ms == 0);
        self.last = Some(Last { message, time_ns });
        (outcome, overdue)
    }

    fn place(&mut self, message: Message, last: Message, overdue: Option<i64>) -> Outcome {
        let ahead = message.st_num.wrapping_sub(last.st_num);
        if ahead == 0 {
            self.counts.repetitions += 1;
            return Outcome::Repetition(self.repetition(message.sq_num, last.sq_num));
        }
        // stNum goes from its highest value to 1: close to both ends, a lower one may be the next.
        let wrapped = message.st_num < last.st_num && ahead < 1 << 16;
        if message.st_num > last.st_num || wrapped {
            let missed = u64::from(ahead) - 1 - u64::from(wrapped && ahead > 1);
            self.new_state(message.sq_num);
            self.counts.states += 1;
            self.counts.missed_states += missed;
            return Outcome::NewState(missed);
        }
        if overdue.is_none() {
            self.counts.old += 1;
            return Outcome::Old;
        }
        self.order.settle();
        self.base = 0;
        self.order.begin(number(0, message.sq_num));
        self.counts.restarts += 1;
        Outcome::Restart
    }

    fn repetition(&mut self, sq_num: u32, last: u32) -> Place {
        // sqNum goes from its highest value to 1.
        if sq_num < last && last - sq_num > u32::MAX / 2 {
            self.base += u64::from(u32::MAX);
        }
        self.order.accept(number(self.base, sq_num))
    }

    /// A state is due to begin with sqNum 0: begins before it, so that what is missing until `sq_num` counts.
    fn new_state(&mut self, sq_num: u32) {
        self.order.settle();
        self.base = 0;
        self.order.begin(number(0, 0) - 1);
        self.order.accept(number(0, sq_num));
        self.counts.begun_late += u64::from(sq_num != 0);
    }

    /// Nothing more comes: what is missing is lost, and a silence that lasts until `end_ns` may be one message too long.
    pub(crate) fn finish(&mut self, end_ns: Option<i64>) -> Option<i64> {
        self.order.settle();
        let overdue = self.last?.overdue(end_ns);
        self.counts.expired += u64::from(overdue.is_some());
        overdue
    }

    /// timeAllowedtoLive of the last message, ms.
    pub(crate) fn tal_ms(&self) -> u32 {
        self.last.map_or(0, |last| last.message.tal_ms)
    }

    /// State and sequence number of the last message.
    pub(crate) fn last(&self) -> Option<Message> {
        self.last.map(|last| last.message)
    }
}

impl Last {
    /// By how much `now` is after the time that the message allowed, in ns.
    fn overdue(&self, now_ns: Option<i64>) -> Option<i64> {
        let elapsed = now_ns?.saturating_sub(self.time_ns?);
        let allowed = i64::from(self.message.tal_ms) * MS_NS;
        (allowed > 0 && elapsed > allowed).then_some(elapsed - allowed)
    }
}

/// sqNum as a number that only grows: 1 more, so that there is one before 0.
fn number(base: u64, sq_num: u32) -> u64 {
    base + u64::from(sq_num) + 1
}

/// A GOOSE stream: its rules, and what else must not change unseen.
#[derive(Debug)]
pub(crate) struct GooseStream {
    pub(crate) rules: Rules,
    source: Mac,
    simulation: bool,
    conf_rev: u32,
    nds_com: bool,
    entries: u32,
}

impl GooseStream {
    pub(crate) fn new(frame: &Frame<'_>) -> Self {
        Self {
            rules: Rules::default(),
            source: frame.ethernet().src(),
            simulation: frame.simulation(),
            conf_rev: frame.conf_rev(),
            nds_com: frame.nds_com(),
            entries: frame.num_dat_set_entries(),
        }
    }

    /// Takes a message.
    pub(crate) fn frame(
        &mut self,
        frame: &Frame<'_>,
        time_ns: Option<i64>,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> Outcome {
        let before = self.rules.last();
        let tal_ms = self.rules.tal_ms();
        let message = Message::of(frame);
        let (outcome, overdue) = self.rules.accept(message, time_ns);
        let number = notes.frame;
        if let Some(overdue) = overdue {
            notes.write(budget, EventKind::Expired, || expired(tal_ms, overdue, number));
        }
        self.say(outcome, message, before, budget, notes);
        self.changes(frame, budget, notes);
        outcome
    }

    fn say(
        &self,
        outcome: Outcome,
        message: Message,
        before: Option<Message>,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) {
        let Message { st_num, sq_num, .. } = message;
        let frame = notes.frame;
        let from = before.map_or(0, |before| before.st_num);
        match outcome {
            Outcome::First => notes.write(budget, EventKind::State, || {
                format!("first seen with stNum {st_num}, sqNum {sq_num} (frame {frame})")
            }),
            Outcome::NewState(missed) => notes.write(budget, EventKind::State, || {
                let missed = match missed {
                    0 => String::new(),
                    1 => "; 1 state between them never came".to_owned(),
                    n => format!("; {n} states between them never came"),
                };
                let begun = match sq_num {
                    0 => String::new(),
                    n => format!(
                        "; it begins with sqNum {n}, not 0: messages were lost, or the publisher does not reset it"
                    ),
                };
                format!("stNum {from} -> {st_num} (frame {frame}){missed}{begun}")
            }),
            Outcome::Restart => notes.write(budget, EventKind::State, || {
                format!("stNum went back from {from} to {st_num} (frame {frame}): the publisher began again")
            }),
            Outcome::Old => notes.write(budget, EventKind::Change, || {
                format!("an old message of stNum {st_num} while stNum {from} was live (frame {frame})")
            }),
            Outcome::Repetition(Place::Restart) => notes.write(budget, EventKind::Change, || {
                format!("sqNum went back to {sq_num} without a new stNum (frame {frame})")
            }),
            Outcome::Repetition(_) => {}
        }
    }

    fn changes(&mut self, frame: &Frame<'_>, budget: &mut Budget, notes: &mut Notes<'_>) {
        let number = notes.frame;
        let mut changed = |what: &str, from: u64, to: u64| {
            if from != to {
                notes.write(budget, EventKind::Change, || {
                    format!("{what} changed from {from} to {to} (frame {number})")
                });
            }
        };
        changed("simulation", u64::from(self.simulation), u64::from(frame.simulation()));
        changed("confRev", u64::from(self.conf_rev), u64::from(frame.conf_rev()));
        changed("ndsCom", u64::from(self.nds_com), u64::from(frame.nds_com()));
        changed(
            "numDatSetEntries",
            u64::from(self.entries),
            u64::from(frame.num_dat_set_entries()),
        );
        let source = frame.ethernet().src();
        if source != self.source {
            let from = self.source;
            notes.write(budget, EventKind::Change, || {
                format!("source address changed from {from} to {source} (frame {number})")
            });
        }
        *self = Self {
            rules: std::mem::take(&mut self.rules),
            ..Self::new(frame)
        };
    }

    /// The end of the capture, at its last stamp.
    pub(crate) fn finish(&mut self, end_ns: Option<i64>, budget: &mut Budget, notes: &mut Notes<'_>) {
        let tal_ms = self.rules.tal_ms();
        if let Some(overdue) = self.rules.finish(end_ns) {
            notes.write(budget, EventKind::Expired, || {
                let after = format_ns((i64::from(tal_ms) * MS_NS + overdue) as f64);
                format!("no message for {after} when the capture ended; timeAllowedtoLive was {tal_ms} ms")
            });
        }
    }
}

fn expired(tal_ms: u32, overdue_ns: i64, frame: u64) -> String {
    let after = format_ns((i64::from(tal_ms) * MS_NS + overdue_ns) as f64);
    format!("silent for {after} where timeAllowedtoLive was {tal_ms} ms (until frame {frame})")
}

#[cfg(test)]
mod tests;
