use super::OneWay;
use crate::limits::{Limit, Pattern, Profile, Quantity};
use crate::verdict::{Check, Judgement, Verdict};
use model::{Event, EventKind, RunView, SeriesClock, SeriesView, setting};
use testing::synthetic::{run, series};

const SECOND_NS: u64 = 1_000_000_000;

/// A series between two clocks, 100 samples in each of ten windows of a second: the largest sample, in the seventh
/// window, is `max_ns`, all others are 25 µs.
fn between_clocks(max_ns: i64, uncertainty: &str) -> SeriesView {
    let mut series = series("age/MU01", 1_000, max_ns, 10);
    series.spec.clock = SeriesClock::Realtime;
    let others = series.windows.iter_mut().filter(|window| window.max_ns != Some(max_ns));
    others.for_each(|window| window.max_ns = Some(25_000));
    let mut set = |name: &str, value: &str| series.spec.settings.push((name.into(), value.into()));
    set(setting::CLOCK_UNCERTAINTY_NS, uncertainty);
    set(setting::PUBLISHER_UNCERTAINTY_NS, "1000");
    series
}

/// Samples of the clock's own series: at most `max_ns`, but in window `at` the largest is `bad_ns`.
fn of_clock(name: &str, max_ns: i64, at: usize, bad_ns: i64) -> SeriesView {
    let mut series = series(name, 100, max_ns, 10);
    series.windows[at].max_ns = Some(bad_ns);
    series
}

fn event(seconds: f64, kind: EventKind, text: &str) -> Event {
    Event {
        at_ns: (seconds * 1e9) as u64,
        since_ns: None,
        kind,
        series: None,
        text: text.into(),
    }
}

/// A run whose clock was good throughout.
fn good(series: Vec<SeriesView>) -> RunView {
    let mut run = run(series);
    run.events.push(event(0.01, EventKind::ClockGood, "this clock follows"));
    run
}

/// A run whose clock was in doubt for a while.
fn glitch(series: Vec<SeriesView>, from_s: f64, to_s: f64) -> RunView {
    let mut run = good(series);
    run.events
        .push(event(from_s, EventKind::ClockDoubt, "port 1 is LISTENING"));
    run.events.push(event(to_s, EventKind::ClockGood, "this clock follows"));
    run
}

