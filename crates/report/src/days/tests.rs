use super::{DAY_NS, LimitDays};
use crate::Report;
use crate::limits::Profile;
use crate::verdict::Verdict;
use model::{Counters, Event, EventKind, RunView, SeriesView, WindowRow};
use stats::Histogram;
use testing::synthetic::{run, series};

const HOUR_NS: u64 = 3_600_000_000_000;

/// A profile with a limit on the largest and on the lost samples of wake-ups.
fn profiles() -> Vec<Profile> {
    let text = r#"
name = "site"
what = "tests"

[[limit]]
id = "wakeup.max"
series = "wakeup/*"
quantity = "max"
allowed = "100us"
source = "tests"
exposure = "7d"
"#;
    vec![Profile::parse(text, "site").expect("a profile")]
}

/// Wake-ups over these hours, in windows of an hour; the largest of each is 60 us.
fn hours(count: u64) -> RunView {
    let mut run = run(vec![series("wakeup/cpu1", count * 1_000, 60_000, count)]);
    let one = &mut run.series[0];
    one.spec.interval_ns = Some(3.6e9);
    for window in one.windows.iter_mut() {
        (window.start_ns, window.end_ns) = (window.start_ns * 3_600, window.end_ns * 3_600);
        fill(window, 60_000);
    }
    total(one);
    one.spikes = Vec::new().into();
    run.info.window_ns = HOUR_NS;
    run.duration_ns = count * HOUR_NS;
    run
}

/// Fills a window with samples of 20 us, and one of this length.
fn fill(window: &mut WindowRow, max_ns: i64) {
    window.sum_ns = i128::from(20_000 * (window.samples - 1)) + i128::from(max_ns);
    window.mean_ns = Some(window.sum_ns as f64 / window.samples as f64);
    (window.min_ns, window.max_ns) = (Some(20_000), Some(max_ns));
    (window.p50_ns, window.p99_ns, window.p999_ns) = (Some(20_000), Some(20_000), None);
}

/// Sets the largest sample of the window of an hour.
fn with_max(run: &mut RunView, hour: usize, ns: i64) {
    fill(&mut run.series[0].windows[hour], ns);
    total(&mut run.series[0]);
}

/// Makes the totals of a series agree with its windows, which are what is stored.
fn total(series: &mut SeriesView) {
    let windows = &series.windows;
    let mut counters = Counters::default();
    let mut histogram = Histogram::new();
    for window in windows.iter() {
        counters.add(&window.counters);
        let (min_ns, max_ns) = (window.min_ns.unwrap_or(0), window.max_ns.unwrap_or(0));
        histogram.record(max_ns.unsigned_abs());
        histogram.record_n(min_ns.unsigned_abs(), window.samples - 1);
    }
    series.sum_ns = windows.iter().map(|window| window.sum_ns).sum();
    series.min_ns = windows.iter().filter_map(|window| window.min_ns).min();
    series.max_ns = windows.iter().filter_map(|window| window.max_ns).max();
    (series.counters, series.histogram) = (counters, histogram);
}

fn days(run: RunView) -> Vec<LimitDays> {
    Report::new(run, profiles()).days
}

fn verdicts(run: RunView) -> Vec<Verdict> {
    days(run)[0].days.iter().map(|day| day.verdict).collect()
}

fn all_but(number: usize, verdict: Verdict) -> Vec<Verdict> {
    (1..=7)
        .map(|day| if day == number { verdict } else { Verdict::Pass })
        .collect()
}

#[test]
fn seven_good_days_are_seven_within() {
    let found = days(hours(7 * 24));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].sentence(), "7 of 7 days within", "{:?}", found[0].open());
    assert_eq!(found[0].days[6].span_ns, (6 * DAY_NS, 7 * DAY_NS));
}

