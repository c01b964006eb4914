//! Idle states, frequency, power and buses.

mod errors;
mod heat;
mod idle;
mod memory;
mod pcie;
mod tuning;

pub(super) use errors::count as hardware_errors;
pub(super) use pcie::gather as pcie;

use crate::facts::{Class, Facts};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    facts.set("limits.max-idle-exit-us", 10.0);
    facts.set("limits.temp-margin-c", heat::MARGIN_C);
    idle::gather(reader, facts);
    for part in facts.parts_mut(Class::RtCpu) {
        let cpu = part
            .name
            .parse()
            .map_err(|_| Unknown::unclear("not the number of a CPU"));
        let of = |what: fn(&Reader, u32) -> Result<f64, Unknown>| cpu.clone().and_then(|cpu| what(reader, cpu));
        part.set("idle.slowest-us", of(idle::slowest_us));
        part.set("idle.limit-us", of(idle::limit_us));
        part.set("idle.polls", cpu.clone().and_then(|cpu| idle::polls(reader, cpu)));
    }
    facts.set("power.turbo", turbo(reader));
    facts.set("uncore.scaling", uncore(reader));
    errors::gather(reader, facts);
    tuning::gather(reader, facts);
}

/// One of two opposite switches, depending on the driver.
pub(super) fn turbo(reader: &Reader) -> Result<bool, Unknown> {
    let folder = "/sys/devices/system/cpu";
    match reader.line(&format!("{folder}/intel_pstate/no_turbo")) {
        Ok(off) => Ok(off == "0"),
        Err(error) if error.is_absent() => Ok(reader.line(&format!("{folder}/cpufreq/boost"))? == "1"),
        Err(error) => Err(error.into()),
    }
}

/// Dies whose uncore clock may change. Absent if no driver offers it.
fn uncore(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let folder = "/sys/devices/system/cpu/intel_uncore_frequency";
    let dies = reader.names(folder, |name| name.starts_with("package") || name.starts_with("uncore"))?;
    if dies.is_empty() {
        return Err(Unknown::unclear(format!("{folder}: no die is listed")));
    }
    let mut scaling = Vec::new();
    for die in dies {
        let of = |file: &str| reader.parsed::<u64>(&format!("{folder}/{die}/{file}"), "a frequency in kHz");
        let limits = of("min_freq_khz").and_then(|lowest| Ok((lowest, of("max_freq_khz")?)));
        let (lowest, highest) = limits.map_err(super::shared::unclear)?;
        if lowest != highest {
            scaling.push(format!("{die}: {lowest} to {highest} kHz"));
        }
    }
    Ok(scaling)
}