fn check(run: &RunView, quantity: Quantity, allowed: u64) -> Check {
    let profile = Profile {
        name: "site".into(),
        what: "tests".into(),
        limits: vec![Limit {
            id: "age".into(),
            name: "age".into(),
            series: Pattern::new("age/*"),
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
    };
    Judgement::of(run, &[profile]).checks.remove(0)
}

fn max(run: &RunView, allowed: u64) -> (Verdict, String) {
    let check = check(run, Quantity::Max, allowed);
    (check.verdict, check.why)
}

fn of(run: &RunView) -> OneWay {
    OneWay::of(run, &run.series[0]).expect("two clocks")
}

#[test]
fn a_limit_is_judged_by_what_the_clocks_may_be_apart() {
    let run = good(vec![between_clocks(60_000, "2000")]);
    assert_eq!(max(&run, 62_000), (Verdict::Pass, String::new()));
    for allowed in [61_999, 60_000, 58_000] {
        let (verdict, why) = max(&run, allowed);
        assert_eq!(verdict, Verdict::Inconclusive, "{allowed}");
        assert!(why.starts_with("60.0 µs ± 2.00 µs: the limit lies within"), "{why}");
    }
    let (verdict, why) = max(&run, 57_999);
    assert_eq!(verdict, Verdict::Fail);
    assert!(why.ends_with("with ± 2.00 µs"), "{why}");
    assert_eq!(check(&run, Quantity::Max, 62_000).uncertainty_ns, Some(2_000));
    assert_eq!(check(&run, Quantity::Max, 62_000).measured_text(), "60.0 µs ± 2.00 µs");
}

#[test]
fn a_glitch_leaves_its_windows_undecided_and_fails_no_host() {
    // The largest sample is in the window from 6 to 7 s.
    let during = glitch(vec![between_clocks(60_000, "2000")], 5.5, 7.2);
    assert_eq!((of(&during).touched, of(&during).windows), (3, 10));
    let (verdict, why) = max(&during, 30_000);
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(why.contains("may be the clock's doing"), "{why}");
    assert!(
        why.contains("in 3 of 10 windows: 5.50 s to 7.20 s: port 1 is LISTENING"),
        "{why}"
    );
    let (verdict, why) = max(&during, 120_000);
    assert_eq!(
        verdict,
        Verdict::Inconclusive,
        "nothing was over, but three windows say nothing: {why}"
    );

    let elsewhere = glitch(vec![between_clocks(60_000, "2000")], 1.1, 2.5);
    assert_eq!(
        max(&elsewhere, 30_000).0,
        Verdict::Fail,
        "the host was late while the clocks agreed"
    );
    assert_eq!(max(&elsewhere, 120_000).0, Verdict::Inconclusive);
}

#[test]
fn means_fail_over_good_windows_only_and_quantiles_never_beside_a_glitch() {
    let elsewhere = glitch(vec![between_clocks(60_000, "2000")], 1.1, 2.5);
    assert_eq!(check(&elsewhere, Quantity::Mean, 5_000).verdict, Verdict::Fail);
    assert_eq!(check(&elsewhere, Quantity::P50, 5_000).verdict, Verdict::Inconclusive);
    let good = good(vec![between_clocks(60_000, "2000")]);
    assert_eq!(check(&good, Quantity::P50, 5_000).verdict, Verdict::Fail);
    assert_eq!(check(&good, Quantity::P50, 50_000).verdict, Verdict::Pass);
}

#[test]
fn a_doubt_without_an_end_lasts_to_the_end_and_one_from_the_start_from_the_start() {
    let mut open = good(vec![between_clocks(60_000, "2000")]);
    open.events
        .push(event(8.5, EventKind::ClockDoubt, "ptp4l does not answer"));
    assert_eq!(of(&open).touched, 2);
    let mut late = run(vec![between_clocks(60_000, "2000")]);
    late.events.push(event(2.5, EventKind::ClockDoubt, "no master"));
    late.events.push(event(3.5, EventKind::ClockGood, "follows"));
    assert_eq!(
        of(&late).touched,
        4,
        "nothing is known of the time before the first word"
    );
    let unwatched = run(vec![between_clocks(60_000, "2000")]);
    assert_eq!(of(&unwatched).touched, 10);
    assert!(max(&unwatched, 120_000).1.contains("the clock was not monitored"));
}

/// The clock of another machine is compared at the end of its step: the doubt is about all of the step, whatever the monitoring of this clock says.
#[test]
fn a_doubt_that_looks_back_reaches_the_whole_of_its_span() {
    let mut looked = good(vec![between_clocks(60_000, "2000")]);
    looked.events.push(Event {
        since_ns: Some(2_500_000_000),
        ..event(
            6.5,
            EventKind::ClockDoubt,
            "the publisher's machine: 3 ms apart at the end",
        )
    });
    looked
        .events
        .push(event(7.0, EventKind::ClockGood, "this clock follows"));
    assert_eq!(of(&looked).touched, 5);
    assert_eq!(max(&looked, 120_000).0, Verdict::Inconclusive);
    looked
        .events
        .push(event(4.0, EventKind::ClockGood, "this clock follows"));
    assert_eq!(of(&looked).touched, 5);
}

#[test]
fn a_step_of_the_wall_clock_touches_its_window_only() {
    let mut stepped = good(vec![between_clocks(60_000, "2000")]);
    stepped
        .events
        .push(event(1.5, EventKind::ClockStep, "the wall clock stepped by 1.00 ms"));
    assert_eq!(of(&stepped).touched, 1);
    assert_eq!(max(&stepped, 30_000).0, Verdict::Fail);
    assert_eq!(max(&stepped, 120_000).0, Verdict::Inconclusive);
}

#[test]
fn a_sample_before_its_time_is_a_clock_fault_beyond_the_uncertainty_only() {
    let mut early = between_clocks(60_000, "2000");
    early.windows[2].min_ns = Some(-1_500);
    early.min_ns = Some(-1_500);
    early.counters.clipped = 1;
    early.counters.received += 1;
    early.counters.expected += 1;
    early.histogram.record(0);
    let within = good(vec![early.clone()]);
    assert_eq!(max(&within, 120_000), (Verdict::Pass, String::new()));
    early.windows[2].min_ns = Some(-30_000);
    early.min_ns = Some(-30_000);
    let beyond = good(vec![early]);
    let (verdict, why) = max(&beyond, 120_000);
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(
        why.contains("clock fault: in 1 window, samples came up to 30.0 µs before they were due"),
        "{why}"
    );
    assert_eq!(max(&beyond, 30_000).0, Verdict::Fail, "of nine windows that had none");
}

#[test]
fn a_measured_uncertainty_is_put_together_from_good_windows() {
    let all = || {
        vec![
            between_clocks(60_000, setting::MEASURED),
            of_clock("clock/ptp-offset", 700, 6, 5_000_000),
            of_clock("clock/ptp-delay", 300, 6, 300),
            of_clock("clock/phc-offset", 50, 6, 50),
        ]
    };
    let glitch = glitch(all(), 5.5, 7.2);
    let known = of(&glitch).uncertainty.expect("measured");
    // The largest sample of the first series' good windows is somewhat below 700 ns, or is not among them.
    assert!(known.ns > 1_000 && known.ns <= 700 + 300 + 50 + 1_000, "{known:?}");
    assert!(known.what.contains("publisher's clock, as stated"), "{}", known.what);
    // The same offset in a window without doubt is part of the possible difference of the clocks.
    let known = of(&good(all())).uncertainty.expect("measured");
    assert!(known.ns > 5_000_000, "{known:?}");
}

#[test]
fn without_a_measured_distance_nothing_is_decided() {
    let lost = |counters: u64| {
        let mut offsets = of_clock("clock/ptp-offset", 700, 0, 0);
        offsets.windows.clear();
        offsets.counters.expected = counters;
        good(vec![between_clocks(60_000, setting::MEASURED), offsets])
    };
    for allowed in [30_000, 120_000] {
        let (verdict, why) = max(&lost(10), allowed);
        assert_eq!(verdict, Verdict::Inconclusive);
        assert!(why.contains("no distance from the master was measured"), "{why}");
    }
    // A grandmaster has no master, so it has no offset from one.
    assert_eq!(of(&lost(0)).uncertainty.expect("its own").ns, 1_000);
}

#[test]
fn round_trips_and_intervals_are_left_alone() {
    let mut glitch = glitch(vec![series("rtt/reflect", 1_000, 60_000, 10)], 5.5, 7.2);
    assert_eq!(OneWay::of(&glitch, &glitch.series[0]), None);
    glitch.series[0].spec.name = "age/MU01".into();
    assert_eq!(max(&glitch, 120_000), (Verdict::Pass, String::new()));
    assert_eq!(glitch.duration_ns, 10 * SECOND_NS);
}

#[test]
fn counts_of_late_samples_need_room_for_what_the_clocks_may_be_apart() {
    let mut counted = between_clocks(60_000, "2000");
    counted.spec.threshold_ns = Some(70_000);
    assert_eq!(
        check(&good(vec![counted.clone()]), Quantity::Overflow, 0).verdict,
        Verdict::Pass
    );
    counted.spec.threshold_ns = Some(61_000);
    let check = check(&good(vec![counted]), Quantity::Overflow, 0);
    assert_eq!(check.verdict, Verdict::Inconclusive);
    assert!(check.why.contains("clocks' uncertainty of ± 2.00 µs"), "{}", check.why);
}

#[test]
fn a_publisher_without_a_clock_puts_its_own_stream_in_doubt() {
    let mut other = between_clocks(60_000, "2000");
    other.spec.name = "age/MU02".into();
    let mut run = good(vec![between_clocks(60_000, "2000"), other]);
    for (at_s, kind) in [(2.5, EventKind::ClockDoubt), (4.5, EventKind::ClockGood)] {
        let mut event = event(at_s, kind, "MU01: smpSynch is 0");
        event.series = Some(run.series[0].id);
        run.events.push(event);
    }
    assert_eq!(of(&run).touched, 3);
    let other = OneWay::of(&run, &run.series[1]).expect("two clocks");
    assert_eq!((other.touched, other.doubtful), (0, Vec::new()));
}

#[test]
fn clocks_of_no_stated_relation_judge_nothing_and_say_so() {
    let mut series = between_clocks(20_000, setting::NOT_STATED);
    (series.counters.received, series.max_ns) = (0, None);
    let clocks = OneWay::of(&run(vec![series.clone()]), &series).expect("two clocks");
    assert!(clocks.doubtful.is_empty(), "nobody needs to watch what says nothing");
    assert!(clocks.uncertainty.is_err_and(|why| why.contains("was not stated")));
}

#[test]
fn the_stated_relation_is_what_the_uncertainty_is_made_of() {
    let mut series = between_clocks(20_000, "2000");
    let relation = (setting::CLOCK_RELATION.to_owned(), "one clock".to_owned());
    series.spec.settings.push(relation);
    let clocks = OneWay::of(&good(vec![series.clone()]), &series).expect("two clocks");
    assert_eq!(
        clocks.uncertainty.map(|known| (known.ns, known.what)),
        Ok((2_000, "one clock".to_owned()))
    );
}

/// A NIC's clock alone needs no monitoring of a master; between two hosts, its uncertainty is added to that of their
/// clocks.
#[test]
fn stamps_of_the_nic_add_their_own_uncertainty() {
    let mut delivery = between_clocks(30_000, "0");
    delivery.spec.settings.clear();
    let nic = (setting::NIC_UNCERTAINTY_NS.to_owned(), "700".to_owned());
    assert_eq!(
        OneWay::of(&run(vec![delivery.clone()]), &delivery),
        None,
        "stamps of the kernel"
    );
    delivery.spec.settings.push(nic.clone());
    let quiet = run(vec![delivery.clone()]);
    let alone = OneWay::of(&quiet, &delivery).expect("two clocks");
    assert_eq!((alone.uncertainty.map(|known| known.ns), alone.touched), (Ok(700), 0));
    let mut stepped = quiet;
    let step = event(3.5, EventKind::ClockStep, "eth1: the NIC's clock was set");
    stepped.events.push(step);
    let one = OneWay::of(&stepped, &delivery).expect("two clocks");
    assert_eq!(one.touched, 1, "{:?}", one.doubtful);
    let mut arrival = between_clocks(30_000, "1000");
    arrival.spec.settings.push(nic);
    let both = OneWay::of(&good(vec![arrival.clone()]), &arrival).expect("two clocks");
    assert_eq!(both.uncertainty.expect("known").ns, 1_700);
}

/// A series of another machine, whose watch was in doubt for the given span.
fn of_far(doubt_s: Option<(u64, u64)>, watched: &str) -> RunView {
    let mut series = between_clocks(60_000, "2000");
    let mut set = |name: &str, value: &str| series.spec.settings.push((name.into(), value.into()));
    set(setting::PLACE, "far machine");
    set(setting::CLOCK_THERE, watched);
    let id = series.id;
    let mut run = run(vec![series]);
    if let Some((from_s, to_s)) = doubt_s {
        run.events.push(Event {
            since_ns: Some(from_s * SECOND_NS),
            series: Some(id),
            ..event(to_s as f64, EventKind::ClockDoubt, "far machine: port 1 is LISTENING")
        });
    }
    run
}

#[test]
fn between_two_machines_both_clocks_have_to_be_watched() {
    let mut both = of_far(None, setting::WATCHED);
    assert!(
        max(&both, 120_000).1.contains("the clock was not monitored"),
        "this machine's is not"
    );
    both.events
        .push(event(0.01, EventKind::ClockGood, "this clock follows"));
    assert_eq!(max(&both, 120_000), (Verdict::Pass, String::new()));
    let mut one = of_far(None, setting::NOT_WATCHED);
    one.events.push(event(0.01, EventKind::ClockGood, "this clock follows"));
    let (verdict, why) = max(&one, 120_000);
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(
        why.contains("the clock of the other machine was not monitored"),
        "{why}"
    );
}

/// This machine's distance from its master says nothing about the clock of another one.
#[test]
fn a_measured_distance_is_one_of_the_clock_that_measured() {
    let mut there = between_clocks(60_000, setting::MEASURED);
    there.spec.settings.push((setting::PLACE.into(), "far machine".into()));
    let here = || {
        vec![
            of_clock("clock/ptp-offset", 700, 6, 700),
            of_clock("clock/ptp-delay", 300, 6, 300),
        ]
    };
    let mut series = vec![there.clone()];
    series.extend(here());
    let why = of(&good(series.clone())).uncertainty.expect_err("only this machine's");
    assert!(why.contains("no distance from the master was measured"), "{why}");
    for (name, ns) in [("clock/ptp-offset", 40_000), ("clock/ptp-delay", 300)] {
        let mut own = of_clock(name, ns, 6, ns);
        own.spec.name = format!("{name}#2");
        own.spec.settings.push((setting::ANOTHER_IS.into(), name.into()));
        own.spec.settings.push((setting::PLACE.into(), "far machine".into()));
        series.push(own);
    }
    let known = of(&good(series)).uncertainty.expect("measured there");
    assert!(known.ns > 30_000, "{known:?}");
    // The publisher's own word is none about this clock.
    let mut run = run(vec![between_clocks(60_000, setting::MEASURED)]);
    let mut word = event(0.5, EventKind::ClockGood, "smpSynch is 2");
    word.series = Some(run.series[0].id);
    run.events.push(word);
    assert!(of(&run).uncertainty.is_err());
}

proptest::proptest! {
    /// Whatever this machine's watch and the publisher say: a window in which the far clock was in doubt stays in doubt.
    #[test]
    fn no_word_of_another_clock_ends_a_doubt_of_the_far_one(
        words in proptest::collection::vec((0_u64..10_000, proptest::bool::ANY, proptest::bool::ANY), 0..12),
        from_s in 0_u64..9,
        long_s in 1_u64..4,
    ) {
        let span = (from_s, (from_s + long_s).min(10));
        let mut run = of_far(Some(span), setting::WATCHED);
        let id = run.series[0].id;
        for (at_ms, is_good, is_of_publisher) in words {
            let kind = [EventKind::ClockDoubt, EventKind::ClockGood][usize::from(is_good)];
            let mut word = event(at_ms as f64 / 1e3, kind, "a word");
            word.series = is_of_publisher.then_some(id);
            run.events.push(word);
        }
        run.events.sort_by_key(|event| event.at_ns);
        let clocks = of(&run);
        for second in span.0..span.1 {
            let window = run.series[0].windows.iter().find(|window| window.start_ns == second * SECOND_NS);
            let window = window.expect("a window of each second");
            proptest::prop_assert!(clocks.doubtful.iter().any(|doubt| doubt.touches(window)), "{:?}", clocks.doubtful);
        }
        proptest::prop_assert_ne!(max(&run, 120_000).0, Verdict::Pass);
    }
}

#[test]
fn clocks_that_were_asked_all_through_the_step_need_no_watch() {
    let asked = |apart: &str| {
        let mut run = of_far(None, setting::NOT_WATCHED);
        let apart = (setting::CLOCK_APART_NS.to_owned(), apart.to_owned());
        run.series[0].spec.settings.push(apart);
        run
    };
    assert_eq!(max(&asked("1500"), 120_000).0, Verdict::Pass);
    // A distance found later is the uncertainty: 60 µs ± 70 µs are no pass of 120 µs.
    assert_eq!(max(&asked("70000"), 120_000).0, Verdict::Inconclusive);
    // Two places in each other: nobody asked over both.
    assert_eq!(max(&asked("1500; in it, 1500"), 120_000).0, Verdict::Inconclusive);
    // A doubt of the place's own stays one.
    let mut doubted = asked("1500");
    doubted.events.push(Event {
        since_ns: Some(6 * SECOND_NS),
        ..event(7.0, EventKind::ClockDoubt, "its clock was stepped")
    });
    assert_eq!(max(&doubted, 50_000).0, Verdict::Inconclusive);
    // And so does a step of the clock there.
    let mut stepped = asked("1500");
    let id = stepped.series[0].id;
    stepped.events.push(Event {
        series: Some(id),
        ..event(6.5, EventKind::ClockStep, "far machine: the wall clock jumped by 3 ms")
    });
    assert_eq!(max(&stepped, 120_000).0, Verdict::Inconclusive);
}
