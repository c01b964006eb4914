use super::lines::rows_of;
use super::{COLUMNS, LINES, Size};
use crate::Report;
use crate::again::{Again, Order, Wider};
use crate::limits::Profile;
use model::{Cause, Event, EventKind, Fact, RunView, Spike};
use testing::synthetic;

fn screen(run: RunView, profile: &str) -> String {
    let profile = Profile::find(profile).expect("embedded");
    let report = Report::new(run, vec![profile]);
    for (columns, lines) in [(80, 24), (91, 40), (200, 60)] {
        let size = Size::of_terminal(columns, lines);
        fits(&report.screen(size, false, Some("r.html".as_ref())), size);
    }
    report.screen(Size::LARGEST, false, Some("r.html".as_ref()))
}

/// Checks that the first line stays on a screen of this size, with the prompt below the last.
fn fits(screen: &str, size: Size) {
    let lines: Vec<String> = screen.lines().map(str::to_owned).collect();
    assert!(rows_of(&lines, size.columns) <= size.lines, "{size:?}\n{screen}");
    assert!(lines.iter().all(|line| !line.is_empty()), "an empty line in\n{screen}");
    // A command is never cut.
    let is_text = |line: &&String| !line.starts_with("Full ") && !line.starts_with("Next ");
    for line in lines.iter().filter(is_text) {
        assert!(line.chars().count() <= size.columns, "{size:?}: {line}");
    }
}

/// The text without its line breaks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A run with late wake-ups, each with the cause `cause`.
fn late(cause: Cause) -> RunView {
    let mut series = synthetic::series("wakeup/cpu1", 40_000, 60_000, 10);
    for ns in [130_000, 412_870, 500_000] {
        synthetic::add_worst(&mut series, ns);
        let mut explanation = synthetic::explanation();
        explanation.cause = cause;
        let spike = Spike {
            value_ns: ns,
            explanation: Some(explanation),
            ..series.spikes[0].clone()
        };
        series.spikes.insert(0, spike);
    }
    let mut run = synthetic::run(vec![series]);
    run.facts.push(fact("kernel", "release", "6.12.0-rt"));
    run
}

fn fact(group: &str, name: &str, value: &str) -> Fact {
    Fact {
        group: group.into(),
        name: name.into(),
        value: Ok(value.into()),
        source: String::new(),
    }
}

#[test]
fn a_clean_run_says_what_it_proves_and_what_a_longer_one_would() {
    let text = screen(
        synthetic::run(vec![synthetic::series("wakeup/cpu1", 40_000, 60_000, 10)]),
        "substation",
    );
    assert!(text.starts_with("– PARTIAL PASS  qualify, "), "{text}");
    assert!(text.contains("✓ within: wakeup.max"), "{text}");
    assert!(text.contains("– not measured: "), "{text}");
    assert!(
        text.contains("wakeup.max: 0 of 40 000 over 120 µs in 10.0 s: at most 1 in 13 300; a day without one: 1 in"),
        "{text}"
    );
    assert!(
        text.ends_with("Full    triptime report --full runs/20261121T020000Z-qualify.triptime\n"),
        "{text}"
    );
}

#[test]
fn what_held_samples_up_is_named_counted_and_has_a_remedy() {
    let mut run = late(Cause::Hypervisor);
    let steal = Event {
        at_ns: 1,
        since_ns: None,
        kind: EventKind::Steal,
        series: None,
        text: "10 ms on cpu1".into(),
    };
    run.events.push(steal);
    run.facts.push(fact(
        "CPUs of this run",
        "judged",
        "1 (every CPU but the housekeeping ones; none is isolated)",
    ));
    run.facts.push(fact("isolation", "isolated CPUs", "none"));
    let text = screen(run, "substation");
    assert!(text.starts_with("✗ FAIL  "), "{text}");
    assert!(text.contains("hypervisor 3; wakeup/cpu1"), "{text}");
    assert!(
        joined(&text).contains("took the CPU away: 3 of 3 late samples, with 1 steal event."),
        "{text}"
    );
    assert!(text.contains("The judged CPUs (1) are not isolated"), "{text}");
    assert!(text.contains("Next    On the host of this VM"), "{text}");
    assert!(text.contains("wakeup.max was exceeded in this run"), "{text}");
}

