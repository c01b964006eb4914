//! Who tunes the machine: TuneD and its profile, and daemons that set the same things.

use units::CpuList;

use super::super::shared::{cpus, running, unclear};
use crate::audit::facts::Facts;
use crate::audit::value::Unknown;
use crate::cmdline::boot_cpus;
use crate::processes::kept;
use crate::reader::Reader;

/// Daemons that set frequencies, power or profiles by themselves.
const RIVALS: [&str; 7] = [
    "thermald",
    "power-profiles-daemon",
    "tuned-ppd",
    "tlp",
    "auto-cpufreq",
    "cpupower",
    "laptop_mode",
];

/// Profiles that are made for real time, or built on those.
const REAL_TIME: [&str; 4] = [
    "realtime",
    "cpu-partitioning",
    "seapath-rt",
    "openshift-node-performance",
];

/// Where profiles keep the CPUs they set aside.
const VARIABLES: [&str; 5] = [
    "/etc/tuned/realtime-virtual-host-variables.conf",
    "/etc/tuned/realtime-virtual-guest-variables.conf",
    "/etc/tuned/realtime-variables.conf",
    "/etc/tuned/cpu-partitioning-variables.conf",
    "/etc/tuned/seapath-rt-host-variables.conf",
];

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    let processes = running(facts);
    let rivals = processes.as_ref().map_err(Unknown::clone).map(|running| {
        let there = RIVALS.iter().filter(|name| running.contains_key(kept(name)));
        there.map(|name| (*name).to_owned()).collect::<Vec<_>>()
    });
    facts.set("tuning.rivals", rivals);
    let runs = |name: &str| processes.as_ref().map(|running| running.contains_key(name));
    for (fact, name) in [("stalld.running", "stalld"), ("tuned.running", "tuned")] {
        facts.set(fact, runs(name).map_err(Unknown::clone));
    }
    let profile = reader.line("/etc/tuned/active_profile").map_err(unclear);
    let is_real_time = |profile: &String| REAL_TIME.iter().any(|name| profile.contains(name));
    facts.set(
        "tuned.real-time-profile",
        profile.as_ref().map(is_real_time).map_err(Unknown::clone),
    );
    let isolated = profile
        .as_ref()
        .map_err(Unknown::clone)
        .and_then(|profile| isolated_cores(reader, profile, facts));
    facts.set("tuned.profile", profile);
    facts.set("tuned.isolated-cores", isolated);
    let main = reader.text("/etc/tuned/tuned-main.conf").map_err(unclear);
    // What the daemon does without the line (TuneD, consts.py).
    let dynamic = main.as_ref().map_err(Unknown::clone).map(|text| {
        let value = setting(text, "dynamic_tuning").unwrap_or("1");
        !["0", "false", "no", "off"].contains(&value.to_ascii_lowercase().as_str())
    });
    facts.set("tuned.dynamic", dynamic);
    facts.set(
        "tuned.rollback",
        main.map(|text| setting(&text, "rollback").unwrap_or("auto").to_owned()),
    );
}

/// The CPUs that the profile sets aside. Of several files, that of the profile.
fn isolated_cores(reader: &Reader, profile: &str, facts: &Facts) -> Result<CpuList, Unknown> {
    let of_profile = |path: &&&str| {
        let name = path
            .rsplit('/')
            .next()
            .unwrap_or(path)
            .trim_end_matches("-variables.conf");
        profile.split_whitespace().any(|word| word == name)
    };
    let first = VARIABLES.iter().find(of_profile).into_iter();
    let text = first.chain(&VARIABLES).find_map(|path| reader.text(path).ok());
    let text = text.ok_or_else(|| Unknown::unclear("no file of variables of a TuneD profile for real time"))?;
    let value = setting(&text, "isolated_cores");
    let value = value.ok_or_else(|| Unknown::unclear("the variables of TuneD's profile have no isolated_cores"))?;
    let highest = cpus(facts, "cpus.online")?.iter().max().unwrap_or(0);
    boot_cpus(value, highest)
        .ok_or_else(|| Unknown::unclear(format!("isolated_cores={value} is no list that can be followed")))
}

/// The last `name = value` that is not a comment.
fn setting<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let lines = text.lines().filter_map(|line| line.trim().split_once('='));
    let mut named = lines.filter(|(given, _)| given.trim() == name);
    named.next_back().map(|(_, value)| value.trim().trim_matches('"'))
}
