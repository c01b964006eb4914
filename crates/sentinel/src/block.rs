//! The supervision of one GOOSE control block.

use crate::alarm::AlarmKind;
use crate::desk::Desk;
use crate::gaps::Gaps;
use model::{Counter, EventKind};
use units::Ns;
use wire::goose::{Expectation, Frame, Heard, Marks, Outcome, Settings, Simulation, Supervisor, Verdict};

const NS_PER_MS: i64 = 1_000_000;

/// A message counts no longer than this, in ns, whatever its publisher allows: it may be a mistake.
const LONGEST_LIFE_NS: i64 = 86_400_000_000_000;

/// Places with missed states that wait for a look: more than a port gives messages before one.
const MOST_MISSED: usize = 65_536;

/// A control block to supervise.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedBlock {
    /// Its reference.
    pub gocb_ref: String,
    /// Its expected configuration.
    pub expectation: Expectation,
    /// It counts as silent after so many times timeAllowedtoLive.
    pub tal_factor: f64,
}

impl WatchedBlock {
    /// A block of which nothing but the reference is known.
    pub fn named(gocb_ref: &str) -> Self {
        Self {
            gocb_ref: gocb_ref.to_owned(),
            expectation: Expectation::default(),
            tal_factor: 1.0,
        }
    }
}

/// Counts that were passed on already.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    lost: u64,
    duplicates: u64,
    conflicting: u64,
    reordered: u64,
    expired: u64,
}

/// States that never came, by the message after them.
#[derive(Debug, Clone, Copy)]
struct Missed {
    states: u64,
    before: u32,
    since_ns: i64,
    at_ns: i64,
}

/// The supervision of a control block.
#[derive(Debug)]
pub(crate) struct BlockWatch {
    pub(crate) config: WatchedBlock,
    subject: usize,
    series: usize,
    begun_ns: i64,
    never_ns: i64,
    supervisor: Supervisor,
    counted: Counted,
    last_ns: Option<i64>,
    life_ns: i64,
    is_test: bool,
    is_silent: bool,
    excused_ns: i64,
    /// States that were missed since the last look: the watch itself may have lost their messages.
    missed: Vec<Missed>,
    /// The last message before the last look.
    looked_at_ns: i64,
    pub(crate) gaps: Gaps,
}

impl BlockWatch {
    pub(crate) fn new(config: WatchedBlock, [subject, series]: [usize; 2], begun_ns: i64, never_ns: i64) -> Self {
        let settings = Settings {
            tal_factor: config.tal_factor,
            simulation: Simulation::Off,
            edition_1: false,
        };
        Self {
            supervisor: Supervisor::new(settings, config.expectation.clone()),
            config,
            subject,
            series,
            begun_ns,
            never_ns,
            counted: Counted::default(),
            last_ns: None,
            life_ns: 0,
            is_test: false,
            is_silent: false,
            excused_ns: begun_ns,
            missed: Vec::new(),
            looked_at_ns: begun_ns,
            gaps: Gaps::default(),
        }
    }

    /// True while messages of it come in time.
    pub(crate) fn is_live(&self) -> bool {
        self.last_ns.is_some() && !self.is_silent && self.supervisor.is_usable()
    }

    /// When to look for its silence, in ns.
    pub(crate) fn deadline_ns(&self) -> Option<i64> {
        self.supervisor.rules().deadline_ns()
    }

