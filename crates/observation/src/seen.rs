//! Findings of an observation, and their words.

use crate::start::Start;
use crate::whole::Whole;
use model::{Counter, EventKind, Outcome};
use units::Ns;
use wire::goose::FollowerDoubt;
use wire::sequence::{Finding, What};

/// Something that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seen {
    /// A shot is over.
    Shot(Shot),
    /// A trip at this instant without a fault, in ns.
    FalseTrip {
        /// Its number among the shots.
        number: u64,
        /// Stamp of its first message.
        at_ns: i64,
    },
    /// A trip at this instant, of a fault that went on after its shot was over; so much after its start.
    AfterTheShot {
        /// Stamp of its first message.
        at_ns: i64,
    },
    /// A fault was on when its rule could be looked at for the first time, or again.
    WasOn {
        /// That instant.
        at_ns: i64,
    },
    /// Something in the stream.
    Stream {
        /// When it was found.
        at_ns: i64,
        /// The finding.
        finding: Finding,
    },
    /// So much more of a doubt in GOOSE messages.
    Goose {
        /// When it was found.
        at_ns: i64,
        /// True of the injector's contact, false of the relay.
        is_contact: bool,
        /// The doubt.
        doubt: FollowerDoubt,
        /// How often.
        count: u64,
    },
    /// Something is wrong with all that was seen.
    Whole {
        /// When it was found.
        at_ns: i64,
        /// The kind.
        what: Whole,
        /// A count of it, or ns.
        count: u64,
    },
}

/// A shot: a fault that was seen, and the relay's act.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shot {
    /// Its number, from 1.
    pub number: u64,
    /// The start of its fault.
    pub start: Start,
    /// The relay's act.
    pub act: Act,
    /// The first message with the relay's start, while the fault lasted, in ns.
    pub started_ns: Option<i64>,
    /// True if the message is not the first one of its state: the trip came earlier.
    pub is_late_message: bool,
}

/// The act of a relay in a shot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Act {
    /// It tripped at this instant while the fault lasted.
    Tripped(i64),
    /// It tripped when the fault was over, or its time.
    Late(i64),
    /// It tripped before the fault.
    Early(i64),
    /// It did not trip.
    Failed,
    /// The shot does not count.
    NotCounted(WhyNot),
}

/// Why a shot does not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WhyNot {
    /// The start is not known; the trip came at this instant, if one did.
    Start(Option<i64>),
    /// The trip came at this instant, before the first faulted sample, and within the time in which the fault may have begun.
    Around(i64),
    /// The trip bit was set already.
    WasSet,
    /// No message of the relay had come before.
    Unknown,
    /// The relay did not trip, and may have without being heard.
    Unsure(FollowerDoubt),
    /// The observation ended before the fault was over.
    Cut,
}

impl Shot {
    /// The word for the relay's act.
    pub fn outcome(&self) -> Outcome {
        match self.act {
            Act::Tripped(_) => Outcome::Tripped,
            Act::Late(_) => Outcome::Late,
            Act::Early(_) => Outcome::Early,
            Act::Failed => Outcome::Failed,
            Act::NotCounted(_) => Outcome::NotCounted,
        }
    }

    /// From the start to the trip, in ns, if there was one.
    pub fn trip_ns(&self) -> Option<i64> {
        match self.act {
            Act::Tripped(at) | Act::Late(at) | Act::Early(at) => Some(at - self.start.at_ns),
            Act::NotCounted(WhyNot::Start(at)) => at.map(|at| at - self.start.at_ns),
            Act::NotCounted(WhyNot::Around(at)) => Some(at - self.start.at_ns),
            Act::NotCounted(_) | Act::Failed => None,
        }
    }

    /// Count in the series of trips, or of starts; `at_ns` is when it was made.
    fn count(&self, of: Series, at_ns: i64) -> Count {
        Count::Sample {
            of,
            at_ns,
            value_ns: at_ns - self.start.at_ns,
            number: self.number,
        }
    }

    fn trip_count(&self) -> Option<Count> {
        let of = Series::Trips;
        let counter = |counter| Count::Counter {
            of,
            counter,
            at_ns: self.start.at_ns,
        };
        match self.act {
            Act::Tripped(at_ns) => Some(self.count(of, at_ns)),
            Act::Late(_) | Act::Failed => Some(counter(Counter::Lost)),
            Act::Early(_) => Some(counter(Counter::Unwanted)),
            Act::NotCounted(_) => None,
        }
    }

    /// Of a shot that counts, and whose fault came before its trip.
    fn start_count(&self) -> Option<Count> {
        let of = Series::Starts;
        let is_counted = matches!(self.act, Act::Tripped(_) | Act::Late(_) | Act::Failed);
        is_counted.then(|| match self.started_ns {
            Some(at_ns) => self.count(of, at_ns),
            None => Count::Counter {
                of,
                counter: Counter::Lost,
                at_ns: self.start.at_ns,
            },
        })
    }

