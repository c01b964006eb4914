//! Platform and services.

mod jobs;
mod ports;
mod services;
mod sizing;

use super::domain;
use super::shared::{running, unclear};
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::cpuinfo::CpuInfo;
use host::reader::Reader;

/// Programs that run or manage virtual machines, by name prefix.
const VIRTUALISATION: [&str; 6] = [
    "qemu",
    "libvirtd",
    "virtqemud",
    "firecracker",
    "cloud-hyperviso",
    "kvm-nx-lpage-re",
];

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    facts.set("platform.vm-host", is_vm_host(reader, parameters, facts));
    facts.set("platform.kvm", has_kvm(reader));
    facts.set("cpu.virtualisation", has_any(reader, &["vmx", "svm"]));
    facts.set("cpu.nested-paging", has_any(reader, &["ept", "npt"]));
    let microcode = CpuInfo::read(reader).and_then(|info| info.distinct("microcode"));
    facts.set("cpu.microcode", microcode.map_err(unclear));
    facts.set("platform.tcc", has_tcc(reader));
    jobs::gather(reader, facts);
    services::gather(reader, facts);
    sizing::gather(reader, parameters, facts);
    ports::gather(reader, parameters, facts);
}

fn is_vm_host(reader: &Reader, parameters: &Parameters, facts: &Facts) -> Result<bool, Unknown> {
    if !parameters.domains.is_empty() || domain::names(reader).is_ok_and(|names| !names.is_empty()) {
        return Ok(true);
    }
    let running = running(facts)?;
    Ok(running
        .keys()
        .any(|name| VIRTUALISATION.iter().any(|begin| name.starts_with(begin))))
}

/// Class file of `/dev/kvm`, which recorded trees have too.
fn has_kvm(reader: &Reader) -> Result<bool, Unknown> {
    let there = reader.exists("/sys/class/misc/kvm").map_err(unclear)?;
    if !there && !reader.exists("/sys/class/misc").unwrap_or(false) {
        return Err(Unknown::unclear(
            "/sys/class/misc is missing too, so the absence of kvm is no evidence",
        ));
    }
    Ok(there)
}

fn has_any(reader: &Reader, flags: &[&str]) -> Result<bool, Unknown> {
    let info = CpuInfo::read(reader).map_err(unclear)?;
    let known: Option<Vec<bool>> = flags.iter().map(|flag| info.has_flag(flag)).collect();
    let known = known.ok_or_else(|| Unknown::unclear("/proc/cpuinfo has no line of flags (not x86)"))?;
    Ok(known.contains(&true))
}

/// True if the firmware has the tables of Intel's Time Coordinated Computing.
fn has_tcc(reader: &Reader) -> Result<bool, Unknown> {
    let folder = "/sys/firmware/acpi/tables";
    let tables = reader
        .names(folder, |name| ["RTCT", "PTCT"].contains(&name))
        .map_err(unclear)?;
    Ok(!tables.is_empty())
}