/// The guest's own recorder sees only that it did not run.
#[test]
fn what_the_host_says_of_the_largest_sample_in_its_guest_is_on_the_screen() {
    let mut run = late(Cause::Hypervisor);
    let mut spikes = run.series[0].spikes.iter_mut();
    let mut tell = |value_ns: i64, who: &str| {
        let spike = spikes.next().expect("three late samples");
        spike.value_ns = value_ns;
        let explanation = spike.explanation.as_mut().expect("explained");
        let mut host = explanation.clone();
        host.text = format!("{who} had CPU 3");
        explanation.add_host(&host);
    };
    tell(500_000, "thread stall (77)");
    tell(300_000, "softirq NET_RX");
    let text = joined(&screen(run, "substation"));
    assert!(
        text.contains("took the CPU away: 3 of 3 late samples. On the host, at the largest of 500 µs: thread stall (77) had CPU 3."),
        "{text}"
    );
    assert!(!text.contains("softirq NET_RX"), "{text}");
}

#[test]
fn samples_that_were_not_kept_are_not_said_to_be_unexplained() {
    let mut run = late(Cause::Hypervisor);
    for _ in 0..50 {
        synthetic::add_worst(&mut run.series[0], 500_000);
    }
    let text = joined(&screen(run, "substation"));
    assert!(text.contains("took the CPU away: 3 of 3 late samples."), "{text}");
    assert!(!text.contains("Nothing explains"), "{text}");
}

#[test]
fn that_a_processor_is_emulated_is_the_first_reason() {
    let mut run = late(Cause::Hypervisor);
    run.events.push(Event {
        at_ns: 0,
        since_ns: None,
        kind: EventKind::Emulated,
        series: None,
        text: "the guest is emulated by QEMU".into(),
    });
    let text = screen(run, "substation");
    assert!(text.starts_with("? INCONCLUSIVE"), "{text}");
    assert!(
        text.contains("Why     A processor is emulated: its timing is no evidence"),
        "{text}"
    );
}

/// The next step, as shown on the screen.
fn next(text: &str) -> String {
    let joined = joined(text);
    let from = joined.find(" Next ").map_or(joined.len(), |at| at + 6);
    let to = joined[from..].find(" Proves ").map_or(joined.len(), |at| from + at);
    joined[from..to].to_owned()
}

#[test]
fn a_remedy_is_the_one_that_the_run_kept_and_of_the_cause_that_was_seen() {
    let isolated = "triptime tune cpu-isolated --cpus 1 --emit kernel-args: boot with isolcpus=managed_irq,domain,1";
    let by_hand = "kernel-preempt-rt: install the distribution's real-time kernel";
    let of = |cause| {
        let mut run = late(cause);
        run.facts.push(fact("audit", "cpu-isolated", "fail (blocker): none"));
        run.facts.push(fact("remedies", "cpu-isolated", isolated));
        run.facts.push(fact("remedies", "kernel-preempt-rt", by_hand));
        next(&screen(run, "substation"))
    };
    let thread = of(Cause::Thread);
    assert!(thread.contains(isolated) && thread.contains(by_hand), "{thread}");
    assert!(!thread.contains("Keep "), "{thread}");
    let hypervisor = of(Cause::Hypervisor);
    assert!(hypervisor.starts_with("On the host of this VM"), "{hypervisor}");
    assert!(!hypervisor.contains("tune"), "{hypervisor}");
    let mut run = late(Cause::Thread);
    run.facts.push(fact("audit", "cpu-isolated", "fail (blocker): none"));
    let old = next(&screen(run, "substation"));
    assert!(old.starts_with("Keep ") && !old.contains("tune"), "{old}");
}

#[test]
fn each_cause_has_a_remedy_before_one_has_two() {
    let mut run = late(Cause::Hypervisor);
    let spike = run.series[0].spikes[0].clone();
    let mut explanation = synthetic::explanation();
    explanation.cause = Cause::Thread;
    run.series[0].spikes[0] = Spike {
        explanation: Some(explanation),
        ..spike
    };
    for check in ["cpu-isolated", "kernel-preempt-rt"] {
        run.facts.push(fact("remedies", check, &format!("{check}: do it")));
    }
    let next = next(&screen(run, "substation"));
    let places = ["On the host of this VM", ": do it", ": do it"].map(|part| next.find(part));
    assert!(places[0].is_some() && places[0] < places[1], "{next}");
    assert_eq!(next.matches(": do it").count(), 2, "{next}");
}

