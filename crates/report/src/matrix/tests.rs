//! Cells, their figures, and the statements about their differences.

use super::{Absent, Conditions, Matrix, Measurement};
use crate::limits::Profile;
use crate::verdict::Judgement;
use model::RunView;
use model::fact::{BOOT_ID, CELL_ISOLATION, CELL_LOAD, CELL_MANAGEMENT, CELL_NETWORK, CELL_PLACE, KERNEL_LINE};
use serde_json::Value;
use testing::synthetic::{self, Shape};
use units::Realtime;

const SECOND_NS: u64 = 1_000_000_000;

fn conditions(place: &str, load: &str) -> Conditions {
    Conditions {
        place: place.to_owned(),
        network: Some("bridge".to_owned()),
        load: load.to_owned(),
        management: None,
        isolation: "none".to_owned(),
    }
}

/// A measurement of a cell: wake-ups of two CPUs around `median_ns`.
fn run(conditions: &Conditions, round: i64, (median_ns, seconds): (f64, u64)) -> RunView {
    let series = |cpu: u64, median_ns: f64| {
        synthetic::shaped(&Shape {
            name: format!("wakeup/cpu{cpu}"),
            samples: 4_000 * seconds,
            seconds,
            median_ns,
            spread: 0.1,
            max_ns: (median_ns * 8.0) as i64 + i64::try_from(cpu).expect("small"),
            seed: cpu + 10 * round.unsigned_abs(),
        })
    };
    let mut run = synthetic::run(vec![series(1, median_ns), series(2, median_ns * 1.01)]);
    run.info.started = Realtime::from_ns(1_795_226_400_000_000_000 + round);
    let known = |value: &str| Ok(value.to_owned());
    run.facts = vec![
        CELL_PLACE.fact(known(&conditions.place), "test"),
        CELL_NETWORK.fact(known("bridge"), "test"),
        CELL_LOAD.fact(known(&conditions.load), "test"),
        CELL_ISOLATION.fact(known(&conditions.isolation), "test"),
    ];
    let management = conditions.management.as_ref();
    run.facts
        .extend(management.map(|name| CELL_MANAGEMENT.fact(known(name), "test")));
    run
}

fn judged(view: RunView) -> Measurement {
    let profile = Profile::find("substation").expect("embedded");
    let judgement = Judgement::of(&view, &[profile]);
    Measurement {
        view,
        judgement,
        for_causes: false,
    }
}

/// Native and a container, two rounds each; the container's wake-ups take `times` as long.
fn two_places(times: f64, seconds: u64) -> Matrix {
    let mut runs = Vec::new();
    for round in 0..2 {
        for (place, times) in [("native", 1.0), ("container", times)] {
            runs.push(judged(run(
                &conditions(place, "none"),
                round,
                (9_000.0 * times, seconds),
            )));
        }
    }
    let order = ["native", "container"].map(|place| conditions(place, "none"));
    Matrix::of("test", &order, runs, &[]).expect("cells")
}

fn json(matrix: &Matrix) -> Value {
    serde_json::from_str(&matrix.json().expect("a document")).expect("JSON")
}

