//! The desk at which all that is found is told: alarms within their allowance, events, counts of series, and the ring of frames.

use crate::alarm::{Alarm, AlarmKind};
use crate::flood::{Flood, Told};
use crate::found::{Findings, Found};
use crate::open::Open;
use crate::ring::Ring;
use model::{Counter, EventKind};

/// Number of the watch itself among the subjects.
pub(crate) const WATCH: usize = 0;

/// The desk.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) ring: Ring,
    pub(crate) flood: Flood,
    pub(crate) findings: Findings,
    pub(crate) series: Vec<Open>,
    pub(crate) subjects: Vec<String>,
    number: u64,
}

impl Desk {
    pub(crate) fn new(ring: Ring, flood: Flood, series: Vec<Open>, subjects: Vec<String>) -> Self {
        Self {
            ring,
            flood,
            findings: Findings::default(),
            series,
            subjects,
            number: 0,
        }
    }

    /// Tells an alarm, if its allowance is not used up.
    pub(crate) fn alarm(&mut self, kind: AlarmKind, subject: usize, [at_ns, found_ns]: [i64; 2], text: String) {
        let Told::Yes { suppressed } = self.flood.ask(kind, subject, found_ns) else {
            return;
        };
        self.number += 1;
        self.findings.push(Found::Alarm(Alarm {
            number: self.number,
            kind,
            subject: self.subjects[subject].clone(),
            text,
            at_ns,
            found_ns,
            frames_until: self.ring.next_number(),
            suppressed,
        }));
    }

    /// Writes an event down.
    pub(crate) fn event(&mut self, at_ns: i64, kind: EventKind, series: Option<usize>, text: String) {
        self.span([at_ns, at_ns], kind, series, text);
    }

    /// Writes an event down that lasted, or happened within a span.
    pub(crate) fn span(&mut self, [since_ns, at_ns]: [i64; 2], kind: EventKind, series: Option<usize>, text: String) {
        self.findings.push(Found::Event {
            at_ns,
            since_ns: Some(since_ns),
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
