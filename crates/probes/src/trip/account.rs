//! What a shot that is over counts as.

use super::conductor::{Conductor, Over};
use super::program::Ask;
use super::selection::Judged;
use super::series::{notice, phase_slot, security_slot, start_slot, trip_slot, zone_slot};
use super::watch::{Act, Span, Watch};
use model::{Counter, Outcome, Shot};
use units::Monotonic;
use waveform::scenario::Expect;

/// What the relay did, and when it tripped.
type Did = (Outcome, Option<Monotonic>);

const UNKNOWN: Did = (Outcome::NotCounted, None);

impl Conductor {
    /// Counts a shot as relay number `relay` took it, and keeps it in the run.
    pub(super) fn account(&mut self, ask: &Ask, relay: usize, over: &Over) {
        let place = self.place(ask, relay);
        let under_test = &self.config.relays[relay];
        let (name, has_start) = (under_test.called(&ask.name), under_test.start.is_some());
        let (outcome, trip) = match ask.scenario.expect {
            Expect::Trip { soonest_ns, .. } => {
                let start = has_start.then(|| start_slot(place));
                let did = self.faulted(trip_slot(place), start, over, soonest_ns);
                self.selected(ask, relay, over, did);
                did
            }
            Expect::NoTrip => self.quiet(place, over),
            Expect::Either => self.either(place, over),
        };
        let fault = over.watch.span.fault;
        let shot = Shot {
            number: self.shots,
            at_ns: 0,
            name,
            point_deg: over.point_deg,
            cell: ask.cell.clone(),
            outcome,
            trip_ns: trip.map(|at| at - fault),
        };
        self.events.shot(fault, shot);
    }

    /// A shot in which the relay has to trip, and not before `soonest_ns`; `start` is the slot of its starts, if they are looked at.
    fn faulted(&mut self, slot: u16, start: Option<u16>, over: &Over, soonest_ns: Option<u64>) -> Did {
        let due = over.watch.span.fault;
        let act = match self.believed(slot, over) {
            Some(act) => act,
            None => return UNKNOWN,
        };
        let did = match act {
            Act::Early(at) => return self.early(slot, at, due),
            Act::Tripped(at) => self.tripped(slot, at, due, soonest_ns),
            Act::Late(at) => self.failure(slot, notice::LATE, due, Some(at)),
            _ if over.is_deaf => {
                self.say(slot, notice::NOT_HEARD, due, 0);
                UNKNOWN
            }
            _ => self.failure(slot, notice::FAILED, due, None),
        };
        if let Some(start) = start {
            self.started(start, &over.watch, over.is_deaf);
        }
        did
    }

    /// Number of what is counted together of a relay: see [`TripConfig::places`].
    fn place(&self, ask: &Ask, relay: usize) -> usize {
        relay * self.groups + ask.group
    }

    /// Whether a trip of relay number `relay` was of the phases and the function that its scenario expects.
    fn selected(&mut self, ask: &Ask, relay: usize, over: &Over, did: Did) {
        let (Outcome::Tripped, Some(trip)) = did else { return };
        let (selection, marks) = (&ask.scenario.selection, over.watch.marks());
        let under_test = &self.config.relays[relay];
        let phases = under_test.phases_judged(selection, marks);
        let function = under_test.function_judged(selection, marks);
        let (place, due) = (self.place(ask, relay), over.watch.span.fault);
        for (slot, judged) in [(phase_slot(place), phases), (zone_slot(place), function)] {
            match judged.map(|judged| judged.heard(over.is_deaf)) {
                None => {}
                Some(Judged::Right) => self.feed.sample(slot, trip, trip - due, self.shots),
                Some(Judged::Wrong { set, wanted }) => {
                    self.feed.sample(slot, trip, trip - due, self.shots);
                    self.feed.count(slot, Counter::Wrong, trip, 1);
                    let both = u64::from(set) << 32 | u64::from(wanted);
                    self.feed.notice(slot, notice::WRONG, trip, self.shots, both);
                }
                Some(Judged::NotTold) => {
                    self.feed.count(slot, Counter::Lost, trip, 1);
                    self.say(slot, notice::NOT_TOLD, trip, 0);
                }
            }
        }
    }

