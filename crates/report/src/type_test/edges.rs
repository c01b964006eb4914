//! Borders of a characteristic found by a search: what the shots on each line show, as rows and as an entry of the result document.

use crate::text::count;
use model::{Characteristic, EdgeShot, Shot};
use serde::Serialize;

/// A bracket of more than this many steps of the search is none: the search did not end.
const WIDEST_STEPS: f64 = 1.5;

/// The shots on one line.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeLine {
    /// One of its shots, for the line and its settings.
    pub line: EdgeShot,
    /// Value of each shot that counts, and whether the relay tripped in time.
    pub tried: Vec<(f64, bool)>,
    /// Shots that show neither.
    pub not_counted: u64,
}

/// The result on one line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edge {
    /// The border is between these two values, a step of the search apart.
    Between([f64; 2]),
    /// The relay tripped at every value: it has no border here.
    Always,
    /// It tripped at none.
    Never,
    /// It tripped, and did not trip, at values of the wrong order: both occur between these two values.
    Unsteady([f64; 2]),
    /// The search did not end on this line.
    Unknown,
}

impl EdgeLine {
    pub(super) fn new(shot: &EdgeShot) -> Self {
        Self {
            line: shot.clone(),
            tried: Vec::new(),
            not_counted: 0,
        }
    }

    pub(super) fn is_of(&self, shot: &EdgeShot) -> bool {
        let line = &self.line;
        (line.of, &line.fault, line.along) == (shot.of, &shot.fault, shot.along)
    }

    pub(super) fn take(&mut self, edge: &EdgeShot, shot: &Shot) {
        match edge.tripped(shot.outcome, shot.trip_ns) {
            Some(tripped) => self.tried.push((edge.value, tripped)),
            None => self.not_counted += 1,
        }
    }

    /// The border, as far as the shots show one.
    pub fn edge(&self) -> Edge {
        let below = self.line.of.trips_below();
        let of = |wanted: bool| {
            self.tried
                .iter()
                .filter(move |one| (one.1 == below) == wanted)
                .map(|one| one.0)
        };
        let (last_below, first_above) = (of(true).reduce(f64::max), of(false).reduce(f64::min));
        match (last_below, first_above) {
            (None, None) => Edge::Unknown,
            // Without the end of the line, the border may be in what was not tried.
            (Some(low), None) if !self.is_at_end(1, low) => Edge::Unknown,
            (None, Some(high)) if !self.is_at_end(0, high) => Edge::Unknown,
            (Some(_), None) if below => Edge::Always,
            (None, Some(_)) if !below => Edge::Always,
            (Some(_), None) | (None, Some(_)) => Edge::Never,
            (Some(low), Some(high)) if low >= high => Edge::Unsteady([high, low]),
            (Some(low), Some(high)) if high - low > WIDEST_STEPS * self.line.resolution => Edge::Unknown,
            (Some(low), Some(high)) => Edge::Between([low, high]),
        }
    }

    /// True if this value is the lowest (0) or the highest (1) of the line: the last step may be half a step from its end.
    fn is_at_end(&self, end: usize, value: f64) -> bool {
        let ends = self.line.ends.as_ref();
        ends.is_some_and(|ends| (ends[end] - value).abs() < 0.75 * self.line.resolution)
    }

    /// Middle of the bracket; `None` without a border.
    pub fn measured(&self) -> Option<f64> {
        match self.edge() {
            Edge::Between([low, high]) => Some(f64::midpoint(low, high)),
            _ => None,
        }
    }

    /// Error of the border in percent of that by the settings.
    pub fn error_percent(&self) -> Option<f64> {
        Some(100.0 * (self.measured()? / self.line.wanted - 1.0))
    }

    /// True if the border is off by more than declared; half a step of the search is left to it.
    pub fn is_outside(&self) -> bool {
        let half_step = 50.0 * self.line.resolution / self.line.wanted;
        let is_off = |off: f64| off.abs() > self.line.error_percent + half_step;
        self.error_percent().is_some_and(is_off)
    }

