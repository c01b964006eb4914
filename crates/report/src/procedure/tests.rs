use super::{PlanOfRun, Procedure};
use crate::Report;
use crate::about::About;
use crate::limits::Profile;
use model::{Event, EventKind, PlannedMember, PlannedStep, RunState, RunView};
use testing::synthetic;

const S: u64 = 1_000_000_000;

const LIMITS: &str = "name = \"own\"\nwhat = \"test\"\n\
    [[limit]]\nid = \"wakeup.max\"\nseries = \"wakeup/*\"\nquantity = \"max\"\nallowed = \"1ms\"\nsource = \"a test\"\n\
    [[limit]]\nid = \"rtt.max\"\nseries = \"rtt/*\"\nquantity = \"max\"\nallowed = \"1us\"\nsource = \"a test\"\n";

fn event(at_s: u64, kind: EventKind, text: &str) -> Event {
    Event {
        at_ns: at_s * S,
        since_ns: None,
        kind,
        series: None,
        text: text.to_owned(),
    }
}

/// A run of two steps of 10 s, wake-ups and round trips, with these further events.
fn run(more: Vec<Event>) -> RunView {
    let mut run = synthetic::run(vec![
        synthetic::series("wakeup/cpu1", 1_000, 60_000, 10),
        synthetic::series("rtt/reflect", 1_000, 60_000, 10),
    ]);
    for window in run.series[1].windows.iter_mut() {
        window.start_ns += 12 * S;
        window.end_ns += 12 * S;
    }
    let mut events = vec![
        event(0, EventKind::StepStarted, "wake-up"),
        event(11, EventKind::StepStopped, "wake-up"),
        event(12, EventKind::StepStarted, "round trip"),
        event(23, EventKind::StepStopped, "round trip"),
    ];
    events.extend(more);
    events.sort_by_key(|event| event.at_ns);
    run.events = events.into();
    run
}

fn step(does: &str, planned_s: u64, asked_s: u64) -> PlannedStep {
    PlannedStep {
        does: does.to_owned(),
        members: Vec::new(),
        settings: "interval 250us".to_owned(),
        planned_ns: planned_s * S,
        asked_ns: asked_s * S,
        is_chosen: true,
        is_in_turn: false,
    }
}

fn report(run: RunView, steps: Vec<PlannedStep>) -> Report {
    let limits = Profile::parse(LIMITS, "test").expect("limits");
    Report::new(run, vec![limits]).with_procedure(Procedure {
        plan: Some(PlanOfRun {
            name: "site".to_owned(),
            steps,
            before: 0,
            is_rest: false,
            loads: vec!["hackbench".to_owned()],
        }),
        deviations: Vec::new(),
    })
}

fn told(report: &Report) -> Vec<String> {
    let all = report.deviations();
    let own = all.iter().filter(|each| !each.what.starts_with("nothing watched"));
    own.map(|each| format!("{} -> {}", each.sentence(), each.effect))
        .collect()
}

fn json(report: &Report) -> serde_json::Value {
    let document: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
    document["procedure"].clone()
}

#[test]
fn steps_as_planned_are_listed_with_their_limits_and_are_no_deviation() {
    let report = report(
        run(Vec::new()),
        vec![step("wake-up", 10, 10), step("round trip", 10, 10)],
    );
    assert_eq!(told(&report), [""; 0]);
    let procedure = json(&report);
    assert_eq!((&procedure["planned"], &procedure["ran"]), (&2.into(), &2.into()));
    let of = |at: usize, key: &str| procedure["steps"][at][key].clone();
    assert_eq!((of(0, "state"), of(1, "state")), ("done".into(), "done".into()));
    assert_eq!((of(1, "planned_start_s"), of(1, "start_s")), (10.0.into(), 12.0.into()));
    assert_eq!((of(1, "planned_s"), of(1, "measured_s")), (10.0.into(), 10.0.into()));
    assert_eq!(
        of(0, "limits"),
        serde_json::json!([{"limit": "wakeup.max", "verdict": "pass"}])
    );
    assert_eq!(
        of(1, "limits"),
        serde_json::json!([{"limit": "rtt.max", "verdict": "fail"}])
    );
    let page = report.html(&About::default(), None).expect("a page");
    assert_eq!(
        page.matches("Plan site: 2 steps planned, 2 ran.").count(),
        2,
        "on screen and on paper"
    );
    assert!(page.contains("<th>Initials, remarks</th>") && page.contains("Loads during all steps: hackbench."));
}

