//! Shots: faults that were seen, each with the act of the relay. Instants in, answers out.

use crate::relay::{Bit, Doubts};
use crate::seen::{Act, Seen, Shot, WhyNot};
use crate::start::{Edge, Start};

/// How long the relay is watched after the fault: a trip that comes then is late, as with a test set's own faults.
const AFTER_NS: i64 = 100_000_000;

/// How long a trip waits for a fault that began before or after it and is recognised later.
const HOLD_NS: i64 = 100_000_000;

/// A fault whose shot is not over.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: Start,
    ended_ns: Option<i64>,
    /// Doubts of the relay before it.
    doubts: Doubts,
}

/// The shots of an observation.
#[derive(Debug)]
pub(crate) struct Shots {
    deadline_ns: i64,
    /// Shots and false trips so far.
    number: u64,
    faults: u64,
    open: Option<Open>,
    /// A fault lasts whose shot is over.
    lasts: bool,
    /// Trips up to this instant belong to shots, or were reported.
    judged_ns: i64,
}

impl Shots {
    /// A relay has so long to trip, in ns.
    pub(crate) fn new(deadline_ns: u64) -> Self {
        Self {
            deadline_ns: i64::try_from(deadline_ns).unwrap_or(i64::MAX / 4),
            number: 0,
            faults: 0,
            open: None,
            lasts: false,
            judged_ns: i64::MIN,
        }
    }

    /// Faults that were seen to begin.
    pub(crate) fn faults(&self) -> u64 {
        self.faults
    }

    /// True if a fault lasts whose shot is over.
    pub(crate) fn lasts(&self) -> bool {
        self.lasts
    }

    /// Takes the begin or the end of a fault; returns the finding that is over by that.
    pub(crate) fn edge(&mut self, edge: Edge, trip: &Bit, start: Option<&Bit>) -> Option<Seen> {
        match edge {
            Edge::Began(begun) => {
                let over = self.close(begun.at_ns - 1, trip, start, false);
                self.lasts = false;
                self.faults += 1;
                self.open = Some(Open {
                    start: begun,
                    ended_ns: None,
                    doubts: trip.doubts_at(begun.at_ns),
                });
                over
            }
            Edge::WasOn(at_ns) => {
                self.lasts = true;
                Some(Seen::WasOn { at_ns })
            }
            Edge::Ended(at_ns) => {
                self.lasts = false;
                if let Some(open) = &mut self.open {
                    open.ended_ns.get_or_insert(at_ns);
                }
                None
            }
        }
    }

    /// Returns the next finding that is over when everything before `now_ns` was taken and the samples were looked at up to `seen_ns`. To be
    /// called until there is none.
    pub(crate) fn advance(&mut self, now_ns: i64, seen_ns: i64, trip: &Bit, start: Option<&Bit>) -> Option<Seen> {
        if let Some(open) = self.open {
            let until = self.deadline(&open).saturating_add(AFTER_NS);
            return (now_ns > until)
                .then(|| self.close(until, trip, start, false))
                .flatten();
        }
        let until = now_ns.min(seen_ns).saturating_sub(HOLD_NS);
        let alone = trip.rose(self.judged_ns.saturating_add(1), until)?;
        self.judged_ns = alone.at_ns;
        if self.lasts {
            return Some(Seen::AfterTheShot { at_ns: alone.at_ns });
        }
        self.number += 1;
        Some(Seen::FalseTrip {
            number: self.number,
            at_ns: alone.at_ns,
        })
    }

    /// A trip that still waits for its fault, when nothing more comes.
    pub(crate) fn waiting(&mut self, trip: &Bit) -> Option<i64> {
        let waits = trip.rose(self.judged_ns.saturating_add(1), i64::MAX)?;
        self.judged_ns = waits.at_ns;
        Some(waits.at_ns)
    }

    /// The observation ends: the shot that is under way, if there is one.
    pub(crate) fn end(&mut self, now_ns: i64, trip: &Bit, start: Option<&Bit>) -> Option<Seen> {
        let open = self.open?;
        let is_cut = now_ns <= self.deadline(&open);
        let lasts = open.ended_ns.is_none();
        let over = self.close(now_ns, trip, start, is_cut);
        // It was no other fault's time yet.
        self.lasts = lasts && !is_cut;
        over
    }

    /// The instant up to which a trip is in time.
    fn deadline(&self, open: &Open) -> i64 {
        let latest = open.start.at_ns.saturating_add(self.deadline_ns);
        open.ended_ns.map_or(latest, |ended| ended.min(latest))
    }

    fn close(&mut self, until_ns: i64, trip: &Bit, start: Option<&Bit>, is_cut: bool) -> Option<Seen> {
        let open = self.open.take()?;
        self.number += 1;
        let begun = open.start;
        let deadline = self.deadline(&open).min(until_ns);
        let from = (begun.at_ns - HOLD_NS).max(self.judged_ns.saturating_add(1));
        let rose = trip.rose(from, until_ns);
        self.judged_ns = self.judged_ns.max(until_ns);
        self.lasts = open.ended_ns.is_none();
        let earliest = begun.at_ns - i64::try_from(begun.uncertain_ns.unwrap_or(0)).unwrap_or(0);
        let was_set = trip.before(begun.at_ns);
        let act = match (rose.map(|rose| rose.at_ns), was_set) {
            (at, _) if begun.doubt.is_some() => Act::NotCounted(WhyNot::Start(at)),
            (Some(at), _) if at < earliest => Act::Early(at),
            (Some(at), _) if at < begun.at_ns => Act::NotCounted(WhyNot::Around(at)),
            (_, Some(true)) => Act::NotCounted(WhyNot::WasSet),
            (_, None) => Act::NotCounted(WhyNot::Unknown),
            (Some(at), _) if at <= deadline => Act::Tripped(at),
            (Some(at), _) => Act::Late(at),
            (None, _) if is_cut => Act::NotCounted(WhyNot::Cut),
            (None, _) => match trip.unsure(&open.doubts) {
                Some(doubt) => Act::NotCounted(WhyNot::Unsure(doubt)),
                None => Act::Failed,
            },
        };
        Some(Seen::Shot(Shot {
            number: self.number,
            start: begun,
            act,
            started_ns: start
                .and_then(|start| start.rose(begun.at_ns, deadline))
                .map(|rose| rose.at_ns),
            is_late_message: rose.is_some_and(|rose| !rose.is_first),
        }))
    }
}