    /// Takes a message.
    pub(crate) fn take(&mut self, frame: &Frame<'_>, at_ns: i64, desk: &mut Desk) {
        if frame.gocb_ref() != self.config.gocb_ref.as_bytes() {
            return;
        }
        if frame.is_test() != self.is_test {
            self.is_test = frame.is_test();
            let words = if self.is_test {
                "are tests now"
            } else {
                "are no tests any more"
            };
            self.changed(at_ns, format!("messages {words}"), desk);
        }
        match self.supervisor.accept(frame, Heard::at(Some(at_ns))) {
            Verdict::Refused { refusal, is_new } => {
                // The relay's messages are not used meanwhile.
                self.gaps.add(self.last_ns.unwrap_or(self.begun_ns), at_ns);
                if is_new {
                    self.changed(at_ns, format!("messages are refused: {}", refusal.reason()), desk);
                }
            }
            Verdict::Judged {
                outcome,
                before,
                oddity,
                ..
            } => {
                self.outcome(outcome, frame, at_ns, desk);
                if let Some(before) = before {
                    self.changed(at_ns, differs(&before, &Marks::of(frame)), desk);
                }
                if oddity.is_some_and(wire::goose::Oddity::is_doubt) {
                    self.changed(
                        at_ns,
                        "its contents or numbers break a rule of a state".to_owned(),
                        desk,
                    );
                }
                if outcome.is_measured() {
                    self.came(frame, at_ns, desk);
                }
            }
        }
    }

    fn outcome(&mut self, outcome: Outcome, frame: &Frame<'_>, at_ns: i64, desk: &mut Desk) {
        let since_ns = self.last_ns.unwrap_or(self.begun_ns);
        match outcome {
            Outcome::NewState(missed) if missed > 0 => {
                self.gaps.add(since_ns, at_ns);
                if since_ns >= self.excused_ns && self.missed.len() < MOST_MISSED {
                    self.missed.push(Missed {
                        states: missed,
                        before: frame.st_num(),
                        since_ns,
                        at_ns,
                    });
                }
            }
            Outcome::Restart => {
                self.gaps.add(since_ns, at_ns);
                self.changed(
                    at_ns,
                    format!("the publisher began again, at stNum {}", frame.st_num()),
                    desk,
                );
            }
            Outcome::Old | Outcome::Conflicting => {
                self.gaps.add(since_ns, at_ns);
                self.changed(at_ns, "messages are old, or contradict others".to_owned(), desk);
            }
            _ => {}
        }
    }

    fn came(&mut self, frame: &Frame<'_>, at_ns: i64, desk: &mut Desk) {
        let last = self.last_ns.replace(at_ns);
        let factor = if self.config.tal_factor > 0.0 {
            self.config.tal_factor
        } else {
            1.0
        };
        let life_ms = (f64::from(frame.time_allowed_to_live()) * factor) as i64;
        self.life_ns = life_ms.saturating_mul(NS_PER_MS).min(LONGEST_LIFE_NS);
        let Some(last) = last else {
            self.is_silent = false;
            return;
        };
        desk.sample(self.series, at_ns.saturating_sub(last), at_ns);
        if std::mem::take(&mut self.is_silent) {
            self.gaps.add(last, at_ns);
            let silent = Ns(at_ns.saturating_sub(last).unsigned_abs());
            let text = format!("{}: messages come again, after {silent}", self.config.gocb_ref);
            desk.span([last, at_ns], EventKind::StreamDoubt, Some(self.series), text);
        }
    }

    fn changed(&mut self, at_ns: i64, text: String, desk: &mut Desk) {
        let event = format!("{}: {text}", self.config.gocb_ref);
        desk.event(at_ns, EventKind::StreamDoubt, Some(self.series), event);
        desk.alarm(AlarmKind::Changed, self.subject, [at_ns, at_ns], text);
    }

