//! Converts an OVF envelope to keys of a `.vmx`: the hardware's items and VMware's extra configuration.

use super::element::{Element, Wrong, document};
use super::vmx::Vmx;

/// Resource types of CIM (DMTF DSP1043): processors, memory, Ethernet adapters.
const PROCESSOR: u32 = 3;
const MEMORY: u32 = 4;
const ETHERNET: u32 = 10;

/// # Errors
/// The text is not an OVF, describes several machines, or a number in it cannot be read.
pub(super) fn parse(text: &str) -> Result<Vmx, Wrong> {
    let tree = document(text.trim_start_matches('\u{feff}'))?;
    let root = Element::root(&tree);
    if root.name() != "Envelope" {
        return Err(format!("the root is <{}>: an OVF <Envelope> was expected", root.name()));
    }
    let mut hardware = root
        .descendants()
        .filter(|element| element.name() == "VirtualHardwareSection");
    let section = hardware.next().ok_or("the OVF has no <VirtualHardwareSection>")?;
    if hardware.next().is_some() {
        return Err("the OVF describes several virtual machines: take one with a single machine".to_owned());
    }
    let mut machine = Vmx::default();
    let mut adapters = 0;
    for item in section.all("Item") {
        match number(item, "ResourceType")? {
            Some(PROCESSOR) => processors(item, &mut machine)?,
            Some(MEMORY) => memory(item, &mut machine)?,
            Some(ETHERNET) => {
                adapter(item, adapters, &mut machine);
                adapters += 1;
            }
            _ => {}
        }
    }
    for setting in section.children() {
        extra(setting, &mut machine);
    }
    Ok(machine)
}

fn processors(item: Element<'_>, machine: &mut Vmx) -> Result<(), Wrong> {
    copy(item, "VirtualQuantity", "numvcpus", machine)?;
    copy(item, "Reservation", "sched.cpu.min", machine)?;
    copy(item, "CoresPerSocket", "cpuid.corespersocket", machine)
}

/// VMware writes only the unit 2^20 bytes.
fn memory(item: Element<'_>, machine: &mut Vmx) -> Result<(), Wrong> {
    let units = item.at("AllocationUnits").map(Element::text).unwrap_or("byte * 2^20");
    let is_mib = ["byte*2^20", "megabytes", "mb"].contains(&units.replace(' ', "").to_ascii_lowercase().as_str());
    if !is_mib {
        return Err(format!("memory in units of \"{units}\": byte * 2^20 was expected"));
    }
    copy(item, "VirtualQuantity", "memsize", machine)?;
    copy(item, "Reservation", "sched.mem.min", machine)
}

fn adapter(item: Element<'_>, number: u32, machine: &mut Vmx) {
    let kind = item.at("ResourceSubType").map(Element::text).unwrap_or_default();
    let is_passed = kind.eq_ignore_ascii_case("sriov") || kind.contains("PCIPassthrough");
    let key = if is_passed { "pcipassthru" } else { "ethernet" };
    machine.set(&format!("{key}{number}.present"), "TRUE");
    machine.set(&format!("{key}{number}.virtualdev"), &kind.to_ascii_lowercase());
}

/// `ExtraConfig` has keys of the `.vmx`; `Config` has names of the programming interface, few of which matter here.
fn extra(setting: Element<'_>, machine: &mut Vmx) {
    let (Some(key), Some(value)) = (setting.attribute("key"), setting.attribute("value")) else {
        return;
    };
    match (setting.name(), key) {
        ("ExtraConfig", key) => machine.set(key, value),
        ("Config", "tools.syncTimeWithHost") => machine.set("tools.synctime", value),
        ("Config", "latencySensitivity.level") => machine.set("sched.cpu.latencysensitivity", value),
        ("Config", "flags.enableLogging") => machine.set("logging", value),
        ("Config", "memoryReservationLockedToMax") => machine.set("sched.mem.pin", value),
        _ => {}
    }
}

fn copy(item: Element<'_>, name: &str, key: &str, machine: &mut Vmx) -> Result<(), Wrong> {
    if let Some(value) = number(item, name)? {
        machine.set(key, &value.to_string());
    }
    Ok(())
}

fn number(item: Element<'_>, name: &str) -> Result<Option<u32>, Wrong> {
    let parse = |text: &str| {
        text.parse()
            .map_err(|_| format!("<{name}>{text}</{name}>: a number was expected"))
    };
    item.at(name).map(|element| parse(element.text())).transpose()
}
