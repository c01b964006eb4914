//! The container in which this process runs, seen from inside.

use sys::thread::{Policy, RtThread};

use super::memory;
use crate::definition::container::{Form, Shape, of_mask};
use crate::gather::network::Macvlans;
use crate::value::Unknown;
use host::cgroup::{Group, Hierarchy};
use host::cpu;
use host::nic::interface::{self, Interface, InterfaceKind};
use host::reader::Reader;

const STATUS: &str = "/proc/self/status";
const LIMITS: &str = "/proc/self/limits";

/// Capabilities that imply a whole set, among those that rules use.
const EVERYTHING: [&str; 3] = ["SYS_ADMIN", "NET_ADMIN", "SYS_TIME"];

/// Process names of daemons that set clocks.
const DAEMONS: [&str; 8] = [
    "chronyd",
    "ntpd",
    "ptp4l",
    "phc2sys",
    "ts2phc",
    "timemaster",
    "systemd-timesyn",
    "openntpd",
];

pub(super) fn read(reader: &Reader) -> Shape {
    let mut shape = Shape::new(Form::Running, "this container");
    match cpus(reader) {
        Ok(list) => shape.set_cpus(Some(list)),
        Err(unknown) => shape.set("ctr.cpus", Err::<bool, _>(unknown)),
    }
    shape.set("ctr.quota", quota(reader));
    let held = field(reader, "CapEff")
        .and_then(|mask| of_mask(&mask).ok_or_else(|| Unknown::unclear(format!("{STATUS}: {mask} is not a mask"))));
    let everything = held
        .clone()
        .map(|held| EVERYTHING.iter().all(|one| held.iter().any(|held| held == one)));
    shape.set("ctr.capabilities", held);
    shape.set("ctr.privileged", everything);
    shape.set(
        "ctr.rtprio",
        limit(reader, "Max realtime priority").and_then(|text| number(&text)),
    );
    shape.set(
        "ctr.memlock",
        limit(reader, "Max locked memory").map(|text| text == "unlimited"),
    );
    shape.set("ctr.fifo-granted", fifo_granted(reader));
    shape.set("ctr.rt-budget", rt_budget(reader));
    shape.set("ctr.network", network(reader));
    memory::note(reader, &group(reader, "memory"), &mut shape);
    let score = reader.line("/proc/self/oom_score_adj").map_err(Unknown::from);
    shape.set("ctr.oom-score", score.and_then(|text| number(&text)));
    shape.set("ctr.time-daemons", daemons(reader));
    shape
}

fn number(text: &str) -> Result<f64, Unknown> {
    text.parse()
        .map_err(|_| Unknown::unclear(format!("\"{text}\" is not a number")))
}

fn field(reader: &Reader, name: &str) -> Result<String, Unknown> {
    let text = reader.text(STATUS)?;
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    found
        .map(|value| value.trim().to_owned())
        .ok_or_else(|| Unknown::unclear(format!("{STATUS} has no line {name}")))
}

fn limit(reader: &Reader, name: &str) -> Result<String, Unknown> {
    let text = reader.text(LIMITS)?;
    let soft = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
    soft.map(str::to_owned)
        .ok_or_else(|| Unknown::unclear(format!("{LIMITS} has no line {name}")))
}

/// A short-lived thread asks for the lowest real-time priority: this tests capabilities, limits, filters and budgets together.
fn fifo_granted(reader: &Reader) -> Result<bool, Unknown> {
    let answer = reader.answer("fifo", || {
        let lowest = RtThread {
            policy: Policy::Fifo(1),
            cpu: None,
            stack_bytes: 0,
        };
        let tried = std::thread::spawn(move || lowest.enter()).join();
        Ok(if matches!(tried, Ok(Ok(()))) {
            "granted"
        } else {
            "refused"
        }
        .to_owned())
    })?;
    Ok(answer.trim() == "granted")
}

/// A list of every online CPU is no binding.
fn cpus(reader: &Reader) -> Result<String, Unknown> {
    let list = field(reader, "Cpus_allowed_list")?;
    let allowed: units::CpuList = list
        .parse()
        .map_err(|error| Unknown::unclear(format!("{STATUS}: {error}")))?;
    let online = cpu::online(reader)?;
    Ok(if online.without(&allowed).is_empty() {
        String::new()
    } else {
        list
    })
}

fn group(reader: &Reader, controller: &str) -> Result<Group, Unknown> {
    Ok(Hierarchy::read(reader)?.own_group(reader, controller)?)
}

/// Value of its group or an ancestor, as far as visible. The root group has no such file.
fn quota(reader: &Reader) -> Result<bool, Unknown> {
    let group = group(reader, "cpu")?;
    let file = if group.version == 1 {
        "cpu.cfs_quota_us"
    } else {
        "cpu.max"
    };
    let mut read = 0_u32;
    for directory in &group.directories {
        match reader.line(&format!("{directory}/{file}")) {
            Ok(line) if line.starts_with("max") || line == "-1" => read += 1,
            Ok(_) => return Ok(true),
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error.into()),
        }
    }
    match read {
        0 => Err(Unknown::unclear(format!("no group of this process shows {file}"))),
        _ => Ok(false),
    }
}

/// Exists only for version 1 groups, on kernels that divide real-time time among groups.
fn rt_budget(reader: &Reader) -> Result<bool, Unknown> {
    let group = group(reader, "cpu")?;
    let Some(directory) = group.directories.first().filter(|_| group.version == 1) else {
        return Ok(true);
    };
    match reader.line(&format!("{directory}/cpu.rt_runtime_us")) {
        Ok(line) => Ok(number(&line)? != 0.0),
        Err(error) if error.is_absent() => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The best connection to the network: a device, a macvlan, or one end of a pair. `/sys` does not distinguish the last two.
fn network(reader: &Reader) -> Result<String, Unknown> {
    let all = interface::all(reader)?;
    let others: Vec<&Interface> = all.iter().filter(|one| one.kind != InterfaceKind::Loopback).collect();
    let has = |kind: InterfaceKind| others.iter().any(|one| one.kind == kind);
    if has(InterfaceKind::Device) {
        return Ok("device".to_owned());
    }
    if others.is_empty() {
        return Ok("none".to_owned());
    }
    let macvlans = Macvlans::read(reader);
    let mut is_macvlan = has(InterfaceKind::Macvlan);
    for one in &others {
        is_macvlan = is_macvlan || macvlans.has(&one.name)?;
    }
    Ok(if is_macvlan { "macvlan" } else { "bridge" }.to_owned())
}

/// If kernel threads are visible, the processes are the host's, not the container's.
fn daemons(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let pids = reader.names("/proc", |name| name.bytes().all(|octet| octet.is_ascii_digit()))?;
    let comms = pids
        .iter()
        .filter_map(|pid| reader.line(&format!("/proc/{pid}/comm")).ok());
    let comms: Vec<String> = comms.collect();
    if comms.is_empty() {
        return Err(Unknown::unclear("no process can be seen"));
    }
    if comms.iter().any(|comm| comm == "kthreadd") {
        return Err(Unknown::unclear("the container shares the host's processes"));
    }
    Ok(comms
        .into_iter()
        .filter(|comm| DAEMONS.contains(&comm.as_str()))
        .collect())
}
