//! Pick-up and drop-off by a ramp: what the shots through some phases measured, as rows and as an entry of the result document.

use crate::text::count;
use model::{CurrentRamp, Outcome, Shot};
use serde::Serialize;

pub(crate) const RAMP_HEADS: [&str; 12] = [
    "phases",
    "setting",
    "pick-up by",
    "min",
    "max",
    "furthest off",
    "allowed",
    "drop-off",
    "ratio",
    "shots",
    "outside",
    "without a pick-up",
];

/// The ramps through the same phases.
#[derive(Debug, Clone, PartialEq)]
pub struct RampLine {
    /// The ramp.
    pub ramp: CurrentRamp,
    /// Its shots.
    pub courses: Vec<RampCourse>,
}

/// A shot of a ramp. A value is the current of the step in which the relay's message came: the true one is up to a step lower, for a
/// drop-off up to a step higher.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RampCourse {
    /// The action of the relay.
    pub outcome: Outcome,
    /// Time in ns from the begin of the ramp to the pick-up in its rising half.
    pub pick_up_ns: Option<i64>,
    /// Time in ns to the drop-off in its falling half.
    pub drop_off_ns: Option<i64>,
}

impl RampLine {
    pub(super) fn new(ramp: &CurrentRamp) -> Self {
        Self {
            ramp: ramp.clone(),
            courses: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, shot: &Shot) {
        let is_counted = shot.outcome != Outcome::NotCounted;
        let pick_up_ns = shot
            .trip_ns
            .filter(|ns| is_counted && self.ramp.is_rising(*ns) && *ns >= 0);
        // A reset in the rising half, or without a pick-up, is no drop-off.
        let is_drop_off = |ns: &i64| !self.ramp.is_rising(*ns) && self.ramp.current_a(*ns).is_some();
        self.courses.push(RampCourse {
            outcome: shot.outcome,
            pick_up_ns,
            drop_off_ns: shot.reset_ns.filter(|ns| pick_up_ns.is_some() && is_drop_off(ns)),
        });
    }

    fn value(&self, ns: Option<i64>) -> Option<f64> {
        self.ramp.current_a(ns?)
    }

    /// Pick-up values in A, lowest first.
    pub fn pick_ups(&self) -> Vec<f64> {
        let values = self.courses.iter().filter_map(|course| self.value(course.pick_up_ns));
        sorted(values)
    }

    /// Drop-off values in A, lowest first.
    pub fn drop_offs(&self) -> Vec<f64> {
        let values = self.courses.iter().filter_map(|course| self.value(course.drop_off_ns));
        sorted(values)
    }

    /// Drop-off over pick-up of each shot that has both, lowest first.
    pub fn ratios(&self) -> Vec<f64> {
        let ratio = |course: &RampCourse| Some(self.value(course.drop_off_ns)? / self.value(course.pick_up_ns)?);
        sorted(self.courses.iter().filter_map(ratio))
    }

    /// Largest error of a pick-up, in percent of the setting; `None` without a pick-up.
    pub fn worst_percent(&self) -> Option<f64> {
        let errors = self.pick_ups().into_iter().map(|value| self.ramp.error_of(value));
        errors.max_by(|one, other| one.abs().total_cmp(&other.abs()))
    }

    /// Pick-ups with a larger error than declared.
    pub fn outside(&self) -> u64 {
        let pick_ups = self.pick_ups();
        pick_ups.iter().filter(|value| !self.ramp.is_allowed(**value)).count() as u64
    }

    /// Counted shots without a pick-up on the way up: nothing at all, too late, or set before the ramp.
    pub fn without(&self) -> u64 {
        let is_without = |course: &&RampCourse| course.outcome != Outcome::NotCounted && course.pick_up_ns.is_none();
        self.courses.iter().filter(is_without).count() as u64
    }

    /// Shots that do not count.
    pub fn not_counted(&self) -> u64 {
        let uncounted = self
            .courses
            .iter()
            .filter(|course| course.outcome == Outcome::NotCounted);
        uncounted.count() as u64
    }

    /// Shots in which the state was set before the ramp.
    fn early(&self) -> u64 {
        let early = self.courses.iter().filter(|course| course.outcome == Outcome::Early);
        early.count() as u64
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn amps(value: Option<&f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1} A"))
}

/// One row for the ramps through the same phases.
pub(crate) fn ramp_rows(lines: &[RampLine]) -> Vec<Vec<String>> {
    let row = |line: &RampLine| {
        let (pick_ups, drop_offs, ratios) = (line.pick_ups(), line.drop_offs(), line.ratios());
        let drop_off = match (drop_offs.first(), pick_ups.is_empty()) {
            (None, false) => "not seen".to_owned(),
            (lowest, _) => amps(lowest),
        };
        let without = match (line.without(), line.early()) {
            (without, 0) => count(without),
            (without, early) => format!("{without} ({early} set before)"),
        };
        vec![
            line.ramp.phases.clone(),
            amps(Some(&line.ramp.setting_a)),
            line.ramp.signal.word().to_owned(),
            amps(pick_ups.first()),
            amps(pick_ups.last()),
            line.worst_percent()
                .map_or_else(|| "–".to_owned(), |off| format!("{off:+.1} %")),
            format!("± {} %", line.ramp.error_percent),
            drop_off,
            ratios
                .first()
                .map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}")),
            count(line.courses.len() as u64 - line.not_counted()),
            count(line.outside()),
            without,
        ]
    };
    lines.iter().map(row).collect()
}

/// Describes how fine the values are, and the blind spots of a ramp.
pub(crate) fn ramp_note(ramp: &CurrentRamp) -> String {
    format!(
        "steps of {:.2} A ({:.2} %), {} ms each: a pick-up is up to a step lower than shown, a drop-off up to a step higher; a relay that decides \
         more slowly than a step looks less sensitive than it is. A ramp shows no overreach by a sudden current",
        ramp.step_a,
        100.0 * ramp.step_a / ramp.setting_a,
        ramp.step_ns as f64 / 1e6
    )
}

/// The ramps through the same phases, in the result document.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RampEntry {
    phases: String,
    signal: &'static str,
    setting_a: f64,
    step_a: f64,
    step: u64,
    error_percent: f64,
    shots: u64,
    not_counted: u64,
    without_pick_up: u64,
    outside: u64,
    pick_ups_a: Vec<f64>,
    drop_offs_a: Vec<f64>,
    ratios: Vec<f64>,
    furthest_off_percent: Option<f64>,
}

pub(super) fn entry(line: &RampLine) -> RampEntry {
    RampEntry {
        phases: line.ramp.phases.clone(),
        signal: line.ramp.signal.word(),
        setting_a: line.ramp.setting_a,
        step_a: line.ramp.step_a,
        step: line.ramp.step_ns,
        error_percent: line.ramp.error_percent,
        shots: line.courses.len() as u64,
        not_counted: line.not_counted(),
        without_pick_up: line.without(),
        outside: line.outside(),
        pick_ups_a: line.pick_ups(),
        drop_offs_a: line.drop_offs(),
        ratios: line.ratios(),
        furthest_off_percent: line.worst_percent(),
    }
}
