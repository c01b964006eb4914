//! The desk at which all that is found is told: alarms within their allowance, events, counts of series, and the ring of frames.

use crate::alarm::{Alarm, AlarmKind};
use crate::flood::{Flood, Tidings};
use crate::found::{Findings, Found};
use crate::open::Open;
use crate::ring::Ring;
use model::{Counter, EventKind};

/// Events of one kind and series that are written down in an hour. The others are counted, within the span of one that is.
const EVENTS_AN_HOUR: u32 = 60;

/// Number of the watch itself among the subjects.
pub(crate) const WATCH: usize = 0;

/// The desk.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) ring: Ring,
    pub(crate) flood: Flood<(AlarmKind, usize)>,
    events: Flood<(EventKind, Option<usize>)>,
    pub(crate) findings: Findings,
    pub(crate) series: Vec<Open>,
    pub(crate) subjects: Vec<String>,
    number: u64,
}

impl Desk {
    pub(crate) fn new(ring: Ring, alarms_an_hour: u32, series: Vec<Open>, subjects: Vec<String>) -> Self {
        Self {
            ring,
            flood: Flood::new(alarms_an_hour),
            events: Flood::new(EVENTS_AN_HOUR),
            findings: Findings::default(),
            series,
            subjects,
            number: 0,
        }
    }

    /// Tells an alarm, if its allowance is not used up.
    pub(crate) fn alarm(&mut self, kind: AlarmKind, subject: usize, [at_ns, found_ns]: [i64; 2], text: String) {
        let asked = self.flood.ask((kind, subject), [at_ns, found_ns], found_ns, text);
        if let Some(tidings) = asked {
            self.tell((kind, subject), tidings);
        }
    }

    fn tell(&mut self, (kind, subject): (AlarmKind, usize), tidings: Tidings) {
        let [at_ns, found_ns] = tidings.span;
        self.number += 1;
        self.findings.push(Found::Alarm(Alarm {
            number: self.number,
            kind,
            subject: self.subjects[subject].clone(),
            text: tidings.text,
            at_ns,
            found_ns,
            frames_until: self.ring.next_number(),
            suppressed: tidings.suppressed,
        }));
    }

    /// Tells the last alarm of each flood for which there is room again; at the end of the watch all of them.
    pub(crate) fn tell_counted(&mut self, now_ns: i64, is_end: bool) {
        while let Some((key, tidings)) = self.flood.due(now_ns, is_end) {
            self.tell(key, tidings);
        }
    }

    /// Writes down what was only counted of each flood of events, where there is room again; at the end of a run file all of it, since a doubt
    /// must be in the file of its time.
    pub(crate) fn write_counted(&mut self, now_ns: i64, is_end: bool) {
        while let Some(((kind, series), tidings)) = self.events.due(now_ns, is_end) {
            self.write(kind, series, tidings);
        }
    }

    /// Writes an event down.
    pub(crate) fn event(&mut self, at_ns: i64, kind: EventKind, series: Option<usize>, text: String) {
        self.span([at_ns, at_ns], kind, series, text);
    }

    /// Writes an event down that lasted, or happened within a span.
    pub(crate) fn span(&mut self, [since_ns, at_ns]: [i64; 2], kind: EventKind, series: Option<usize>, text: String) {
        let asked = self.events.ask((kind, series), [since_ns, at_ns], at_ns, text);
        if let Some(tidings) = asked {
            self.write(kind, series, tidings);
        }
    }

    fn write(&mut self, kind: EventKind, series: Option<usize>, tidings: Tidings) {
        let [_, at_ns] = tidings.span;
        let text = match tidings.suppressed {
            0 => tidings.text,
            n => format!("{}; {n} like it before were counted only", tidings.text),
        };
        // Its span has all that were counted only: their doubt stays.
        self.findings.push(Found::Event {
            at_ns,
            since_ns: Some(tidings.from_ns),
            kind,
            series,
            text,
        });
    }

    /// Adds a sample to a series.
    pub(crate) fn sample(&mut self, series: usize, value_ns: i64, at_ns: i64) {
        self.series[series].sample(value_ns, at_ns);
    }

    /// Adds to a counter of a series.
    pub(crate) fn count(&mut self, series: usize, counter: Counter, n: u64) {
        self.series[series].count(counter, n);
    }
}
