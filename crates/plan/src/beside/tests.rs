//! Rules for steps side by side.

use crate::{Named, Plan, Roles};
use host::CpuFacts;

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
