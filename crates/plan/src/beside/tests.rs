//! Rules for steps side by side.

use crate::{Named, Plan, Roles};
use host::CpuFacts;
use model::fact::{CPUS_LEFT_OUT, STEPS_SETTLED};

const HEAD: &str = r#"
name = "site"
what = "round trip and wake-ups at the same time"
limits = "substation"
window = "1s"
[cpus]
housekeeping = "first"
measured = "rest"
"#;

const REFLECT: &str = r#"
[[step]]
probe = "reflect"
duration = "2s"
interval = "250us"
policy = "fifo:60"
"#;

const WAKEUP: &str = r#"
[[step]]
probe = "wakeup"
duration = "2s"
beside_previous = true
"#;

fn plan(steps: &[&str]) -> Result<Plan, String> {
    Plan::parse("site.toml", &format!("{HEAD}{}", steps.concat())).map_err(|error| error.to_string())
}

/// A machine with these CPUs, and its roles.
fn machine(plan: &Plan, online: &str) -> (CpuFacts, Roles) {
    let facts = CpuFacts {
        online: online.parse().expect("a list"),
        ..CpuFacts::default()
    };
    let roles = plan.roles(&facts, &Named::default()).expect("roles");
    (facts, roles)
}

fn shared(plan: &Plan, online: &str) -> Option<String> {
    let (facts, roles) = machine(plan, online);
    plan.check_beside(&facts, &roles).err().map(|error| error.to_string())
}

#[test]
fn steps_side_by_side_take_the_time_of_one() {
    let apart = plan(&[REFLECT, &WAKEUP.replace("beside_previous = true", "")]).expect("a plan");
    assert_eq!((apart.groups().count(), apart.duration_ns()), (2, 4_000_000_000));
    let together = plan(&[REFLECT, WAKEUP]).expect("a plan");
    assert_eq!((together.groups().count(), together.duration_ns()), (1, 2_000_000_000));
}

#[test]
fn each_has_cpus_of_its_own() {
    let usual = plan(&[REFLECT, WAKEUP]).expect("a plan");
    let why = shared(&usual, "0-3").expect("both take cpu 1");
    assert!(
        why.contains("\"round trip\" and \"wake-up\" run side by side, and both take cpu 1"),
        "{why}"
    );
    // As on the source's test bench: two CPUs for the round trip, the third for wake-ups.
    let named = plan(&[REFLECT, &format!("{WAKEUP}cpus = \"2\"\n")]).expect("a plan");
    assert_eq!(shared(&named, "0-3"), None);
    let on_test_set = plan(&[REFLECT, &format!("{WAKEUP}cpus = \"0\"\n")]).expect("a plan");
    let why = shared(&on_test_set, "0-3").expect("the test set's is taken, too");
    assert!(why.contains("both take cpu 0"), "{why}");
    // Two CPUs are enough if both ends of the round trip sleep while they wait on one.
    let block = REFLECT.to_owned() + "receive = \"block\"\ncpus = \"0\"\n";
    let on_two = plan(&[&block, &format!("{WAKEUP}cpus = \"1\"\n")]).expect("a plan");
    assert_eq!(shared(&on_two, "0-1"), None);
}

#[test]
fn what_cannot_run_side_by_side_is_refused() {
    let refusal = |steps: &[&str]| plan(steps).expect_err("refused");
    let why = refusal(&[WAKEUP]);
    assert!(why.contains("there is no step before the first one"), "{why}");
    let why = refusal(&[REFLECT, &WAKEUP.replace("2s", "3s")]);
    assert!(why.contains("one duration"), "{why}");
    let why = refusal(&[REFLECT, &format!("{WAKEUP}idle = \"held\"\n")]);
    assert!(why.contains("one idle"), "{why}");
    let deadline = format!("{WAKEUP}policy = \"deadline:100us/1ms/1ms\"\n");
    let why = refusal(&[REFLECT, &deadline]);
    assert!(why.contains("runs on any CPU"), "{why}");
    let bed = "[bed]\nnetworks = [\"veth\", \"bridge\"]\n";
    let why = refusal(&[bed, REFLECT, WAKEUP]);
    assert!(why.contains("measures them in turn"), "{why}");
}