#[test]
fn a_bad_day_is_named_and_touches_no_other() {
    let mut run = hours(7 * 24);
    with_max(&mut run, 2 * 24 + 5, 412_000);
    let found = days(run.clone());
    assert_eq!(found[0].sentence(), "6 of 7 days within", "{:?}", found[0].open());
    assert_eq!(found[0].worst().as_deref(), Some("412 µs on day 3"));
    let told = "day 3 exceeded: wakeup/cpu1: 412 µs, allowed 100 µs";
    assert_eq!(found[0].open(), [told]);
    assert_eq!(
        verdicts(run.clone()),
        all_but(3, Verdict::Fail),
        "{:?}",
        found[0].open()
    );
    let text = Report::new(run, profiles()).text(false, None);
    assert!(
        text.contains("6 of 7 days within") && text.contains("day 3 exceeded"),
        "{text}"
    );
}

#[test]
fn a_gap_leaves_its_day_undecided() {
    let mut run = hours(7 * 24);
    let windows: Vec<WindowRow> = run.series[0].windows.to_vec();
    let gap = 4 * 24 + 3..4 * 24 + 8;
    let left: Vec<WindowRow> = windows
        .into_iter()
        .enumerate()
        .filter(|(at, _)| !gap.contains(at))
        .map(|(_, window)| window)
        .collect();
    run.series[0].windows = left.into();
    total(&mut run.series[0]);
    let named = |run: &RunView| {
        let open = days(run.clone())[0].open().join("; ");
        assert!(
            open.contains("day 5 undecided: wakeup/cpu1: 5.00 h of it were not measured"),
            "{open}"
        );
    };
    // A gap of which nothing is told contradicts the rest of the file.
    named(&run);
    assert_eq!(verdicts(run.clone()), [Verdict::Inconclusive; 7]);
    run.events = vec![Event {
        at_ns: 4 * DAY_NS + 4 * HOUR_NS,
        since_ns: None,
        kind: EventKind::Note,
        series: None,
        text: "the machine was suspended".to_owned(),
    }]
    .into();
    named(&run);
    assert_eq!(verdicts(run), all_but(5, Verdict::Inconclusive));
}

#[test]
fn a_day_on_which_nothing_was_measured_is_no_good_day() {
    let mut run = hours(7 * 24);
    let mut other = run.series[0].clone();
    other.spec.name = "wakeup/cpu2".to_owned();
    other.id = model::SeriesId(1);
    let windows = other.windows[..3 * 24].to_vec();
    other.windows = windows.into();
    total(&mut other);
    run.series.push(other);
    let wanted: Vec<Verdict> = (1..=7)
        .map(|day| if day <= 3 { Verdict::Pass } else { Verdict::Inconclusive })
        .collect();
    assert_eq!(verdicts(run), wanted);
}

#[test]
fn a_doubt_reaches_its_day_only() {
    let mut run = hours(7 * 24);
    let at_ns = DAY_NS + 5 * HOUR_NS;
    run.events = vec![Event {
        at_ns,
        since_ns: Some(at_ns - 1),
        kind: EventKind::RtThrottled,
        series: None,
        text: "held back".to_owned(),
    }]
    .into();
    assert_eq!(verdicts(run.clone()), all_but(2, Verdict::Inconclusive));
    assert!(days(run)[0].open()[0].contains("held back"));
}

#[test]
fn samples_that_were_lost_are_those_of_their_day() {
    let mut run = hours(7 * 24);
    let one = &mut run.series[0];
    for counters in [&mut one.windows[150].counters, &mut one.counters] {
        counters.expected += 2;
        counters.lost += 2;
    }
    assert_eq!(verdicts(run), all_but(7, Verdict::Inconclusive));
}

#[test]
fn a_window_across_midnight_counts_for_both_days() {
    let mut run = hours(7 * 24);
    for window in run.series[0].windows.iter_mut() {
        (window.start_ns, window.end_ns) = (window.start_ns + HOUR_NS / 2, window.end_ns + HOUR_NS / 2);
    }
    // The step begins with the run, half an hour before the first window.
    with_max(&mut run, 23, 412_000);
    let verdicts = verdicts(run);
    assert_eq!(
        (verdicts[0], verdicts[1], verdicts[2]),
        (Verdict::Fail, Verdict::Fail, Verdict::Pass)
    );
}

