//! Limits that the control groups set for this process.

use crate::cgroup::{Group, Hierarchy, OWN, memberships};
use crate::cmdline::without_identifiers;
use crate::error::HostError;
use crate::fact::Sheet;
use crate::mounts;
use crate::reader::Reader;
use model::Fact;

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "cgroup");
    let hierarchy = Hierarchy::read(reader);
    sheet.add(
        "version",
        mounts::PATH,
        hierarchy.as_ref().map(|h| h.version().to_owned()).map_err(Clone::clone),
    );
    sheet.add("own groups", OWN, own_groups(reader));
    let own = |controller| {
        hierarchy
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|h| h.own_group(reader, controller))
    };
    let cpu = own("cpu");
    let place = |group: &Result<Group, HostError>, file: &str| match group {
        Ok(group) => format!("{}/{file}", shown(&group.directories[0])),
        Err(_) => OWN.to_owned(),
    };
    let of = |group: &Result<Group, HostError>, read: fn(&Reader, &Group) -> Result<String, HostError>| {
        group
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|group| read(reader, group))
    };
    let quota_file = if cpu.as_ref().is_ok_and(|group| group.version == 1) {
        "cpu.cfs_quota_us"
    } else {
        "cpu.max"
    };
    sheet.add("CPU quota", &place(&cpu, quota_file), of(&cpu, quota));
    sheet.add(
        "real-time budget",
        &place(&cpu, "cpu.rt_runtime_us"),
        of(&cpu, rt_budget),
    );
    let cpuset = own("cpuset");
    let cpuset_file = if cpuset.as_ref().is_ok_and(|group| group.version == 1) {
        V1_CPUSET
    } else {
        V2_CPUSET
    };
    sheet.add("CPUs", &place(&cpuset, cpuset_file), of(&cpuset, effective_cpus));
    sheet.finish()
}

const V1_CPUSET: &str = "cpuset.effective_cpus";
const V2_CPUSET: &str = "cpuset.cpus.effective";

/// Distinct paths, each with its controllers.
fn own_groups(reader: &Reader) -> Result<String, HostError> {
    let mut paths: Vec<(String, Vec<String>)> = Vec::new();
    for own in memberships(reader)? {
        let name = if own.controllers.is_empty() {
            "version 2".to_owned()
        } else {
            own.controllers.join("+")
        };
        match paths.iter_mut().find(|(path, _)| *path == own.path) {
            Some((_, names)) => names.push(name),
            None => paths.push((own.path, vec![name])),
        }
    }
    let parts = paths
        .iter()
        .map(|(path, names)| format!("{} ({})", shown(path), names.join(", ")));
    Ok(parts.collect::<Vec<_>>().join("; "))
}

/// Shortens the identifiers of 64 digits that container runtimes put into paths: the rest of the path is sufficient.
fn shown(path: &str) -> String {
    without_identifiers(path)
}

/// Tightest quota from the own group up to the highest visible one.
fn quota(reader: &Reader, group: &Group) -> Result<String, HostError> {
    let mut tightest: Option<(f64, String)> = None;
    for directory in &group.directories {
        let (path, bounds) = match group.version {
            1 => v1_quota(reader, directory),
            _ => v2_quota(reader, directory),
        };
        match bounds {
            Ok(Some((quota, period))) => {
                let share = quota as f64 / period as f64;
                if tightest.as_ref().is_none_or(|(known, _)| share < *known) {
                    let text = format!(
                        "{:.0} % of one CPU ({quota} us in each {period} us, {})",
                        share * 100.0,
                        shown(&path)
                    );
                    tightest = Some((share, text));
                }
            }
            Ok(None) => {}
            // Neither the root group nor groups without the controller have such a file.
            Err(error) if error.is_absent() && reader.exists(directory)? => {}
            Err(error) => return Err(error),
        }
    }
    Ok(tightest.map_or_else(|| "none".to_owned(), |(_, text)| text))
}

type Bounds = Result<Option<(u64, u64)>, HostError>;

/// Parses `max 100000` or `200000 100000`.
fn v2_quota(reader: &Reader, directory: &str) -> (String, Bounds) {
    let path = format!("{directory}/cpu.max");
    let bounds = reader.line(&path).and_then(|line| {
        let (quota, period) = line.split_once(' ').unwrap_or((line.as_str(), "100000"));
        match (quota, quota.parse::<u64>(), period.trim().parse::<u64>()) {
            ("max", _, _) => Ok(None),
            (_, Ok(quota), Ok(period)) if period > 0 => Ok(Some((quota, period))),
            _ => Err(HostError::unexpected(&path, "max or two numbers", &line)),
        }
    });
    (path, bounds)
}

/// -1 means no quota.
fn v1_quota(reader: &Reader, directory: &str) -> (String, Bounds) {
    let path = format!("{directory}/cpu.cfs_quota_us");
    let bounds = reader
        .parsed::<i64>(&path, "a number of microseconds, or -1")
        .and_then(|quota| {
            let Ok(quota) = u64::try_from(quota) else {
                return Ok(None);
            };
            let period_path = format!("{directory}/cpu.cfs_period_us");
            let period: u64 = reader.parsed(&period_path, "a number of microseconds")?;
            if period == 0 {
                Err(HostError::unexpected(&period_path, "more than 0", "0"))
            } else {
                Ok(Some((quota, period)))
            }
        });
    (path, bounds)
}

/// Version 1 with RT group scheduling: a group with a budget of 0 cannot run real-time threads.
fn rt_budget(reader: &Reader, group: &Group) -> Result<String, HostError> {
    if group.version == 2 {
        return Ok("not limited by group (version 2 has no real-time budget)".to_owned());
    }
    let directory = &group.directories[0];
    let runtime = reader.parsed::<i64>(
        &format!("{directory}/cpu.rt_runtime_us"),
        "a number of microseconds, or -1",
    );
    match runtime {
        Ok(runtime) => {
            let period: u64 = reader.parsed(&format!("{directory}/cpu.rt_period_us"), "a number of microseconds")?;
            Ok(format!("{runtime} us in each {period} us"))
        }
        Err(error) if error.is_absent() && reader.exists(directory)? => {
            Ok("not limited by group (kernel without RT group scheduling)".to_owned())
        }
        Err(error) => Err(error),
    }
}

/// Value of the nearest group with the file: groups without the controller inherit it.
fn effective_cpus(reader: &Reader, group: &Group) -> Result<String, HostError> {
    let file = if group.version == 1 { V1_CPUSET } else { V2_CPUSET };
    let mut last = HostError::Undecided("no cpuset controller".to_owned());
    for directory in &group.directories {
        match reader.cpus(&format!("{directory}/{file}")) {
            Ok(cpus) if cpus.is_empty() => return Ok("none".to_owned()),
            Ok(cpus) => return Ok(cpus.to_string()),
            Err(error) if error.is_absent() => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
