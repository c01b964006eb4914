//! The results of a type test: operate times by cell, the reach of a zone, the deviation from the standard's curve, pick-up and drop-off.

mod document;
mod edge_page;
mod edges;
mod page;
mod ramp;
mod ramp_page;
mod tables;
#[cfg(test)]
mod tests;

pub use document::type_test_json;
pub use edges::{Edge, EdgeLine};
pub use ramp::{RampCourse, RampLine};
pub use tables::text;
pub(crate) use tables::{CELL_HEADS, CURVE_HEADS, REACH_HEADS, cell_rows, curve_rows, reach_rows};

use crate::Report;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use model::{Cell, CurrentRamp, EdgeShot, Outcome, Shot};
use std::io;

/// The section of the report.
pub(crate) struct TypeTestSection;

impl Section for TypeTestSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        let text = text(&report.run.shots);
        match text.is_empty() {
            true => text,
            false => format!("{}\n{text}", paint.heading("Type test")),
        }
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        let tests = document::type_tests(&report.run.shots);
        fields.some("type_tests", (!tests.is_empty()).then_some(tests))
    }
}

/// Position at which a zone ends, in percent of the reach.
const REACH: f64 = 100.0;

/// All shots of one type test, grouped into cells.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeTest {
    /// Its name.
    pub name: String,
    /// For a distance zone: one line for each source impedance ratio and fault type.
    pub zone: Vec<ZoneLine>,
    /// For a curve: one point for each multiple of the setting.
    pub curve: Vec<CurvePoint>,
    /// For a pick-up: the ramps through the same phases, one phase before several.
    pub ramps: Vec<RampLine>,
    /// For a search: its lines, by fault and then by angle or restraint.
    pub edges: Vec<EdgeLine>,
}

/// The positions at one source impedance ratio, for one fault type.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneLine {
    /// Ratio of the source impedance to that of the reach.
    pub sir: f64,
    /// The conductors that the fault connects.
    pub fault: String,
    /// Positions in percent of the reach with their shots, nearest to the relay first.
    pub cells: Vec<(f64, Tally)>,
}

/// The shots at one multiple of the setting.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// The multiple.
    pub multiple: f64,
    /// Operate time of the standard's curve in ns.
    pub expected_ns: u64,
    /// Allowed deviation from it in ns.
    pub tolerance_ns: u64,
    /// Its shots.
    pub tally: Tally,
}

/// Shots of one cell by outcome.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// Number of all shots.
    pub shots: u64,
    /// Missing trips.
    pub failed: u64,
    /// Wrong trips, during the fault or before it.
    pub wrong: u64,
    /// Trips after the end of the fault.
    pub late: u64,
    /// Shots that do not count.
    pub not_counted: u64,
    /// Shots without a trip.
    pub quiet: u64,
    /// Operate times of all trips during the fault in ns, shortest first.
    pub times_ns: Vec<i64>,
}

impl TypeTest {
    /// The type tests of a run, in order of their names. Shots of scenarios do not belong to a type test.
    pub fn all(shots: &[Shot]) -> Vec<Self> {
        let mut tests: Vec<Self> = Vec::new();
        for shot in shots {
            let Some(cell) = &shot.cell else { continue };
            let at = tests.iter().position(|test| test.name == shot.name);
            let at = at.unwrap_or_else(|| {
                tests.push(Self::named(&shot.name));
                tests.len() - 1
            });
            tests[at].take(cell, shot);
        }
        for test in &mut tests {
            test.sort();
        }
        tests.sort_by(|one, other| one.name.cmp(&other.name));
        tests
    }

    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            zone: Vec::new(),
            curve: Vec::new(),
            ramps: Vec::new(),
            edges: Vec::new(),
        }
    }

    fn take(&mut self, cell: &Cell, shot: &Shot) {
        let tally = match cell {
            Cell::Distance { sir, fault, position } => self.zone_tally(*sir, fault, *position),
            Cell::Overcurrent {
                multiple,
                expected_ns,
                tolerance_ns,
            } => self.curve_tally(*multiple, *expected_ns, *tolerance_ns),
            Cell::Ramp(ramp) => return self.ramp_line(ramp).take(shot),
            Cell::Edge(edge) => return self.edge_line(edge).take(edge, shot),
        };
        tally.take(shot);
    }

    fn zone_tally(&mut self, sir: f64, fault: &str, position: f64) -> &mut Tally {
        let is_it = |line: &ZoneLine| line.sir == sir && line.fault == fault;
        let line = self.zone.iter().position(is_it).unwrap_or_else(|| {
            self.zone.push(ZoneLine {
                sir,
                fault: fault.to_owned(),
                cells: Vec::new(),
            });
            self.zone.len() - 1
        });
        let cells = &mut self.zone[line].cells;
        let cell = cells.iter().position(|(at, _)| *at == position).unwrap_or_else(|| {
            cells.push((position, Tally::default()));
            cells.len() - 1
        });
        &mut cells[cell].1
    }

    fn curve_tally(&mut self, multiple: f64, expected_ns: u64, tolerance_ns: u64) -> &mut Tally {
        let is_it = |point: &CurvePoint| point.multiple == multiple;
        let point = self.curve.iter().position(is_it).unwrap_or_else(|| {
            self.curve.push(CurvePoint {
                multiple,
                expected_ns,
                tolerance_ns,
                tally: Tally::default(),
            });
            self.curve.len() - 1
        });
        &mut self.curve[point].tally
    }

    fn ramp_line(&mut self, ramp: &CurrentRamp) -> &mut RampLine {
        let line = self.ramps.iter().position(|line| line.ramp == *ramp);
        let line = line.unwrap_or_else(|| {
            self.ramps.push(RampLine::new(ramp));
            self.ramps.len() - 1
        });
        &mut self.ramps[line]
    }

    fn edge_line(&mut self, edge: &EdgeShot) -> &mut EdgeLine {
        let line = self.edges.iter().position(|line| line.is_of(edge));
        let line = line.unwrap_or_else(|| {
            self.edges.push(EdgeLine::new(edge));
            self.edges.len() - 1
        });
        &mut self.edges[line]
    }

    fn sort(&mut self) {
        self.edges.sort_by(|one, other| {
            let by_fault = one.line.fault.cmp(&other.line.fault);
            by_fault.then(one.line.along.total_cmp(&other.line.along))
        });
        // One phase before several, in the order of the letters.
        self.ramps.sort_by(|one, other| {
            let key = |line: &RampLine| (line.ramp.phases.len(), line.ramp.phases.clone());
            key(one).cmp(&key(other))
        });
        for line in &mut self.zone {
            line.cells.sort_by(|one, other| one.0.total_cmp(&other.0));
            line.cells
                .iter_mut()
                .for_each(|(_, tally)| tally.times_ns.sort_unstable());
        }
        self.zone
            .sort_by(|one, other| one.fault.cmp(&other.fault).then(one.sir.total_cmp(&other.sir)));
        self.curve.sort_by(|one, other| one.multiple.total_cmp(&other.multiple));
        self.curve
            .iter_mut()
            .for_each(|point| point.tally.times_ns.sort_unstable());
    }

    /// All positions in percent of the reach, nearest to the relay first.
    pub(crate) fn positions(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self
            .zone
            .iter()
            .flat_map(|line| line.cells.iter().map(|cell| cell.0))
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}

