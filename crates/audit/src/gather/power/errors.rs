//! Thermal throttling, and corrected memory errors.

use super::super::observed::{Counter, Reading};
use super::super::shared::unclear;
use super::{heat, memory};
use crate::facts::{Class, Facts};
use host::cpuinfo::CpuInfo;
use host::error::HostError;
use host::reader::Reader;

const CONTROLLERS: &str = "/sys/devices/system/edac/mc";
const MACHINE_CHECKS: &str = "/sys/devices/system/machinecheck";

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("throttling.counted", is_intel(reader).map_err(unclear));
    facts.set(
        "memory-errors.correctable",
        memory::correctable(reader).map_err(unclear),
    );
    facts.set("throttling.since-boot", throttlings(reader, facts).map_err(unclear));
    facts.set("memory-errors.since-boot", memory_errors(reader).map_err(unclear));
    facts.set("thermal.margin-c", heat::margin_c(reader));
}

/// Stores both counts at every reading.
pub(in super::super) fn count(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    let mut note = |fact: &str, count| {
        let counter = Counter {
            part: None,
            fact: fact.to_owned(),
        };
        reading.insert(counter, count);
    };
    note("throttling.per-s", throttlings(reader, facts));
    note("memory-errors.per-s", memory_errors(reader));
}

/// Number of times since boot that the real-time CPUs or their packages were slowed down (Intel).
fn throttlings(reader: &Reader, facts: &Facts) -> Result<f64, HostError> {
    if facts.parts(Class::RtCpu).is_empty() {
        return Err(HostError::Undecided("no CPU reports it".to_owned()));
    }
    let mut sum = 0.0;
    for part in facts.parts(Class::RtCpu) {
        let folder = format!("/sys/devices/system/cpu/cpu{}/thermal_throttle", part.name);
        let count = |file: &str| reader.parsed::<u64>(&format!("{folder}/{file}"), "a count");
        sum += count("core_throttle_count")? as f64;
        sum += match count("package_throttle_count") {
            // drivers/thermal/intel/therm_throt.c, thermal_throttle_add_dev (Linux 6.12): only where the package can tell
            Err(error) if error.is_absent() && CpuInfo::read(reader)?.has_flag("pts") == Some(false) => 0.0,
            count => count? as f64,
        };
    }
    Ok(sum)
}

/// Memory errors, corrected or not, since the driver was loaded.
fn memory_errors(reader: &Reader) -> Result<f64, HostError> {
    if let Some(why) = blind(reader)? {
        return Err(HostError::Undecided(format!("{why}: corrected errors are not counted")));
    }
    let is_controller = |name: &str| name.strip_prefix("mc").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let controllers = reader.names(CONTROLLERS, is_controller)?;
    if controllers.is_empty() {
        return Err(HostError::Undecided(format!(
            "{CONTROLLERS}: no driver counts errors of memory"
        )));
    }
    let mut sum = 0.0;
    for controller in controllers {
        for file in ["ce_count", "ue_count"] {
            sum += reader.parsed::<u64>(&format!("{CONTROLLERS}/{controller}/{file}"), "a count")? as f64;
        }
    }
    Ok(sum)
}

/// Reason that the CPUs report no corrected errors to the driver: a count of 0 is no evidence then.
///
/// A CPU that ignores them reports none. Without polling, the driver learns of them by interrupt: Intel's come at each error, AMD's after
/// 4095 (Linux 6.12: arch/x86/kernel/cpu/mce/core.c, `mca_cfg.ignore_ce` and `mce_start_timer`; intel.c, `CMCI_THRESHOLD`; amd.c,
/// `THRESHOLD_MAX`).
fn blind(reader: &Reader) -> Result<Option<String>, HostError> {
    let is_cpu = |name: &str| name.starts_with("machinecheck");
    let cpus = match reader.names(MACHINE_CHECKS, is_cpu) {
        // Only x86 has this folder.
        Err(error) if error.is_absent() => Vec::new(),
        cpus => cpus?,
    };
    for cpu in cpus {
        let is = |file: &str, value: &str| Ok(reader.line(&format!("{MACHINE_CHECKS}/{cpu}/{file}"))? == value);
        if !is("ignore_ce", "0")? {
            return Ok(Some(format!("{MACHINE_CHECKS}/{cpu}/ignore_ce")));
        }
        let is_told = !is("check_interval", "0")? || (is_intel(reader)? && is("cmci_disabled", "0")?);
        if !is_told {
            return Ok(Some(format!(
                "{MACHINE_CHECKS}/{cpu}/check_interval is 0, and no interrupt comes at each error"
            )));
        }
    }
    Ok(None)
}

/// Other architectures lack this line.
fn is_intel(reader: &Reader) -> Result<bool, HostError> {
    let cpus = CpuInfo::read(reader)?;
    Ok(cpus.has_flag("tsc").is_some() && cpus.distinct("vendor_id")? == "GenuineIntel")
}
