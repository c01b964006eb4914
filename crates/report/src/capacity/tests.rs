use super::{Attempt, Capacity, GaveWay, Part, Proof, Search, Tried, Wanted};
use crate::Report;
use crate::verdict::Verdict;
use model::{Counters, Event, EventKind, Rows, RunView, SeriesView};
use stats::Histogram;
use testing::synthetic;

const FRAMES: u64 = 288_000;

fn wanted() -> Wanted {
    Wanted {
        streams: 1,
        rate: 4_800,
        asdus: 1,
        relay: false,
        quantile: 0.9999,
        within_ns: 500_000,
    }
}

fn series(name: &str) -> SeriesView {
    let mut series = synthetic::series(name, 10, 100_000, 1);
    series.histogram = Histogram::new();
    series.histogram.record_n(100_000, FRAMES);
    series.counters = Counters {
        expected: FRAMES,
        received: FRAMES,
        ..Counters::default()
    };
    series.causes = Vec::new();
    series
}

/// One stream for a minute, with all samples in time.
fn clean() -> RunView {
    let all = ["publish/lateness", "delivery/subscribe", "age/MU01"].map(series);
    let mut run = synthetic::run(all.into());
    run.events = Rows::default();
    run
}

fn event(run: &mut RunView, kind: EventKind, text: &str) {
    run.events.push(Event {
        at_ns: 1,
        since_ns: None,
        kind,
        text: text.into(),
        series: None,
    });
}

fn changed(change: impl FnOnce(&mut RunView)) -> RunView {
    let mut run = clean();
    change(&mut run);
    run
}

fn gave_way(run: &RunView) -> Option<GaveWay> {
    Attempt::of(run, &wanted(), Proof::Seen).gave_way
}

/// Adds `n` samples of `ns` to a series.
fn took(series: &mut SeriesView, ns: u64, n: u64) {
    series.histogram = Histogram::new();
    series.histogram.record_n(100_000, FRAMES - n);
    series.histogram.record_n(ns, n);
}

#[test]
fn what_came_in_time_is_held_and_its_bounds_are_those_of_the_rule_of_three() {
    for proof in [Proof::Seen, Proof::Stated] {
        let held = Attempt::of(&clean(), &wanted(), proof);
        assert_eq!(held.gave_way, None);
        assert_eq!((held.sent, held.lost, held.samples, held.over), (FRAMES, 0, FRAMES, 0));
        assert!((held.loss_below() * FRAMES as f64 - 2.9957).abs() < 1e-3);
        assert!((held.over_below() - held.loss_below()).abs() < 1e-12);
    }
}

#[test]
fn each_thing_that_gives_way_is_named_for_what_it_is() {
    let lose = |run: &mut RunView| run.series[1].counters.received -= 100;
    let task = |run: &mut RunView| {
        let mut task = series("task/bays1");
        task.counters.late = 2;
        task.spikes = synthetic::qualify(1, 10)
            .series
            .iter()
            .flat_map(|series| &series.spikes)
            .filter(|spike| spike.explanation.is_some())
            .take(1)
            .cloned()
            .collect();
        run.series.push(task);
    };
    let slow = |run: &mut RunView| took(&mut run.series[2], 700_000, 29);
    let cases = [
        (changed(lose), Part::Unknown, "from before or after"),
        (
            changed(|run| {
                lose(run);
                run.series[2].counters.lost = 100;
            }),
            Part::Host,
            "loss: 100 frames of 288 000 never came",
        ),
        (
            changed(|run| {
                lose(run);
                event(run, EventKind::SocketDrop, "the socket dropped 100 frames");
            }),
            Part::Host,
            "the socket dropped 100 frames",
        ),
        (
            changed(|run| run.series[1].counters.received += 1),
            Part::Unknown,
            "another publisher",
        ),
        (
            changed(task),
            Part::Host,
            "task: 2 overruns in 288 000 cycles, 0 slept through; in the worst, ",
        ),
        (
            changed(slow),
            Part::Host,
            "latency: 29 of 288 000 samples over 500 µs, and 28 are allowed",
        ),
        (
            changed(|run| {
                slow(run);
                took(&mut run.series[0], 400_000, 29);
            }),
            Part::TestSet,
            "the test set itself sent 29 frames more than 250 µs late",
        ),
        (
            changed(|run| {
                slow(run);
                event(run, EventKind::SecondMeasurement, "pid 7 on cpu1");
            }),
            Part::Unknown,
            "pid 7 on cpu1",
        ),
        (
            changed(|run| run.series[0].counters.missed = 29),
            Part::TestSet,
            "left out 29 of 288 029 frames",
        ),
        (
            changed(|run| run.series[2].counters.overrun = 1),
            Part::Unknown,
            "1 record lost between",
        ),
        (
            changed(|run| event(run, EventKind::Interrupted, "ended early")),
            Part::Unknown,
            "ended early",
        ),
        (changed(|run| run.series.clear()), Part::Unknown, "nothing came"),
    ];
    for (run, part, text) in cases {
        let found = gave_way(&run).expect(text);
        assert!(found.part == part && found.what.contains(text), "{text}: {found:?}");
    }
}

#[test]
fn what_is_within_what_is_allowed_holds() {
    for run in [
        changed(|run| took(&mut run.series[2], 700_000, 28)),
        changed(|run| run.series[0].counters.missed = 28),
    ] {
        assert_eq!(gave_way(&run), None);
    }
    // Frames that the test set left out are not lost, although their numbers are missing.
    let left_out = changed(|run| {
        run.series[0].counters.missed = 20;
        run.series[2].counters.lost = 20;
    });
    assert_eq!(gave_way(&left_out), None);
}