impl Tally {
    fn take(&mut self, shot: &Shot) {
        self.shots += 1;
        match shot.outcome {
            Outcome::Tripped => {}
            Outcome::Failed => {
                self.failed += 1;
                self.quiet += 1;
            }
            Outcome::Quiet => self.quiet += 1,
            Outcome::Late => self.late += 1,
            Outcome::Early | Outcome::False => self.wrong += 1,
            Outcome::NotCounted => self.not_counted += 1,
        }
        let is_while_it_lasts = matches!(shot.outcome, Outcome::Tripped | Outcome::False);
        self.times_ns
            .extend(shot.trip_ns.filter(|ns| is_while_it_lasts && *ns >= 0));
    }

    /// Number of trips during the fault.
    pub fn tripped(&self) -> u64 {
        self.times_ns.len() as u64
    }

    /// Shortest, median and longest operate time in ns; the median of an even number is the longer of the two in the
    /// middle. `None` without a trip.
    pub fn times(&self) -> Option<[i64; 3]> {
        let (first, last) = (self.times_ns.first()?, self.times_ns.last()?);
        Some([*first, self.times_ns[self.times_ns.len() / 2], *last])
    }
}

impl ZoneLine {
    /// The furthest position beyond the reach, in percent of it, at which the relay tripped during the fault: the
    /// transient overreach, with the resolution of the tested positions. `None` if there is no such position.
    pub fn overreach(&self) -> Option<f64> {
        let mut beyond = self
            .cells
            .iter()
            .rev()
            .filter(|(at, tally)| *at > REACH && tally.tripped() > 0);
        beyond.next().map(|cell| cell.0)
    }

    /// The nearest position up to the reach at which the relay did not trip during the fault. `None` if there is no
    /// such position.
    pub fn underreach(&self) -> Option<f64> {
        let failed = |tally: &Tally| tally.quiet > 0 || tally.late > 0;
        let mut inside = self.cells.iter().filter(|(at, tally)| *at <= REACH && failed(tally));
        inside.next().map(|cell| cell.0)
    }

    /// Sum of a figure over all its positions.
    pub fn sum(&self, of: impl Fn(&Tally) -> u64) -> u64 {
        self.cells.iter().map(|(_, tally)| of(tally)).sum()
    }
}

impl CurvePoint {
    /// The largest deviation from the curve: operate time minus that of the curve, in ns. `None` without a trip.
    pub fn worst_ns(&self) -> Option<i64> {
        let off = |ns: &i64| ns.saturating_sub(i64::try_from(self.expected_ns).unwrap_or(i64::MAX));
        self.tally.times_ns.iter().map(off).max_by_key(|off| off.unsigned_abs())
    }

    /// Number of trips that deviate from the curve by more than allowed.
    pub fn outside(&self) -> u64 {
        let is_off =
            |ns: &&i64| i128::from(**ns).abs_diff(i128::from(self.expected_ns)) > u128::from(self.tolerance_ns);
        self.tally.times_ns.iter().filter(is_off).count() as u64
    }
}
