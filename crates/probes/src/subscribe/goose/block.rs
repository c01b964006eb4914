//! One control block: its identity, its supervision and its series.

use super::SuperviseConfig;
use super::key;
use super::notice::Notice;
use crate::reception::Arrival;
use crate::subscribe::proofs::Proofs;
use model::{Counter, StreamId};
use run::Feed;
use streamset::goose::ExpectedBlock;
use units::Monotonic;
use wire::ether::Mac;
use wire::goose::{
    Expectation, Frame, Heard, Marks, Numbers, Oddity, Outcome, REFUSALS, Refusal, Settings, Supervisor, Verdict,
};
use wire::routed::Proof;

/// Maximum number of written events of one control block; further ones are only counted.
const EVENTS: u32 = 200;

/// Counts already passed to the counters of the series.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    lost: u64,
    duplicates: u64,
    conflicting: u64,
    late: u64,
    expired: u64,
}

/// A supervised control block.
pub(super) struct Watched {
    pub(super) id: StreamId,
    slot: u16,
    times_changes: bool,
    supervisor: Supervisor,
    counted: Counted,
    last_stamp_ns: Option<i64>,
    /// True if the last message was outdated or contradicted another; a row of such messages is one event.
    was_foreign: bool,
    /// Number of unreadable messages that may belong to this block.
    pub(super) unread: u64,
    proofs: Proofs,
    listed: u32,
    /// Number of listed doubts, which have their own limit apart from other events.
    doubts: u32,
    unlisted: u64,
}

impl Watched {
    pub(super) fn new(id: StreamId, slot: u16, times_changes: bool, config: &SuperviseConfig) -> Self {
        Self {
            id,
            slot,
            times_changes,
            supervisor: Supervisor::new(settings(config), Expectation::default()),
            counted: Counted::default(),
            last_stamp_ns: None,
            was_foreign: false,
            unread: 0,
            proofs: Proofs::default(),
            listed: 0,
            doubts: 0,
            unlisted: 0,
        }
    }

    /// Makes an expected control block.
    pub(super) fn expected(block: &ExpectedBlock, slot: u16, times_changes: bool, config: &SuperviseConfig) -> Self {
        let watched = Self::new(key::expected(block), slot, times_changes, config);
        let supervisor = Supervisor::new(settings(config), block.expectation.clone());
        Self { supervisor, ..watched }
    }

    /// Announces the names of the series.
    pub(super) fn announce(&self, feed: &mut Feed) {
        let families = if self.times_changes { 2 } else { 1 };
        for slot in self.slot..self.slot + families {
            feed.announce_stream(slot, &self.id);
        }
    }

    /// Time of expiry.
    pub(super) fn deadline(&self) -> Option<Monotonic> {
        self.supervisor.rules().deadline_ns().map(Monotonic::from_ns)
    }

    /// Accounts for one message.
    pub(super) fn message(&mut self, frame: &Frame<'_>, arrival: &Arrival, feed: &mut Feed) {
        let heard = heard(arrival.heard);
        let rules = self.supervisor.rules();
        let (last, was_live, silence_ns) = (rules.last(), rules.is_live(), rules.silence_ns(heard));
        let without_life = rules.counts().without_life;
        match self.supervisor.accept(frame, heard) {
            Verdict::Refused { refusal, is_new } if is_new => self.refused(refusal, frame, arrival.at, feed),
            Verdict::Refused { .. } => {}
            verdict @ Verdict::Judged {
                outcome,
                overdue_ns,
                before,
                oddity,
            } => {
                if overdue_ns.is_some() {
                    let notice = if was_live { Notice::Expired } else { Notice::Again };
                    let tal_ms = last.map_or(0, |last| last.tal_ms);
                    self.say(notice, arrival.at, positive(silence_ns), u64::from(tal_ms), feed);
                }
                let numbers = Numbers::of(frame);
                let is_other =
                    outcome == Outcome::Restart && before.is_some_and(|before| is_of_another(&before, frame));
                self.outcome(outcome, numbers, last.filter(|_| !is_other), arrival.at, feed);
                self.odd(oddity, u64::from(numbers.sq_num), arrival.at, feed);
                if let Some(before) = before {
                    self.changed(&before, &Marks::of(frame), arrival.at, feed);
                }
                self.measure(outcome, numbers, arrival, feed);
                if self.times_changes && verdict.is_event(numbers.sq_num) {
                    let took_ns = arrival.wall.as_ns() - frame.t().as_ns();
                    feed.sample(self.slot + 1, arrival.at, took_ns, u64::from(numbers.st_num));
                }
            }
        }
        if without_life == 0 && self.supervisor.counts().without_life > 0 {
            self.say(Notice::WithoutLifeFirst, arrival.at, 0, 0, feed);
        }
        self.count(arrival.at, feed);
    }

