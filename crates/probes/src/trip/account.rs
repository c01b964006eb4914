//! Accounts for a completed shot.

use super::conductor::{Conductor, Over};
use super::notice::Notice;
use super::program::Ask;
use super::selection::Judged;
use super::series::{phase_slot, security_slot, start_slot, trip_slot, zone_slot};
use super::watch::{Act, Span, Watch};
use model::{Cell, Counter, Outcome, Shot};
use units::{Monotonic, Ns, SignedNs};
use waveform::scenario::Expect;

/// Outcome of a shot, and the instant at which the relay tripped.
type Did = (Outcome, Option<Monotonic>);

const UNKNOWN: Did = (Outcome::NotCounted, None);

impl Conductor {
    /// Counts a shot as relay number `relay` received it, and stores it in the run. Returns for a search whether the relay tripped in time.
    pub(super) fn account(&mut self, ask: &Ask, relay: usize, over: &Over) -> Option<bool> {
        let place = self.place(ask, relay);
        let under_test = &self.config.relays[relay];
        let (name, has_start) = (under_test.called(&ask.name), under_test.start.is_some());
        let (outcome, trip) = match ask.scenario.expect {
            Expect::Trip { soonest_ns, .. } => {
                let start = has_start.then(|| start_slot(place));
                let did = self.fault_taken(trip_slot(place), start, over, soonest_ns);
                self.selected(ask, relay, over, did);
                if did.0 != Outcome::NotCounted {
                    self.proven(relay, did.0 == Outcome::Tripped, over.watch.span.fault);
                }
                did
            }
            Expect::NoTrip => self.quiet(relay, place, over),
            Expect::Either => self.either(place, over),
        };
        let fault = over.watch.span.fault;
        let is_ramp = matches!(ask.cell, Some(Cell::Ramp(_)));
        let reset = over.watch.reset().filter(|_| is_ramp && trip.is_some());
        let reset = reset.filter(|at| {
            let until = self.stage.first_at(*at);
            self.our_own(over, [over.since(until), until]).is_none()
        });
        let shot = Shot {
            number: self.shots,
            at_ns: 0,
            watched_ns: u64::try_from(over.watch.span.until - fault).ok(),
            name,
            uncertain_ns: None,
            point_deg: Some(over.point_deg),
            cell: ask.cell.clone(),
            outcome,
            trip_ns: trip.map(|at| at - fault),
            reset_ns: reset.map(|at| at - fault),
        };
        let tripped = shot.edge_tripped();
        self.events.shot(fault, shot);
        tripped
    }

    /// Counts a shot in which the relay has to trip, but not before `soonest_ns`; `start` is the slot of its starts, if they are
    /// evaluated.
    fn fault_taken(&mut self, slot: u16, start: Option<u16>, over: &Over, soonest_ns: Option<u64>) -> Did {
        let due = over.watch.span.fault;
        let act = match self.believed(slot, over) {
            Some(act) => act,
            None => return UNKNOWN,
        };
        let did = match act {
            Act::Early(at) => return self.early(slot, at, due),
            Act::Tripped(at) => self.tripped(slot, at, due, soonest_ns),
            Act::Late(at) => self.failure(slot, Notice::Late, due, Some(at)),
            _ => self.failure(slot, Notice::Failed, due, None),
        };
        if let Some(start) = start {
            self.started(start, &over.watch);
        }
        did
    }

    /// Number of the relay's group of shots: see [`TripConfig::places`].
    fn place(&self, ask: &Ask, relay: usize) -> usize {
        relay * self.groups + ask.group
    }

    /// Compares the phases and the function of a trip of relay number `relay` with those that its scenario expects.
    fn selected(&mut self, ask: &Ask, relay: usize, over: &Over, did: Did) {
        let (Outcome::Tripped, Some(trip)) = did else { return };
        let (selection, marks) = (&ask.scenario.selection, over.watch.marks());
        let under_test = &self.config.relays[relay];
        let phases = under_test.phases_judged(selection, marks);
        let function = under_test.function_judged(selection, marks);
        let (place, due) = (self.place(ask, relay), over.watch.span.fault);
        for (slot, judged) in [(phase_slot(place), phases), (zone_slot(place), function)] {
            match judged {
                None => {}
                Some(Judged::Right) => self.feed.sample(slot, trip, trip - due, self.shots),
                Some(Judged::Wrong { set, wanted }) => {
                    self.feed.sample(slot, trip, trip - due, self.shots);
                    self.feed.count(slot, Counter::Wrong, trip, 1);
                    let both = u64::from(set) << 32 | u64::from(wanted);
                    self.feed.notice(slot, Notice::Wrong, trip, self.shots, both);
                }
                Some(Judged::NotTold) => {
                    self.feed.count(slot, Counter::Lost, trip, 1);
                    self.say(slot, Notice::NotTold, trip, 0);
                }
            }
        }
    }

    /// The act of the relay if it is known; otherwise reports that it is not.
    fn believed(&mut self, slot: u16, over: &Over) -> Option<Act> {
        let seen = self.seen(over);
        if let Err(notice) = seen {
            self.say(slot, notice, over.watch.span.fault, 0);
        }
        seen.ok()
    }

