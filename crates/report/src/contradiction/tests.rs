use super::of;
use crate::limits::{Limit, Pattern, Profile, Quantity};
use crate::verdict::{Judgement, Verdict};
use model::{Event, EventKind, Kind, RunView, SeriesView, WindowRow, setting};
use stats::Histogram;
use testing::synthetic::{run, series};

const SECOND_NS: u64 = 1_000_000_000;

/// A change that makes a file contradict itself, and the expected text.
type Case = (&'static str, fn(&mut RunView), &'static str);

/// 40 000 wake-ups in 10 windows of a second, the largest 60 µs; samples over 59 µs are over the threshold.
fn clean() -> RunView {
    let mut one = series("wakeup/cpu1", 40_000, 60_000, 10);
    one.spec.threshold_ns = Some(59_000);
    one.counters.overflow = one.histogram.count_above(59_000);
    run(vec![one])
}

fn only(run: &mut RunView) -> &mut SeriesView {
    &mut run.series[0]
}

fn window(run: &mut RunView) -> &mut WindowRow {
    &mut only(run).windows[4]
}

fn texts(run: &RunView) -> Vec<String> {
    of(run).into_iter().map(|found| found.text).collect()
}

fn profile(quantity: Quantity, allowed: u64) -> Profile {
    Profile {
        name: "site".into(),
        what: "tests".into(),
        limits: vec![Limit {
            id: quantity.word().into(),
            name: quantity.word().into(),
            series: Pattern::new("wakeup/*"),
            quantity,
            allowed,
            source: "tests".into(),
            why: String::new(),
            classes: Vec::new(),
            samples: None,
            exposure_ns: None,
            needs_known_stamps: false,
            needs_load: false,
        }],
        requirements: Vec::new(),
        decision: crate::limits::Decision::default(),
    }
}

const CASES: &[Case] = &[
    (
        "maximum below the histogram",
        |run| only(run).max_ns = Some(40_000),
        "its largest sample is 40.0 µs, and its histogram holds",
    ),
    (
        "maximum above the histogram",
        |run| only(run).max_ns = Some(90_000),
        "its largest sample is 90.0 µs, and its histogram holds none over 60.0 µs",
    ),
    (
        "minimum above the histogram",
        |run| only(run).min_ns = Some(19_990),
        "its smallest sample is 20.0 µs, and its histogram holds",
    ),
    (
        "minimum below the histogram",
        |run| only(run).min_ns = Some(2),
        "its smallest sample is 2 ns, and its histogram holds none under",
    ),
    (
        "a smallest above the largest",
        |run| {
            let window = window(run);
            window.min_ns = window.max_ns.map(|max| max + 1);
        },
        "in the window at 4.00 s the smallest is ",
    ),
    (
        "more in the histogram",
        |run| only(run).counters.received -= 7,
        "its histogram holds 40 000 samples, and 39 993 were received",
    ),
    (
        "fewer in the histogram",
        |run| only(run).histogram = Histogram::new(),
        "its histogram holds 0 samples, and 40 000 were received",
    ),
    (
        "received above expected",
        |run| window(run).counters.expected -= 3,
        "in the window at 4.00 s 3 997 samples were due, and 4 000 received",
    ),
    (
        "lost above expected",
        |run| window(run).counters.lost = 3,
        "in the window at 4.00 s 4 000 samples were due, and 4 000 received, 3 lost",
    ),
    (
        "windows overlap",
        |run| window(run).end_ns += 5_000_000,
        "a window ends at 5.00 s, and the next one begins at 5.00 s",
    ),
    (
        "a second is gone",
        |run| {
            only(run).windows.remove(4);
        },
        "there is no window from 4.00 s to 5.00 s, and nothing says why",
    ),
    (
        "a window that ends before it begins",
        |run| window(run).end_ns = 0,
        "a window begins at 4.00 s and ends at 0 ns",
    ),
    (
        "a sum that is not of its mean",
        |run| window(run).sum_ns += 40_000_000,
        "in the window at 4.00 s the mean is",
    ),
    (
        "a mean beyond the extremes",
        |run| {
            window(run).mean_ns = Some(70_000.0);
            window(run).sum_ns = 70_000 * 4_000;
        },
        "in the window at 4.00 s the mean is 70.0 µs, and the samples are",
    ),
    (
        "a sum that is not of the histogram",
        |run| only(run).sum_ns += 40_000 * 5_000,
        "the sum of its samples makes a mean of",
    ),
    (
        "quantiles out of order",
        |run| window(run).p99_ns = Some(90_000),
        "in the window at 4.00 s the quantile is 90.0 µs",
    ),
    (
        "a spike above the maximum",
        |run| only(run).spikes[0].value_ns += 1,
        "its largest sample is 60.0 µs, and one of 60.0 µs at",
    ),
    (
        "samples over the threshold not counted",
        |run| only(run).counters.overflow = 0,
        "0 samples over its threshold of 59.0 µs are counted, and its histogram holds",
    ),
    (
        "more over the threshold than received",
        |run| {
            only(run).spec.threshold_ns = None;
            window(run).counters.overflow = 4_001;
        },
        "in the window at 4.00 s 4 001 samples over the threshold are counted, and 4 000 were received",
    ),
    (
        "below zero and not clipped",
        |run| only(run).min_ns = Some(-5),
        "it has a sample of -5 ns, and none is counted as outside the histogram's range",
    ),
];

#[test]
fn what_agrees_with_itself_is_not_accused() {
    assert_eq!(texts(&clean()), Vec::<String>::new());
    assert_eq!(texts(&testing::synthetic::qualify(3, 20)), Vec::<String>::new());
}