    /// Judges the losses and counts since the last look, when it is known whether the watch itself lost frames meanwhile.
    fn counts(&mut self, at_ns: i64, desk: &mut Desk) {
        let is_excused = self.looked_at_ns < self.excused_ns;
        self.looked_at_ns = self.last_ns.unwrap_or(self.begun_ns);
        for missed in self.missed.drain(..) {
            let text = format!("{} states never came, before stNum {}", missed.states, missed.before);
            desk.alarm(AlarmKind::Lost, self.subject, [missed.since_ns, missed.at_ns], text);
        }
        let rules = self.supervisor.rules();
        let counts = rules.counts();
        let now = Counted {
            lost: rules.lost(),
            duplicates: rules.duplicates(),
            conflicting: counts.conflicting,
            reordered: rules.late(),
            expired: counts.expired,
        };
        let before = self.counted;
        // A message that is late takes a loss back: what was counted stays counted.
        self.counted = Counted {
            lost: now.lost.max(before.lost),
            ..now
        };
        // A loss of the watch itself is told as such, and is none of the publisher.
        let lost = if is_excused { 0 } else { self.counted.lost - before.lost };
        for (counter, now, before) in [
            (Counter::Lost, lost, 0),
            (Counter::Duplicate, now.duplicates, before.duplicates),
            (Counter::Conflicting, now.conflicting, before.conflicting),
            (Counter::Reordered, now.reordered, before.reordered),
            (Counter::Late, now.expired, before.expired),
        ] {
            desk.count(self.series, counter, now.saturating_sub(before));
        }
        if lost > 0 {
            let text = format!("{lost} messages never came, by their numbers");
            desk.alarm(AlarmKind::Lost, self.subject, [at_ns, at_ns], text);
        }
    }

    /// The watch itself lost frames until `now_ns`: what is missing until then is not the publisher's fault.
    pub(crate) fn excuse(&mut self, now_ns: i64) {
        self.missed.clear();
        self.excused_ns = self.excused_ns.max(now_ns);
    }

    /// Looks for silence; every message that came before `now_ns` was taken.
    pub(crate) fn look(&mut self, now_ns: i64, desk: &mut Desk) {
        self.supervisor.expire(Heard::at(Some(now_ns)));
        self.counts(now_ns, desk);
        self.silence(now_ns, desk);
        // A silence that goes on may hide a fault as one that is over may.
        if self.is_silent || self.last_ns.is_none() {
            self.gaps.add(self.last_ns.unwrap_or(self.begun_ns), now_ns);
        }
    }

    fn silence(&mut self, now_ns: i64, desk: &mut Desk) {
        let since_ns = self.last_ns.unwrap_or(self.begun_ns).max(self.excused_ns);
        let allowed_ns = match self.last_ns {
            Some(_) if self.life_ns > 0 => self.life_ns,
            _ => self.never_ns,
        };
        let silent_ns = now_ns.saturating_sub(since_ns);
        if self.is_silent || silent_ns <= allowed_ns {
            return;
        }
        self.is_silent = true;
        let text = match self.last_ns {
            Some(_) => format!(
                "no message for {}, and {} were allowed",
                Ns(silent_ns.unsigned_abs()),
                Ns(allowed_ns.unsigned_abs())
            ),
            None => format!("no message in {} since the watch began", Ns(silent_ns.unsigned_abs())),
        };
        let event = format!("{}: {text}", self.config.gocb_ref);
        desk.span([since_ns, now_ns], EventKind::StreamDoubt, Some(self.series), event);
        desk.alarm(AlarmKind::Silent, self.subject, [since_ns, now_ns], text);
    }
}

fn differs(before: &Marks, now: &Marks) -> String {
    let mut parts = Vec::new();
    if before.source != now.source {
        parts.push(format!("source from {} to {}", before.source, now.source));
    }
    if before.conf_rev != now.conf_rev {
        parts.push(format!("confRev from {} to {}", before.conf_rev, now.conf_rev));
    }
    if before.dat_set() != now.dat_set() || before.entries != now.entries {
        let name = |marks: &Marks| String::from_utf8_lossy(marks.dat_set()).into_owned();
        parts.push(format!(
            "dataset from {} of {} entries to {} of {}",
            name(before),
            before.entries,
            name(now),
            now.entries
        ));
    }
    if before.nds_com != now.nds_com {
        parts.push(format!("ndsCom from {} to {}", before.nds_com, now.nds_com));
    }
    if before.simulation != now.simulation {
        parts.push(format!("simulation from {} to {}", before.simulation, now.simulation));
    }
    parts.join(", ")
}