#[test]
fn a_pass_is_gone_on_with_by_the_command_that_ran() {
    let order = |command: &str| Order {
        command: command.to_owned(),
        short: "in short".to_owned(),
        what: "for this".to_owned(),
    };
    let of = |command: &str, wider: &'static [&'static str]| {
        let run = synthetic::run(vec![synthetic::series("wakeup/cpu1", 40_000, 60_000, 10)]);
        let profile = Profile::find("substation").expect("embedded");
        let report = Report::new(run, vec![profile]).with_again(Again {
            longer: Some(order(command)),
            wider: Some(Wider {
                order: order("the plan"),
                kinds: wider,
            }),
        });
        next(&report.screen(Size::LARGEST, false, None))
    };
    assert_eq!(of("the same", &[]), "the same: for this.");
    assert_eq!(of("the same", &["rtt"]), "the plan: for this.");
    assert_eq!(of(&"x".repeat(COLUMNS), &[]), "in short: for this.");
}

#[test]
fn a_control_that_did_not_hold_is_the_first_reason() {
    let mut run = late(Cause::Thread);
    run.events.push(Event {
        at_ns: 1,
        since_ns: None,
        kind: EventKind::ControlFailed,
        series: None,
        text: "path-cut: tripped although its path was cut".into(),
    });
    let text = joined(&screen(run, "substation"));
    let said = "Why A control did not hold, so that trips may have another cause: path-cut: tripped although its path was cut.";
    assert!(text.contains(said), "{text}");
}

#[test]
fn every_cause_has_a_remedy_that_fits_the_screen() {
    for cause in Cause::ALL {
        let mut run = late(cause);
        run.facts = synthetic::facts();
        let text = screen(run, "substation");
        let next = text.lines().find(|line| line.starts_with("Next")).expect("a remedy");
        assert!(!next.contains('…'), "{next}");
    }
}

#[test]
fn large_runs_keep_to_the_screen() {
    for profile in ["substation", "seapath", "avb"] {
        screen(synthetic::qualify(100, 60), profile);
    }
}

#[test]
fn many_bad_limits_keep_to_the_screen_and_are_named() {
    let limits: String = (0..40)
        .map(|n| {
            format!(
                "[[limit]]\nid = \"wakeup.number-{n}\"\nseries = \"wakeup/*\"\nquantity = \"max\"\nallowed = \"{}us\"\nsource = \"test\"\n",
                n + 1
            )
        })
        .collect();
    let profile = Profile::parse(&format!("name = \"many\"\nwhat = \"test\"\n{limits}"), "test").expect("a profile");
    let screen = Report::new(late(Cause::Softirq), vec![profile]).screen(Size::LARGEST, false, None);
    assert!(screen.lines().count() <= LINES, "{screen}");
    assert!(screen.contains("40 of 40 limits exceeded"), "{screen}");
    let shown = screen
        .lines()
        .filter(|line| line.starts_with('✗') && line.contains("wakeup.number-"));
    let shown = shown.count();
    assert!(shown >= 4, "{screen}");
    // The strictest limit is exceeded by the largest factor. Rows are ordered by this factor, so the first limit without a row is the worst
    // of the rest.
    let (n, worst) = (40 - shown, shown + 1);
    let times = 500.0 / worst as f64;
    let left = format!(
        "  and {n} more: wakeup.number-{} (exceeded, 500 µs of {}, {times:.1} times), wakeup.",
        worst - 1,
        units::format_ns(worst as f64 * 1e3)
    );
    assert!(screen.contains(&left), "{left}\n{screen}");
}

#[test]
fn undecided_limits_without_a_row_say_their_state() {
    let limits: String = (0..30)
        .map(|n| {
            format!(
                "[[limit]]\nid = \"spacing.number-{n}\"\nseries = \"spacing/*\"\nquantity = \"max\"\nallowed = \"1s\"\nsource = \"test\"\n"
            )
        })
        .collect();
    let profile = Profile::parse(&format!("name = \"many\"\nwhat = \"test\"\n{limits}"), "test").expect("a profile");
    let mut series = synthetic::series("spacing/MU01", 4_800, 300_000, 1);
    (series.counters.expected, series.counters.lost) = (4_810, 10);
    let screen = Report::new(synthetic::run(vec![series]), vec![profile]).screen(Size::LARGEST, false, None);
    assert!(screen.contains("30 of 30 limits undecided"), "{screen}");
    assert!(
        screen.contains(" (undecided, 300 µs of 1.00 s), spacing.number-"),
        "{screen}"
    );
}