#[test]
fn steps_that_did_not_run_or_were_short_or_long_are_deviations() {
    let asked = vec![step("wake-up", 60, 30), step("round trip", 2, 2), step("trip", 10, 10)];
    let mut run = run(vec![event(
        11,
        EventKind::Incomplete,
        "wake-up: not measured to the end, because the place failed",
    )]);
    run.state = RunState::Interrupted;
    let report = report(run, asked);
    let told = told(&report);
    let has = |text: &str| told.iter().any(|each| each.starts_with(text));
    assert!(has("the run ended early, after "), "{told:?}");
    assert!(
        has("step 1, wake-up: cut short: 10.0 s of 30.0 s measured (the place failed) -> "),
        "{told:?}"
    );
    assert!(
        has("step 2, round trip: longer than planned: 10.0 s instead of 2.00 s -> "),
        "{told:?}"
    );
    assert!(has("step 3, trip: not run -> None of its figures"), "{told:?}");
    let page = report.html(&About::default(), None).expect("a page");
    assert!(page.contains("3 steps planned, 2 ran, 1 of them cut short."), "{page}");
    assert!(page.contains("1.00 min; asked for 30.0 s") || page.contains("60.0 s; asked for 30.0 s"));
    assert!(page.contains("<th>Accepted by, date</th>"));
}

#[test]
fn a_load_that_did_not_hold_and_a_refused_right_are_deviations() {
    let started = event(0, EventKind::LoadStarted, "hackbench load on CPU 0");
    let good = event(
        30,
        EventKind::LoadStopped,
        "hackbench load on CPU 0: 500 messages in 29.0 s",
    );
    let asked = || vec![step("wake-up", 10, 10), step("round trip", 10, 10)];
    let held = report(run(vec![started.clone(), good]), asked());
    assert_eq!(told(&held), [""; 0], "it ran to the end");
    let early = event(
        5,
        EventKind::LoadStopped,
        "hackbench: 1 of 2 threads ended by themselves",
    );
    let refused = event(1, EventKind::Refused, "the flight recorder needs CAP_BPF");
    let report = report(run(vec![started, early, refused.clone(), refused]), asked());
    let told = told(&report);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("at 5.00 s: a load did not hold: hackbench: 1 of 2 threads"),
        "{told:?}"
    );
    assert!(told[1].starts_with("the flight recorder needs CAP_BPF -> "), "{told:?}");
}

#[test]
fn a_doubt_that_left_a_limit_open_is_a_deviation_with_its_limit() {
    let steal = event(5, EventKind::SecondMeasurement, "another triptime shares cpu1");
    let mut run = run(Vec::new());
    let series = Some(run.series[0].id);
    run.events.push(Event { series, ..steal });
    let asked = vec![step("wake-up", 10, 10), step("round trip", 10, 10)];
    let told = told(&report(run, asked));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("wakeup/cpu1: in doubt: "), "{told:?}");
    assert!(
        told[0].ends_with("wakeup.max is undecided, which is no pass."),
        "{told:?}"
    );
}

#[test]
fn without_a_plan_the_list_says_none_and_is_not_left_out() {
    let mut run = run(Vec::new());
    run.events = Vec::new().into();
    run.watches = vec![model::ChangeWatch {
        place: None,
        from_ns: 0,
        to_ns: S,
        looks: 3,
        longest_ns: S,
        cpu_ns: 0,
        dropped: 0,
        unread: Vec::new(),
        audited_ns: None,
    }];
    let report = Report::new(run, Vec::new());
    assert_eq!(report.deviations(), Vec::new());
    let page = report.html(&About::default(), None).expect("a page");
    assert_eq!(
        page.matches("<p>None.</p>").count(),
        4,
        "steps and deviations, on screen and on paper"
    );
    assert!(page.contains("The run followed no plan"));
    assert_eq!(json(&report)["steps"], serde_json::json!([]));
}

