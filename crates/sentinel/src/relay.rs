//! The judgement of one relay: each shot that was observed becomes counts, a row of the run file and, if need be, an alarm.

use crate::alarm::AlarmKind;
use crate::desk::Desk;
use crate::found::Found;
use crate::gaps::Gaps;
use crate::watched::{Stopwatch, Watched};
use model::{Counter, EventKind, Outcome};
use observation::{Act, Observer, Seen, Shot, Whole, WhyNot};
use std::collections::VecDeque;
use units::Ns;

/// Findings of a relay that wait until it is known whether the watch itself lost frames meanwhile.
const WAITING: usize = 256;

/// How long after its deadline, and before its fault, a shot looks for a trip, in ns: as `observation` does.
const AROUND_NS: i64 = 100_000_000;

/// A false trip is only told as such if all was heard for so long before it, in ns.
const REACH_NS: i64 = 1_000_000_000;

/// A relay to watch.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedRelay {
    /// Its name in series, alarms and metrics.
    pub name: String,
    /// How the start of a fault is recognised, and which bit is the trip.
    pub observed: observation::Config,
    /// Longest time from the start to the trip that is in time, in ns.
    pub within_ns: Option<u64>,
    /// True if each start needs a trip; false if a start may end without one.
    pub must_trip: bool,
}

/// Numbers of its series: of trips and of starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelaySeries {
    pub(crate) trips: usize,
    pub(crate) starts: Option<usize>,
}

/// The spans in which its judges were deaf.
pub(crate) struct Deaf<'a> {
    /// The watch itself lost frames.
    pub(crate) own: &'a Gaps,
    /// Its samples, its messages, its contact were not heard.
    pub(crate) others: Vec<&'a Gaps>,
}

impl Deaf<'_> {
    fn own(&self, from_ns: i64, until_ns: i64) -> bool {
        self.own.touch(from_ns, until_ns)
    }

    fn any(&self, from_ns: i64, until_ns: i64) -> bool {
        self.own(from_ns, until_ns) || self.others.iter().any(|gaps| gaps.touch(from_ns, until_ns))
    }
}

/// The watch over a relay.
#[derive(Debug)]
pub(crate) struct RelayWatch {
    pub(crate) config: WatchedRelay,
    pub(crate) observer: Observer,
    subject: usize,
    series: RelaySeries,
    waiting: VecDeque<(Seen, i64)>,
    unjudged: u64,
    number: u64,
    pub(crate) stopwatch: Stopwatch,
}

impl RelayWatch {
    pub(crate) fn new(config: WatchedRelay, subject: usize, series: RelaySeries) -> Self {
        Self {
            observer: Observer::new(&config.observed),
            config,
            subject,
            series,
            waiting: VecDeque::with_capacity(WAITING),
            unjudged: 0,
            number: 0,
            stopwatch: Stopwatch::default(),
        }
    }

    /// Its name and the time for which it was watched.
    pub(crate) fn watched(&self) -> (&str, Watched) {
        (&self.config.name, self.stopwatch.time())
    }

    /// Keeps all that was observed until it can be judged.
    pub(crate) fn gather(&mut self, now_ns: i64) {
        while let Some(seen) = self.observer.next_seen() {
            match self.waiting.len() < WAITING {
                true => self.waiting.push_back((seen, now_ns)),
                false => self.unjudged += 1,
            }
        }
    }

    /// The stream of its samples is another one: the observation begins again.
    pub(crate) fn begin_again(&mut self, now_ns: i64) {
        self.observer.end(now_ns);
        self.gather(now_ns);
        self.observer = Observer::new(&self.config.observed);
    }

    /// The watch ends: the shot that is under way is over, and a trip waits for its fault no longer.
    pub(crate) fn end(&mut self, now_ns: i64) {
        self.observer.end(now_ns);
        self.gather(now_ns);
        // A watch in service may rightly end without a fault: an observation of the whole is none of it.
        let is_its = |seen: &Seen| !matches!(seen, Seen::Whole { what, .. } if *what != Whole::LastTrip);
        self.waiting.retain(|(seen, _)| is_its(seen));
    }