/// Undecided limits with a reason of several lines, as many as leave room, and more than that.
#[test]
fn a_reason_is_whole_while_lines_are_free_and_a_cut_one_names_the_option() {
    let size = Size::of_terminal(80, 24);
    let (mut whole_once, mut cut_once) = (false, false);
    for count in 1..=16 {
        let limit = |n| {
            format!(
                "[[limit]]\nid = \"wakeup.{n}\"\nseries = \"wakeup/*\"\nquantity = \"max\"\nallowed = \"1s\"\nsource = \"a\"\n"
            )
        };
        let limits: String = (0..count).map(limit).collect();
        let profile =
            Profile::parse(&format!("name = \"many\"\nwhat = \"test\"\n{limits}"), "test").expect("a profile");
        let mut run = synthetic::run(vec![synthetic::series("wakeup/cpu1", 4_800, 300_000, 10)]);
        run.events.push(Event {
            at_ns: 1_000_000_000,
            since_ns: None,
            kind: EventKind::SecondMeasurement,
            series: Some(run.series[0].id),
            text: "another triptime (pid 10792) shares cpu1: its thread wakeup/1 (fifo:99) runs there and on no other CPU, ".repeat(2),
        });
        let report = Report::new(run, vec![profile]);
        let screen = report.screen(size, false, None);
        fits(&screen, size);
        let rows: Vec<&str> = screen.lines().filter(|line| line.starts_with("? wakeup.")).collect();
        let cut: Vec<&&str> = rows.iter().filter(|row| row.contains('…')).collect();
        assert!(cut.iter().all(|row| row.ends_with("… --full")), "{screen}");
        let free = size.lines - screen.lines().count();
        let why = joined(&report.judgement.checks[0].why);
        assert!(why.len() > 100, "{why}");
        let whole = joined(&screen).matches(&why).count() >= count;
        assert!(whole || free == 0, "{free} lines are free\n{screen}");
        (whole_once, cut_once) = (whole_once || whole, cut_once || !cut.is_empty());
    }
    assert!(whole_once && cut_once);
}

#[test]
fn a_line_for_a_log_has_verdict_counts_and_the_worst() {
    let profile = Profile::find("substation").expect("embedded");
    let line = Report::new(late(Cause::Thread), vec![profile]).summary();
    assert_eq!(line.lines().count(), 1);
    assert!(
        line.starts_with("triptime: FAIL: 1 of ") && line.contains("; wakeup.max 500 µs of 120 µs; "),
        "{line}"
    );
}

#[test]
fn a_line_of_a_run_without_limits_has_the_largest_samples() {
    let series = |name: &str, max_ns: i64| synthetic::series(name, 1_000, max_ns, 1);
    let two = vec![series("noise/cpu1", 31_200), series("noise/cpu2", 9_000)];
    let line = Report::new(synthetic::run(two), Vec::new()).summary();
    assert!(
        line.contains("; noise/cpu1 at most 31.2 µs; noise/cpu2 at most 9.00 µs; "),
        "{line}"
    );
    let many = (1..=9)
        .map(|cpu| series(&format!("noise/cpu{cpu}"), cpu * 1_000))
        .collect();
    let line = Report::new(synthetic::run(many), Vec::new()).summary();
    assert!(
        line.contains("; noise/cpu9 at most 9.00 µs") && line.contains(", and 6 more; "),
        "{line}"
    );
}

#[test]
fn a_long_head_goes_on_in_further_lines() {
    let mut run = synthetic::run(vec![synthetic::series("wakeup/cpu1", 4_800, 60_000, 10)]);
    run.facts.retain(|fact| fact.name != "host name");
    run.facts.push(fact(
        "kernel",
        "host name",
        "relay-host-07.station-north.protection.example.net",
    ));
    run.facts.push(fact("CPUs of this run", "judged", "2-11,14-23,26-35"));
    run.facts.push(fact(
        "run",
        "plan",
        "a plan of the site with a name that takes its place in the line",
    ));
    run.info.command = "qualify".into();
    let size = Size::of_terminal(80, 24);
    let screen = Report::new(run, vec![Profile::find("substation").expect("embedded")]).screen(size, false, None);
    let lines: Vec<&str> = screen.lines().collect();
    assert!(
        lines[0].starts_with("– PARTIAL PASS  ") && !lines[0].ends_with('…'),
        "{screen}"
    );
    assert!(
        lines[1].starts_with("                ") && !lines[1].ends_with('…'),
        "{screen}"
    );
    assert!(
        lines[2].ends_with("  substation") && lines[3].starts_with("On "),
        "{screen}"
    );
    fits(&screen, size);
}
