//! Interrupts of devices and of the firmware.

mod balance;
mod firmware;
mod irqs;
mod nics;
mod rates;
mod threads;

pub(super) use firmware::{register, smi};
pub(super) use rates::per_cpu;

use crate::facts::{Facts, Subject};
use crate::parameters::{Parameters, Workload};
use crate::value::{Unknown, Value, Why};
use host::config::Config;
use host::cpuinfo::CpuInfo;
use host::nic::interrupts;
use host::reader::Reader;

use super::shared::{argument, unclear};

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    facts.set("cpu.x86", is_x86(reader));
    let names = interrupts::names(reader).map_err(Unknown::from);
    nics::gather(reader, parameters, &names, facts);
    irqs::gather(reader, parameters, &names, facts);
    balance::gather(reader, parameters, facts);
    facts.set("irqs.booted-affinity", argument(reader, "irqaffinity"));
    facts.set("irqs.isolcpus-managed", steers_managed(reader));
    facts.set(
        "limits.local-timer-per-s",
        local_timer_limit(reader, parameters.workload),
    );
    facts.set("limits.ipi-per-s", 1.0);
}

/// Only x86 has a line of flags that names the TSC.
fn is_x86(reader: &Reader) -> Result<bool, Unknown> {
    let info = CpuInfo::read(reader).map_err(unclear)?;
    Ok(info.has_flag("tsc").is_some())
}

/// True if `isolcpus=` has the flag `managed_irq`.
fn steers_managed(reader: &Reader) -> Result<bool, Unknown> {
    match argument(reader, "isolcpus") {
        Ok(value) => Ok(value.split(',').any(|flag| flag == "managed_irq")),
        Err(unknown) if unknown.why == Why::Absent => Ok(false),
        Err(unknown) => Err(unknown),
    }
}

/// Maximum of local timer interrupts per second. A polling thread on an adaptive-tick CPU has the residual tick of 1 Hz; a periodic one has
/// the tick (HZ) and two timers per cycle of 250 us, the shortest of the sampled-value rates.
fn local_timer_limit(reader: &Reader, workload: Workload) -> Result<f64, Unknown> {
    const FASTEST_TICK: f64 = 1000.0;
    if workload == Workload::BusyPoll {
        return Ok(1.5);
    }
    let hertz = Config::read(reader)
        .ok()
        .and_then(|config| config.get("HZ")?.parse().ok());
    Ok(hertz.unwrap_or(FASTEST_TICK) + 2.0 * 4000.0)
}

/// Interrupt numbers of an interface, from its facts.
fn of_nic(facts: &Facts, part: &Subject) -> Result<Vec<String>, Unknown> {
    match facts.get(Some(part), "nic.irqs")? {
        Value::List(numbers) => Ok(numbers),
        other => Err(Unknown::unclear(format!("nic.irqs: \"{other}\" is not a list"))),
    }
}
