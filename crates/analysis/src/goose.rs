//! What is told of one GOOSE stream: states, repetitions, silence, and what else must not change unseen. The rules are those of
//! [`wire::goose::Supervisor`].

use crate::sink::{Budget, EventKind, Notes};
use units::format_ns;
use wire::goose::{Counts, Expectation, Frame, Instants, Marks, Numbers, Outcome, Settings, Supervisor, Verdict};

pub use wire::goose::Counts as GooseCounts;

const MS_NS: i64 = 1_000_000;

/// A GOOSE stream: everything that comes is looked at.
#[derive(Debug)]
pub(crate) struct GooseStream(Supervisor);

impl GooseStream {
    pub(crate) fn new() -> Self {
        Self(Supervisor::new(Settings::default(), Expectation::default()))
    }

    pub(crate) fn counts(&self) -> Counts {
        self.0.counts()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.0.rules().lost()
    }

    /// Places where sqNum left out at least one message.
    pub(crate) fn gaps(&self) -> u64 {
        self.0.rules().gaps()
    }

    pub(crate) fn duplicates(&self) -> u64 {
        self.0.rules().duplicates()
    }

    /// Messages that came after a later one.
    pub(crate) fn late(&self) -> u64 {
        self.0.rules().late()
    }

    /// Takes a message; tells whether the time since the one before is measured.
    pub(crate) fn frame(
        &mut self,
        frame: &Frame<'_>,
        time_ns: Option<i64>,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> bool {
        let last = self.0.rules().last();
        let verdict = self.0.accept(frame, Instants::stamped(time_ns));
        let Verdict::Judged {
            outcome,
            overdue_ns,
            before,
        } = verdict
        else {
            return false;
        };
        let number = notes.frame;
        if let Some((overdue, last)) = overdue_ns.zip(last) {
            notes.write(budget, EventKind::Expired, || expired(last.tal_ms, overdue, number));
        }
        say(outcome, Numbers::of(frame), last, budget, notes);
        if let Some(before) = before {
            changes(&before, &Marks::of(frame), budget, notes);
        }
        outcome.is_measured()
    }

    /// The end of the capture, at its last stamp.
    pub(crate) fn finish(&mut self, end_ns: Option<i64>, budget: &mut Budget, notes: &mut Notes<'_>) {
        let overdue = self.0.finish(Instants::stamped(end_ns));
        if let Some((overdue, last)) = overdue.zip(self.0.rules().last()) {
            notes.write(budget, EventKind::Expired, || {
                let after = format_ns((i64::from(last.tal_ms) * MS_NS + overdue) as f64);
                let tal_ms = last.tal_ms;
                format!("no message for {after} when the capture ended; timeAllowedtoLive was {tal_ms} ms")
            });
        }
    }
}

fn say(outcome: Outcome, message: Numbers, before: Option<Numbers>, budget: &mut Budget, notes: &mut Notes<'_>) {
    let Numbers { st_num, sq_num, .. } = message;
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
                n => {
                    format!("; it begins with sqNum {n}, not 0: messages were lost, or the publisher does not reset it")
                }
            };
            format!("stNum {from} -> {st_num} (frame {frame}){missed}{begun}")
        }),
        Outcome::Restart => notes.write(budget, EventKind::State, || restart(message, before, frame)),
        Outcome::Old if st_num == from => notes.write(budget, EventKind::Change, || {
            format!("an old message of stNum {st_num}, sqNum {sq_num} while that state was live (frame {frame})")
        }),
        Outcome::Old => notes.write(budget, EventKind::Change, || {
            format!("an old message of stNum {st_num} while stNum {from} was live (frame {frame})")
        }),
        Outcome::Repetition(_) => {}
    }
}

/// With lower numbers, or with some further ahead than the time allows.
fn restart(message: Numbers, before: Option<Numbers>, frame: u64) -> String {
    let Numbers { st_num, sq_num, .. } = message;
    let before = before.unwrap_or(message);
    let (what, from, to) = match st_num == before.st_num {
        true => ("sqNum", before.sq_num, sq_num),
        false => ("stNum", before.st_num, st_num),
    };
    match to > from {
        true => format!(
            "{what} jumped from {from} to {to} (frame {frame}), by more messages than the time since the last one allows: the \
             publisher began again, or it is another one"
        ),
        false if what == "sqNum" => {
            format!("sqNum went back to {to} without a new stNum (frame {frame}): the publisher began again")
        }
        false => format!("stNum went back from {from} to {to} (frame {frame}): the publisher began again"),
    }
}

fn changes(before: &Marks, now: &Marks, budget: &mut Budget, notes: &mut Notes<'_>) {
    let number = notes.frame;
    let mut changed = |what: &str, from: u64, to: u64| {
        if from != to {
            notes.write(budget, EventKind::Change, || {
                format!("{what} changed from {from} to {to} (frame {number})")
            });
        }
    };
    changed("simulation", u64::from(before.simulation), u64::from(now.simulation));
    changed("confRev", u64::from(before.conf_rev), u64::from(now.conf_rev));
    changed("ndsCom", u64::from(before.nds_com), u64::from(now.nds_com));
    changed("numDatSetEntries", u64::from(before.entries), u64::from(now.entries));
    let names = [before.dat_set(), now.dat_set()];
    if names[0] != names[1] {
        let [from, to] = names.map(crate::identity::printable);
        notes.write(budget, EventKind::Change, || {
            format!("datSet changed from {from} to {to} (frame {number})")
        });
    }
    let (from, to) = (before.source, now.source);
    if from != to {
        notes.write(budget, EventKind::Change, || {
            format!("source address changed from {from} to {to} (frame {number})")
        });
    }
}

fn expired(tal_ms: u32, overdue_ns: i64, frame: u64) -> String {
    let after = format_ns((i64::from(tal_ms) * MS_NS + overdue_ns) as f64);
    format!("silent for {after} where timeAllowedtoLive was {tal_ms} ms (until frame {frame})")
}
