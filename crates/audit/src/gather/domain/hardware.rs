//! Hardware of the machine that runs a domain: huge pages, nodes, siblings, PCI devices.

use units::CpuList;

use super::Scene;
use super::facts::{silent, yes};
use crate::definition::devices::HostDevice;
use crate::definition::domain::Domain;
use crate::facts::{IntoKnown, Subject};
use crate::value::{Known, Unknown, Value};
use host::error::HostError;
pub(super) use host::nodes::NODES_ONLINE;
use host::reader::Reader;

const PCI: &str = "/sys/bus/pci/devices";

/// Smallest huge page that the memory may consist of, in KiB.
pub(super) fn page_kib(scene: &Scene<'_>, domain: &Domain) -> Known {
    match &domain.memory.huge_pages_kib {
        None => Err(silent("huge pages")),
        Some(sizes) => match sizes.iter().min() {
            Some(size) => Ok(Value::Number(*size as f64)),
            None => scene.here.clone().and_then(|()| default_page_kib(scene.reader)),
        },
    }
}

fn default_page_kib(reader: &Reader) -> Known {
    let text = reader
        .text("/proc/meminfo")
        .map_err(|error| unclear(&error.to_string()))?;
    let line = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:"));
    let size = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u32>().ok());
    let size = size.ok_or_else(|| unclear("/proc/meminfo has no Hugepagesize"))?;
    size.into_known()
}

fn unclear(why: &str) -> Unknown {
    Unknown::unclear(format!("<hugepages> takes the host's default size: {why}"))
}

/// Number of nodes of the domain's machine.
pub(super) fn nodes(scene: &Scene<'_>) -> Known {
    scene.here.clone()?;
    let online = scene.reader.cpus(NODES_ONLINE).map_err(Unknown::from)?;
    online.len().into_known()
}

/// Nodes of a set of CPUs.
pub(super) fn nodes_of(reader: &Reader, cpus: &CpuList) -> Known {
    let (nodes, elsewhere) = host::nodes::of_cpus(reader, cpus).map_err(Unknown::from)?;
    match elsewhere.is_empty() {
        true => nodes.into_known(),
        false => Err(Unknown::unclear(format!("no node of this machine has CPU {elsewhere}"))),
    }
}

/// Nodes of the devices that the guest uses. A device on a machine without nodes reports -1.
pub(super) fn nodes_of_devices(reader: &Reader, domain: &Domain) -> Known {
    let devices = domain.devices.host_devices.iter();
    let nodes = devices.map(|HostDevice { address, .. }| {
        let path = format!("{PCI}/{address}/numa_node");
        let node: i64 = reader.parsed(&path, "the number of a node").map_err(not_here)?;
        Ok(u32::try_from(node).ok())
    });
    let nodes = nodes.collect::<Result<Vec<_>, Unknown>>()?;
    nodes.into_iter().flatten().collect::<CpuList>().into_known()
}

/// A device that this machine lacks is no evidence about the domain's machine.
fn not_here(error: HostError) -> Unknown {
    Unknown::from(error).never_absent()
}

/// True if vCPUs that the guest sees as threads of one core run on threads of one core. Also true with one thread per core.
pub(super) fn siblings(reader: &Reader, domain: &Domain) -> Known {
    let threads = domain.cpu.topology.as_ref().map_or(1, |topology| topology.threads);
    if threads <= 1 {
        return yes(true);
    }
    let pins: Vec<CpuList> = domain
        .tuning
        .started_pins()
        .map(|(_, pin)| pin.cloned().unwrap_or_default())
        .collect();
    for core in pins.chunks(threads as usize) {
        let cpus: CpuList = core.iter().flat_map(CpuList::iter).collect();
        let Some(first) = cpus.first() else { return yes(false) };
        let path = format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list");
        let of_core = reader.cpus(&path).map_err(not_here)?;
        if !cpus.without(&of_core).is_empty() || core.iter().any(|pin| pin.len() != 1) {
            return yes(false);
        }
    }
    yes(true)
}

/// Stores the host devices of the guest, and those that the host's own driver holds.
pub(super) fn note(part: &mut Subject, scene: &Scene<'_>, domain: Result<&Domain, Unknown>) {
    let addresses = domain.clone().map(|domain| {
        let devices = domain.devices.host_devices.iter();
        devices.map(|device| device.address.clone()).collect::<Vec<_>>()
    });
    part.set("dom.host-devices", addresses);
    part.set("dom.host-devices-held", domain.and_then(|domain| held(scene, domain)));
}

fn held(scene: &Scene<'_>, domain: &Domain) -> Result<Vec<String>, Unknown> {
    let mut held = Vec::new();
    for device in &domain.devices.host_devices {
        if device.managed && scene.named.running.is_none() {
            continue;
        }
        let driver = driver(scene.reader, &device.address)?;
        if !driver.contains("vfio") {
            held.push(format!("{} by {driver}", device.address));
        }
    }
    Ok(held)
}

/// Name of the driver that holds a device: `vfio-pci`, or a variant such as `mlx5_vfio_pci`.
fn driver(reader: &Reader, address: &str) -> Result<String, Unknown> {
    let device = format!("{PCI}/{address}");
    if !reader.exists(&device)? {
        return Err(Unknown::unclear(format!("{device}: this machine has no such device")));
    }
    match reader.target(&format!("{device}/driver")) {
        Ok(driver) => Ok(driver.file_name().unwrap_or_default().to_string_lossy().into_owned()),
        Err(error) if error.is_absent() => Ok("no driver".to_owned()),
        Err(error) => Err(error.into()),
    }
}