#[test]
fn the_rest_of_a_plan_after_a_reboot_names_the_steps_of_the_earlier_file() {
    let mut report = report(
        run(Vec::new()),
        vec![
            step("noise", 10, 10),
            step("wake-up", 60, 60),
            step("round trip", 10, 10),
        ],
    );
    let plan = report.procedure.plan.as_mut().expect("a plan");
    (plan.before, plan.is_rest) = (1, true);
    assert_eq!(told(&report), [""; 0]);
    let steps = json(&report)["steps"].clone();
    let states: Vec<_> = steps
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| step["state"].clone())
        .collect();
    assert_eq!(states, ["in an earlier file", "done", "done"]);
}

#[test]
fn steps_that_were_left_out_are_named_and_shift_no_other() {
    let left_out = PlannedStep {
        is_chosen: false,
        ..step("noise", 10, 10)
    };
    let asked = vec![step("wake-up", 10, 10), left_out, step("round trip", 10, 10)];
    let report = report(run(Vec::new()), asked);
    let told = told(&report);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("step 2, noise: left out by --step -> "), "{told:?}");
    let steps = json(&report)["steps"].clone();
    let of = |at: usize| (steps[at]["state"].clone(), steps[at]["start_s"].clone());
    assert_eq!(of(1), ("left out".into(), serde_json::Value::Null));
    assert_eq!(of(2), ("done".into(), 12.0.into()));
}

fn member(does: &str, family: &str, label: Option<&str>) -> PlannedMember {
    PlannedMember {
        does: does.to_owned(),
        family: family.to_owned(),
        label: label.map(str::to_owned),
    }
}

/// A run of these series side by side, each of so many windows of a second, in a step of 10 s.
fn beside(series: &[(&str, u64)], members: Vec<PlannedMember>) -> Report {
    let all = series
        .iter()
        .map(|(name, windows)| synthetic::series(name, 1_000, 60_000, *windows));
    let mut run = synthetic::run(all.collect());
    let names = members.iter().map(|member| member.does.clone());
    let began = names.clone().map(|name| event(0, EventKind::StepStarted, &name));
    let ended = names.map(|name| event(11, EventKind::StepStopped, &name));
    run.events = began.chain(ended).collect::<Vec<_>>().into();
    let step = PlannedStep {
        members,
        ..step("both", 10, 10)
    };
    report(run, vec![step])
}

#[test]
fn one_of_several_side_by_side_that_ended_early_does_not_hide_behind_the_others() {
    let members = || vec![member("ping-pong", "pong", None), member("wake-up", "wakeup", None)];
    let state = |report: &Report| json(report)["steps"][0]["state"].clone();
    let whole = beside(&[("pong/devices", 10), ("wakeup/cpu1", 10)], members());
    assert_eq!((state(&whole), told(&whole)), ("done".into(), Vec::new()));
    let short = beside(&[("pong/devices", 3), ("wakeup/cpu1", 10)], members());
    assert_eq!(state(&short), "cut short");
    assert!(
        told(&short)[0].starts_with("step 1, both: cut short: 3.00 s of 10.0 s of ping-pong measured -> "),
        "{:?}",
        told(&short)
    );
    let silent = beside(&[("wakeup/cpu1", 10)], members());
    assert_eq!(state(&silent), "nothing measured");
    assert!(
        told(&silent)[0].starts_with("step 1, both: begun, and nothing of ping-pong was measured -> "),
        "{:?}",
        told(&silent)
    );
}

#[test]
fn measurements_of_one_kind_side_by_side_are_told_apart_by_their_labels() {
    let members = || vec![member("a", "wakeup", Some("a")), member("ab", "wakeup", Some("ab"))];
    let state = |series: &[(&str, u64)]| json(&beside(series, members()))["steps"][0]["state"].clone();
    assert_eq!(state(&[("wakeup/a/cpu1", 10), ("wakeup/ab/cpu2", 10)]), "done");
    assert_eq!(state(&[("wakeup/ab/cpu2", 10)]), "nothing measured");
    let members = || vec![member("plain", "wakeup", None), member("a", "wakeup", Some("a"))];
    let state = |series: &[(&str, u64)]| json(&beside(series, members()))["steps"][0]["state"].clone();
    assert_eq!(state(&[("wakeup/cpu1", 10), ("wakeup/a/cpu2", 10)]), "done");
    assert_eq!(state(&[("wakeup/a/cpu2", 10)]), "nothing measured");
}
