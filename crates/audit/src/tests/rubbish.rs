//! Trees with damaged files.

use super::tree::{HOST, audit, changed};
use crate::Audit;
use crate::finding::Outcome::Pass;
use crate::parameters::Parameters;

const FILES: [(&str, &str); 22] = [
    ("proc/2/comm", "kthreadd\n"),
    (
        "proc/interrupts",
        "  CPU0 CPU1 CPU2 CPU3\n 24: 1 0 0 0 PCI-MSI 1-edge nvme0q1\n 30: 1 0 0 0 PCI-MSI 2-edge eth0\n",
    ),
    ("proc/irq/24/effective_affinity_list", "0\n"),
    ("proc/irq/30/smp_affinity_list", "1\n"),
    ("proc/irq/default_smp_affinity", "3\n"),
    ("proc/swaps", "Filename Type Size Used Priority\n"),
    ("proc/meminfo", "MemTotal: 16000000 kB\n"),
    ("proc/net/route", "Iface Destination\n"),
    ("proc/stat", "cpu0 1 1 1 1 1 1 1 0\n"),
    ("sys/class/net/eth0/ifindex", "2\n"),
    ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
    ("sys/class/net/eth0/queues/rx-0/rps_flow_cnt", "0\n"),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc\n",
    ),
    ("sys/devices/system/cpu/cpu2/cpuidle/state0/latency", "2\n"),
    ("sys/devices/system/cpu/cpu2/cpuidle/state0/disable", "0\n"),
    ("sys/devices/system/cpu/cpu2/power/pm_qos_resume_latency_us", "n/a\n"),
    ("sys/fs/resctrl/schemata", "L3:0=f00\n"),
    ("sys/fs/resctrl/cpus_list", "0-1\n"),
    ("sys/fs/resctrl/info/L3/cbm_mask", "fff\n"),
    ("sys/class/thermal/thermal_zone0/temp", "50000\n"),
    ("sys/block/sda/size", "117187500\n"),
    ("etc/tuned/active_profile", "realtime\n"),
];

fn judge(files: &[(&str, &str)], changes: &[(&str, &str)]) -> Audit {
    let parameters = Parameters {
        nics: vec!["eth0".to_owned()],
        ..Parameters::default()
    };
    let files = [&HOST[..], files].concat();
    audit(&changed(&files, changes), &parameters)
}

/// Rules that pass, with the facts that decided them.
fn passes(audit: &Audit) -> Vec<&str> {
    let passed = audit.findings.iter().filter(|finding| finding.outcome == Pass);
    passed.map(|finding| finding.rule.id.as_str()).collect()
}

/// Whatever a file contains, no rule that reads it directly passes on invalid content, and nothing panics.
#[test]
fn rubbish_in_a_file_is_no_pass_of_the_rules_that_name_it() {
    let good = judge(&FILES, &[]);
    assert!(passes(&good).contains(&"clocksource-tsc"), "{:?}", passes(&good));
    for rubbish in [
        "",
        "\n",
        "\u{0}\u{1}",
        "-1\n",
        "nan\n",
        "99999999999999999999\n",
        "[[[ = : ; , ffffffffffffffffffffff\n",
    ] {
        for (path, _) in &FILES {
            let audit = judge(&FILES, &[(path, rubbish)]);
            let asks = |name: &&str| name.strip_prefix('/') == Some(path);
            let named = audit
                .findings
                .iter()
                .filter(|finding| finding.rule.wanted.facts().iter().any(asks));
            for finding in named {
                assert_ne!(
                    finding.outcome, Pass,
                    "{} passes with {rubbish:?} in {path}",
                    finding.rule.id
                );
            }
        }
    }
}

/// A missing file improves no finding.
#[test]
fn a_missing_file_turns_nothing_into_a_pass() {
    let good = judge(&FILES, &[]);
    for at in 0..FILES.len() {
        let rest = [&FILES[..at], &FILES[at + 1..]].concat();
        let audit = judge(&rest, &[]);
        let known = passes(&good);
        let new: Vec<&str> = passes(&audit).into_iter().filter(|id| !known.contains(id)).collect();
        assert!(new.is_empty(), "without {}: {new:?}", FILES[at].0);
    }
}