    /// Counts a datagram whose signature is not known to be right; the first of each kind is told at once.
    pub(super) fn proved(&mut self, proof: Proof, at: Monotonic, feed: &mut Feed) {
        if self.proofs.count(proof) == 1 {
            self.tell(Notice::Proof(proof), at, 1, 0, feed);
        }
    }

    /// Checks for a silence that is too long; everything received before `now` has been taken.
    pub(super) fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        if self.supervisor.expire(heard(now)).is_some() {
            self.expired(now, feed);
        }
    }

    /// Ends the supervision; called once.
    pub(super) fn end(&mut self, now: Monotonic, feed: &mut Feed) {
        for (proof, count) in self.proofs.repeated() {
            self.tell(Notice::Proof(proof), now, count, 0, feed);
        }
        if self.supervisor.messages() == 0 {
            // Refused ones came, and have been told.
            if self.unread == 0 && self.proofs.has_refused() {
                return;
            }
            let notice = if self.unread > 0 {
                Notice::NoneRead
            } else {
                Notice::NeverCame
            };
            self.tell(notice, now, self.unread, 0, feed);
            return;
        }
        let was_live = self.supervisor.rules().is_live();
        let overdue = self.supervisor.finish(heard(now));
        let silence_ns = positive(self.supervisor.rules().silence_ns(heard(now)));
        if overdue.is_some() {
            self.expired(now, feed);
        } else if !was_live {
            self.always(Notice::Silent, now, silence_ns, 0, feed);
        }
        let rules = self.supervisor.rules();
        let (counts, is_single) = (rules.counts(), rules.is_single());
        self.odd(rules.oddity(), 0, now, feed);
        self.count(now, feed);
        self.always(Notice::Totals, now, counts.states, counts.repetitions, feed);
        for (notice, count) in [
            (Notice::Single, u64::from(is_single)),
            (Notice::FellSilent, silence_ns * counts.fell_silent),
            (Notice::RestartsTotal, counts.restarts),
            (Notice::OldTotal, counts.old),
            (Notice::WithoutLife, counts.without_life),
            (Notice::Unread, self.unread),
            (Notice::Unlisted, self.unlisted),
        ] {
            self.always(notice, now, count, 0, feed);
        }
        self.always(Notice::ConflictingTotal, now, counts.conflicting, counts.altered, feed);
        let refused = self.supervisor.refused();
        for refusal in REFUSALS {
            self.always(Notice::RefusedTotal(refusal), now, refused.of(refusal), 0, feed);
        }
    }

    fn expired(&mut self, now: Monotonic, feed: &mut Feed) {
        let rules = self.supervisor.rules();
        let (silence_ns, tal_ms) = (rules.silence_ns(heard(now)), rules.last().map_or(0, |last| last.tal_ms));
        self.say(Notice::Expired, now, positive(silence_ns), u64::from(tal_ms), feed);
        self.count(now, feed);
    }

    fn outcome(&mut self, outcome: Outcome, now: Numbers, last: Option<Numbers>, at: Monotonic, feed: &mut Feed) {
        let (st_num, sq_num) = (u64::from(now.st_num), u64::from(now.sq_num));
        let from = last.map_or(0, |last| u64::from(last.st_num));
        match outcome {
            Outcome::First => self.say(Notice::FirstSeen, at, st_num, sq_num, feed),
            Outcome::NewState(missed) => {
                self.say(Notice::State, at, from, st_num, feed);
                if missed > 0 {
                    self.say(Notice::MissedStates, at, missed, st_num, feed);
                }
                if sq_num > 0 {
                    self.say(Notice::BegunLate, at, sq_num, st_num, feed);
                }
            }
            Outcome::Restart if last.is_none() => self.say(Notice::TakenOver, at, st_num, sq_num, feed),
            Outcome::Restart => self.say(Notice::Restart, at, st_num, sq_num, feed),
            Outcome::Old if !self.was_foreign => self.say(Notice::Old, at, st_num, from, feed),
            Outcome::Conflicting if !self.was_foreign => self.say(Notice::Conflicting, at, st_num, sq_num, feed),
            Outcome::Old | Outcome::Conflicting | Outcome::HeldUp(_) | Outcome::Repetition(_) => {}
        }
        self.was_foreign = matches!(outcome, Outcome::Old | Outcome::Conflicting);
    }

    fn odd(&mut self, oddity: Option<Oddity>, sq_num: u64, at: Monotonic, feed: &mut Feed) {
        match oddity {
            Some(Oddity::BeganAgain) => self.say(Notice::BeganAgain, at, 0, 0, feed),
            Some(Oddity::Altered) => self.say(Notice::Altered, at, sq_num, 0, feed),
            Some(Oddity::NotReset) => self.say(Notice::NotReset, at, sq_num, 0, feed),
            Some(Oddity::Regrouped) => self.say(Notice::Regrouped, at, sq_num, 0, feed),
            Some(Oddity::ToZero) => self.say(Notice::ToZero, at, 0, 0, feed),
            None => {}
        }
    }

    fn refused(&mut self, refusal: Refusal, frame: &Frame<'_>, at: Monotonic, feed: &mut Feed) {
        if refusal == Refusal::SecondSource {
            let first = self.supervisor.marks().map_or(0, |marks| address(marks.source));
            self.say(Notice::SecondSource, at, first, address(frame.ethernet().src()), feed);
            return;
        }
        let detail = match refusal {
            Refusal::ConfRev => u64::from(frame.conf_rev()),
            Refusal::Entries => u64::from(frame.num_dat_set_entries()),
            _ => 0,
        };
        self.say(Notice::Refused(refusal), at, detail, 0, feed);
    }

    fn changed(&mut self, before: &Marks, now: &Marks, at: Monotonic, feed: &mut Feed) {
        let pairs = [
            (
                Notice::Simulation,
                u64::from(before.simulation),
                u64::from(now.simulation),
            ),
            (Notice::ConfRev, u64::from(before.conf_rev), u64::from(now.conf_rev)),
            (Notice::NdsCom, u64::from(before.nds_com), u64::from(now.nds_com)),
            (Notice::Entries, u64::from(before.entries), u64::from(now.entries)),
            (Notice::DatSet, 0, u64::from(before.dat_set() != now.dat_set())),
            (Notice::Source, address(before.source), address(now.source)),
        ];
        for (notice, from, to) in pairs {
            if from != to {
                self.say(notice, at, from, to, feed);
            }
        }
    }

    fn measure(&mut self, outcome: Outcome, now: Numbers, arrival: &Arrival, feed: &mut Feed) {
        if !outcome.is_measured() {
            return;
        }
        // After a message without a stamp, the time to the next message is not known.
        let before = std::mem::replace(&mut self.last_stamp_ns, arrival.stamp_ns);
        if let (Some(stamp_ns), Some(before_ns)) = (arrival.stamp_ns, before) {
            feed.sample(self.slot, arrival.at, stamp_ns - before_ns, u64::from(now.sq_num));
        }
    }

    fn count(&mut self, at: Monotonic, feed: &mut Feed) {
        let rules = self.supervisor.rules();
        let now = Counted {
            lost: rules.lost(),
            duplicates: rules.duplicates(),
            conflicting: rules.counts().conflicting,
            late: rules.late(),
            expired: rules.counts().expired,
        };
        let before = std::mem::replace(&mut self.counted, now);
        if now.lost > before.lost {
            feed.suspect(at);
        }
        for (counter, count) in [
            (Counter::Lost, now.lost - before.lost),
            (Counter::Duplicate, now.duplicates - before.duplicates),
            (Counter::Conflicting, now.conflicting - before.conflicting),
            (Counter::Reordered, now.late - before.late),
            (Counter::Late, now.expired - before.expired),
        ] {
            feed.count(self.slot, counter, at, count);
        }
    }

    /// Writes an event, unless the limit is reached.
    fn say(&mut self, notice: Notice, at: Monotonic, a: u64, b: u64, feed: &mut Feed) {
        let listed = match notice.is_doubt() {
            true => &mut self.doubts,
            false => &mut self.listed,
        };
        if *listed >= EVENTS {
            self.unlisted += 1;
            return;
        }
        *listed += 1;
        self.tell(notice, at, a, b, feed);
    }

    /// Writes a total, unless it is 0.
    fn always(&self, notice: Notice, at: Monotonic, a: u64, b: u64, feed: &mut Feed) {
        if a > 0 || b > 0 {
            self.tell(notice, at, a, b, feed);
        }
    }

    /// Writes a notice; a doubt goes to the series of transfer times, too.
    fn tell(&self, notice: Notice, at: Monotonic, a: u64, b: u64, feed: &mut Feed) {
        feed.notice(self.slot, notice, at, a, b);
        if self.times_changes && notice.is_doubt() {
            feed.notice(self.slot + 1, notice, at, a, b);
        }
    }

    /// Writes the number of messages that belong to no known control block, unless it is 0.
    pub(super) fn doubt(&self, notice: Notice, at: Monotonic, count: u64, feed: &mut Feed) {
        self.always(notice, at, count, 0, feed);
    }
}

fn settings(config: &SuperviseConfig) -> Settings {
    Settings {
        tal_factor: config.tal_factor,
        simulation: config.simulation,
        edition_1: config.edition_1,
    }
}

/// True if an accepted message is from another publisher than the one before it: its address differs, or only it is simulated.
fn is_of_another(before: &Marks, frame: &Frame<'_>) -> bool {
    before.source != frame.ethernet().src() || frame.simulation() && !before.simulation
}

fn heard(at: Monotonic) -> Heard {
    Heard::at(Some(at.as_ns()))
}

fn positive(ns: Option<i64>) -> u64 {
    ns.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(0)
}

/// The six octets of an address as a number, since a notice carries numbers.
fn address(mac: Mac) -> u64 {
    mac.0.iter().fold(0, |number, octet| number << 8 | u64::from(*octet))
}
