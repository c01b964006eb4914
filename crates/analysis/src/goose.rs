//! Analysis of one GOOSE stream: states, repetitions, silence, and changes that have to be reported. The rules are those of
//! [`wire::goose::Supervisor`].

use crate::sink::{Budget, EventKind, Notes};
use units::SignedNs;
use wire::goose::{
    Counts, Expectation, Frame, Heard, Marks, Numbers, Oddity, Outcome, REFUSALS, Refusal, Settings, Supervisor,
    Verdict,
};

use wire::order::OrderPlace;
use wire::routed::Publisher;

pub use wire::goose::Counts as GooseCounts;

const MS_NS: i64 = 1_000_000;

/// A GOOSE stream, supervised as by `subscribe` without options.
#[derive(Debug)]
pub(crate) struct GooseStream {
    supervisor: Supervisor,
    /// Number of reported doubts: other events do not count towards their limit.
    doubts: Budget,
    /// The last message was old or contradicted another: several such messages in a row make one event.
    was_foreign: bool,
}

impl GooseStream {
    pub(crate) fn new() -> Self {
        Self {
            supervisor: Supervisor::new(Settings::default(), Expectation::default()),
            doubts: Budget::default(),
            was_foreign: false,
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.supervisor.counts()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.supervisor.rules().lost()
    }

    /// Number of places at which sqNum shows at least one missing message.
    pub(crate) fn gaps(&self) -> u64 {
        self.supervisor.rules().gaps()
    }

    pub(crate) fn duplicates(&self) -> u64 {
        self.supervisor.rules().duplicates()
    }

    /// Messages with the numbers of an earlier message, but other contents.
    pub(crate) fn conflicting(&self) -> u64 {
        self.supervisor.counts().conflicting
    }

    /// Messages that came after a later one.
    pub(crate) fn late(&self) -> u64 {
        self.supervisor.rules().late()
    }

    /// Takes a message; returns true if the time since the message before is measured.
    pub(crate) fn frame(
        &mut self,
        frame: &Frame<'_>,
        time_ns: Option<i64>,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> bool {
        let before = self.supervisor.counts();
        let last = self.supervisor.rules().last();
        let verdict = self.supervisor.accept(frame, Heard::at(time_ns));
        let is_measured = match verdict {
            Verdict::Refused { refusal, is_new } => {
                if is_new {
                    self.refused(refusal, frame, notes);
                }
                false
            }
            Verdict::Judged {
                outcome,
                overdue_ns,
                before,
                oddity,
            } => {
                let number = notes.frame;
                if let Some((overdue, last)) = overdue_ns.zip(last) {
                    notes.write(budget, EventKind::Expired, || expired(last.tal_ms, overdue, number));
                }
                let is_other =
                    outcome == Outcome::Restart && before.is_some_and(|before| is_of_another(&before, frame));
                self.say(outcome, Numbers::of(frame), last.filter(|_| !is_other), budget, notes);
                if let Some(oddity) = oddity.filter(|oddity| oddity.is_doubt()) {
                    self.odd(oddity, notes);
                } else if oddity.is_some() {
                    notes.write(budget, EventKind::Change, || to_zero(number));
                }
                if let Some(before) = before {
                    self.changes(&before, &Marks::of(frame), budget, notes);
                }
                outcome.is_measured()
            }
        };
        if before.without_life == 0 && self.supervisor.counts().without_life > 0 {
            let number = notes.frame;
            self.doubt(notes, || {
                format!(
                    "timeAllowedtoLive is 0, which is not allowed, so it is not known whether the publisher died (frame \
                     {number})"
                )
            });
        }
        is_measured
    }

    /// The end of the capture, at its last stamp.
    pub(crate) fn finish(&mut self, end_ns: Option<i64>, budget: &mut Budget, notes: &mut Notes<'_>) {
        let end = Heard::at(end_ns);
        let overdue = self.supervisor.finish(end);
        let silence_ns = self.supervisor.rules().silence_ns(end);
        let single = self.supervisor.rules().is_single();
        if let Some((overdue, last)) = overdue.zip(self.supervisor.rules().last()) {
            notes.write(budget, EventKind::Expired, || {
                let after = SignedNs(i64::from(last.tal_ms) * MS_NS + overdue);
                let (tal_ms, came) = (last.tal_ms, if single { "one message came, and then " } else { "" });
                format!("{came}no message for {after} when the capture ended; timeAllowedtoLive was {tal_ms} ms")
            });
        }
        if let Some(oddity) = self.supervisor.rules().oddity() {
            self.odd(oddity, notes);
        }
        if single {
            self.doubt(notes, || {
                "only one message came: nothing is known of later ones".to_owned()
            });
        }
        if self.supervisor.counts().fell_silent > 0 {
            let after = SignedNs(silence_ns.unwrap_or(0));
            self.doubt(notes, || {
                format!(
                    "no message for the last {after} of the capture; until then messages came steadily and more often"
                )
            });
        }
        for refusal in REFUSALS.into_iter().filter(|refusal| refusal.is_doubt()) {
            let count = self.supervisor.refused().of(refusal);
            if count > 0 {
                self.doubt(notes, || format!("{count} messages were refused: {}", refusal.reason()));
            }
        }
        budget.unlisted += self.doubts.unlisted;
    }

    /// Reports an event that puts the figures of the stream in doubt.
    fn doubt(&mut self, notes: &mut Notes<'_>, text: impl FnOnce() -> String) {
        notes.write(&mut self.doubts, EventKind::Uncountable, text);
    }

    fn refused(&mut self, refusal: Refusal, frame: &Frame<'_>, notes: &mut Notes<'_>) {
        let number = notes.frame;
        let (first, second) = (
            self.supervisor.marks().map(|marks| Publisher(marks.source)),
            Publisher(frame.ethernet().src()),
        );
        self.doubt(notes, || match first.filter(|_| refusal == Refusal::SecondSource) {
            Some(first) => format!(
                "a second publisher: {second} sends messages while {first} is live; they are not accepted (frame {number})"
            ),
            None => format!("a message is refused: {} (frame {number})", refusal.reason()),
        });
    }

    fn odd(&mut self, oddity: Oddity, notes: &mut Notes<'_>) {
        let number = notes.frame;
        self.doubt(notes, || match oddity {
            Oddity::BeganAgain => {
                format!(
                    "t changed once without a new stNum, then stayed the same (frame {number}): the publisher \
                     restarted"
                )
            }
            Oddity::Altered => {
                format!(
                    "the values changed without a new stNum (frame {number}): a second publisher sent them, or the \
                     publisher breaks the rules"
                )
            }
            Oddity::NotReset => format!(
                "a new state continues the sqNum of the previous one (frame {number}): either its first messages were lost, or the \
                 publisher does not reset sqNum"
            ),
            Oddity::Regrouped => {
                format!("the dataset changed and confRev did not (frame {number}): the meaning of its values is not known")
            }
            Oddity::ToZero => to_zero(number),
        });
    }

    fn say(
        &mut self,
        outcome: Outcome,
        message: Numbers,
        before: Option<Numbers>,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) {
        let Numbers { st_num, sq_num, .. } = message;
        let frame = notes.frame;
        let from = before.map_or(0, |before| before.st_num);
        let is_first = !std::mem::replace(
            &mut self.was_foreign,
            matches!(outcome, Outcome::Old | Outcome::Conflicting),
        );
        match outcome {
            Outcome::First => notes.write(budget, EventKind::State, || {
                format!("first seen with stNum {st_num}, sqNum {sq_num} (frame {frame})")
            }),
            Outcome::NewState(missed) => {
                notes.write(budget, EventKind::State, || new_state(message, from, missed, frame));
            }
            Outcome::Restart => self.doubt(notes, || restart(message, before, frame)),
            Outcome::Old if is_first => self.doubt(notes, || old(message, from, frame)),
            Outcome::Conflicting if is_first => self.doubt(notes, || {
                format!(
                    "a second message with stNum {st_num}, sqNum {sq_num} has other contents (frame {frame}): a \
                     second publisher sent it; it is not accepted"
                )
            }),
            Outcome::Repetition(OrderPlace::Gap(missing)) => {
                let from = before.map_or(0, |before| before.sq_num);
                notes.write(budget, EventKind::Loss, || {
                    format!("{missing} missing between sqNum {from} and {sq_num} of stNum {st_num} (frame {frame})")
                });
            }
            Outcome::HeldUp(missing @ 1..) => notes.write(budget, EventKind::Loss, || {
                format!("{missing} missing before sqNum {sq_num} of stNum {st_num}, which the next state overtook (frame {frame})")
            }),
            Outcome::Old | Outcome::Conflicting | Outcome::HeldUp(_) | Outcome::Repetition(_) => {}
        }
    }

    fn changes(&mut self, before: &Marks, now: &Marks, budget: &mut Budget, notes: &mut Notes<'_>) {
        fields(before, now, budget, notes);
        let (from, to, number) = (Publisher(before.source), Publisher(now.source), notes.frame);
        if from != to {
            self.doubt(notes, || {
                format!("another publisher: the source address changed from {from} to {to} (frame {number})")
            });
        }
    }
}

fn to_zero(frame: u64) -> String {
    format!(
        "sqNum went from its highest value to 0, and not to 1 (frame {frame}): the publisher breaks the rules; nothing was lost there"
    )
}

fn new_state(message: Numbers, from: u32, missed: u64, frame: u64) -> String {
    let missed = match missed {
        0 => String::new(),
        1 => "; 1 state between them never came".to_owned(),
        n => format!("; {n} states between them never came"),
    };
    let begun = match message.sq_num {
        0 => String::new(),
        n => format!("; it begins with sqNum {n}, not 0: messages were lost, or the publisher does not reset it"),
    };
    let st_num = message.st_num;
    format!("stNum {from} -> {st_num} (frame {frame}){missed}{begun}")
}

fn old(message: Numbers, live: u32, frame: u64) -> String {
    let Numbers { st_num, sq_num, .. } = message;
    let while_live = match st_num == live {
        true => format!("stNum {st_num}, sqNum {sq_num} while that state was live"),
        false => format!("stNum {st_num} while stNum {live} was live"),
    };
    format!(
        "an old message of {while_live} (frame {frame}): replayed, or sent by a second publisher; it is not accepted"
    )
}

/// True if an accepted message is from another publisher than the one before it, by its address or because it is simulated.
fn is_of_another(before: &Marks, frame: &Frame<'_>) -> bool {
    before.source != frame.ethernet().src() || frame.simulation() && !before.simulation
}

/// With lower numbers, or with numbers further ahead than the time allows.
fn restart(message: Numbers, before: Option<Numbers>, frame: u64) -> String {
    let Numbers { st_num, sq_num, .. } = message;
    let Some(before) = before else {
        return format!("another publisher takes over the block with stNum {st_num}, sqNum {sq_num} (frame {frame})");
    };
    let (what, from, to) = match st_num == before.st_num {
        true => ("sqNum", before.sq_num, sq_num),
        false => ("stNum", before.st_num, st_num),
    };
    match to > from {
        true => format!(
            "{what} jumped from {from} to {to} (frame {frame}), too far for the time since the last message: the \
             publisher restarted, or it is another one"
        ),
        false if what == "sqNum" => {
            format!("sqNum went back to {to} without a new stNum (frame {frame}): the publisher restarted")
        }
        false => format!(
            "stNum went back from {from} to {to} (frame {frame}): the publisher restarted, or it is another one"
        ),
    }
}

fn fields(before: &Marks, now: &Marks, budget: &mut Budget, notes: &mut Notes<'_>) {
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
        let [from, to] = names.map(String::from_utf8_lossy);
        notes.write(budget, EventKind::Change, || {
            format!("datSet changed from {from} to {to} (frame {number})")
        });
    }
}

fn expired(tal_ms: u32, overdue_ns: i64, frame: u64) -> String {
    let after = SignedNs(i64::from(tal_ms) * MS_NS + overdue_ns);
    format!("silent for {after} where timeAllowedtoLive was {tal_ms} ms (until frame {frame})")
}
