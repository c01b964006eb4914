use super::{Sample, rows};
use crate::Report;
use crate::limits::Profile;
use crate::screen::Size;
use model::{Change, ChangeWatch, Event, EventKind, Fact, RunView, SeriesId, SeriesView, Spike, Subject, setting};
use serde_json::Value;
use testing::synthetic::{run, series};

const SECOND: u64 = 1_000_000_000;

fn change(at_s: u64, cpus: Option<&str>) -> Change {
    Change {
        since_ns: (at_s - 1) * SECOND,
        at_ns: at_s * SECOND,
        subject: Subject::Interrupt,
        name: "47 (ens2f0-rx-3)".to_owned(),
        before: Some("CPU 0".to_owned()),
        after: Some("CPU 12".to_owned()),
        who: Some("guest relay-02 started in the same second".to_owned()),
        cpus: cpus.map(|cpus| cpus.parse().expect("CPUs")),
        place: None,
    }
}

fn on_cpu(name: &str, cpu: u32, samples: &[(u64, i64)]) -> SeriesView {
    let largest = samples.iter().map(|(_, value_ns)| *value_ns).max();
    let mut one = series(name, 10_000, largest.unwrap_or(60_000), 20);
    let spike = |(at_s, value_ns): &(u64, i64)| Spike {
        series: SeriesId(0),
        at_ns: at_s * SECOND,
        value_ns: *value_ns,
        cpu: Some(cpu),
        sequence: None,
        explanation: None,
    };
    one.spikes = samples.iter().map(spike).collect();
    one
}

fn watched(series: Vec<SeriesView>, changes: Vec<Change>) -> RunView {
    let mut run = run(series);
    run.changes = changes;
    run.watches = vec![ChangeWatch {
        to_ns: 20 * SECOND,
        looks: 21,
        longest_ns: SECOND,
        cpu_ns: 20_000_000,
        ..ChangeWatch::default()
    }];
    run
}

fn judged(run: RunView) -> Report {
    Report::new(run, vec![Profile::find("substation").expect("embedded")])
}

fn sample(report: &Report) -> Option<Sample> {
    rows(report).swap_remove(0).sample
}

#[test]
fn a_change_names_the_worst_sample_on_its_cpus_at_its_time() {
    let here = on_cpu("wakeup/cpu12", 12, &[(3, 40_000), (7, 3_500_000), (7, 130_000)]);
    let there = on_cpu("wakeup/cpu13", 13, &[(7, 9_000_000)]);
    let report = judged(watched(vec![here, there], vec![change(7, Some("0,12"))]));
    let found = sample(&report).expect("a sample");
    assert_eq!(
        (found.series.as_str(), found.value_ns, found.over),
        ("wakeup/cpu12", 3_500_000, 2)
    );
    assert_eq!(found.elsewhere_ns, Some(40_000));
    assert!(found.is_over());
    let text = report.text(false, None);
    assert!(text.contains("1 change seen: 21 looks from 0 ns to 20.0 s"), "{text}");
    assert!(
        text.contains("interrupt 47 (ens2f0-rx-3)  guest relay-02 started in the same second"),
        "{text}"
    );
    assert!(text.contains("CPU 0 -> CPU 12"), "{text}");
    assert!(
        text.contains("3.50 ms on CPU 12 (wakeup/cpu12, at 7.00 s; 2 over 120 µs; otherwise at most 40.0 µs)"),
        "{text}"
    );
    let screen = report.screen(Size::LARGEST, false, None);
    assert!(screen.contains("The machine changed at 7.00 s"), "{screen}");
}

#[test]
fn a_sample_at_another_time_or_on_another_cpu_does_not_coincide() {
    for samples in [[(12, 3_500_000)], [(4, 3_500_000)]] {
        let report = judged(watched(
            vec![on_cpu("wakeup/cpu12", 12, &samples)],
            vec![change(7, Some("0,12"))],
        ));
        assert_eq!(sample(&report), None, "{samples:?}");
        assert!(
            !report
                .screen(Size::LARGEST, false, None)
                .contains("The machine changed")
        );
    }
    let other = on_cpu("wakeup/cpu13", 13, &[(7, 9_000_000)]);
    let report = judged(watched(vec![other.clone()], vec![change(7, Some("0,12"))]));
    assert_eq!(sample(&report), None);
    let report = judged(watched(vec![other], vec![change(7, None)]));
    assert!(sample(&report).is_some(), "a change of all CPUs");
}

#[test]
fn a_stall_that_began_before_the_change_was_noticed_coincides() {
    let long = on_cpu("wakeup/cpu12", 12, &[(10, 3 * SECOND as i64)]);
    let report = judged(watched(vec![long], vec![change(7, Some("12"))]));
    assert!(sample(&report).is_some());
}