#[test]
fn needs_are_those_of_all_steps() {
    let plan = plan(&[REFLECT, &format!("{WAKEUP}cpus = \"2\"\n")]).expect("a plan");
    let (facts, roles) = machine(&plan, "0-3");
    let needs = format!("{:?}", plan.needs(&facts, &roles).expect("known CPUs"));
    for need in [
        "SysAdmin", "NetRaw", "Fifo(60)", "Fifo(80)", "Cpu(0)", "Cpu(1)", "Cpu(2)",
    ] {
        assert!(needs.contains(need), "{need}: {needs}");
    }
    assert!(!needs.contains("Cpu(3)"), "{needs}");
}

/// The rights and CPUs of this machine are not checked.
#[test]
fn a_device_on_another_machine_needs_nothing_of_this_one() {
    let plan = plan(&[REFLECT]).expect("a plan");
    let (facts, mut roles) = machine(&plan, "0-3");
    let judged = roles.measured.first().expect("a CPU");
    assert!(plan.occupied(&facts, &roles).expect("known CPUs").contains(judged));
    roles.elsewhere = Some("192.0.2.7".to_owned());
    let needs = format!("{:?}", plan.needs(&facts, &roles).expect("known CPUs"));
    assert!(needs.contains("NetRaw") && !needs.contains("Admin"), "{needs}");
    assert!(!plan.occupied(&facts, &roles).expect("known CPUs").contains(judged));
    assert_eq!(roles.lines()[0], "judged: CPUs that triptime far names on 192.0.2.7");
}

const PING_PONG: &str = r#"
[[step]]
probe = "ping-pong"
duration = "2s"
policy = "fifo:60"
"#;

const IF_POSSIBLE: &str = r#"
[[step]]
probe = "wakeup"
duration = "2s"
beside_previous = "if-possible"
"#;

/// CPUs of the second step on a machine with these CPUs, if it runs beside the first.
fn beside(plan: &Plan, online: &str) -> Option<String> {
    let (facts, roles) = machine(plan, online);
    let settled = plan.clone().settled(&facts, &roles, None).expect("CPUs that exist");
    settled.check_beside(&facts, &roles).expect("no CPU is shared");
    let outline = settled.outline(&facts, &roles).expect("an outline").steps;
    match settled.groups().count() {
        1 => outline[1].rsplit_once(" on ").map(|(_, seat)| seat.to_owned()),
        _ => {
            assert!(outline[1].contains("there are too few CPUs"), "{outline:?}");
            None
        }
    }
}

#[test]
fn steps_run_side_by_side_where_there_are_cpus_for_both() {
    let here = plan(&[PING_PONG, IF_POSSIBLE]).expect("a plan");
    assert_eq!(here.duration_ns(), 2_000_000_000, "of a machine with CPUs enough");
    assert_eq!(beside(&here, "0-4").as_deref(), Some("cpu 3-4, side by side"));
    assert_eq!([beside(&here, "0-2"), beside(&here, "0-1")], [None, None]);
    // Named CPUs are all measured, or none of them at the same time.
    let named = |cpus: &str| plan(&[PING_PONG, IF_POSSIBLE, cpus]).expect("a plan");
    assert_eq!(beside(&named("cpus = \"2-3\""), "0-4"), None);
    assert_eq!(
        beside(&named("cpus = \"3\""), "0-4").as_deref(),
        Some("cpu 3, side by side")
    );
    let why = plan(&[PING_PONG, &IF_POSSIBLE.replace("if-possible", "perhaps")]).expect_err("refused");
    assert!(why.contains("use true, false or \"if-possible\""), "{why}");
    let why = plan(&[PING_PONG, &IF_POSSIBLE.replace("2s", "3s")]).expect_err("refused");
    assert!(why.contains("one duration"), "{why}");
}

#[test]
fn the_acceptance_takes_one_week_where_each_virtual_cpu_has_a_cpu_of_its_own() {
    let vpac = |vcpus: u32| Plan {
        vcpus: Some(vcpus),
        ..Plan::load("vpac").expect("inside")
    };
    let week = "cpu 2 of the guest, side by side, with cache on every cpu of the guest that is not judged";
    assert_eq!(
        beside(&vpac(3), "0-6").as_deref(),
        Some("every cpu of the guest that is not judged")
    );
    let (facts, roles) = machine(&vpac(3), "0-6");
    let settled = vpac(3).settled(&facts, &roles, None).expect("CPUs that exist");
    let steps = settled.outline(&facts, &roles).expect("an outline").steps;
    assert!(steps[1].ends_with(week), "{steps:?}");
    assert!(
        steps[0].contains("on cpu 1 of the guest, side by side"),
        "it judges no CPU of the other: {steps:?}"
    );
    // CPUs that are named for the guests count instead; fewer than the virtual ones do not.
    let (facts, roles) = machine(&vpac(3), "0-3");
    let settled = |cpus: &str| {
        let named = cpus.parse().expect("CPUs");
        let settled = vpac(3).settled(&facts, &roles, Some(&named)).expect("CPUs that exist");
        settled.groups().count()
    };
    assert_eq!([settled("0-5"), settled("0-1")], [1, 2]);
    // Guests of two CPUs have one that is judged, and on a machine of four CPUs virtual ones share.
    assert_eq!([beside(&vpac(2), "0-6"), beside(&vpac(3), "0-3")], [None, None]);
}

