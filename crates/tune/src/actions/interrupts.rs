//! Interrupts, and software steering of received frames.

use super::{Scene, is_number};
use crate::operation::Operation;

/// Without an interface: moves interrupts that real-time CPUs may serve to the others. With an interface: gives each of its interrupts one
/// of the other CPUs. Interrupts that the kernel places itself refuse this, which is reported.
pub(super) fn affinity(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    match scene.part {
        Some(_) => pinned(scene),
        None => moved(scene),
    }
}

fn path(number: &str) -> String {
    format!("/proc/irq/{number}/smp_affinity_list")
}

fn moved(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (rt_cpus, others) = (scene.cpus("rt_cpus")?, scene.cpus("hk_cpus")?);
    let mut operations = Vec::new();
    for number in scene.names("/proc/irq", is_number)? {
        let path = path(&number);
        let Ok(allowed) = scene.reader.cpus(&path) else {
            continue;
        };
        if allowed.iter().any(|cpu| rt_cpus.contains(cpu)) {
            let left = allowed.without(&rt_cpus);
            let value = if left.is_empty() { &others } else { &left };
            operations.push(Operation::write(path, value.to_string()));
        }
    }
    Ok(operations)
}

fn pinned(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let others = scene.cpus("hk_cpus")?;
    let cpus: Vec<u32> = others.iter().collect();
    let mut next = cpus.iter().cycle();
    let mut operations = Vec::new();
    for number in scene.list("nic.irqs")? {
        let path = path(&number);
        let allowed = scene.reader.cpus(&path).map_err(|error| error.to_string())?;
        let is_pinned = allowed.len() == 1 && allowed.without(&others).is_empty();
        if let Some(cpu) = next.next().filter(|_| !is_pinned) {
            operations.push(Operation::write(path, cpu.to_string()));
        }
    }
    Ok(operations)
}

/// Stops receive queues from passing frames to other CPUs.
pub(super) fn steering_off(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let folder = format!("/sys/class/net/{}/queues", scene.part()?.name);
    let mut operations = Vec::new();
    for queue in scene.names(&folder, |name| name.starts_with("rx-"))? {
        for file in ["rps_cpus", "rps_flow_cnt"] {
            let path = format!("{folder}/{queue}/{file}");
            if scene.exists(&path) {
                operations.push(Operation::write(path, "0"));
            }
        }
    }
    Ok(operations)
}