#[test]
fn a_change_of_a_guest_is_felt_in_it_alone_and_one_of_the_host_also_there() {
    let mut inside = on_cpu("wakeup/cpu0", 0, &[(7, 3_500_000)]);
    inside
        .spec
        .settings
        .push((setting::PLACE.to_owned(), "vm: QEMU 9".to_owned()));
    let outside = on_cpu("wakeup/cpu12", 12, &[(7, 9_000_000)]);
    let of_guest = Change {
        place: Some("vm".to_owned()),
        cpus: Some("0".parse().expect("CPUs")),
        ..change(7, None)
    };
    let report = judged(watched(vec![inside.clone(), outside], vec![of_guest]));
    assert_eq!(
        sample(&report).map(|found| found.series).as_deref(),
        Some("wakeup/cpu0")
    );
    let report = judged(watched(vec![inside], vec![change(7, Some("12"))]));
    assert!(sample(&report).is_some(), "its CPU numbers are its own");
}

fn in_place(name: &str, place: &str) -> SeriesView {
    let mut inside = on_cpu(name, 0, &[(7, 3_500_000)]);
    let place = (setting::PLACE.to_owned(), place.to_owned());
    inside.spec.settings.push(place);
    inside
}

fn change_in(place: &str) -> Change {
    Change {
        place: Some(place.to_owned()),
        ..change(7, Some("0"))
    }
}

#[test]
fn a_change_is_felt_in_its_own_place_only() {
    let far = "far machine 192.0.2.7: relay2, Linux 6.1";
    let in_far = "far machine 192.0.2.7: relay2; in it, container: runc 1.1";
    let nested = "vm: QEMU with KVM; 2 virtual CPUs; in it, container: runc 1.1";
    for (series, place, is_felt) in [
        (far, None, false),
        (in_far, None, false),
        (nested, None, true),
        (far, Some("far machine"), true),
        (in_far, Some("far machine"), true),
        (in_far, Some("far machine: container"), true),
        (far, Some("far machine: container"), false),
        (far, Some("vm"), false),
        ("vm: QEMU", Some("far machine"), false),
        ("vm: QEMU", Some("container"), false),
        ("container: runc 1.1", Some("vm"), false),
        ("container: runc 1.1", Some("container"), true),
        (nested, Some("vm"), true),
        (nested, Some("vm: container"), true),
        (nested, Some("container-in-vm"), true),
        ("vm: QEMU", Some("container-in-vm"), false),
    ] {
        let one = place.map_or_else(|| change(7, None), change_in);
        let report = judged(watched(vec![in_place("wakeup/cpu0", series)], vec![one]));
        assert_eq!(sample(&report).is_some(), is_felt, "{series}, {place:?}");
    }
}

#[test]
fn a_change_in_one_of_several_guests_is_joined_to_none() {
    let of = |name: &str, text: &str| in_place(name, text);
    let one = || of("wakeup/cpu0", "vm: QEMU; 2 virtual CPUs");
    let two = of("there/wakeup/cpu0", "vm: relay-02; CPUs 0-1");
    let report = judged(watched(vec![one(), two], vec![change_in("vm")]));
    assert_eq!(sample(&report), None, "which one is not known");
    let watch = || ChangeWatch {
        place: Some("vm".to_owned()),
        to_ns: 20 * SECOND,
        ..ChangeWatch::default()
    };
    let mut run = watched(vec![one()], vec![change_in("vm")]);
    run.watches.push(watch());
    assert!(sample(&judged(run.clone())).is_some(), "one guest");
    run.watches.push(watch());
    assert_eq!(sample(&judged(run.clone())), None, "two alike");
    run.changes.push(change_in("vm"));
    assert!(sample(&judged(run)).is_some(), "two runs in one guest");
}

#[test]
fn a_guest_that_changes_like_its_host_is_told() {
    let report = judged(watched(Vec::new(), vec![change(7, None), change_in("vm")]));
    assert_eq!(rows(&report).len(), 2);
}

#[test]
fn the_run_of_a_container_does_not_tell_a_change_of_the_host_again() {
    let again = Change {
        place: Some("container".to_owned()),
        ..change(7, None)
    };
    let report = judged(watched(Vec::new(), vec![change(7, None), again]));
    assert_eq!(rows(&report).len(), 1);
}

#[test]
fn a_run_that_was_not_watched_says_so_and_never_that_nothing_changed() {
    let report = judged(run(vec![series("wakeup/cpu1", 1_000, 60_000, 10)]));
    let document: Value = serde_json::from_str(&report.json()).expect("JSON");
    assert_eq!(document["changes"]["watched"], false);
    assert!(!report.text(false, None).contains("Changes of the machine"));
    let page = super::page::html(&report).expect("rendered");
    assert!(page.contains("Not watched in this run"), "{page}");
    assert_eq!(
        report.reservations(),
        ["nothing watched whether the machine changed during the run"]
    );
    let mut blind = watched(Vec::new(), Vec::new());
    blind.watches[0].looks = 0;
    let blind = judged(blind);
    assert_eq!(blind.reservations().len(), 1);
    assert!(
        blind
            .text(false, None)
            .contains("Nothing is known about changes: 0 looks")
    );
    let quiet = judged(watched(Vec::new(), Vec::new()));
    assert!(quiet.text(false, None).contains("No change was seen: 21 looks"));
}

