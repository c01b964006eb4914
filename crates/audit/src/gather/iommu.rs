//! IOMMU, device assignment and KVM.

use crate::facts::{Class, Facts};
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::cmdline::Cmdline;
use host::error::HostError;
use host::reader::Reader;

const UNITS: &str = "/sys/class/iommu";
const GROUPS: &str = "/sys/kernel/iommu_groups";
const DEVICES: &str = "/sys/bus/pci/devices";
const VFIO: &str = "/sys/bus/pci/drivers/vfio-pci";
/// PCI class of bridges between PCI buses (PCI Code and ID Assignment Specification).
const BRIDGE: &str = "0x0604";
/// Bit of Intel's capability register that allows posted interrupts (Intel VT-d specification, CAP_REG.PI).
const POSTED: u32 = 59;
/// Wanted halt polling in ns: the CPUs are dedicated and idle states are capped.
const HALT_POLL_NS: u32 = 0;

/// Runs after the domains, whose devices it uses.
pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    let passed = passed(reader, facts);
    facts.set("iommu.units", reader.names(UNITS, |_| true).map(|names| names.len()));
    let groups = passed.clone().and_then(|passed| read_groups(reader, &passed));
    facts.set("iommu.groups-mixed", groups.clone().map(|groups| groups.mixed));
    facts.set("iommu.host-groups-translated", groups.map(|groups| groups.translated));
    facts.set("iommu.passed", passed);
    facts.set("iommu.posted-interrupts", posted(reader));
    facts.set("iommu.posting-allowed", may_post(reader));
    facts.set("plan.halt-poll-ns", HALT_POLL_NS);
}

/// PCI devices that guests have or will have: those of the named domains, and those that vfio-pci holds.
fn passed(reader: &Reader, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let mut passed = Vec::new();
    for domain in facts.parts(Class::Domain) {
        if let Value::List(devices) = facts.get(Some(domain), "dom.host-devices")? {
            passed.extend(devices);
        }
    }
    match reader.names(VFIO, is_address) {
        Ok(names) => passed.extend(names),
        Err(error) if error.is_absent() && reader.exists("/sys/devices/system/cpu/online")? => {}
        Err(error) => return Err(missing(error)),
    }
    passed.sort();
    passed.dedup();
    Ok(passed)
}

/// PCI address, such as `0000:09:00.0`.
fn is_address(name: &str) -> bool {
    name.len() >= 12 && name.contains(':') && name.contains('.')
}

#[derive(Clone, Default)]
struct Groups {
    /// Groups that mix a passed device with a device of the host.
    mixed: Vec<String>,
    /// Groups of the host alone whose addresses are translated.
    translated: Vec<String>,
}

fn read_groups(reader: &Reader, passed: &[String]) -> Result<Groups, Unknown> {
    let mut groups = Groups::default();
    let mut placed = Vec::new();
    let ids = reader
        .names(GROUPS, |name| name.bytes().all(|b| b.is_ascii_digit()))
        .map_err(missing)?;
    for id in ids {
        let members = reader
            .names(&format!("{GROUPS}/{id}/devices"), |_| true)
            .map_err(missing)?;
        let (given, kept): (Vec<_>, Vec<_>) = members.into_iter().partition(|member| passed.contains(member));
        if given.is_empty() {
            let kind = reader.line(&format!("{GROUPS}/{id}/type")).map_err(missing)?;
            if kind != "identity" {
                groups.translated.push(format!("{id} ({kind})"));
            }
            continue;
        }
        let others: Vec<String> = kept.into_iter().filter(|member| !is_bridge(reader, member)).collect();
        if !others.is_empty() {
            groups
                .mixed
                .push(format!("{id}: {} with {}", given.join(", "), others.join(", ")));
        }
        placed.extend(given);
    }
    match passed.iter().find(|device| !placed.contains(device)) {
        Some(device) => Err(Unknown::unclear(format!(
            "{device} is in no IOMMU group of this machine"
        ))),
        None => Ok(groups),
    }
}

fn is_bridge(reader: &Reader, device: &str) -> bool {
    let class = reader.line(&format!("{DEVICES}/{device}/class"));
    class.is_ok_and(|class| class.starts_with(BRIDGE))
}

/// True if every Intel unit can post interrupts. Units of other makers do not report it.
fn posted(reader: &Reader) -> Result<bool, Unknown> {
    let units = reader.names(UNITS, |name| name.starts_with("dmar"))?;
    if units.is_empty() {
        return Err(Unknown::unclear(format!(
            "{UNITS} has no Intel unit: units of other makers do not report it"
        )));
    }
    let mut all = true;
    for unit in units {
        let path = format!("{UNITS}/{unit}/intel-iommu/cap");
        let line = reader.line(&path)?;
        let bits = u64::from_str_radix(line.trim_start_matches("0x"), 16);
        let bits = bits.map_err(|_| Unknown::unclear(format!("{path}: \"{line}\" is not hexadecimal")))?;
        all &= bits >> POSTED & 1 == 1;
    }
    Ok(all)
}

/// False if an argument disables posting regardless of the hardware (Linux 6.12: drivers/iommu/irq_remapping.c, setup_irqremap).
fn may_post(reader: &Reader) -> Result<bool, Unknown> {
    let line = Cmdline::read(reader).map_err(missing)?;
    let mut posts = true;
    for word in line.values("intremap").flat_map(|value| value.split(',')) {
        match word {
            "on" => posts = true,
            "off" | "nopost" => posts = false,
            _ => {}
        }
    }
    Ok(posts && line.last("nointremap").is_none())
}

/// A missing folder is no evidence about its content.
fn missing(error: HostError) -> Unknown {
    Unknown::from(error).never_absent()
}
