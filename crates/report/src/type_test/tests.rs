use super::{TypeTest, text};
use crate::Report;
use model::{Cell, Outcome, Shot};
use testing::synthetic;

fn shot(number: u64, cell: Cell, outcome: Outcome, trip_ms: Option<i64>) -> Shot {
    Shot {
        number,
        at_ns: number,
        name: "z".to_owned(),
        watched_ns: None,
        uncertain_ns: None,
        point_deg: Some(0.0),
        cell: Some(cell),
        outcome,
        trip_ns: trip_ms.map(|ms| ms * 1_000_000),
    }
}

/// The outcome of a shot, and its time in ms.
type Did = (Outcome, Option<i64>);

/// Two shots at each position, with these outcomes.
fn zone(outcomes: &[(f64, [Did; 2])]) -> Vec<Shot> {
    let each = outcomes
        .iter()
        .flat_map(|(position, both)| both.map(|one| (*position, one)));
    let cell = |position| Cell::Distance {
        sir: 5.0,
        fault: "AG".to_owned(),
        position,
    };
    (1..)
        .zip(each)
        .map(|(number, (position, (outcome, ms)))| shot(number, cell(position), outcome, ms))
        .collect()
}

fn sample() -> Vec<Shot> {
    use Outcome::{Failed, False, Late, NotCounted, Quiet, Tripped};
    zone(&[
        (120.0, [(Quiet, None), (Late, Some(201))]),
        (50.0, [(Tripped, Some(20)), (Tripped, Some(12))]),
        (95.0, [(Tripped, Some(31)), (Failed, None)]),
        (100.0, [(Tripped, Some(44)), (NotCounted, None)]),
        (105.0, [(False, Some(60)), (Quiet, None)]),
    ])
}

#[test]
fn reach_is_where_it_tripped_while_the_fault_lasted() {
    let tests = TypeTest::all(&sample());
    let [test] = &tests[..] else { panic!("one test") };
    let [line] = &test.zone[..] else { panic!("one line") };
    assert_eq!(test.positions(), [50.0, 95.0, 100.0, 105.0, 120.0]);
    assert_eq!((line.overreach(), line.underreach()), (Some(105.0), Some(95.0)));
    assert_eq!(line.cells[0].1.times(), Some([12_000_000, 20_000_000, 20_000_000]));
    assert_eq!(
        line.cells[4].1.times(),
        None,
        "a trip behind the fault is no operate time"
    );
    assert_eq!((line.sum(|tally| tally.wrong), line.sum(|tally| tally.late)), (1, 1));
}

#[test]
fn a_terminal_shows_what_is_not_known_as_that() {
    let shown = text(&sample());
    let row = shown.lines().find(|line| line.contains("AG")).expect("a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["AG", "5", "20.0", "1/2", "44.0", "1/2", "·"]);
    let none = zone(&[(50.0, [(Outcome::NotCounted, None), (Outcome::NotCounted, None)])]);
    let shown = text(&none);
    assert!(
        shown
            .lines()
            .any(|line| line.trim_start().starts_with("AG") && line.trim_end().ends_with('?')),
        "{shown}"
    );
    assert_eq!(text(&[]), "");
}

#[test]
fn a_curve_is_judged_by_the_furthest_of_its_times() {
    let cell = || Cell::Overcurrent {
        multiple: 2.0,
        expected_ns: 1_000_000_000,
        tolerance_ns: 50_000_000,
    };
    let times = [1_010, 940, 1_050, 1_051];
    let shots: Vec<Shot> = (1..)
        .zip(times)
        .map(|(n, ms)| shot(n, cell(), Outcome::Tripped, Some(ms)))
        .collect();
    let tests = TypeTest::all(&shots);
    let point = &tests[0].curve[0];
    assert_eq!(point.worst_ns(), Some(-60_000_000));
    assert_eq!(point.outside(), 2, "one too soon, one too late");
    assert!(text(&shots).contains("-60"));
}

/// Pages of type tests lie in archives: their drawings have numbers only, and nothing refers to another file.
#[test]
fn a_page_draws_with_numbers_and_refers_to_no_other_file() {
    let curve = |ns| Cell::Overcurrent {
        multiple: 2.0,
        expected_ns: ns,
        tolerance_ns: 50_000_000,
    };
    let uncounted = [(Outcome::NotCounted, None), (Outcome::NotCounted, None)];
    for shots in [
        sample(),
        zone(&[(50.0, uncounted)]),
        vec![shot(1, curve(10_000_000), Outcome::Tripped, Some(9))],
        vec![shot(1, curve(1_000_000_000), Outcome::Failed, None)],
    ] {
        let mut run = synthetic::run(Vec::new());
        run.shots = shots;
        let page = super::page::html(&Report::new(run, Vec::new())).expect("a page");
        assert!(page.contains("<svg"), "{page}");
        for path in page.split(" d=\"").skip(1) {
            let path = path.split('"').next().unwrap_or_default();
            let is_drawn = |c: char| c.is_ascii_digit() || "MLHVhlvz.- ".contains(c);
            assert!(path.chars().all(is_drawn), "{path}");
        }
        for outside in ["href=", "src=", "url("] {
            assert!(!page.contains(outside), "{page}");
        }
    }
}
