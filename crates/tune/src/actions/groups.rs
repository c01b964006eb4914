//! Control groups of version 2: separate CPUs for real-time work, and the remaining ones for services.

use super::Scene;
use crate::operation::Operation;
use audit::cpuset_root;

/// Group with the real-time CPUs.
const OWN: &str = "triptime-rt";
/// Slices of services and sessions.
const SERVICES: [&str; 3] = ["init.scope", "system.slice", "user.slice"];
/// Slices of machines, the outer one first: a group has no CPU that its parent lacks.
const MACHINES: [&str; 2] = ["machine.slice", "machine.slice/machine-rt.slice"];

/// Makes an isolated partition of the real-time CPUs. The programs that start real-time threads must put them into it.
pub(super) fn partition(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, _) = (scene.cpus("rt_cpus")?, scene.cpus("hk_cpus")?);
    let root = root(scene)?;
    let group = format!("{root}/{OWN}");
    Ok(vec![
        controller(&root),
        Operation::folder(&group),
        Operation::write(format!("{group}/cpuset.cpus"), rt_cpus.to_string()),
        Operation::write(format!("{group}/cpuset.cpus.partition"), "isolated"),
    ])
}

/// Gives services and sessions the other CPUs; machines that lack the real-time CPUs get all.
pub(super) fn slices(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (scene.cpus("rt_cpus")?, scene.cpus("hk_cpus")?);
    let root = root(scene)?;
    let there = |slices: &[&'static str]| -> Vec<&'static str> {
        let all = slices.iter().copied();
        all.filter(|slice| scene.exists(&format!("{root}/{slice}"))).collect()
    };
    let mut operations = vec![controller(&root)];
    for slice in there(&SERVICES) {
        operations.push(Operation::write(
            format!("{root}/{slice}/cpuset.cpus"),
            others.to_string(),
        ));
    }
    for slice in there(&MACHINES) {
        let now = scene.reader.cpus(&format!("{root}/{slice}/cpuset.cpus.effective"));
        if now.is_ok_and(|now| !rt_cpus.without(&now).is_empty()) {
            let all: units::CpuList = rt_cpus.iter().chain(others.iter()).collect();
            operations.push(Operation::write(format!("{root}/{slice}/cpuset.cpus"), all.to_string()));
        }
    }
    Ok(operations)
}

/// Groups below the root have their own CPUs only if the root enables the controller for them.
fn controller(root: &str) -> Operation {
    Operation::write(format!("{root}/cgroup.subtree_control"), "+cpuset")
}

fn root(scene: &Scene<'_>) -> Result<String, String> {
    match cpuset_root(scene.reader).map_err(|unknown| unknown.text)? {
        Some((2, root)) => {
            let controllers = scene.line(&format!("{root}/cgroup.controllers"))?;
            match controllers.split_whitespace().any(|name| name == "cpuset") {
                true => Ok(root),
                false => Err(format!(
                    "{root}: the kernel has no cpuset controller for groups of version 2: boot with isolcpus="
                )),
            }
        }
        Some(_) => Err(
            "control groups of version 1 have no partitions and no slices with CPUs: boot with isolcpus=".to_owned(),
        ),
        None => Err("no control groups with CPU sets are mounted: boot with isolcpus=".to_owned()),
    }
}