#[test]
fn every_contradiction_is_told_and_leaves_every_limit_of_the_series_undecided() {
    for (name, change, words) in CASES {
        let mut run = clean();
        change(&mut run);
        let texts = texts(&run);
        assert!(texts.iter().any(|text| text.contains(words)), "{name}: {texts:?}");
        for (quantity, allowed) in [(Quantity::Max, 120_000), (Quantity::Missed, 0), (Quantity::Received, 1)] {
            let judgement = Judgement::of(&run, &[profile(quantity, allowed)]);
            let check = &judgement.checks[0];
            assert_eq!(check.verdict, Verdict::Inconclusive, "{name} {quantity:?}");
            assert!(
                check.why.contains("the run file contradicts itself"),
                "{name}: {}",
                check.why
            );
        }
        let no_pass_no_fail = Judgement::of(&run, &[profile(Quantity::Max, 10)]);
        assert_eq!(no_pass_no_fail.verdict, Verdict::Inconclusive, "{name}");
    }
}

#[test]
fn it_is_a_doubt_on_no_other_series() {
    let mut two = run(vec![
        series("wakeup/cpu1", 40_000, 60_000, 10),
        series("wakeup/cpu2", 40_000, 60_000, 10),
    ]);
    two.series[1].max_ns = Some(10);
    let judgement = Judgement::of(&two, &[profile(Quantity::Max, 120_000)]);
    let verdicts: Vec<Verdict> = judgement.checks.iter().map(|check| check.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Inconclusive]);
}

#[test]
fn it_is_in_every_face_of_the_report() {
    let mut run = clean();
    only(&mut run).max_ns = Some(40_000);
    let words = "its largest sample is 40.0 µs";
    let report = crate::Report::new(run, Vec::new());
    for face in [
        report.text(false, None),
        report.json(),
        report.html(&crate::about::About::default(), None).expect("a page"),
    ] {
        assert!(face.contains(words), "{face}");
    }
}

/// Removes the window from 4 s to 5 s.
fn with_a_gap() -> RunView {
    let mut run = clean();
    let gone = only(&mut run).windows.remove(4);
    let received = gone.counters.received;
    let one = only(&mut run);
    one.counters.received -= received;
    run
}

fn says_gap(run: &RunView) -> bool {
    texts(run).iter().any(|text| text.starts_with("there is no window"))
}

#[test]
fn a_stall_over_whole_windows_is_no_gap() {
    let mut stalled = with_a_gap();
    assert!(says_gap(&stalled));
    only(&mut stalled).windows[4].max_ns = Some(1_020_000_000);
    assert!(!says_gap(&stalled), "a sample that took as long");
    let mut skipped = with_a_gap();
    let after = &mut only(&mut skipped).windows[5].counters;
    (after.expected, after.missed) = (8_000, 4_000);
    assert!(!says_gap(&skipped), "periods counted behind it");
}

#[test]
fn a_gap_that_pauses_or_losses_behind_it_explain_is_none() {
    let with = |name: &str, value: &str| {
        let mut paused = with_a_gap();
        only(&mut paused).spec.settings.push((name.into(), value.into()));
        says_gap(&paused)
    };
    assert!(!with(setting::PAUSES_NS, "1000000000"));
    assert!(with(setting::PAUSES_NS, "400000000"), "it is longer than the pauses");
    assert!(!with(setting::REST, "900 ms after each 855 ms, below the throttling"));
    assert!(with(setting::REST, "60.0 ms after each 855 ms, below the throttling"));
    assert!(with(setting::REST, "none"));
    let mut lost = with_a_gap();
    let last = &mut only(&mut lost).windows[8].counters;
    (last.expected, last.lost) = (last.expected + 4_000, 4_000);
    assert!(!says_gap(&lost), "frames of which no answer came any more");
}

#[test]
fn a_pause_between_two_steps_is_no_gap() {
    let mut paused = with_a_gap();
    let windows = &mut only(&mut paused).windows;
    windows[3].end_ns -= 300_000_001;
    windows[4].start_ns += 200_000_017;
    assert!(!says_gap(&paused));
}

#[test]
fn a_silence_that_is_told_is_no_gap() {
    let mut told = with_a_gap();
    let event = |kind, at_ns| Event {
        at_ns,
        since_ns: None,
        kind,
        series: None,
        text: "the publisher began anew".into(),
    };
    told.events.push(event(EventKind::LoadStarted, 4 * SECOND_NS + 1));
    told.events.push(event(EventKind::Stream, 9 * SECOND_NS));
    assert!(says_gap(&told), "nothing of it, or nothing there");
    told.events.push(event(EventKind::Stream, 5 * SECOND_NS + 1));
    assert!(!says_gap(&told));
}

#[test]
fn series_that_need_not_say_anything_for_a_second_have_no_gaps() {
    for name in ["delivery/subscribe", "turnaround/reflect", "goose/gcb"] {
        let mut silent = with_a_gap();
        only(&mut silent).spec.name = name.into();
        only(&mut silent).spec.kind = Kind::of_series(name);
        assert!(!says_gap(&silent), "{name}");
    }
}

#[test]
fn a_recorder_that_caught_up_later_tells_of_the_gap_before() {
    let told = |since_s: Option<u64>| {
        let mut run = clean();
        only(&mut run).windows.remove(4);
        let id = run.series[0].id;
        run.events.push(Event {
            at_ns: 9 * SECOND_NS,
            since_ns: since_s.map(|seconds| seconds * SECOND_NS),
            kind: EventKind::RecorderOverrun,
            series: Some(id),
            text: "100 records lost, the recorder fell behind".into(),
        });
        !texts(&run).iter().any(|text| text.contains("there is no window"))
    };
    assert!(told(Some(3)));
    // A file from before events had a start.
    assert!(told(None));
    assert!(!told(Some(7)), "it kept up from 4 s to 5 s");
}
