//! Control groups around a domain: their CPUs, and quotas of CPU time.

use super::Scene;
use super::unstarted::Limits;
use crate::definition::domain::Domain;
use crate::facts::Subject;
use crate::value::Unknown;
use host::reader::Reader;
use units::CpuList;

const ROOT: &str = "/sys/fs/cgroup";

/// Stores the CPUs of the innermost group around the domain, and the groups with a quota.
pub(super) fn note(part: &mut Subject, scene: &Scene<'_>, domain: Result<&Domain, Unknown>) {
    let group = domain.and_then(|domain| group(scene, domain));
    let cpus = group.clone().and_then(|group| cpus(scene.reader, &group));
    let quotas = group.clone().and_then(|group| quotas(scene.reader, &group));
    part.set("dom.slice", group);
    part.set("dom.slice-cpus", cpus);
    part.set("dom.slice-quotas", quotas);
}

/// Group of a running domain, or the slice in which it would start, which may not be there yet.
fn group(scene: &Scene<'_>, domain: &Domain) -> Result<String, Unknown> {
    if !scene.reader.exists(&format!("{ROOT}/cgroup.controllers"))? {
        return Err(Unknown::unclear(format!("{ROOT} is not a control group of version 2")));
    }
    match (&scene.named.running, &domain.running) {
        (Some(_), Some(running)) => of_process(scene.reader, running.pid),
        _ => Ok(slice(domain.partition.as_deref().unwrap_or("/machine"))),
    }
}

/// libvirt puts the threads into groups below the scope; the scope holds the limits of the whole domain.
fn of_process(reader: &Reader, process: u32) -> Result<String, Unknown> {
    let path = format!("/proc/{process}/cgroup");
    let text = reader
        .text(&path)
        .map_err(|error| Unknown::unclear(error.to_string()))?;
    let group = text.lines().find_map(|line| line.strip_prefix("0::"));
    let group = group.ok_or_else(|| Unknown::unclear(format!("{path} names no group of version 2")))?;
    let scope = group.find(".scope").map_or(group, |at| &group[..at + ".scope".len()]);
    Ok(scope.to_owned())
}

/// Converts `/machine/rt` to `machine.slice/machine-rt.slice` (systemd.slice(5)).
fn slice(partition: &str) -> String {
    let mut name = String::new();
    let mut path = String::new();
    for part in partition.split('/').filter(|part| !part.is_empty()) {
        let part = part.trim_end_matches(".slice");
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(part);
        path.push_str(&format!("/{name}.slice"));
    }
    path
}

/// CPUs of the nearest group with a set of CPUs: the controller may not be enabled further down. Slices that are not started yet limit them further.
fn cpus(reader: &Reader, group: &str) -> Result<CpuList, Unknown> {
    let mut limits = Vec::new();
    for folder in upwards(group) {
        match reader.cpus(&format!("{folder}/cpuset.cpus.effective")) {
            Err(error) if error.is_absent() => limits.extend(unstarted(reader, &folder)?.and_then(|unit| unit.cpus)),
            Err(error) => return Err(error.into()),
            Ok(cpus) => {
                return Ok(limits
                    .iter()
                    .fold(cpus, |cpus, limit| cpus.without(&cpus.without(limit))));
            }
        }
    }
    Err(Unknown::unclear(format!(
        "neither {group} nor a group above it has a set of CPUs"
    )))
}

/// Groups with a quota, such as `/machine.slice: 50000 100000`. The root has none.
fn quotas(reader: &Reader, group: &str) -> Result<Vec<String>, Unknown> {
    let mut quotas = Vec::new();
    for folder in upwards(group).filter(|folder| folder != ROOT) {
        match reader.line(&format!("{folder}/cpu.max")) {
            Ok(line) if line.starts_with("max") => {}
            Ok(line) => quotas.push(format!("{}: {line}", &folder[ROOT.len()..])),
            Err(error) if error.is_absent() => {
                let quota = unstarted(reader, &folder)?.and_then(|unit| unit.quota);
                quotas.extend(quota.map(|quota| format!("{}: CPUQuota={quota}", &folder[ROOT.len()..])));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(quotas)
}

/// Limits in the unit of a slice that is not there yet.
fn unstarted(reader: &Reader, folder: &str) -> Result<Option<Limits>, Unknown> {
    if reader.exists(folder)? {
        return Ok(None);
    }
    let unit = folder.rsplit('/').next().unwrap_or_default();
    Limits::of(reader, unit).map(Some)
}

/// Folder of a group and its ancestors, up to the root.
fn upwards(group: &str) -> impl Iterator<Item = String> {
    let own = format!("{ROOT}{}", group.trim_end_matches('/'));
    std::iter::successors(Some(own), |folder| {
        let (above, _) = folder.rsplit_once('/')?;
        (above.len() >= ROOT.len()).then(|| above.to_owned())
    })
}
