//! CPUs and CPU time of a running container, through its control group.

use super::Scene;
use crate::operation::Operation;
use audit::value::Value;
use host::cgroup::Hierarchy;
use units::CpuList;

/// Maximum depth of the folders searched for a container's group: kubepods.slice, its class, the pod, the container.
const DEEPEST: usize = 6;
/// Minimum length of an id prefix, as the runtimes accept it.
const SHORTEST: usize = 4;

/// Binds the container to the real-time CPUs to which no domain is pinned.
pub(super) fn cpus(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let taken = match scene.facts.get(None, "domains.pinned-cpus") {
        Ok(Value::Cpus(cpus)) => cpus,
        Ok(_) => CpuList::default(),
        Err(unknown) => return Err(unknown.text),
    };
    let free = scene.cpus("rt_cpus")?.without(&taken);
    if free.is_empty() {
        return Err("every real-time CPU has a domain pinned to it: name more with --cpus".to_owned());
    }
    let (_, group) = group(scene, "cpuset")?;
    Ok(vec![Operation::write(format!("{group}/cpuset.cpus"), free.to_string())])
}

/// Removes the quota of the container's group; its ancestors do not belong to the container.
pub(super) fn no_quota(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (version, group) = group(scene, "cpu")?;
    if version == 1 {
        return Ok(vec![Operation::write(format!("{group}/cpu.cfs_quota_us"), "-1")]);
    }
    let path = format!("{group}/cpu.max");
    let now = scene.line(&path)?;
    let period = now
        .split_whitespace()
        .nth(1)
        .ok_or_else(|| format!("{path}: \"{now}\" has no period"))?;
    Ok(vec![Operation::write(path, format!("max {period}"))])
}

/// Version and folder of the one group whose name contains the container's id.
fn group(scene: &Scene<'_>, controller: &str) -> Result<(u8, String), String> {
    let id = &scene.part()?.name;
    if id.len() < SHORTEST || !id.bytes().all(|octet| octet.is_ascii_hexdigit()) {
        return Err(format!(
            "{id} is not the id of a running container: name it by its id (--container ID)"
        ));
    }
    let hierarchy = Hierarchy::read(scene.reader).map_err(|error| error.to_string())?;
    let (version, root) = hierarchy
        .mount_of(controller)
        .ok_or_else(|| format!("no control groups with {controller} are mounted"))?;
    let mut found = Vec::new();
    search(scene, &root, id, DEEPEST, &mut found);
    match found.as_slice() {
        [group] => Ok((version, group.clone())),
        [] => Err(format!(
            "no control group of container {id} is below {root}: does it run?"
        )),
        _ => Err(format!(
            "container {id}: several groups have that id: {}",
            found.join(", ")
        )),
    }
}

fn search(scene: &Scene<'_>, folder: &str, id: &str, depth: usize, found: &mut Vec<String>) {
    // Files of a group contain a dot and no dash; groups of containers are `<id>`, `docker-<id>.scope`, `pod<uid>`.
    let is_group = |name: &str| !name.contains('.') || name.ends_with(".slice") || name.ends_with(".scope");
    for name in scene.names(folder, is_group).unwrap_or_default() {
        let path = format!("{folder}/{name}");
        let own = name.rsplit(['-', ':']).next().unwrap_or(&name);
        if own.starts_with(id) && scene.exists(&format!("{path}/cgroup.procs")) {
            found.push(path);
        } else if depth > 0 {
            search(scene, &path, id, depth - 1, found);
        }
    }
}
