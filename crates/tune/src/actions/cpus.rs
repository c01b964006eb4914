//! CPUs, their clocks, and power saving of links.

use super::Scene;
use crate::operation::Operation;

const CPUS: &str = "/sys/devices/system/cpu";
/// Power switches of a PCI Express link (Linux: ABI/testing/sysfs-bus-pci).
const LINK_SWITCHES: [&str; 5] = ["l0s_aspm", "l1_aspm", "l1_1_aspm", "l1_2_aspm", "clkpm"];

/// Switches on real-time CPUs that are offline.
pub(super) fn online(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let (wanted, online) = (scene.cpus("rt_cpus")?, scene.cpus("cpus.online")?);
    let mut operations = Vec::new();
    for cpu in wanted.without(&online).iter() {
        let path = format!("{CPUS}/cpu{cpu}/online");
        if !scene.exists(&path) {
            return Err(format!(
                "CPU {cpu} does not exist or cannot be switched on: correct --cpus"
            ));
        }
        operations.push(Operation::write(path, "1"));
    }
    Ok(operations)
}

/// Raises the lowest frequency of each die's clock for cache and mesh to its highest.
pub(super) fn uncore_frequency(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let folder = format!("{CPUS}/intel_uncore_frequency");
    let dies = scene.names(&folder, |name| {
        name.starts_with("package") || name.starts_with("uncore")
    })?;
    let each = dies.iter().map(|die| {
        let file = |which: &str| format!("{folder}/{die}/{which}_freq_khz");
        raised(scene, &file("min"), &file("max"))
    });
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

fn raised(scene: &Scene<'_>, lowest: &str, highest: &str) -> Result<Vec<Operation>, String> {
    let (now, wanted) = (scene.count(lowest)?, scene.count(highest)?);
    Ok(match now == wanted {
        true => Vec::new(),
        false => vec![Operation::write(lowest, wanted.to_string())],
    })
}

/// Disables power saving of the interface's device and of its link, at both ends.
pub(super) fn links_awake(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let device = scene.fact("nic.pci-device")?.to_string();
    let above = device.rsplit_once('/').map_or("", |(above, _)| above);
    let mut operations = Vec::new();
    let control = format!("{device}/power/control");
    if scene.line(&control).is_ok_and(|word| word != "on") {
        operations.push(Operation::write(control, "on"));
    }
    for place in [device.as_str(), above] {
        let folder = format!("{place}/link");
        let switches = scene.names(&folder, |name| LINK_SWITCHES.contains(&name));
        let paths = switches
            .unwrap_or_default()
            .into_iter()
            .map(|name| format!("{folder}/{name}"));
        let on = paths.filter(|path| scene.line(path).is_ok_and(|value| value != "0"));
        operations.extend(on.map(|path| Operation::write(path, "0")));
    }
    Ok(operations)
}