#[test]
fn steps_whose_cpus_another_machine_names_follow_each_other_and_say_why() {
    let plan = plan(&[PING_PONG, IF_POSSIBLE]).expect("a plan");
    let (facts, mut roles) = machine(&plan, "0-4");
    roles.elsewhere = Some("far".to_owned());
    let settled = plan.settled(&facts, &roles, None).expect("CPUs that exist");
    let outline = settled.outline(&facts, &roles).expect("an outline").steps;
    assert!(outline[1].contains("the far machine names its CPUs"), "{outline:?}");
}

#[test]
fn a_step_that_is_chosen_alone_is_beside_nothing() {
    let chosen = plan(&[PING_PONG, IF_POSSIBLE])
        .expect("a plan")
        .only(&["wakeup".to_owned()]);
    let alone = chosen.expect("a step").plan;
    let (facts, roles) = machine(&alone, "0-4");
    let settled = alone.settled(&facts, &roles, None).expect("CPUs that exist");
    let outline = settled.outline(&facts, &roles).expect("an outline").steps;
    assert_eq!(outline, ["1. wake-up: 2.00 s on cpu 1-4"]);
}

#[test]
fn a_run_says_which_steps_were_beside_others_and_which_cpus_they_left_out() {
    let whole = plan(&[PING_PONG, IF_POSSIBLE]).expect("a plan");
    let settled = |online: &str| {
        let (facts, roles) = machine(&whole, online);
        let settled = whole.clone().settled(&facts, &roles, None).expect("CPUs that exist");
        let judged = settled.facts_of(&roles)[0].value.clone().expect("known");
        let facts = settled.settled_facts();
        (STEPS_SETTLED.of(&facts), CPUS_LEFT_OUT.of(&facts), judged)
    };
    let (said, left_out, judged) = settled("0-4");
    assert_eq!(said.as_deref(), Some("wakeup: beside"));
    assert_eq!(left_out.as_deref(), Some("no wake-up on cpu 1-2: it has the ping-pong"));
    assert!(judged.starts_with("1-4, wake-up only on cpu 3-4 ("), "{judged}");
    assert_eq!(whole.as_settled(said.as_deref(), &[]).planned(None, &[]).len(), 1);
    let (said, left_out, judged) = settled("0-1");
    assert_eq!((said.as_deref(), left_out), (Some("wakeup: after"), None));
    assert!(judged.starts_with("1 ("), "{judged}");
    let steps = whole.as_settled(said.as_deref(), &[]).planned(None, &[]);
    let names: Vec<&str> = steps.iter().map(|step| step.does.as_str()).collect();
    assert_eq!(names, ["ping-pong", "wake-up"]);
}

#[test]
fn the_guests_of_the_acceptance_have_no_wakeups_beside_the_ping_pong() {
    let vpac = Plan::load("vpac").expect("inside");
    let (facts, roles) = machine(&vpac, "0-6");
    let settled = vpac.settled(&facts, &roles, None).expect("CPUs that exist");
    let left_out = CPUS_LEFT_OUT.of(&settled.settled_facts());
    assert_eq!(
        left_out.as_deref(),
        Some("no wake-up on cpu 1 of the guest: it has the ping-pong")
    );
}

#[test]
fn a_step_chosen_alone_leaves_the_other_in_the_list_as_left_out() {
    let whole = plan(&[PING_PONG, IF_POSSIBLE]).expect("a plan");
    for (label, said, chosen) in [
        ("wakeup", Some("wakeup: after"), [false, true]),
        ("ping-pong", None, [true, false]),
        ("wakeup", None, [false, true]),
    ] {
        let labels = [label.to_owned()];
        let steps = whole.as_settled(said, &labels).planned(None, &labels);
        let is_chosen: Vec<bool> = steps.iter().map(|step| step.is_chosen).collect();
        assert_eq!(is_chosen, chosen, "{label} {said:?}");
    }
}