    /// Judges what waits: it is known of all time until now whether the watch lost frames.
    pub(crate) fn judge(&mut self, now_ns: i64, deaf: &Deaf<'_>, desk: &mut Desk) {
        while let Some((seen, found_ns)) = self.waiting.pop_front() {
            self.judge_one(&seen, found_ns, deaf, desk);
        }
        let unjudged = std::mem::take(&mut self.unjudged);
        if unjudged > 0 {
            let text = format!("{unjudged} findings about it were not judged: too many came at once");
            self.unknown([now_ns, now_ns], text, desk);
        }
    }

    fn judge_one(&mut self, seen: &Seen, found_ns: i64, deaf: &Deaf<'_>, desk: &mut Desk) {
        match seen {
            Seen::Shot(shot) => self.shot(shot, found_ns, deaf, desk),
            Seen::FalseTrip { at_ns, .. } => self.false_trip(*at_ns, found_ns, deaf, desk),
            Seen::WasOn { at_ns } => {
                let text = "a fault was on already when its samples could be looked at".to_owned();
                self.unknown([*at_ns, found_ns], text, desk);
            }
            Seen::Whole {
                at_ns,
                what: Whole::LastTrip,
                ..
            } => self.unknown([*at_ns, found_ns], seen.told().1, desk),
            _ => {
                let (kind, text) = seen.told();
                self.event(seen.at_ns(), kind, &text, desk);
            }
        }
    }

    fn shot(&mut self, shot: &Shot, found_ns: i64, deaf: &Deaf<'_>, desk: &mut Desk) {
        let start_ns = shot.start.at_ns;
        let deadline_ns = i64::try_from(self.config.observed.deadline_ns).unwrap_or(i64::MAX / 4);
        let until_ns = start_ns
            .saturating_add(deadline_ns)
            .saturating_add(AROUND_NS)
            .min(found_ns);
        // Frames that the watch lost may have carried the trip, or its return.
        let is_deaf = deaf.own(start_ns - AROUND_NS, until_ns);
        let is_plain = matches!(shot.act, Act::Tripped(_) | Act::NotCounted(_));
        let outcome = match is_deaf && !is_plain {
            true => Outcome::NotCounted,
            false => shot.outcome(),
        };
        self.write(start_ns, shot, outcome, desk);
        let (kind, text) = Seen::Shot(*shot).told();
        let kind = if outcome == Outcome::NotCounted {
            EventKind::NotCounted
        } else {
            kind
        };
        if outcome != Outcome::Failed || self.config.must_trip {
            self.event(start_ns, kind, &text, desk);
        }
        let at = [start_ns, found_ns];
        match shot.act {
            _ if is_deaf && !is_plain => {
                let lost = "the watch lost frames meanwhile, so this is not certain";
                self.unknown(at, format!("{text}; {lost}"), desk);
            }
            Act::Tripped(at_ns) => self.tripped(shot, at_ns - start_ns, found_ns, desk),
            Act::Late(_) => self.failed(AlarmKind::Late, at, text, desk),
            Act::Early(_) => {
                desk.count(self.series.trips, Counter::Unwanted, 1);
                desk.alarm(AlarmKind::False, self.subject, at, text);
            }
            Act::Failed if self.config.must_trip => self.failed(AlarmKind::Missing, at, text, desk),
            // A start that ended by itself: a fault elsewhere.
            Act::Failed => {}
            Act::NotCounted(WhyNot::WasSet | WhyNot::Cut) if !self.config.must_trip => {}
            Act::NotCounted(_) => self.unknown(at, text, desk),
        }
        self.started(shot, outcome, desk);
    }

