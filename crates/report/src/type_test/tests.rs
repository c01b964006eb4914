use super::{Edge, TypeTest, text};
use crate::Report;
use model::{Cell, Characteristic, CurrentRamp, EdgeShot, Outcome, RampSignal, Shot};
use testing::synthetic;

fn shot(number: u64, cell: Cell, outcome: Outcome, trip_ms: Option<i64>) -> Shot {
    Shot {
        number,
        at_ns: number,
        name: "z".to_owned(),
        watched_ns: None,
        uncertain_ns: None,
        reset_ns: None,
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

/// A ramp from 80 to 110 A in steps of 1 A and 100 ms.
fn ramp() -> CurrentRamp {
    CurrentRamp {
        phases: "A".to_owned(),
        setting_a: 100.0,
        error_percent: 2.0,
        from_a: 80.0,
        step_a: 1.0,
        step_ns: 100_000_000,
        steps: 30,
        signal: RampSignal::Start,
    }
}

/// Ramps with these times of pick-up and reset in ms.
fn ramped(times: &[(Outcome, Option<i64>, Option<i64>)]) -> Vec<Shot> {
    let one = |(number, (outcome, set, reset)): (u64, &(Outcome, Option<i64>, Option<i64>))| Shot {
        reset_ns: reset.map(|ms| ms * 1_000_000),
        ..shot(number, Cell::Ramp(ramp()), *outcome, *set)
    };
    (1..).zip(times).map(one).collect()
}

#[test]
fn a_ramp_gives_pick_up_drop_off_and_their_ratio() {
    use Outcome::Tripped;
    // 2010 ms is in the step of 101 A, 2250 ms in that of 103 A; 4310 ms is in the step of 96 A.
    let shots = ramped(&[(Tripped, Some(2_010), Some(4_310)), (Tripped, Some(2_250), Some(4_400))]);
    let tests = TypeTest::all(&shots);
    let [line] = &tests[0].ramps[..] else {
        panic!("one line")
    };
    assert_eq!(
        (line.pick_ups(), line.drop_offs()),
        (vec![101.0, 103.0], vec![95.0, 96.0])
    );
    assert_eq!((line.outside(), line.without()), (1, 0), "103 A is 3 % off");
    assert!(line.worst_percent().is_some_and(|percent| (percent - 3.0).abs() < 1e-9));
    assert!((line.ratios()[0] - 95.0 / 103.0).abs() < 1e-9);
    assert!(text(&shots).contains("start") && text(&shots).contains("up to a step lower"));
}

#[test]
fn a_relay_that_was_always_set_or_never_has_no_pick_up() {
    use Outcome::{Early, Failed, Late, NotCounted, Tripped};
    for shots in [
        ramped(&[(Early, Some(-300), Some(6_010))]),
        ramped(&[(Failed, None, None)]),
        ramped(&[(Late, Some(6_050), None)]),
        // A pick-up in the falling half is none: the current was higher before.
        ramped(&[(Tripped, Some(3_400), Some(5_000))]),
    ] {
        let tests = TypeTest::all(&shots);
        let line = &tests[0].ramps[0];
        assert_eq!((line.pick_ups(), line.drop_offs(), line.without()), (vec![], vec![], 1));
        assert_eq!(line.worst_percent(), None);
    }
    let unknown = TypeTest::all(&ramped(&[(NotCounted, Some(2_000), Some(4_000))]));
    let line = &unknown[0].ramps[0];
    assert_eq!((line.pick_ups(), line.without(), line.not_counted()), (vec![], 0, 1));
    // A start that chatters on the way up, or that stays to the end, has no drop-off.
    let chattering = TypeTest::all(&ramped(&[
        (Tripped, Some(2_000), Some(2_020)),
        (Tripped, Some(2_000), None),
    ]));
    let line = &chattering[0].ramps[0];
    assert_eq!(
        (line.pick_ups().len(), line.drop_offs(), line.ratios()),
        (2, vec![], vec![])
    );
}

/// Shots of a search with a border wanted at 100, at these values, with the outcome of each.
fn searched(of: Characteristic, shots: &[(f64, Outcome)]) -> Vec<Shot> {
    let one = |(number, (value, outcome)): (u64, &(f64, Outcome))| {
        let edge = EdgeShot {
            of,
            fault: "AG".to_owned(),
            along: 75.0,
            value: *value,
            wanted: 100.0,
            error_percent: 4.0,
            resolution: 1.0,
            ends: Some([10.0, 200.0]),
            within_ns: 40_000_000,
            approach_ns: 0,
        };
        let has_tripped = matches!(outcome, Outcome::Tripped | Outcome::False);
        shot(number, Cell::Edge(edge), *outcome, has_tripped.then_some(20))
    };
    (1..).zip(shots).map(one).collect()
}

#[test]
fn a_border_is_shown_only_where_the_shots_show_one() {
    use Characteristic::{Bias, Reach};
    use Outcome::{Failed, False, NotCounted, Quiet, Tripped};
    let edge = |of, shots: &[(f64, Outcome)]| TypeTest::all(&searched(of, shots)).remove(0).edges.remove(0);
    let within = edge(
        Reach,
        &[(96.0, Tripped), (104.0, Quiet), (101.0, Tripped), (102.0, Quiet)],
    );
    assert_eq!(within.edge(), Edge::Between([101.0, 102.0]));
    assert!(within.error_percent().is_some_and(|off| (off - 1.5).abs() < 1e-9));
    let far = edge(
        Reach,
        &[(96.0, Tripped), (104.0, False), (105.0, False), (106.0, Quiet)],
    );
    assert!(far.is_outside() && !within.is_outside());
    let bias = edge(
        Bias,
        &[(96.0, Quiet), (104.0, Tripped), (99.0, Quiet), (100.0, Tripped)],
    );
    assert_eq!(bias.edge(), Edge::Between([99.0, 100.0]));
    for (of, shots, found) in [
        (
            Reach,
            &[(96.0, Tripped), (104.0, False), (200.0, False)][..],
            Edge::Always,
        ),
        (Reach, &[(96.0, Failed), (10.0, Failed)], Edge::Never),
        (Bias, &[(96.0, False), (10.0, False)], Edge::Always),
        (Bias, &[(96.0, Quiet), (104.0, Failed), (200.0, Failed)], Edge::Never),
        (
            Reach,
            &[(96.0, Tripped), (97.0, Quiet), (98.0, Tripped)],
            Edge::Unsteady([97.0, 98.0]),
        ),
        (Reach, &[(96.0, Tripped), (104.0, Quiet)], Edge::Unknown),
        // Its time ran out after two trips: nothing says that it always trips.
        (Reach, &[(96.0, Tripped), (104.0, False)], Edge::Unknown),
        (Bias, &[(96.0, Quiet), (104.0, Failed)], Edge::Unknown),
        (Reach, &[(96.0, NotCounted), (96.0, NotCounted)], Edge::Unknown),
    ] {
        let line = edge(of, shots);
        assert_eq!(
            (line.edge(), line.measured(), line.error_percent()),
            (found, None, None),
            "{shots:?}"
        );
        let shown = text(&searched(of, shots));
        assert!(shown.contains("1 without a border") && shown.contains("–"), "{shown}");
    }
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
        ramped(&[
            (Outcome::Tripped, Some(2_010), Some(4_310)),
            (Outcome::Failed, None, None),
        ]),
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