#[test]
fn days_count_from_the_start_of_the_step() {
    let mut run = hours(7 * 24 + 10);
    let first = run.series[0]
        .windows
        .split_first()
        .map(|(first, _)| first.clone())
        .expect("a window");
    let late = run.series[0].windows[10..].to_vec();
    run.series[0].windows = late.into();
    total(&mut run.series[0]);
    let step = Event {
        at_ns: 10 * HOUR_NS,
        since_ns: None,
        kind: EventKind::StepStarted,
        series: None,
        text: "wake-up".to_owned(),
    };
    run.events = vec![step].into();
    with_max(&mut run, 24, 412_000);
    let found = days(run);
    assert_eq!((found[0].start_ns, found[0].days.len()), (10 * HOUR_NS, 7));
    assert_eq!(found[0].days[1].verdict, Verdict::Fail);
    assert_eq!(first.start_ns, 0);
}

#[test]
fn a_rest_is_a_shorter_day_and_a_shorter_run_has_no_days() {
    let found = days(hours(50));
    assert_eq!(found[0].days.len(), 3);
    assert_eq!(found[0].days[2].span_ns, (2 * DAY_NS, 50 * HOUR_NS));
    assert!(days(hours(24)).is_empty());
    let text = Report::new(hours(24), profiles()).text(false, None);
    assert!(!text.contains("days within"), "{text}");
}

#[test]
fn the_page_and_the_document_have_every_day() {
    let mut run = hours(7 * 24);
    with_max(&mut run, 2 * 24 + 5, 412_000);
    let report = Report::new(run, profiles());
    let page = report.html(&crate::about::About::default(), None).expect("a page");
    assert!(page.contains("<section id=\"days\">"), "no section");
    let document: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
    let days = &document["days"][0];
    assert_eq!((&days["within"], &days["of"]), (&6.into(), &7.into()));
    assert_eq!(days["days"][2]["verdict"], "fail");
    assert_eq!(days["days"][2]["measured"], 412_000.0);
}

#[test]
fn a_series_without_a_window_leaves_every_day_undecided() {
    let mut run = hours(2 * 24);
    let mut silent = run.series[0].clone();
    silent.spec.name = "wakeup/cpu2".to_owned();
    silent.id = model::SeriesId(1);
    silent.windows = Vec::new().into();
    total(&mut silent);
    run.series.push(silent);
    let found = days(run);
    let open = found[0].open();
    assert_eq!(found[0].within(), 0, "{open:?}");
    assert!(open[0].contains("wakeup/cpu2: 1.00 d"), "{open:?}");
}

#[test]
fn an_excess_is_not_judged_per_day() {
    assert!(!super::is_of_windows(crate::limits::Quantity::Excess));
    assert!(super::is_of_windows(crate::limits::Quantity::Lost));
    assert!(super::is_of_windows(crate::limits::Quantity::Max));
}

#[test]
fn a_day_has_its_own_shots_and_those_of_a_window_across_its_borders() {
    let mut run = hours(3 * 24);
    let shot = |hour: u64| model::Shot {
        number: hour,
        at_ns: hour * HOUR_NS + HOUR_NS / 2,
        watched_ns: None,
        uncertain_ns: None,
        reset_ns: None,
        name: "observed".to_owned(),
        point_deg: None,
        cell: None,
        outcome: model::Outcome::Tripped,
        trip_ns: Some(30_000_000),
    };
    run.shots = [1, 22, 23, 24, 47, 48, 49].map(shot).to_vec();
    let mut slicer = super::Slicer::new(&run);
    let day = slicer.day((DAY_NS, 2 * DAY_NS), false);
    let hours: Vec<u64> = day.shots.iter().map(|shot| shot.at_ns / HOUR_NS).collect();
    assert_eq!(hours, [23, 24, 47, 48]);
}
