use super::{Check, Judgement, Measured, Verdict};
use crate::limits::{Limit, Pattern, Profile, Quantity};
use model::fact::STEPS_LEFT_OUT;
use model::{Event, EventKind, RunState, RunView, SeriesView, setting};
use testing::synthetic::{add_worst, run, series};

mod counted;
mod doubtful;
mod guard;
mod reach;
mod second;

const SAMPLES: u64 = 100_000;

fn profile(quantity: Quantity, allowed: u64) -> Profile {
    Profile {
        name: "site".into(),
        what: "tests".into(),
        limits: vec![Limit {
            id: format!("rtt.{}", quantity.word()),
            name: format!("rtt.{}", quantity.word()),
            series: Pattern::new("rtt/*"),
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

/// A run with one clean series: 100 000 samples, the largest 60 µs, over 10 s.
fn clean() -> RunView {
    run(vec![series("rtt/reflect", SAMPLES, 60_000, 10)])
}

fn the_check(run: &RunView, quantity: Quantity, allowed: u64) -> Check {
    let judgement = Judgement::of(run, &[profile(quantity, allowed)]);
    assert_eq!(judgement.checks.len(), 1);
    assert_eq!(judgement.verdict, judgement.checks[0].verdict);
    judgement.checks.into_iter().next().expect("one check")
}

fn event(kind: EventKind) -> Event {
    Event {
        at_ns: 3_000_000_000,
        since_ns: None,
        kind,
        series: None,
        text: "what happened".into(),
    }
}

#[test]
fn a_clean_series_within_its_limit_passes_and_says_what_that_proves() {
    let check = the_check(&clean(), Quantity::Max, 120_000);
    assert_eq!((check.verdict, check.why.as_str()), (Verdict::Pass, ""));
    assert_eq!(check.measured, Some(Measured::Whole(60_000)));
    assert!(
        check
            .bound
            .expect("a maximum")
            .text()
            .starts_with("0 of 100 000 over 120 µs: at most 1 in 33 300;")
    );
}

#[test]
fn the_limit_itself_passes_and_one_nanosecond_more_fails() {
    assert_eq!(the_check(&clean(), Quantity::Max, 60_000).verdict, Verdict::Pass);
    let check = the_check(&clean(), Quantity::Max, 59_999);
    assert_eq!(check.verdict, Verdict::Fail);
    assert!(
        check
            .why
            .starts_with("1 of 100 000 samples over 60.0 µs, the worst at 6."),
        "{}",
        check.why
    );
    assert!(check.why.ends_with(" s on cpu1"), "{}", check.why);
}

fn only(run: &mut RunView) -> &mut SeriesView {
    &mut run.series[0]
}

#[test]
fn a_clock_step_leaves_a_series_of_the_monotonic_clock_alone() {
    let mut run = clean();
    run.events.push(event(EventKind::ClockStep));
    assert_eq!(the_check(&run, Quantity::Max, 120_000).verdict, Verdict::Pass);
    assert_eq!(the_check(&run, Quantity::Max, 50_000).verdict, Verdict::Fail);
}

#[test]
fn a_time_between_two_captures_needs_their_one_clock() {
    let mut run = clean();
    let setting = (setting::CAPTURE_CLOCKS.to_owned(), setting::NOT_ONE.to_owned());
    only(&mut run).spec.settings.push(setting);
    for allowed in [120_000, 50_000] {
        let check = the_check(&run, Quantity::Max, allowed);
        assert_eq!(check.verdict, Verdict::Inconclusive);
        assert!(
            check.why.contains("nothing says that one clock made both"),
            "{}",
            check.why
        );
    }
    assert_eq!(the_check(&run, Quantity::Lost, 0).verdict, Verdict::Pass);
}

/// A trip that is not reported may be a wrong one; a lost frame has no LAN to state.
#[test]
fn what_is_lost_may_be_wrong_for_trips_only() {
    for (name, verdict) in [
        ("phase/relay", Verdict::Inconclusive),
        ("zone/relay", Verdict::Inconclusive),
        ("lan/A", Verdict::Pass),
    ] {
        let mut run = run(vec![series(name, 1_000, 60_000, 10)]);
        only(&mut run).counters.expected += 16;
        only(&mut run).counters.lost = 16;
        let mut profile = profile(Quantity::Wrong, 0);
        profile.limits[0].series = Pattern::new("*");
        let check = Judgement::of(&run, &[profile]).checks.remove(0);
        assert_eq!(check.verdict, verdict, "{name}: {}", check.why);
        assert!(name == "lan/A" || check.why.contains("16 trips of"), "{}", check.why);
    }
}

#[test]
fn an_event_of_another_series_leaves_this_one_alone() {
    let mut run = run(vec![
        series("rtt/reflect", 1000, 60_000, 10),
        series("age/MU01", 1000, 60_000, 10),
    ]);
    run.events.push(Event {
        series: Some(run.series[1].id),
        ..event(EventKind::SocketDrop)
    });
    assert_eq!(the_check(&run, Quantity::Max, 120_000).verdict, Verdict::Pass);
}

#[test]
fn frames_that_the_sender_left_out_are_not_the_hosts_loss() {
    let judged_of = |receiver: &str, family: &str, missed, refused, lost| {
        let mut run = run(vec![
            series(receiver, SAMPLES, 60_000, 10),
            series(family, SAMPLES, 60_000, 10),
        ]);
        run.series[0].counters.lost = lost;
        (run.series[1].counters.missed, run.series[1].counters.lost) = (missed, refused);
        let mut profile = profile(Quantity::Lost, 0);
        profile.limits[0].series = Pattern::new(receiver);
        let check = Judgement::of(&run, &[profile]).checks.remove(0);
        (check.verdict, check.why)
    };
    let judged = |family: &str, missed, refused, lost| judged_of("spacing/MU01", family, missed, refused, lost);
    let (verdict, why) = judged("publish/lateness", 5, 3, 8);
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(why.contains("the sender in this run left out 8 frames"), "{why}");
    assert_eq!(judged("talk/sv", 8, 0, 8).0, Verdict::Inconclusive);
    assert_eq!(judged("publish/lateness", 5, 3, 9).0, Verdict::Fail);
    assert_eq!(judged("wakeup/cpu1", 5, 3, 8).0, Verdict::Fail);
    assert_eq!(judged("publish/lateness", 5, 3, 0).0, Verdict::Pass);
    // Cycles that a talker missed have no number, so a listener cannot miss it.
    assert_eq!(judged_of("listen/sv", "talk/sv", 8, 0, 8).0, Verdict::Fail);
    assert_eq!(judged_of("listen/sv", "talk/sv", 8, 3, 3).0, Verdict::Inconclusive);
    // The sender and the receiver handle different frames.
    assert_eq!(judged_of("rtt/reflect", "publish/lateness", 5, 3, 8).0, Verdict::Fail);
}

#[test]
fn frames_that_the_sender_left_out_in_another_step_explain_no_loss() {
    let judged = |since_ns: u64| {
        let mut run = run(vec![
            series("spacing/MU01", SAMPLES, 60_000, 10),
            series("publish/lateness", SAMPLES, 60_000, 10),
        ]);
        run.series[0].counters.lost = 3;
        run.series[1].counters.missed = 8;
        let end = run.series[0]
            .windows
            .iter()
            .map(|window| window.end_ns)
            .max()
            .expect("windows");
        let last = run.series[1].windows.last_mut().expect("windows");
        (last.start_ns, last.end_ns) = (end + since_ns, end + since_ns + 1);
        last.counters.missed = 8;
        if since_ns == 0 {
            last.start_ns -= 1;
        }
        let mut profile = profile(Quantity::Lost, 0);
        profile.limits[0].series = Pattern::new("spacing/*");
        Judgement::of(&run, &[profile]).checks.remove(0).verdict
    };
    assert_eq!(judged(0), Verdict::Inconclusive, "while the stream was received");
    assert_eq!(judged(1_000), Verdict::Fail, "after it");
}

#[test]
fn drops_in_a_socket_do_not_touch_series_without_one() {
    for (name, wanted) in [("rtt/reflect", Verdict::Inconclusive), ("wakeup/cpu1", Verdict::Pass)] {
        let mut run = run(vec![series(name, SAMPLES, 60_000, 10)]);
        run.events.push(event(EventKind::SocketDrop));
        let mut profile = profile(Quantity::Max, 120_000);
        profile.limits[0].series = Pattern::new("*");
        assert_eq!(Judgement::of(&run, &[profile]).verdict, wanted, "{name}");
    }
}

#[test]
fn harmless_events_change_nothing() {
    let mut run = clean();
    for kind in [
        EventKind::LoadStarted,
        EventKind::Steal,
        EventKind::Refused,
        EventKind::Note,
        EventKind::Link,
    ] {
        run.events.push(event(kind));
    }
    assert_eq!(the_check(&run, Quantity::Max, 120_000).verdict, Verdict::Pass);
}

#[test]
fn drops_in_our_own_socket_are_not_the_networks_loss() {
    let mut run = clean();
    only(&mut run).counters.lost = 9;
    assert_eq!(the_check(&run, Quantity::Lost, 0).verdict, Verdict::Fail);
    run.events.push(event(EventKind::SocketDrop));
    let check = the_check(&run, Quantity::Lost, 0);
    assert_eq!(check.verdict, Verdict::Inconclusive);
    assert!(
        check.why.starts_with("socket-drop ")
            && check
                .why
                .ends_with("; so this may not be the host's doing: lost over 0"),
        "{}",
        check.why
    );
}

#[test]
fn skipped_periods_of_a_measured_stall_do_not_touch_the_maximum_but_the_quantiles() {
    let mut stalled = series("rtt/reflect", SAMPLES, 60_000, 10);
    let stall_ns = 2_500_100_000;
    add_worst(&mut stalled, stall_ns);
    stalled.counters.missed = 10_000;
    stalled.counters.expected += 10_000;
    let run = run(vec![stalled]);
    assert_eq!(the_check(&run, Quantity::Max, 3_000_000_000).verdict, Verdict::Pass);
    let raw = run.series[0].figures().p99.expect("enough samples");
    assert!(raw < 60_000);
    let check = the_check(&run, Quantity::P99, 100_000);
    assert_eq!(
        check.verdict,
        Verdict::Fail,
        "over scheduled activations a tenth of them were late"
    );
    let Some(Measured::Whole(p99)) = check.measured else {
        panic!("a quantile")
    };
    assert!(p99 > 1_000_000_000, "{p99}");
    assert_eq!(the_check(&run, Quantity::Mean, 60_000).verdict, Verdict::Fail);
}

#[test]
fn skipped_periods_of_a_series_without_a_period_are_in_doubt() {
    let mut run = clean();
    only(&mut run).spec.interval_ns = None;
    only(&mut run).counters.missed = 2;
    let check = the_check(&run, Quantity::P99, 120_000);
    assert_eq!(check.verdict, Verdict::Inconclusive);
    assert!(
        check
            .why
            .contains("2 periods skipped in a series whose period is not known"),
        "{}",
        check.why
    );
}

#[test]
fn a_quantile_needs_ten_samples_beyond_it() {
    let run = run(vec![series("rtt/reflect", 5000, 60_000, 10)]);
    for allowed in [120_000, 100] {
        let check = the_check(&run, Quantity::P999, allowed);
        assert_eq!((check.verdict, check.measured), (Verdict::Inconclusive, None));
        assert_eq!(check.why, "p999 needs at least 10 000 samples; there are 5 000");
    }
    assert_eq!(the_check(&run, Quantity::P99, 120_000).verdict, Verdict::Pass);
}

#[test]
fn a_series_without_samples_proves_nothing() {
    let mut run = run(vec![series("rtt/reflect", 0, 60_000, 10)]);
    let check = the_check(&run, Quantity::Max, 120_000);
    assert_eq!(
        (check.verdict, check.why.as_str()),
        (Verdict::Inconclusive, "nothing was measured")
    );
    assert_eq!(the_check(&run, Quantity::Lost, 0).verdict, Verdict::Inconclusive);
    only(&mut run).counters.expected = 100;
    only(&mut run).counters.lost = 100;
    let check = the_check(&run, Quantity::Max, 120_000);
    assert_eq!(check.why, "none of the 100 samples that were due was measured");
    assert_eq!(the_check(&run, Quantity::Lost, 0).verdict, Verdict::Fail);
    assert_eq!(the_check(&run, Quantity::Duplicate, 0).verdict, Verdict::Inconclusive);
}

#[test]
fn a_series_of_which_nothing_counted_says_why() {
    let mut run = run(vec![series("rtt/reflect", 0, 60_000, 10)]);
    run.events.push(Event {
        series: Some(run.series[0].id),
        text: "shot 3 not counted".to_owned(),
        ..event(EventKind::NotCounted)
    });
    let check = the_check(&run, Quantity::Lost, 0);
    assert_eq!(
        (check.verdict, check.measured, check.why.as_str()),
        (Verdict::Inconclusive, None, "nothing was measured: shot 3 not counted")
    );
}

#[test]
fn received_is_judged_from_below() {
    let mut run = clean();
    assert_eq!(the_check(&run, Quantity::Received, SAMPLES).verdict, Verdict::Pass);
    let check = the_check(&run, Quantity::Received, SAMPLES + 1);
    assert_eq!(
        (check.verdict, check.why.as_str()),
        (Verdict::Fail, "fewer than 100 001")
    );
    run.state = RunState::Interrupted;
    assert_eq!(
        the_check(&run, Quantity::Received, SAMPLES + 1).verdict,
        Verdict::Inconclusive
    );
}

#[test]
fn a_negative_delta_names_the_clocks() {
    let mut run = clean();
    only(&mut run).min_ns = Some(-4);
    only(&mut run).counters.clipped = 2;
    let check = the_check(&run, Quantity::Max, 120_000);
    assert!(
        check
            .why
            .contains("2 samples outside the histogram's range, some below zero: its clocks disagree")
    );
}

#[test]
fn a_limit_no_series_matches_is_never_a_pass() {
    let run = run(vec![series("age/MU01", 1000, 60_000, 10)]);
    let judgement = Judgement::of(&run, &[profile(Quantity::Max, 120_000)]);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(judgement.checks.is_empty());
    assert_eq!(judgement.not_measured.len(), 1);
    assert_eq!(judgement.sentence(), "No limit applies to what was measured.");
}

#[test]
fn one_fail_fails_all_and_one_doubt_leaves_all_in_doubt() {
    use Verdict::{Fail, Inconclusive, Pass};
    for (parts, whole) in [
        (vec![Pass, Pass], Pass),
        (vec![Pass, Inconclusive], Inconclusive),
        (vec![Inconclusive, Fail, Pass], Fail),
        (vec![], Inconclusive),
    ] {
        assert_eq!(Verdict::over(parts), whole);
    }
}

#[test]
fn each_profile_has_its_own_verdict() {
    let strict = Profile {
        name: "strict".into(),
        ..profile(Quantity::Max, 10_000)
    };
    let judgement = Judgement::of(&clean(), &[profile(Quantity::Max, 120_000), strict]);
    let verdicts: Vec<(&str, Verdict)> = judgement
        .profiles
        .iter()
        .map(|p| (p.name.as_str(), p.verdict))
        .collect();
    assert_eq!(verdicts, [("site", Verdict::Pass), ("strict", Verdict::Fail)]);
    assert_eq!(judgement.verdict, Verdict::Fail);
    assert_eq!(judgement.sentence(), "2 checks: 1 over the limit, 1 within.");
}

#[test]
fn a_limit_on_a_merged_run_that_is_not_there_says_so() {
    let profile = Profile::find("substation").expect("embedded");
    let why = |command: &str, name: &str| {
        let mut run = run(vec![series(name, SAMPLES, 60_000, 10)]);
        run.info.command = command.to_owned();
        let judgement = Judgement::of(&run, std::slice::from_ref(&profile));
        let open = judgement.not_measured.into_iter();
        open.filter(|open| open.limit.id == "transit.max")
            .map(|open| open.why)
            .next()
    };
    assert_eq!(
        why("merge", "hop/run1.nic-to-run2.app/MU01").as_deref(),
        Some("no run is called host (have: run1, run2): merge them with --label host")
    );
    assert_eq!(why("merge", "hop/host.nic-to-guest.app/MU01").as_deref(), Some(""));
    assert_eq!(why("merge", "hop/host.nic-to-host.edge/MU01"), None, "judged");
    let traced = why("trace", "hop/nic-to-app/MU01");
    assert!(traced.is_some_and(|why| why.starts_with("the traced way has no such hop")));
}

#[test]
fn a_series_without_a_threshold_has_no_count_over_it() {
    let mut run = clean();
    let check = the_check(&run, Quantity::Overflow, 0);
    assert_eq!((check.measured, check.verdict), (None, Verdict::Inconclusive));
    assert_eq!(check.why, "no threshold was set for it");
    only(&mut run).spec.threshold_ns = Some(120_000);
    assert_eq!(the_check(&run, Quantity::Overflow, 0).verdict, Verdict::Pass);
}

#[test]
fn a_run_that_left_out_steps_of_its_plan_passes_in_part_whatever_it_measured() {
    let profile = profile(Quantity::Max, 100_000);
    let whole = Judgement::of(&clean(), std::slice::from_ref(&profile));
    assert!(whole.verdict == Verdict::Pass && !whole.is_partial_pass());
    let left_out = STEPS_LEFT_OUT.fact(Ok("2 of 3: trip, noise".to_owned()), "--step");
    let mut run = clean();
    run.facts.push(left_out);
    let part = Judgement::of(&run, &[profile]);
    assert!(part.is_partial_pass(), "{part:?}");
    assert_eq!((part.coverage.word(), part.words()), ("partial", "partial pass"));
    assert_eq!(part.coverage.text(), "1 of 1 limit measured in a part of the plan");
}
