//! Programs that tune the machine: TuneD and its profile, and daemons that change the same settings.

use units::CpuList;

use super::super::shared::{cpus, running, unclear};
use crate::facts::Facts;
use crate::value::Unknown;
use host::cmdline::boot_cpus;
use host::processes::kept;
use host::reader::Reader;

/// Daemons that set frequencies, power or profiles on their own, with their units.
const RIVALS: [(&str, &str); 7] = [
    ("thermald", "thermald.service"),
    ("power-profiles-daemon", "power-profiles-daemon.service"),
    ("tuned-ppd", "tuned-ppd.service"),
    ("tlp", "tlp.service"),
    ("auto-cpufreq", "auto-cpufreq.service"),
    ("cpupower", "cpupower.service"),
    ("laptop_mode", "laptop-mode.service"),
];

/// Real-time profiles, which others may include.
const REAL_TIME: [&str; 4] = [
    "realtime",
    "cpu-partitioning",
    "seapath-rt",
    "openshift-node-performance",
];

/// Files in which profiles keep the CPUs they reserve.
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
        let there = RIVALS.iter().filter(|(name, _)| running.contains_key(kept(name)));
        there.collect::<Vec<_>>()
    });
    let named = |rivals: Vec<&(&str, &str)>| rivals.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    facts.set("tuning.rivals", rivals.clone().map(named));
    facts.set("tuning.rival-units", rivals.and_then(|rivals| units(&rivals)));
    let runs = |name: &str| processes.as_ref().map(|running| running.contains_key(name));
    for (fact, name) in [("stalld.running", "stalld"), ("tuned.running", "tuned")] {
        facts.set(fact, runs(name).map_err(Unknown::clone));
    }
    let profile = reader.line("/etc/tuned/active_profile").map_err(unclear);
    let is_real_time = profile
        .as_ref()
        .map_err(Unknown::clone)
        .and_then(|profile| is_real_time(reader, profile));
    facts.set("tuned.real-time-profile", is_real_time);
    let isolated = profile
        .as_ref()
        .map_err(Unknown::clone)
        .and_then(|profile| isolated_cores(reader, profile, facts));
    facts.set("tuned.profile", profile);
    facts.set("tuned.isolated-cores", isolated);
    let main = reader.text("/etc/tuned/tuned-main.conf").map_err(unclear);
    // Default of the daemon without the line (TuneD, consts.py).
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

/// Units of the rivals, as words of a command.
fn units(rivals: &[&(&str, &str)]) -> Result<String, Unknown> {
    let units: Vec<&str> = rivals.iter().map(|(_, unit)| *unit).collect();
    match units.is_empty() {
        true => Err(Unknown::absent("no rival of TuneD runs")),
        false => Ok(units.join(" ")),
    }
}

/// True if a profile is for real time: by its name, by one that it includes, or by the CPUs that it reserves.
fn is_real_time(reader: &Reader, profile: &str) -> Result<bool, Unknown> {
    let own = own_files(reader, profile)?;
    let names = with_included(profile, &own);
    let is_known = |name: &String| REAL_TIME.iter().any(|known| name.contains(known));
    Ok(names.iter().any(is_known) || own.iter().any(|text| isolcpus(text).is_some()))
}

/// Names of profiles, and of those that they include.
fn with_included(profile: &str, own: &[String]) -> Vec<String> {
    let included = own.iter().filter_map(|text| setting(text, "include"));
    let lists = [profile].into_iter().chain(included);
    let names = lists.flat_map(|list| list.split([' ', ',', '\t']));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Profile files in /etc: those of the distribution are known by name.
fn own_files(reader: &Reader, profile: &str) -> Result<Vec<String>, Unknown> {
    let mut own = Vec::new();
    for name in profile.split_whitespace() {
        for folder in ["/etc/tuned", "/etc/tuned/profiles"] {
            match reader.text(&format!("{folder}/{name}/tuned.conf")) {
                Ok(text) => own.push(text),
                Err(error) if error.is_absent() => {}
                Err(error) => return Err(unclear(error)),
            }
        }
    }
    Ok(own)
}

/// CPUs of `isolcpus=` among the arguments that a profile adds, without its flags.
fn isolcpus(text: &str) -> Option<&str> {
    let lines = text.lines().filter_map(|line| line.trim().split_once('='));
    let mut arguments = lines
        .filter(|(name, _)| name.starts_with("cmdline"))
        .map(|(_, value)| value);
    let value = arguments.find_map(|line| {
        line.split([' ', '+', '"'])
            .find_map(|word| word.strip_prefix("isolcpus="))
    })?;
    Some(value.trim_start_matches(|c: char| c.is_alphabetic() || "_,".contains(c)))
}

/// CPUs that the profile reserves. If several files name them, the profile's own counts.
fn isolated_cores(reader: &Reader, profile: &str, facts: &Facts) -> Result<CpuList, Unknown> {
    let own = own_files(reader, profile)?;
    let names = with_included(profile, &own);
    let of_profile = |path: &&&str| {
        let name = path
            .rsplit('/')
            .next()
            .unwrap_or(path)
            .trim_end_matches("-variables.conf");
        names.iter().any(|word| word == name)
    };
    let first = VARIABLES.iter().find(of_profile).into_iter();
    let text = first.chain(&VARIABLES).find_map(|path| reader.text(path).ok());
    let by_variables = text.as_deref().and_then(|text| setting(text, "isolated_cores"));
    let value = own
        .iter()
        .find_map(|text| isolcpus(text).filter(|value| !value.contains('$')))
        .or(by_variables);
    let value = value.ok_or_else(|| {
        Unknown::unclear("neither the TuneD profile nor its variables say which CPUs are set aside (isolated_cores)")
    })?;
    let highest = cpus(facts, "cpus.online")?.iter().max().unwrap_or(0);
    boot_cpus(value, highest)
        .ok_or_else(|| Unknown::unclear(format!("isolated_cores={value} is not a list that can be resolved")))
}

/// Last `name = value` line that is not a comment.
fn setting<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let lines = text.lines().filter_map(|line| line.trim().split_once('='));
    let mut named = lines.filter(|(given, _)| given.trim() == name);
    named.next_back().map(|(_, value)| value.trim().trim_matches('"'))
}
