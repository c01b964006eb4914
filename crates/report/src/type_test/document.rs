//! Type tests of a relay, in the result document.

use super::edges::{self, EdgeEntry};
use super::ramp::{self, RampEntry};
use super::{CurvePoint, Tally, TypeTest, ZoneLine};
use model::Shot;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct TypeTestEntry {
    name: String,
    zone: Vec<ZoneEntry>,
    curve: Vec<CurveEntry>,
    ramps: Vec<RampEntry>,
    edges: Vec<EdgeEntry>,
}

/// A line of a zone, with its cells.
#[derive(Debug, Clone, Serialize)]
struct ZoneEntry {
    fault: String,
    sir: f64,
    overreach_percent: Option<f64>,
    underreach_percent: Option<f64>,
    positions: Vec<PositionEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct PositionEntry {
    position_percent: f64,
    #[serde(flatten)]
    tally: TallyEntry,
}

#[derive(Debug, Clone, Serialize)]
struct CurveEntry {
    multiple: f64,
    expected: u64,
    tolerance: u64,
    furthest_off: Option<i64>,
    outside: u64,
    #[serde(flatten)]
    tally: TallyEntry,
}

#[derive(Debug, Clone, Serialize)]
struct TallyEntry {
    shots: u64,
    tripped: u64,
    failed: u64,
    #[serde(rename = "false")]
    wrong: u64,
    after_the_fault: u64,
    not_counted: u64,
    min: Option<i64>,
    median: Option<i64>,
    max: Option<i64>,
}

impl TallyEntry {
    fn of(tally: &Tally) -> Self {
        let time = |which: usize| tally.times().map(|times| times[which]);
        Self {
            shots: tally.shots,
            tripped: tally.tripped(),
            failed: tally.failed,
            wrong: tally.wrong,
            after_the_fault: tally.late,
            not_counted: tally.not_counted,
            min: time(0),
            median: time(1),
            max: time(2),
        }
    }
}

pub(super) fn type_tests(shots: &[Shot]) -> Vec<TypeTestEntry> {
    let entry = |test: TypeTest| TypeTestEntry {
        zone: test.zone.iter().map(zone).collect(),
        curve: test.curve.iter().map(curve).collect(),
        ramps: test.ramps.iter().map(ramp::entry).collect(),
        edges: test.edges.iter().map(edges::entry).collect(),
        name: test.name,
    };
    TypeTest::all(shots).into_iter().map(entry).collect()
}

fn zone(line: &ZoneLine) -> ZoneEntry {
    let position = |(at, tally): &(f64, Tally)| PositionEntry {
        position_percent: *at,
        tally: TallyEntry::of(tally),
    };
    ZoneEntry {
        fault: line.fault.clone(),
        sir: line.sir,
        overreach_percent: line.overreach(),
        underreach_percent: line.underreach(),
        positions: line.cells.iter().map(position).collect(),
    }
}

fn curve(point: &CurvePoint) -> CurveEntry {
    CurveEntry {
        multiple: point.multiple,
        expected: point.expected_ns,
        tolerance: point.tolerance_ns,
        furthest_off: point.worst_ns(),
        outside: point.outside(),
        tally: TallyEntry::of(&point.tally),
    }
}

/// The type tests of these shots as one JSON document: the value of `type_tests` in the result document.
pub fn type_test_json(shots: &[Shot]) -> String {
    // All keys are text, and JSON can represent all values.
    units::foreign::json(serde_json::to_string_pretty(&type_tests(shots)).unwrap_or_default() + "\n")
}