    fn words(&self) -> String {
        let unit = unit(self.line.of);
        match self.edge() {
            Edge::Between(_) if self.is_outside() => "outside".to_owned(),
            Edge::Between(_) => "within".to_owned(),
            Edge::Always => "none: always trips".to_owned(),
            Edge::Never => "none: never trips".to_owned(),
            Edge::Unsteady([from, to]) => format!("none: both occur from {from:.3} to {to:.3} {unit}"),
            Edge::Unknown => "unknown: not enough shots".to_owned(),
        }
    }
}

fn unit(of: Characteristic) -> &'static str {
    match of {
        Characteristic::Reach => "ohm",
        Characteristic::Bias => "x In",
    }
}

/// Heads of the rows.
pub(crate) fn edge_heads(of: Characteristic) -> [&'static str; 8] {
    let (along, wanted, measured) = match of {
        Characteristic::Reach => ("angle", "wanted ohm", "measured ohm"),
        Characteristic::Bias => ("restraint x In", "wanted x In", "measured x In"),
    };
    ["fault", along, wanted, measured, "error", "allowed", "shots", "border"]
}

/// One row for each line.
pub(crate) fn edge_rows(lines: &[EdgeLine]) -> Vec<Vec<String>> {
    let row = |line: &EdgeLine| {
        let dash = || "–".to_owned();
        vec![
            line.line.fault.clone(),
            line.line.along.to_string(),
            format!("{:.3}", line.line.wanted),
            line.measured().map_or_else(dash, |value| format!("{value:.3}")),
            line.error_percent().map_or_else(dash, |off| format!("{off:+.1} %")),
            format!("± {} %", line.line.error_percent),
            count(line.tried.len() as u64),
            line.words(),
        ]
    };
    lines.iter().map(row).collect()
}

/// The furthest error of all lines, and the lines without a border, in a sentence with the resolution and the blind spots.
pub(crate) fn edge_note(lines: &[EdgeLine]) -> String {
    let errors = lines.iter().filter_map(EdgeLine::error_percent);
    let worst = errors.max_by(|one, other| one.abs().total_cmp(&other.abs()));
    let without = lines.iter().filter(|line| line.measured().is_none()).count();
    let outside = lines.iter().filter(|line| line.is_outside()).count();
    let shots: usize = lines.iter().map(|line| line.tried.len()).sum();
    let step = lines
        .first()
        .map_or(0.0, |line| 100.0 * line.line.resolution / line.line.wanted);
    format!(
        "{} lines, {shots} shots, furthest off {}; {outside} outside, {without} without a border. Each border is known to {step:.2} %; between the \
         lines nothing was tried, and sudden faults may reach further",
        lines.len(),
        worst.map_or_else(|| "unknown".to_owned(), |off| format!("{off:+.1} %"))
    )
}

/// A line in the result document.
#[derive(Debug, Clone, Serialize)]
pub(super) struct EdgeEntry {
    of: &'static str,
    fault: String,
    along: f64,
    wanted: f64,
    measured: Option<f64>,
    error_percent: Option<f64>,
    allowed_percent: f64,
    resolution: f64,
    shots: u64,
    not_counted: u64,
    border: &'static str,
}

pub(super) fn entry(line: &EdgeLine) -> EdgeEntry {
    EdgeEntry {
        of: line.line.of.word(),
        fault: line.line.fault.clone(),
        along: line.line.along,
        wanted: line.line.wanted,
        measured: line.measured(),
        error_percent: line.error_percent(),
        allowed_percent: line.line.error_percent,
        resolution: line.line.resolution,
        shots: line.tried.len() as u64,
        not_counted: line.not_counted,
        border: match line.edge() {
            Edge::Between(_) if line.is_outside() => "outside",
            Edge::Between(_) => "within",
            Edge::Always => "always",
            Edge::Never => "never",
            Edge::Unsteady(_) => "unsteady",
            Edge::Unknown => "unknown",
        },
    }
}
