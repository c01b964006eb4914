//! Shared cache and memory bandwidth.

mod bandwidth;
mod classes;
mod resctrl;
mod rivals;

pub use bandwidth::shares;
pub use resctrl::{Masks, masks};

use units::CpuList;

use super::shared::{cpus, unclear};
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::cpuinfo::CpuInfo;
use host::error::HostError;
use host::reader::Reader;

use resctrl::Allocation;

pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    facts.set("cache.allocation-supported", supported(reader));
    let rt_cpus = cpus(facts, "rt_cpus");
    let found = match resctrl::read(reader) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_unmounted(reader, &error) => Ok(None),
        Err(error) => Err(unclear(error)),
    };
    facts.set(
        "resctrl.mounted",
        found.as_ref().map(Option::is_some).map_err(Unknown::clone),
    );
    let groups = |found: &Option<Allocation>| found.as_ref().map_or(0, |found| found.groups.len().saturating_sub(1));
    facts.set("resctrl.groups", found.as_ref().map(groups).map_err(Unknown::clone));
    let with = |pick: fn(&Allocation, &CpuList) -> Result<Vec<String>, Unknown>| {
        let found = found.as_ref().map_err(Unknown::clone)?;
        let rt_cpus = rt_cpus.as_ref().map_err(Unknown::clone)?;
        found.as_ref().map_or_else(
            || Err(Unknown::absent("resctrl is not mounted")),
            |found| pick(found, rt_cpus),
        )
    };
    facts.set("cache.shared-with-others", with(resctrl::shared));
    facts.set("cache.illegal-masks", with(resctrl::illegal));
    facts.set("bandwidth.allocation-supported", bandwidth::supported(reader));
    facts.set("bandwidth.unlimited", with(bandwidth::unlimited));
    facts.set("cache.private-kib", with_size(reader, &found, &rt_cpus));
    // Each register read interrupts its CPU for a moment.
    let overlaps = match (supported(reader), &found) {
        (Ok(true), Ok(None)) => classes::overlaps(reader, facts),
        _ => Err(Unknown::absent(
            "registers are read only where resctrl could be mounted but is not",
        )),
    };
    facts.set("cache.overlaps-by-registers", overlaps);
    rivals::gather(reader, found.as_ref().ok().and_then(Option::as_ref), facts);
    facts.set("graphics.active", graphics(reader));
}

/// The absence of resctrl is evidence only on a machine with `/sys`.
fn is_unmounted(reader: &Reader, error: &HostError) -> bool {
    error.is_absent() && reader.exists("/sys/devices/system/cpu/online").unwrap_or(false)
}

/// True if the processor can divide its shared cache.
fn supported(reader: &Reader) -> Result<bool, Unknown> {
    let info = CpuInfo::read(reader).map_err(unclear)?;
    let has = |flag| info.has_flag(flag);
    match (has("cat_l3"), has("cat_l2")) {
        (Some(l3), Some(l2)) => Ok(l3 || l2),
        // Other architectures have no such flags: the file system shows it.
        _ => reader.exists("/sys/fs/resctrl/info").map_err(unclear),
    }
}

fn with_size(
    reader: &Reader,
    found: &Result<Option<Allocation>, Unknown>,
    rt_cpus: &Result<CpuList, Unknown>,
) -> Result<f64, Unknown> {
    let found = found.as_ref().map_err(Unknown::clone)?;
    let found = found
        .as_ref()
        .ok_or_else(|| Unknown::absent("resctrl is not mounted"))?;
    let bytes = host::cpu::last_level_cache_bytes(reader).map_err(unclear)?;
    let share = resctrl::share(found, rt_cpus.as_ref().map_err(Unknown::clone)?);
    let share = share.ok_or_else(|| Unknown::unclear("no group of resctrl has the real-time CPUs"))?;
    Ok((bytes as f64 * share / 1024.0).round())
}

/// Drivers of graphics units inside the processor, which share its cache and memory.
const INTEGRATED: [&str; 3] = ["i915", "xe", "amdgpu"];

/// Cards of these drivers that are active and have a screen.
fn graphics(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let folder = "/sys/class/drm";
    let names = match reader.names(folder, |name| name.starts_with("card")) {
        Err(error) if error.is_absent() && reader.exists("/sys/class/net").unwrap_or(false) => Vec::new(),
        names => names.map_err(unclear)?,
    };
    let mut active = Vec::new();
    for card in names.iter().filter(|name| !name.contains('-')) {
        let device = format!("{folder}/{card}/device");
        let Ok(driver) = reader.target(&format!("{device}/driver")) else {
            continue;
        };
        let driver = driver
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        let connector = |name: &&String| name.starts_with(&format!("{card}-"));
        let is_connected = |name: &String| {
            reader
                .line(&format!("{folder}/{name}/status"))
                .is_ok_and(|status| status == "connected")
        };
        let asleep = reader
            .line(&format!("{device}/power/runtime_status"))
            .is_ok_and(|status| status == "suspended");
        if INTEGRATED.contains(&driver.as_str()) && !asleep && names.iter().filter(connector).any(is_connected) {
            active.push(format!("{card} ({driver})"));
        }
    }
    Ok(active)
}
