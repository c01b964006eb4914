//! Lines of the kernel's log.

use serde::Deserialize;

use super::tree::{each, judged};
use crate::finding::Outcome::{Fail, Pass, Unknown};
use crate::parameters::Parameters;

const LOG: &str = ".answers/kernel-log";
const ID: &str = "kernel-log-clean";

fn anyone() -> Parameters {
    Parameters::default()
}

#[test]
fn a_log_is_clean_if_it_is_whole() {
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(LOG, "whole")], Pass),
        (&[(LOG, "whole\n77 something else")], Pass),
        (&[(LOG, "whole\n77 sched: RT throttling activated")], Fail),
        (
            &[(LOG, "from 300\n400 clocksource: Marking clocksource 'tsc' as unstable")],
            Fail,
        ),
        (&[(LOG, "from 300")], Unknown),
        (&[(LOG, "x")], Unknown),
        (&[], Unknown),
    ];
    each(&[], &anyone(), ID, cases);
    let stalls = "whole\n60 rcu: INFO: rcu_preempt self-detected stall on CPU\n90 rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:";
    let (_, live) = judged(&[(LOG, stalls)], &anyone(), ID);
    assert!(live.contains("RCU stall (2 times, 60 s to 90 s after boot)"), "{live}");
}

/// Patterns of lines, each with a line of its kind.
#[derive(Deserialize)]
struct Patterns {
    line: Vec<Pattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern {
    kind: String,
    words: Vec<String>,
    source: String,
    prints: String,
}

#[test]
fn every_pattern_finds_its_line() {
    let patterns: Patterns = toml::from_str(include_str!("../../rules/kernel-log.toml")).expect("patterns");
    assert!(patterns.line.len() > 100, "{}", patterns.line.len());
    for Pattern {
        kind,
        words,
        source,
        prints,
    } in patterns.line
    {
        assert!(words.iter().all(|word| prints.contains(word)), "{words:?}: {prints}");
        assert!(source.contains('/') && source.contains('.'), "{source}: no file");
        let log = format!("whole\n5 {prints}");
        let (outcome, live) = judged(&[(LOG, &log)], &anyone(), ID);
        assert_eq!(outcome, Fail, "{prints}");
        assert!(live.contains(&format!("{kind} (5 s after boot)")), "{prints}: {live}");
    }
}

/// Other forms of these lines, and ordinary lines of a machine's log.
#[test]
fn lines_of_the_log_are_told_apart() {
    for line in [
        "Internal error: Oops: 0000000096000004 [#1] PREEMPT_RT SMP",
        "Memory cgroup out of memory: Killed process 992 (relay) total-vm:1kB",
        "ice 0000:65:00.0: The DDP package file version is lower than the driver supports.  The driver requires version 1.3.x.x.  Please use an updated DDP Package file.  Entering Safe Mode.",
        "BUG: Bad rss-counter state mm:00000000deadbeef type:MM_ANONPAGES val:1",
    ] {
        let log = format!("whole\n5 {line}");
        each(&[], &anyone(), ID, &[(&[(LOG, log.as_str())], Fail)]);
    }
    for line in [
        "EDAC MC0: Giving out device to module skx_edac controller Skylake Socket#0 IMC#0",
        "pcieport 0000:00:1c.0: AER: enabled with IRQ 122",
        "CPU4: Core temperature/speed normal (total events = 1)",
        "tsc: Refined TSC clocksource calibration: 2999.997 MHz",
        "clocksource: Switched to clocksource tsc",
        "TSC ADJUST: CPU1: -812 NOT forced to 0",
        "x86/split lock detection: #DB: warning on user-space bus_locks",
        "HugeTLB: registered 1.00 GiB page size, pre-allocated 16 pages",
        "NO_HZ: Full dynticks CPUs: 2-3.",
        "DMAR: Host address width 46",
        "rcu: \tOffload RCU callbacks from CPUs: 2-3.",
        "igb 0000:02:00.0 eno1: igb: eno1 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX",
        "x86/split lock detection: #AC: crashing the kernel on kernel split_locks and warning on user-space split_locks",
        "rcu: Hierarchical RCU implementation.",
        "smpboot: CPU0: Intel WARNING: a word at the start, and CPU0 after it",
    ] {
        let log = format!("whole\n5 {line}");
        each(&[], &anyone(), ID, &[(&[(LOG, log.as_str())], Pass)]);
    }
}
