use std::fs;

use super::remedies;
use audit::parameters::Parameters;
use host::Host;

/// Two CPUs, the second judged, and nothing tuned; with `more` files.
fn told(cpus: Option<&str>, more: &[(&str, &str)]) -> Vec<(String, String)> {
    let files = [
        ("sys/devices/system/cpu/online", "0-1\n"),
        ("sys/devices/system/cpu/possible", "0-1\n"),
        ("sys/devices/system/cpu/isolated", "\n"),
        ("proc/irq/default_smp_affinity", "3\n"),
        ("proc/sys/kernel/timer_migration", "1\n"),
        ("proc/sys/kernel/osrelease", "6.12.0\n"),
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n"),
        ("proc/cmdline", "quiet\n"),
    ];
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in files.iter().chain(more) {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let host = Host::at(root.path()).expect("a tree");
    let parameters = Parameters {
        rt_cpus: cpus.map(|cpus| cpus.parse().expect("CPUs")),
        ..Parameters::default()
    };
    let facts = remedies(&host, &audit::audit(&host, &parameters, &[]), &parameters);
    let value = |fact: model::Fact| (fact.name, fact.value.expect("a value"));
    facts.into_iter().map(value).collect()
}

fn of<'a>(told: &'a [(String, String)], check: &str) -> &'a str {
    let found = told.iter().find(|(name, _)| name == check);
    found.map_or_else(|| panic!("{check}: {told:?}"), |(_, value)| value)
}

#[test]
fn the_command_has_what_the_audit_was_asked_and_does_it_here() {
    let told = told(Some("1"), &[]);
    let live = of(&told, "irq-default-affinity");
    assert!(
        live.starts_with("triptime tune irq-default-affinity --cpus 1 --apply: write the mask "),
        "{live}"
    );
    let boot = of(&told, "cpu-isolated");
    assert!(
        boot.starts_with(
            "triptime tune cpu-isolated --cpus 1 --emit kernel-args: boot with isolcpus=managed_irq,domain,1"
        ),
        "{boot}"
    );
}

#[test]
fn what_tune_cannot_do_is_a_step_by_hand() {
    let told = told(Some("1"), &[]);
    let step = of(&told, "kernel-preempt-rt");
    assert!(
        step.starts_with("kernel-preempt-rt: install the distribution's real-time kernel"),
        "{step}"
    );
}

#[test]
fn what_would_take_every_cpu_is_not_advised() {
    let told = told(Some("0-1"), &[]);
    let checks: Vec<&str> = told.iter().map(|(check, _)| check.as_str()).collect();
    assert_eq!(checks, ["kernel-preempt-rt", "housekeeping-cpus"]);
}