#[test]
fn changed_settings_are_a_reservation_and_a_guest_that_started_is_none() {
    let guest = Change {
        subject: Subject::Guest,
        before: None,
        ..change(7, None)
    };
    let report = judged(watched(Vec::new(), vec![guest.clone()]));
    assert!(report.reservations().is_empty());
    let mut all = vec![guest];
    all.extend((2..7).map(|at_s| change(at_s, None)));
    let report = judged(watched(Vec::new(), all));
    let drifts = report.reservations();
    assert_eq!(drifts.len(), 1);
    assert!(
        drifts[0].starts_with("the machine changed during the run (5 changes): interrupt 47"),
        "{drifts:?}"
    );
    assert!(drifts[0].ends_with("; and 2 more"), "{drifts:?}");
}

fn fact(group: &str, name: &str, value: &str) -> Fact {
    Fact {
        group: group.to_owned(),
        name: name.to_owned(),
        value: Ok(value.to_owned()),
        source: "/proc".to_owned(),
    }
}

#[test]
fn facts_that_differ_at_the_end_are_a_drift_and_those_that_always_vary_are_none() {
    let mut run = watched(Vec::new(), Vec::new());
    run.watches[0].audited_ns = Some(20 * SECOND);
    run.facts = vec![
        fact("clock", "clock source", "tsc"),
        fact("clock", "uptime", "10 s"),
        fact("audit", "irq-nic-affinity", "fail (high): 3 of 8"),
        fact("audit", "cpu-isolated", "pass"),
    ];
    run.last_facts = vec![
        fact("clock", "clock source", "hpet"),
        fact("clock", "uptime", "30 s"),
        fact("guest: memory", "available", "7 MiB"),
        fact("audit", "irq-nic-affinity", "fail (high): 4 of 8"),
        fact("audit", "cpu-isolated", "fail (high): CPU 3"),
    ];
    let report = judged(run.clone());
    let document: Value = serde_json::from_str(&report.json()).expect("JSON");
    let drift = document["changes"]["drift"].as_array().expect("a second audit");
    let names: Vec<&str> = drift.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["clock source", "cpu-isolated"]);
    assert_eq!(
        (&drift[0]["before"], &drift[0]["after"]),
        (&"tsc".into(), &"hpet".into())
    );
    assert_eq!(
        report.reservations(),
        [
            "the last audit differs from the first (2 facts): clock, clock source: tsc -> hpet; audit, cpu-isolated: pass -> fail (high): CPU 3"
        ]
    );
    let text = report.text(false, None);
    assert!(
        text.contains("The last audit differs from the first in 2 facts."),
        "{text}"
    );
    run.last_facts.clear();
    assert!(
        judged(run.clone())
            .text(false, None)
            .contains("The last audit agrees with the first.")
    );
    run.watches[0].audited_ns = None;
    let document: Value = serde_json::from_str(&judged(run).json()).expect("JSON");
    assert!(document["changes"]["drift"].is_null(), "not read is not the same");
}

/// A part that nobody watched may have changed, and a place whose watch never looked is no place without changes.
#[test]
fn each_part_that_was_not_watched_is_a_reservation() {
    let mut run = watched(Vec::new(), Vec::new());
    assert!(judged(run.clone()).reservations().is_empty());
    run.watches[0].unread = vec!["cpuset: refused".to_owned(), "the watch ended early".to_owned()];
    run.watches.push(ChangeWatch {
        place: Some("vm".to_owned()),
        unread: vec!["interrupts: refused".to_owned()],
        ..ChangeWatch::default()
    });
    let report = judged(run.clone());
    assert_eq!(
        report.reservations(),
        [
            "not watched for changes during the run: cpuset: refused",
            "not watched for changes during the run: the watch ended early",
            "not watched for changes during the run: vm: interrupts: refused",
        ]
    );
    let text = report
        .text(false, None)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.contains("No change was seen where anything looked: 21 looks"),
        "{text}"
    );
    assert!(text.contains("vm: 0 looks from"), "{text}");
    run.watches[0].looks = 0;
    let text = judged(run).text(false, None);
    assert!(text.contains("Nothing is known about changes"), "{text}");
}

#[test]
fn a_change_without_a_seen_cause_names_the_action_of_the_plan_at_its_time() {
    let unknown = Change {
        who: None,
        ..change(7, None)
    };
    let far = Change {
        place: Some("far machine".to_owned()),
        ..unknown.clone()
    };
    let mut run = watched(Vec::new(), vec![unknown, change(7, None), far]);
    run.events.push(Event {
        at_ns: 7 * SECOND - 1,
        since_ns: None,
        kind: EventKind::Action,
        series: None,
        text: "began tuned: tuned-adm profile realtime".to_owned(),
    });
    let report = judged(run);
    let found = rows(&report);
    assert_eq!(
        found[0].who(),
        "an action of the plan began tuned: tuned-adm profile realtime"
    );
    assert_eq!(found[1].who(), "guest relay-02 started in the same second");
    assert_eq!(found[2].who(), "unknown", "another machine");
}