    fn tripped(&mut self, shot: &Shot, trip_ns: i64, found_ns: i64, desk: &mut Desk) {
        let start_ns = shot.start.at_ns;
        desk.sample(self.series.trips, trip_ns, start_ns + trip_ns);
        let Some(within_ns) = self.config.within_ns else { return };
        if trip_ns.unsigned_abs() <= within_ns {
            return;
        }
        let (trip, within) = (Ns(trip_ns.unsigned_abs()), Ns(within_ns));
        match shot.is_late_message {
            true => {
                let text = format!("trip after at most {trip}, and {within} are allowed: its first message never came");
                self.unknown([start_ns, found_ns], text, desk);
            }
            false => {
                let text = format!("trip after {trip}, and {within} are allowed");
                desk.alarm(AlarmKind::Late, self.subject, [start_ns, found_ns], text);
            }
        }
    }

    fn failed(&mut self, kind: AlarmKind, at: [i64; 2], text: String, desk: &mut Desk) {
        desk.count(self.series.trips, Counter::Lost, 1);
        desk.alarm(kind, self.subject, at, text);
    }

    fn started(&mut self, shot: &Shot, outcome: Outcome, desk: &mut Desk) {
        let Some(series) = self.series.starts else { return };
        match (shot.started_ns, outcome) {
            (Some(at_ns), Outcome::Tripped | Outcome::Late | Outcome::Failed) => {
                desk.sample(series, at_ns - shot.start.at_ns, at_ns);
            }
            (None, Outcome::Tripped | Outcome::Late | Outcome::Failed) if self.config.must_trip => {
                desk.count(series, Counter::Lost, 1);
            }
            _ => {}
        }
    }

    fn false_trip(&mut self, at_ns: i64, found_ns: i64, deaf: &Deaf<'_>, desk: &mut Desk) {
        let deadline_ns = i64::try_from(self.config.observed.deadline_ns).unwrap_or(i64::MAX / 4);
        // Its fault may have begun, unheard, before its time was over.
        let reach_ns = deadline_ns.max(REACH_NS);
        if deaf.any(at_ns.saturating_sub(reach_ns), at_ns.saturating_add(AROUND_NS)) {
            let text = "a trip, and a fault before it may not have been heard".to_owned();
            self.unknown([at_ns, found_ns], text, desk);
            return;
        }
        self.number += 1;
        let text = "trip without a fault".to_owned();
        self.event(at_ns, EventKind::Note, &text, desk);
        desk.count(self.series.trips, Counter::Unwanted, 1);
        let shot = self.row(Outcome::False, None, None);
        desk.findings.push(Found::Shot { at_ns, shot });
        desk.alarm(AlarmKind::False, self.subject, [at_ns, found_ns], text);
    }

    /// Tells that it is not known: no pass.
    fn unknown(&mut self, at: [i64; 2], text: String, desk: &mut Desk) {
        self.event(at[0], EventKind::NotCounted, &text, desk);
        desk.alarm(AlarmKind::Unknown, self.subject, at, text);
    }

    fn event(&self, at_ns: i64, kind: EventKind, text: &str, desk: &mut Desk) {
        let text = format!("{}: {text}", self.config.name);
        desk.event(at_ns, kind, Some(self.series.trips), text);
    }

    fn write(&mut self, at_ns: i64, shot: &Shot, outcome: Outcome, desk: &mut Desk) {
        if outcome == Outcome::Failed && !self.config.must_trip {
            return;
        }
        self.number += 1;
        let shot = self.row(outcome, shot.trip_ns(), shot.start.uncertain_ns);
        desk.findings.push(Found::Shot { at_ns, shot });
    }

    fn row(&self, outcome: Outcome, trip_ns: Option<i64>, uncertain_ns: Option<u64>) -> model::Shot {
        model::Shot {
            number: self.number,
            at_ns: 0,
            watched_ns: None,
            uncertain_ns,
            name: self.config.name.clone(),
            point_deg: None,
            cell: None,
            outcome,
            trip_ns,
            reset_ns: None,
        }
    }
}