    /// The act of the relay, if it could be seen and the test set had sent everything up to then; otherwise the notice with the
    /// reason. A trip before the fault always counts.
    pub(super) fn seen(&mut self, over: &Over) -> Result<Act, Notice> {
        let [fault, end] = over.samples;
        let act = over.watch.act();
        let until = match act {
            Act::Early(_) => return Ok(act),
            Act::WasSet => return Err(Notice::WasSet),
            Act::Unknown => return Err(Notice::Unknown),
            Act::Tripped(at) => self.stage.first_at(at),
            Act::Late(_) | Act::Quiet => end,
        };
        let from = match act {
            Act::Tripped(_) => over.since(until),
            _ => fault,
        };
        let from = from.saturating_sub(self.stage.cycle());
        match self.our_own(over, [from, until]) {
            Some(notice) => Err(notice),
            None => Ok(act),
        }
    }

    /// Notice if the test set missed part of a shot, or did not send these samples.
    pub(super) fn our_own(&mut self, over: &Over, [from, until]: [u64; 2]) -> Option<Notice> {
        match () {
            () if over.is_cut => Some(Notice::NoLink),
            () if over.is_deaf => Some(Notice::NotHeard),
            () if self.stage.trouble(from, until) => Some(Notice::NotSent),
            () => None,
        }
    }

    fn tripped(&mut self, slot: u16, at: Monotonic, due: Monotonic, soonest_ns: Option<u64>) -> Did {
        self.feed.sample(slot, at, at - due, self.shots);
        if soonest_ns.is_some_and(|soonest| SignedNs(at - due) < Ns(soonest)) {
            self.feed.count(slot, Counter::Unwanted, at, 1);
            self.say(slot, Notice::TooSoon, at, at - due);
        }
        (Outcome::Tripped, Some(at))
    }

    fn early(&mut self, slot: u16, at: Monotonic, due: Monotonic) -> Did {
        self.feed.count(slot, Counter::Unwanted, at, 1);
        self.say(slot, Notice::Early, at, due - at);
        (Outcome::Early, Some(at))
    }

    fn failure(&mut self, slot: u16, notice: Notice, due: Monotonic, trip: Option<Monotonic>) -> Did {
        self.feed.count(slot, Counter::Lost, due, 1);
        self.say(slot, notice, due, trip.map_or(0, |at| at - due));
        let outcome = if trip.is_some() { Outcome::Late } else { Outcome::Failed };
        (outcome, trip)
    }

    fn started(&mut self, slot: u16, watch: &Watch) {
        let due = watch.span.fault;
        match watch.started() {
            Some(at) => self.feed.sample(slot, at, at - due, self.shots),
            None => self.feed.count(slot, Counter::Lost, due, 1),
        }
    }

    /// Counts a shot in which there must be no trip. A trip counts as false even if the test set did not send everything: a
    /// healthy relay does not trip because of lost samples.
    fn quiet(&mut self, relay: usize, place: usize, over: &Over) -> Did {
        let Span {
            fault: due, deadline, ..
        } = over.watch.span;
        let slot = security_slot(place);
        let (why_not, which) = match (over.watch.act(), self.our_own(over, over.samples), over.unsure) {
            (Act::Early(at) | Act::Tripped(at) | Act::Late(at), ..) => {
                self.feed.sample(slot, deadline, deadline - due, self.shots);
                self.feed.count(slot, Counter::Unwanted, at, 1);
                self.say(slot, Notice::False, at, at - due);
                let outcome = if at > deadline { Outcome::Late } else { Outcome::False };
                return (outcome, Some(at));
            }
            (Act::WasSet, ..) => (Notice::WasSet, 0),
            (Act::Unknown, ..) => (Notice::Unknown, 0),
            (Act::Quiet, Some(notice), _) => (notice, 0),
            (Act::Quiet, None, Some(which)) => (Notice::Unsure, which),
            (Act::Quiet, None, None) => {
                self.feed.sample(slot, deadline, deadline - due, self.shots);
                self.proofs[relay].stayed_quiet(slot);
                return (Outcome::Quiet, None);
            }
        };
        self.feed.notice(slot, why_not, due, self.shots, which as u64);
        UNKNOWN
    }

    /// Counts a shot near a border, whose trip is neither wanted nor unwanted: no series counts it, unless the trip comes before
    /// the fault.
    fn either(&mut self, place: usize, over: &Over) -> Did {
        let slot = trip_slot(place);
        let due = over.watch.span.fault;
        match self.believed(slot, over) {
            Some(Act::Early(at)) => self.early(slot, at, due),
            Some(Act::Tripped(at)) => (Outcome::Tripped, Some(at)),
            Some(Act::Late(at)) => (Outcome::Late, Some(at)),
            Some(_) => (Outcome::Quiet, None),
            None => UNKNOWN,
        }
    }

    fn say(&mut self, slot: u16, notice: Notice, at: Monotonic, ns: i64) {
        self.feed.notice(slot, notice, at, self.shots, ns.unsigned_abs());
    }
}
