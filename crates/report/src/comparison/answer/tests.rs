use crate::comparison::{Comparison, joined as joined_rounds};
use crate::limits::Profile;
use crate::screen::Size;
use crate::screen::lines::rows_of;
use model::{Event, EventKind, Fact, RunState, RunView};
use serde_json::Value;
use testing::synthetic;

fn fact(group: &str, name: &str, value: &str) -> Fact {
    Fact {
        group: group.into(),
        name: name.into(),
        value: Ok(value.into()),
        source: String::new(),
    }
}

/// A run of a round trip with windows of a second, measured on this kernel.
fn run(seconds: u64, max_ns: i64, kernel: &str) -> RunView {
    let mut run = synthetic::run(vec![synthetic::series("rtt/reflect", 4_000 * seconds, max_ns, seconds)]);
    run.facts = vec![fact("kernel", "release", kernel)];
    run
}

fn answer(comparison: &Comparison) -> String {
    for size in [Size::of_terminal(80, 24), Size::LARGEST] {
        let text = comparison.answer(size, "triptime compare --full a b");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(rows_of(&lines, size.columns) <= size.lines, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= size.columns), "{text}");
    }
    comparison.answer(Size::LARGEST, "triptime compare --full a b")
}

fn of(a: RunView, b: RunView) -> Comparison {
    Comparison::of(vec![("before".into(), a), ("after".into(), b)])
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_worse_run_is_called_worse_first_with_what_was_set_up_otherwise_before_the_latencies() {
    let text = answer(&of(run(600, 60_000, "6.1.0-rt"), run(600, 600_000, "6.12.0")));
    assert!(text.starts_with("after is worse: layer-2 round trip "), "{text}");
    assert!(joined(&text).contains(", sure"), "{text}");
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in\n{text}"));
    assert!(
        place("kernel release: 6.1.0-rt → 6.12.0") < place("largest changes"),
        "{text}"
    );
    assert!(text.contains("rtt/reflect"), "{text}");
    assert!(text.ends_with("Full    triptime compare --full a b\n"), "{text}");
    let back = answer(&of(run(600, 600_000, "6.1"), run(600, 60_000, "6.1")));
    assert!(back.starts_with("after is better: "), "{back}");
}

#[test]
fn a_known_regression_of_one_kernel_is_named() {
    let text = joined(&answer(&of(run(600, 60_000, "6.18.44"), run(600, 60_000, "6.18.46"))));
    assert!(
        text.contains("known regression starved-outside-nested-group: "),
        "{text}"
    );
    let other = joined(&answer(&of(run(600, 60_000, "6.1.0"), run(600, 60_000, "6.12.0"))));
    assert!(!other.contains("known regression"), "one of other set-ups: {other}");
}

#[test]
fn a_finding_differs_by_its_outcome_only() {
    let with = |text: &str| {
        let mut run = run(600, 60_000, "6.1");
        run.facts.push(fact("audit", "timer-migration", text));
        run
    };
    let same = of(with("fail (minor): 1"), with("fail (minor): 2"));
    assert!(same.facts.is_empty(), "{:?}", same.facts);
    let text = joined(&answer(&of(with("fail (minor): 1"), with("pass"))));
    assert!(text.contains("audit timer-migration: fail (minor): 1 → pass"), "{text}");
}

#[test]
fn equal_runs_do_not_differ_and_the_answer_says_how_well_that_is_known() {
    let text = answer(&of(run(600, 60_000, "6.1"), run(600, 60_000, "6.1")));
    assert!(
        text.starts_with("No difference between before and after is sure"),
        "{text}"
    );
    assert!(joined(&text).contains("no difference above "), "{text}");
    assert!(!text.contains("largest changes"), "{text}");
}

/// Fourteen windows are too few for a strict statement, so their results must not be called sure.
#[test]
fn short_runs_are_compared_and_nothing_of_them_is_called_sure() {
    let comparison = of(run(14, 60_000, "6.1"), run(14, 900_000, "6.1"));
    let text = answer(&comparison);
    assert!(text.starts_with("after seems worse, which is not sure: "), "{text}");
    assert!(!text.contains(", sure") && text.contains("few windows"), "{text}");
    let json: Value = serde_json::from_str(&comparison.json().expect("a document")).expect("JSON");
    let by_samples = json["series"][0]["by_samples"].as_array().expect("a list");
    assert!(
        by_samples.iter().any(|one| one["outcome"] == "higher"),
        "{by_samples:#?}"
    );
    assert_eq!(by_samples[0]["assumed"], "few-windows");
    assert_eq!(json["answer"]["changes"][0]["worse"], true);
    assert_eq!(json["answer"]["changes"][0]["sure"], "few windows");
}

#[test]
fn a_run_of_one_window_is_compared_by_its_samples() {
    let text = answer(&of(run(1, 60_000, "6.1"), run(1, 900_000, "6.1")));
    assert!(text.starts_with("after may be worse, which is not sure: "), "{text}");
    assert!(
        joined(&text).contains("if samples are independent, which latencies seldom are"),
        "{text}"
    );
}

#[test]
fn a_limit_that_changed_its_verdict_is_named_with_both_figures() {
    let profile = || Some(Profile::find("substation").expect("embedded"));
    let judged = of(run(600, 60_000, "6.1"), run(600, 600_000, "6.1")).judged(&[profile(), profile()]);
    let text = answer(&judged);
    assert!(
        joined(&text).contains("rtt.max within (60.0 µs) → exceeded (600 µs)"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&judged.json().expect("a document")).expect("JSON");
    let limit = &json["answer"]["limits"][0];
    assert_eq!(
        (&limit["run"], &limit["and"]["state"]),
        (&"after".into(), &"exceeded".into()),
        "{limit}"
    );
    let one = of(run(600, 60_000, "6.1"), run(600, 60_000, "6.1")).judged(&[profile(), None]);
    assert!(
        answer(&one).contains("only before was judged by limits"),
        "{}",
        answer(&one)
    );
    let none = of(run(600, 60_000, "6.1"), run(600, 60_000, "6.1"));
    assert!(!answer(&none).contains("Limits"), "{}", answer(&none));
}

#[test]
fn runs_that_were_not_measured_alike_are_said_to_be_so() {
    let with = |policy: &str, max_ns: i64| {
        let mut run = run(600, max_ns, "6.1");
        run.series[0].spec.settings = vec![("policy".into(), policy.into())];
        run
    };
    let text = answer(&of(with("fifo:60", 60_000), with("other", 600_000)));
    assert!(
        text.contains("CONDITIONS DIFFER, policy of rtt/reflect: fifo:60 → other"),
        "{text}"
    );
    assert!(text.contains("sure, conditions differ"), "{text}");
}

#[test]
fn large_runs_many_runs_and_long_names_keep_to_the_screen() {
    let large = synthetic::qualify(100, 60);
    answer(&of(large.clone(), large));
    let named = |n: u64| {
        (
            format!("{n}-{}", "long".repeat(30)),
            run(60 + n, 60_000 * (1 + n as i64), &format!("6.{n}")),
        )
    };
    answer(&Comparison::of((0..9).map(named).collect()));
}

#[test]
fn what_stands_in_one_run_only_is_counted() {
    let mut b = run(600, 60_000, "6.1");
    b.series.push(synthetic::series("noise/cpu1", 1_000, 9_000, 60));
    let text = answer(&of(run(600, 60_000, "6.1"), b));
    assert!(text.contains("1 series of one run only"), "{text}");
    let mut other = run(1, 9_000, "6.1");
    other.series = vec![synthetic::series("noise/cpu1", 1_000, 9_000, 60)];
    let nothing = answer(&of(run(600, 60_000, "6.1"), other));
    assert!(nothing.starts_with("Nothing of after is compared"), "{nothing}");
}

/// An event that may explain a difference, in both directions and also where nothing differs.
#[test]
fn a_run_in_doubt_is_compared_and_nothing_of_it_is_called_sure() {
    let doubted = |max_ns, kind: EventKind| {
        let mut run = run(600, max_ns, "6.1");
        run.events.push(Event {
            at_ns: 0,
            since_ns: None,
            kind,
            series: None,
            text: "planted".to_owned(),
        });
        run
    };
    let plain = |max_ns| run(600, max_ns, "6.1");
    for kind in [EventKind::Emulated, EventKind::HeldUp, EventKind::SecondMeasurement] {
        let comparison = of(plain(60_000), doubted(600_000, kind));
        let text = answer(&comparison);
        assert!(text.starts_with("after may be worse, which is in doubt: "), "{text}");
        assert!(!joined(&text).contains(", sure"), "{text}");
        let wanted = format!("IN DOUBT, after: {} at 0 ns: planted (rtt/reflect)", kind.word());
        assert!(joined(&text).contains(&wanted), "{text}");
        let json: Value = serde_json::from_str(&comparison.json().expect("a document")).expect("JSON");
        assert_eq!(json["answer"]["changes"][0]["sure"], "in doubt");
        assert_eq!(json["series"][0]["doubts"][0]["run"], "after");
        assert!(comparison.text().contains("after IS IN DOUBT"), "{}", comparison.text());
    }
    let same = joined(&answer(&of(doubted(60_000, EventKind::Emulated), plain(60_000))));
    assert!(
        same.contains("no difference above ") && same.contains(", in doubt"),
        "{same}"
    );
    let mut ended = plain(600_000);
    ended.state = RunState::Interrupted;
    let text = answer(&of(plain(60_000), ended));
    assert!(text.starts_with("after may be worse, which is in doubt: "), "{text}");
    // The hold of idle states is a setting, which is compared.
    let text = answer(&of(plain(60_000), doubted(600_000, EventKind::HeldByUs)));
    assert!(text.starts_with("after is worse: "), "{text}");
    // That of another program is not.
    let as_it_is = |mut run: RunView| {
        let settings = &mut run.series[0].spec.settings;
        settings.retain(|(name, _)| name != "idle states");
        settings.push(("idle states".into(), "as the system has them".into()));
        run
    };
    let held = as_it_is(doubted(600_000, EventKind::HeldByUs));
    let text = answer(&of(as_it_is(plain(60_000)), held));
    assert!(text.starts_with("after may be worse, which is in doubt: "), "{text}");
}

/// The doubts of a later round are those of all.
#[test]
fn a_doubt_of_a_later_round_is_one_of_the_whole() {
    let mut later = run(600, 600_000, "6.1");
    let series = later.series[0].id;
    later.events.push(Event {
        at_ns: 5,
        since_ns: Some(1),
        kind: EventKind::HeldUp,
        series: Some(series),
        text: "planted".to_owned(),
    });
    let whole = joined_rounds(vec![run(600, 600_000, "6.1"), later]).expect("rounds");
    let text = answer(&of(run(600, 60_000, "6.1"), whole));
    assert!(text.starts_with("after may be worse, which is in doubt: "), "{text}");
}