    /// What the relay did, where it could be seen and the test set sent what it should up to there; else that is said.
    fn believed(&mut self, slot: u16, over: &Over) -> Option<Act> {
        let [fault, end] = over.samples;
        let due = over.watch.span.fault;
        let act = over.watch.act();
        let why_not = match act {
            Act::WasSet => Some(notice::WAS_SET),
            Act::Unknown => Some(notice::UNKNOWN),
            _ => None,
        };
        if let Some(code) = why_not {
            self.say(slot, code, due, 0);
            return None;
        }
        let until = match act {
            Act::Tripped(at) => self.stage.first_at(at),
            _ => end,
        };
        let from = fault.saturating_sub(self.stage.cycle());
        if self.stage.trouble(from, until) {
            self.say(slot, notice::NOT_SENT, due, 0);
            return None;
        }
        Some(act)
    }

    fn tripped(&mut self, slot: u16, at: Monotonic, due: Monotonic, soonest_ns: Option<u64>) -> Did {
        self.feed.sample(slot, at, at - due, self.shots);
        if soonest_ns.is_some_and(|soonest| i128::from(at - due) < i128::from(soonest)) {
            self.feed.count(slot, Counter::Unwanted, at, 1);
            self.say(slot, notice::TOO_SOON, at, at - due);
        }
        (Outcome::Tripped, Some(at))
    }

    fn early(&mut self, slot: u16, at: Monotonic, due: Monotonic) -> Did {
        self.feed.count(slot, Counter::Unwanted, at, 1);
        self.say(slot, notice::EARLY, at, due - at);
        (Outcome::Early, Some(at))
    }

    fn failure(&mut self, slot: u16, code: u16, due: Monotonic, trip: Option<Monotonic>) -> Did {
        self.feed.count(slot, Counter::Lost, due, 1);
        self.say(slot, code, due, trip.map_or(0, |at| at - due));
        let outcome = if trip.is_some() { Outcome::Late } else { Outcome::Failed };
        (outcome, trip)
    }

    fn started(&mut self, slot: u16, watch: &Watch, is_deaf: bool) {
        let due = watch.span.fault;
        match watch.started() {
            Some(at) => self.feed.sample(slot, at, at - due, self.shots),
            None if is_deaf => self.say(slot, notice::NOT_HEARD, due, 0),
            None => self.feed.count(slot, Counter::Lost, due, 1),
        }
    }

    /// A shot in which there must be no trip. A trip is a false one whatever the test set did not send: a healthy relay does not trip
    /// for samples that are lost.
    fn quiet(&mut self, place: usize, over: &Over) -> Did {
        let Span {
            fault: due, deadline, ..
        } = over.watch.span;
        let [fault, end] = over.samples;
        let slot = security_slot(place);
        let was_sent = !self.stage.trouble(fault, end);
        let why_not = match over.watch.act() {
            Act::Early(at) | Act::Tripped(at) | Act::Late(at) => {
                self.feed.sample(slot, deadline, deadline - due, self.shots);
                self.feed.count(slot, Counter::Unwanted, at, 1);
                self.say(slot, notice::FALSE, at, at - due);
                let outcome = if at > deadline { Outcome::Late } else { Outcome::False };
                return (outcome, Some(at));
            }
            Act::WasSet => notice::WAS_SET,
            Act::Unknown => notice::UNKNOWN,
            Act::Quiet if over.is_deaf => notice::NOT_HEARD,
            Act::Quiet if !was_sent => notice::NOT_SENT,
            Act::Quiet => {
                self.feed.sample(slot, deadline, deadline - due, self.shots);
                return (Outcome::Quiet, None);
            }
        };
        self.say(slot, why_not, due, 0);
        UNKNOWN
    }

    /// A shot near a border, whose trip is neither wanted nor unwanted: no series counts it, unless it comes before the fault.
    fn either(&mut self, place: usize, over: &Over) -> Did {
        let slot = trip_slot(place);
        let due = over.watch.span.fault;
        match self.believed(slot, over) {
            Some(Act::Early(at)) => self.early(slot, at, due),
            Some(Act::Tripped(at)) => (Outcome::Tripped, Some(at)),
            Some(Act::Late(at)) => (Outcome::Late, Some(at)),
            Some(_) if !over.is_deaf => (Outcome::Quiet, None),
            Some(_) => {
                self.say(slot, notice::NOT_HEARD, due, 0);
                UNKNOWN
            }
            None => UNKNOWN,
        }
    }

    fn say(&mut self, slot: u16, code: u16, at: Monotonic, ns: i64) {
        self.feed.notice(slot, code, at, self.shots, ns.unsigned_abs());
    }
}
