use crate::Report;
use crate::limits::Profile;
use crate::subjects::nics::samples::{card_facts, veth_facts};
use crate::verdict::Verdict;
use model::{Event, EventKind, RunState, RunView};
use testing::synthetic::{add_worst, qualify, run, series};

fn report(run: RunView) -> Report {
    Report::new(run, vec![Profile::find("substation").expect("embedded")])
}

#[test]
fn a_run_that_passes() {
    insta::assert_snapshot!(report(qualify(8, 10)).text(false, Some("report.html".as_ref())));
}

#[test]
fn a_run_that_fails_with_loss_and_doubts() {
    let mut run = qualify(2, 10);
    add_worst(&mut run.series[0], 412_870);
    run.series[0].spikes[0].value_ns = 412_870;
    run.series[0].counters.missed = 4;
    run.series[0].counters.expected += 4;
    run.series[2].counters.lost = 7;
    run.series[2].counters.expected += 7;
    run.events.push(Event {
        at_ns: 4_200_000_000,
        since_ns: None,
        kind: EventKind::ClockStep,
        series: None,
        text: "+3.1 ms".into(),
    });
    run.state = RunState::Interrupted;
    insta::assert_snapshot!(report(run).text(false, None));
}

#[test]
fn colours_only_when_told() {
    let report = report(run(vec![series("wakeup/cpu1", 1_000, 60_000, 10)]));
    assert!(!report.text(false, None).contains('\x1b'));
    let coloured = report.text(true, None);
    assert!(
        coloured.starts_with("\x1b[1;36mPARTIAL PASS\x1b[0m  1 of 11 limits measured, all within (1 check).\n"),
        "{coloured}"
    );
    let plain: String = coloured
        .split('\x1b')
        .map(|part| part.split_once('m').map_or(part, |(_, rest)| rest))
        .collect();
    assert_eq!(plain.lines().count(), report.text(false, None).lines().count());
}

#[test]
fn a_run_without_anything() {
    let text = report(run(Vec::new())).text(false, None);
    assert!(
        text.starts_with("INCONCLUSIVE  No limit applies to what was measured.\n"),
        "{text}"
    );
    assert!(text.contains("not measured  rtt.max"));
}

#[test]
fn interfaces_and_what_avb_requires_of_them() {
    let mut measured = run(vec![series("wakeup/cpu1", 5_000, 40_000, 10)]);
    measured.facts = [card_facts("eth1"), veth_facts("ts0")].concat();
    let report = Report::new(measured, vec![Profile::find("avb").expect("embedded")]);
    let text = report.text(false, None);
    let until = text.find("Trip-time budget").expect("the budget");
    insta::assert_snapshot!(&text[..until]);
}

#[test]
fn an_event_of_several_series_stands_once_and_each_time() {
    let mut measured = run(["a", "b"]
        .map(|name| series(&format!("hop/{name}-to-c/MU01"), 1_000, 60_000, 10))
        .into());
    let ids: Vec<_> = measured.series.iter().map(|series| series.id).collect();
    for at_ns in [1_000, 2_000] {
        measured.events.extend(ids.iter().map(|id| Event {
            at_ns,
            since_ns: None,
            kind: EventKind::HopGap,
            series: Some(*id),
            text: "a0 is gone".into(),
        }));
    }
    let text = report(measured).text(false, None);
    let (_, events) = text.split_once("Events").expect("the section");
    assert_eq!(events.matches("a0 is gone").count(), 2, "{text}");
}

/// A run of round trips, and a profile with a limit on them and, unless `whole`, a limit on something that was not
/// measured.
fn partly(whole: bool) -> Report {
    let more =
        "[[limit]]\nid = \"age.max\"\nseries = \"age/*\"\nquantity = \"max\"\nallowed = \"1ms\"\nsource = \"site\"\n";
    let text = format!(
        "name = \"site\"\nwhat = \"tests\"\n{}{}",
        more.replace("age", "rtt"),
        if whole { "" } else { more }
    );
    let profile = Profile::parse(&text, "test").expect("a profile");
    Report::new(run(vec![series("rtt/reflect", 1_000, 60_000, 10)]), vec![profile])
}

#[test]
fn a_pass_of_some_limits_is_another_thing_than_one_of_all() {
    let (whole, some) = (partly(true), partly(false));
    assert_eq!((whole.verdict(), some.verdict()), (Verdict::Pass, Verdict::Pass));
    let first = |report: &Report| report.text(true, None).lines().next().map(str::to_owned);
    assert_eq!(
        first(&whole).as_deref(),
        Some("\x1b[1;32mPASS\x1b[0m  The one check is within its limit.")
    );
    assert_eq!(
        first(&some).as_deref(),
        Some("\x1b[1;36mPARTIAL PASS\x1b[0m  1 of 2 limits measured, all within (1 check).")
    );
    let html = some.html(&crate::about::About::default(), None).expect("a page");
    assert!(html.contains("<header class=\"partial\">") && html.contains("</svg>Partial pass</h1>"));
    let html = whole.html(&crate::about::About::default(), None).expect("a page");
    assert!(html.contains("<header class=\"pass\">") && html.contains("</svg>Pass</h1>"));
    for (report, limits, coverage) in [(&whole, 1, "whole"), (&some, 2, "partial")] {
        let json: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
        for over in [&json, &json["profiles"][0]] {
            assert_eq!(over["verdict"], "pass");
            assert_eq!((&over["limits"], &over["measured"]), (&limits.into(), &1.into()));
            assert_eq!(over["coverage"], coverage);
        }
    }
}