#[test]
fn rounds_and_series_of_a_kind_are_one() {
    let json = json(&two_places(1.0, 60));
    let cells = json["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2);
    assert_eq!(
        (&cells[0]["place"], &cells[0]["runs"]),
        (&Value::from("native"), &Value::from(2))
    );
    let wakeup = &cells[0]["measured"][0];
    assert_eq!(wakeup["received"], 2 * 2 * 4_000 * 60);
    assert_eq!(
        wakeup["max"],
        (9_000.0f64 * 1.01 * 8.0) as i64 + 2,
        "the largest of both CPUs and rounds"
    );
    assert_eq!(
        wakeup["window_maxima"]["span_s"], 20.0,
        "two minutes make six spans of 20 s"
    );
    assert_eq!(wakeup["window_maxima"]["count"], 6);
}

#[test]
fn a_planted_difference_is_a_sentence_with_its_size() {
    let matrix = two_places(1.5, 60);
    let json = json(&matrix);
    let conclusion = &json["conclusions"][0];
    assert_eq!(conclusion["outcome"], "slower", "{conclusion:#}");
    let text = conclusion["text"].as_str().expect("a text");
    assert!(
        text.starts_with(
            "Wake-up latency, container against native over bridge, load none, isolation none: slower by "
        ),
        "{text}"
    );
    let statement = &conclusion["statements"][0];
    let apart = |end: &str| statement[end].as_f64().expect("a number");
    let (low, high) = (apart("low"), apart("high"));
    let planted = apart("b") - apart("a");
    assert!(low > 0.0 && low <= planted && planted <= high, "{statement:#}");
    assert!(matrix.text().contains(text));
}

#[test]
fn equal_cells_are_said_to_be_equal_to_within_a_figure() {
    let json = json(&two_places(1.0, 120));
    let conclusion = &json["conclusions"][0];
    let text = conclusion["text"].as_str().expect("a text");
    assert_eq!(conclusion["outcome"], "no-difference", "{text}");
    assert!(text.contains(": no difference above "), "{text}");
}

#[test]
fn short_cells_say_that_they_are_too_short() {
    let matrix = two_places(1.0, 1);
    let text = matrix.text();
    assert!(
        text.contains("too short for a box: 2 windows of 1.00 s, of the 5 needed"),
        "{text}"
    );
    let json = json(&matrix);
    let conclusion = json["conclusions"][0]["text"].as_str().expect("a text");
    assert!(
        conclusion.contains("undecided: ") || conclusion.contains("not sure"),
        "{conclusion}"
    );
    assert_eq!(json["cells"][0]["measured"][0]["window_maxima"]["box"], Value::Null);
}

#[test]
fn what_is_not_there_says_why_and_is_no_pass() {
    let absent = [
        Absent {
            conditions: conditions("vm", "none"),
            why: "no kernel".to_owned(),
            is_failure: false,
        },
        Absent {
            conditions: conditions("container", "none"),
            why: "no runtime".to_owned(),
            is_failure: true,
        },
    ];
    let order = ["native", "container", "vm"].map(|place| conditions(place, "none"));
    let runs = || vec![judged(run(&conditions("native", "none"), 0, (9_000.0, 60)))];
    let matrix = Matrix::of("test", &order, runs(), &absent).expect("cells");
    let text = matrix.text();
    for part in [
        "left out: vm over bridge, load none, isolation none: no kernel",
        "container over bridge, load none, isolation none: not run: no runtime",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!matrix.is_passed() && !matrix.has_failed());
    assert!(
        Matrix::of("test", &order, runs(), &absent[..1])
            .expect("cells")
            .is_passed(),
        "left out is said, and no failure"
    );
    assert!(
        !Matrix::of("test", &order, Vec::new(), &[])
            .expect("no cells")
            .is_passed()
    );
}

#[test]
fn a_limit_that_failed_is_named_with_its_cell() {
    let late = judged(run(&conditions("native", "none"), 0, (90_000.0, 30)));
    let later = judged(run(&conditions("native", "none"), 2, (95_000.0, 30)));
    let mut again = judged(run(&conditions("native", "none"), 1, (90_000.0, 30)));
    again.for_causes = true;
    let matrix = Matrix::of("test", &[], vec![late, later, again], &[]).expect("cells");
    assert!(matrix.has_failed() && !matrix.is_passed());
    let json = json(&matrix);
    assert_eq!(json["cells"][0]["runs"], 2, "what was made for its causes is no round");
    assert_eq!(json["cells"][0]["measured"][0]["received"], 2 * 2 * 4_000 * 30);
    let over = json["cells"][0]["over"].as_array().expect("limits");
    assert!(
        over[0]
            .as_str()
            .is_some_and(|text| text.starts_with("wakeup.max of wakeup/cpu2 and 1 more, 2 times: ")),
        "{over:?}"
    );
    assert!(over.iter().any(|text| {
        text.as_str()
            .is_some_and(|text| text.starts_with("again, for its causes: "))
    }));
}

#[test]
fn what_an_emulated_processor_took_is_no_evidence() {
    let mut guest = run(&conditions("vm", "none"), 0, (90_000.0, 60));
    guest.events.push(model::Event {
        at_ns: 0,
        since_ns: None,
        kind: model::EventKind::Emulated,
        series: None,
        text: "emulated".to_owned(),
    });
    let native = run(&conditions("native", "none"), 0, (9_000.0, 60));
    let matrix = Matrix::of("test", &[], vec![judged(native), judged(guest)], &[]).expect("cells");
    let json = json(&matrix);
    let emulated = json["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .map(|cell| cell["emulated"].as_bool());
    assert_eq!(emulated.collect::<Vec<_>>(), [Some(false), Some(true)]);
    let text = json["conclusions"][0]["text"].as_str().expect("a text");
    assert!(text.ends_with("; emulated: its timing is no evidence."), "{text}");
    assert!(!matrix.has_failed(), "no limit fails by it");
}

/// A doubt of any round, and of any sort, is one of the cell.
#[test]
fn a_doubt_of_a_cell_is_one_of_each_conclusion_about_it() {
    let mut doubted = run(&conditions("vm", "none"), 9, (90_000.0, 60));
    let series = doubted.series[1].id;
    doubted.events.push(model::Event {
        at_ns: 0,
        since_ns: None,
        kind: model::EventKind::HeldUp,
        series: Some(series),
        text: "planted".to_owned(),
    });
    let first = run(&conditions("vm", "none"), 0, (90_000.0, 60));
    let native = run(&conditions("native", "none"), 0, (9_000.0, 60));
    let runs = vec![judged(native), judged(first), judged(doubted)];
    let matrix = Matrix::of("test", &[], runs, &[]).expect("cells");
    let json = json(&matrix);
    let text = json["conclusions"][0]["text"].as_str().expect("a text");
    assert!(text.contains("; in doubt, vm") && text.contains("planted"), "{text}");
    let doubts = json["conclusions"][0]["doubts"].as_array().expect("doubts");
    assert_eq!(doubts.len(), 1, "{doubts:?}");
}

#[test]
fn a_run_that_is_no_cell_is_refused() {
    let mut foreign = run(&conditions("native", "none"), 0, (9_000.0, 2));
    foreign.facts.clear();
    let refused = Matrix::of("test", &[], vec![judged(foreign)], &[]).expect_err("no cell");
    assert!(refused.ends_with("qualify.triptime"), "{refused}");
}

#[test]
fn every_form_has_every_cell() {
    let matrix = two_places(1.2, 60);
    let csv = matrix.csv();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let columns = |line: &str| line.split(',').count();
    assert!(
        csv.lines()
            .all(|line| columns(line) == columns(csv.lines().next().expect("heads"))),
        "{csv}"
    );
    let html = matrix.html().expect("a page");
    assert!(
        html.contains("class=\"boxes\"") && html.contains("outline run1"),
        "drawn"
    );
    assert!(
        html.matches("container over bridge, load none").count() >= 2,
        "its box and its files"
    );
    assert!(html.starts_with("<!doctype html>") && html.contains("<title>triptime: matrix test"));
    let lasts = json(&matrix)["cells"][1]["duration_s"].as_f64();
    assert_eq!(lasts, Some((120 * SECOND_NS) as f64 / 1e9));
}

#[test]
fn a_management_network_is_a_condition_with_differences_of_its_own() {
    let named = |name: &str| Conditions {
        management: Some(name.to_owned()),
        ..conditions("native", "none")
    };
    let cell = |name: &str, round, times| judged(run(&named(name), round, (9_000.0 * times, 60)));
    let runs = (0..2).flat_map(|round| [cell("none", round, 1.0), cell("office", round, 3.0)]);
    let order = ["none", "office"].map(named);
    let matrix = Matrix::of("test", &order, runs.collect(), &[]).expect("cells");
    let text = matrix.text();
    assert!(
        text.contains("| place  | network | load | management | isolation |"),
        "{text}"
    );
    let sentence = "Wake-up latency, management network office against none (native over bridge, load none, isolation none): slower";
    assert!(text.contains(sentence), "{text}");
    assert!(
        text.contains("native over bridge, load none, management network office, isolation none"),
        "{text}"
    );
    let json = json(&matrix);
    let conclusion = &json["conclusions"][0];
    assert_eq!(
        (&conclusion["differs_in"], &conclusion["and"]["management"]),
        (&"management".into(), &"office".into())
    );
    let csv = matrix.csv();
    assert!(
        csv.lines()
            .next()
            .is_some_and(|heads| heads.ends_with(",q3_ns,management")),
        "{csv}"
    );
    assert!(
        csv.lines()
            .skip(1)
            .all(|line| line.ends_with(",none") || line.ends_with(",office")),
        "{csv}"
    );
    assert!(
        matrix
            .html()
            .expect("a page")
            .contains("load none, management network office")
    );
    // If no cell names a management network, none is shown.
    assert!(
        !two_places(1.0, 60).text().contains("management network "),
        "no column, and no word"
    );
}

#[test]
fn all_faces_of_a_matrix() {
    let mut runs = Vec::new();
    for (place, times) in [("native", 1.0), ("container", 5.0)] {
        let mut view = run(&conditions(place, "none"), 0, (9_000.0 * times, 30));
        view.series[0].counters.missed = 2;
        view.series[0].counters.expected += 2;
        runs.push(judged(view));
    }
    let absent = Absent {
        conditions: conditions("guest", "none"),
        why: "no /dev/kvm".into(),
        is_failure: false,
    };
    let order = ["native", "container", "guest"].map(|place| conditions(place, "none"));
    let matrix = Matrix::of("test", &order, runs, &[absent]).expect("cells");
    let page = matrix.html().expect("a page");
    insta::assert_snapshot!("matrix_page", crate::html::tests::visible(&page));
    insta::assert_snapshot!("matrix_text", matrix.text());
    insta::assert_snapshot!("matrix_document", matrix.json().expect("a document"));
}

#[test]
fn cells_of_two_boots_stand_in_one_table_and_the_kernels_arguments_are_compared() {
    let of_boot = |isolation: &str, round: i64, boot: &str, line: Result<String, String>| {
        let mut own = conditions("native", "none");
        own.isolation = isolation.to_owned();
        let mut view = run(&own, round, (10_000.0, 2));
        view.facts.push(BOOT_ID.fact(Ok(boot.to_owned()), "test"));
        view.facts.push(KERNEL_LINE.fact(line, "test"));
        judged(view)
    };
    let line = |text: &str| Ok(text.to_owned());
    let made = |second: Result<String, String>| {
        let runs = vec![
            of_boot("isolcpus", 3, "b", second),
            of_boot("none", 1, "a", line("quiet rw")),
            of_boot("cpuset", 2, "a", line("quiet rw")),
        ];
        Matrix::of("test", &[], runs, &[]).expect("a matrix")
    };
    let two = made(line("quiet isolcpus=1 nohz_full=1"));
    let text = two.text();
    assert!(
        text.contains("boot 1, 2 runs with isolation cpuset, none: kernel arguments quiet rw"),
        "{text}"
    );
    assert!(
        text.contains(
            "boot 2, 1 run with isolation isolcpus: in addition to boot 1: isolcpus=1 nohz_full=1; without rw"
        ),
        "{text}"
    );
    assert!(text.contains("| isolcpus") && text.contains("| cpuset"), "{text}");
    let unknown = made(Err("hidden".to_owned())).text();
    assert!(
        unknown.contains("isolation isolcpus: the kernel's arguments are not known"),
        "{unknown}"
    );
    let mut guest = of_boot("isolcpus", 2, "c", line("guest"));
    guest.view.facts[0] = CELL_PLACE.fact(Ok("vm".to_owned()), "test");
    let runs = vec![of_boot("none", 1, "a", line("quiet")), guest];
    let one = Matrix::of("test", &[], runs, &[]).expect("a matrix");
    assert!(!one.text().contains("Boots"));
}