    fn told(&self) -> (EventKind, String) {
        let trip = Ns(self.trip_ns().unwrap_or(0).unsigned_abs());
        let (kind, act) = match self.act {
            Act::Tripped(_) if self.is_late_message => (
                EventKind::Note,
                format!("trip after {trip}; its first message never came: it was earlier"),
            ),
            Act::Tripped(_) => (EventKind::Note, format!("trip after {trip}")),
            Act::Late(_) => (
                EventKind::Note,
                format!("failure to trip: the trip came {trip} after the fault began, when it was over"),
            ),
            Act::Early(_) => (EventKind::Note, format!("trip before the fault, {trip} early")),
            Act::Failed => (
                EventKind::Note,
                "failure to trip: none while the fault lasted".to_owned(),
            ),
            Act::NotCounted(why) => (EventKind::NotCounted, format!("not counted: {}", self.why_not(why))),
        };
        (kind, format!("shot {}: fault {}: {act}", self.number, self.begun()))
    }

    /// Where the fault began, and how well that is known.
    fn begun(&self) -> String {
        let place = match self.start.smp_cnt {
            Some(smp_cnt) => format!("from smpCnt {smp_cnt} on"),
            None => "by its contact".to_owned(),
        };
        match self.start.uncertain_ns {
            Some(ns) => format!("{place}, at most {} earlier", Ns(ns)),
            None => format!("{place}, how much earlier is not known"),
        }
    }

    fn why_not(&self, why: WhyNot) -> String {
        match why {
            WhyNot::Start(trip) => {
                let doubt = self
                    .start
                    .doubt
                    .map_or_else(String::new, crate::start::StartDoubt::words);
                match trip {
                    Some(at) => format!(
                        "{doubt}; the trip came {} after it",
                        units::SignedNs(at - self.start.at_ns)
                    ),
                    None => format!("{doubt}; no trip came"),
                }
            }
            WhyNot::Around(_) => {
                "the trip came before the first faulted sample, and within the time in which the fault may have begun"
                    .into()
            }
            WhyNot::WasSet => "the trip bit was set already".into(),
            WhyNot::Unknown => "no GOOSE message of the relay had come before".into(),
            WhyNot::Unsure(doubt) => format!("no trip, and one may not have been heard: {}", doubt.words()),
            WhyNot::Cut => "the observation ended before the fault was over, without a trip".into(),
        }
    }
}

/// A series of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// From a start to the trip.
    Trips,
    /// From a start to the relay's start, where that is looked at.
    Starts,
}

/// A count in a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// A sample.
    Sample {
        /// The series.
        of: Series,
        /// When it was made, in ns.
        at_ns: i64,
        /// Its value, in ns.
        value_ns: i64,
        /// Number of its shot.
        number: u64,
    },
    /// One more of a counter.
    Counter {
        /// The series.
        of: Series,
        /// The counter.
        counter: Counter,
        /// When, in ns.
        at_ns: i64,
    },
}

/// True if it hides no trip: single messages that were lost, and changes whose message is known to be a later one.
fn is_harmless(doubt: FollowerDoubt) -> bool {
    matches!(doubt, FollowerDoubt::LostMessages | FollowerDoubt::ChangedLate)
}

impl Seen {
    /// Its counts in the series of trips and in that of starts.
    pub fn counts(&self) -> [Option<Count>; 2] {
        match self {
            Self::Shot(shot) => [shot.trip_count(), shot.start_count()],
            Self::FalseTrip { at_ns, .. } => {
                let unwanted = Count::Counter {
                    of: Series::Trips,
                    counter: Counter::Unwanted,
                    at_ns: *at_ns,
                };
                [Some(unwanted), None]
            }
            _ => [None; 2],
        }
    }

    /// When it happened, in ns.
    pub fn at_ns(&self) -> i64 {
        match self {
            Self::Shot(shot) => shot.start.at_ns,
            Self::FalseTrip { at_ns, .. }
            | Self::AfterTheShot { at_ns }
            | Self::WasOn { at_ns }
            | Self::Stream { at_ns, .. }
            | Self::Goose { at_ns, .. }
            | Self::Whole { at_ns, .. } => *at_ns,
        }
    }

    /// The event for it.
    pub fn told(&self) -> (EventKind, String) {
        match *self {
            Self::Shot(shot) => shot.told(),
            Self::FalseTrip { number, .. } => (EventKind::Note, format!("shot {number}: false trip: no fault was on")),
            Self::AfterTheShot { .. } => (
                EventKind::Note,
                "a trip came while the fault went on, when its shot was over (--trip-deadline)".to_owned(),
            ),
            Self::WasOn { .. } => (
                EventKind::NotCounted,
                "not counted: a fault was on already when the samples could be looked at, for the first time or again"
                    .to_owned(),
            ),
            Self::Stream { finding, .. } => {
                let kind = match finding.what.is_doubt() || finding.what == What::OtherRate {
                    true => EventKind::StreamDoubt,
                    false => EventKind::Stream,
                };
                (kind, format!("samples: {finding}"))
            }
            Self::Goose {
                is_contact,
                doubt,
                count,
                ..
            } => {
                let kind = match is_harmless(doubt) {
                    true => EventKind::Note,
                    false => EventKind::StreamDoubt,
                };
                let whose = if is_contact { "contact" } else { "relay" };
                (kind, format!("{whose}: {count} {}", doubt.words()))
            }
            Self::Whole { what, count, .. } => what.told(count),
        }
    }
}