#[test]
fn a_hold_states_more_than_it_saw() {
    let few = changed(|run| took(&mut run.series[2], 700_000, 27));
    assert_eq!(gave_way(&few), None);
    let stated = Attempt::of(&few, &wanted(), Proof::Stated)
        .gave_way
        .expect("too many for 95 %");
    assert!(
        stated.part == Part::Unknown && stated.what.contains("too few samples"),
        "{stated:?}"
    );
    let fewer = changed(|run| took(&mut run.series[2], 700_000, 15));
    assert_eq!(Attempt::of(&fewer, &wanted(), Proof::Stated).gave_way, None);
}

#[test]
fn of_a_relay_it_is_the_age_at_its_task() {
    let relay = Wanted {
        relay: true,
        ..wanted()
    };
    let mut run = clean();
    run.series[2] = series("use/bays1-MU01");
    assert_eq!(Attempt::of(&run, &relay, Proof::Stated).gave_way, None);
    let without = Attempt::of(&run, &wanted(), Proof::Stated).gave_way.expect("no age");
    assert_eq!(without.part, Part::Unknown);
}

fn search(streams: u16, at_least: Option<u16>, gave_way: Option<(u16, Part)>) -> Search {
    let tried = gave_way.map(|(streams, part)| Tried {
        streams,
        is_hold: false,
        attempts: 2,
        failed: 2,
        gave_way: Some(GaveWay {
            part,
            what: "planted".into(),
        }),
    });
    Search {
        wanted: Wanted { streams, ..wanted() },
        max: 16,
        at_least,
        tried: tried.into_iter().collect(),
    }
}

#[test]
fn the_number_that_was_asked_for_is_judged_by_what_is_known() {
    let verdict = |search: Search, run: &RunView| Capacity::of(search, run).verdict();
    let (held, broken) = (clean(), changed(|run| took(&mut run.series[2], 700_000, 1_000)));
    let host = Some((9, Part::Host));
    for (asked, expected) in [(8, Verdict::Pass), (9, Verdict::Fail), (16, Verdict::Fail)] {
        assert_eq!(verdict(search(8, Some(asked), host), &held), Some(expected), "{asked}");
    }
    for part in [Part::TestSet, Part::Unknown] {
        assert_eq!(
            verdict(search(8, Some(9), Some((9, part))), &held),
            Some(Verdict::Inconclusive)
        );
    }
    assert_eq!(
        verdict(search(8, None, host), &held),
        None,
        "an answer, and nothing to judge"
    );
    // If the host failed during a hold, it also fails with more streams; nothing is proved for fewer.
    assert_eq!(verdict(search(8, Some(8), host), &broken), Some(Verdict::Fail));
    assert_eq!(verdict(search(8, Some(7), host), &broken), Some(Verdict::Inconclusive));
    assert_eq!(verdict(search(8, None, host), &broken), Some(Verdict::Inconclusive));
    assert_eq!(
        verdict(search(1, None, Some((1, Part::Host))), &broken),
        None,
        "not even one is an answer"
    );
    assert_eq!(
        verdict(
            search(1, None, Some((1, Part::TestSet))),
            &changed(|run| run.series.clear())
        ),
        Some(Verdict::Inconclusive)
    );
}

#[test]
fn the_report_begins_with_the_answer() {
    let report = |search: Search| Report::new(clean(), Vec::new()).with_search(Some(search));
    let answer = report(search(8, None, Some((9, Part::Host))));
    let text = answer.text(false, None);
    assert!(
        text.starts_with("ANSWER  At least 8 streams of 4800 samples/s, held for "),
        "{text}"
    );
    assert!(
        text.contains("0 of 288 000 frames lost: at most 1 in 96 100."),
        "{text}"
    );
    assert!(text.contains("At 9 streams, the first failure: planted."), "{text}");
    assert!(!answer.is_judged());
    let failed = report(search(8, Some(9), Some((9, Part::Host))));
    assert_eq!(failed.verdict(), Verdict::Fail);
    assert!(failed.text(false, None).starts_with("FAIL  At least 8 streams"));
    let html = failed.html(&crate::about::About::default(), None).expect("a page");
    assert!(html.contains("Asked for at least 9 streams: fail.") && html.contains("data-verdict=\"fail\""));
    let document: serde_json::Value = serde_json::from_str(&failed.json()).expect("JSON");
    let capacity = &document["capacity"];
    assert_eq!(document["verdict"], "fail");
    assert_eq!((&capacity["streams"], &capacity["limited_at"]), (&8.into(), &9.into()));
    assert_eq!(
        (&capacity["limited_by"], &capacity["wanted"]["quantile"]),
        (&"host".into(), &0.9999.into())
    );
    let open = report(search(16, None, None)).text(false, None);
    assert!(
        open.contains("Nothing failed up to --max 16: the host may handle more."),
        "{open}"
    );
}

#[test]
fn a_search_is_read_back_as_it_was_kept() {
    let kept = search(8, Some(9), Some((9, Part::TestSet)));
    let text = serde_json::to_string(&kept).expect("JSON");
    assert!(text.contains("\"part\":\"test-set\""), "{text}");
    assert_eq!(serde_json::from_str::<Search>(&text).expect("the same"), kept);
}
