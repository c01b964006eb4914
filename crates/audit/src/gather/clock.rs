//! Clock source and tick.

use super::shared::{argument, unclear};
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::cmdline::Cmdline;
use host::cpuinfo::CpuInfo;
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    facts.set("tsc.invariant", has_flags(reader, &["constant_tsc", "nonstop_tsc"]));
    facts.set("tsc.adjust", has_flags(reader, &["tsc_adjust"]));
    facts.set("tsc.reliable", reliable(reader));
    facts.set("tsc.deadline-timer", has_flags(reader, &["tsc_deadline_timer"]));
    facts.set("clock.skew-tick", argument(reader, "skew_tick"));
    facts.set("clock.booted-source", argument(reader, "clocksource"));
}

/// The kernel takes the TSC as it is: asked to, by any `tsc=` of its line, or because the processor or the hypervisor vouches for it
/// (Linux 6.12: arch/x86/kernel/tsc.c, tsc_setup and check_system_tsc_reliable).
fn reliable(reader: &Reader) -> Result<bool, Unknown> {
    let line = Cmdline::read(reader).map_err(unclear);
    let asked = line.map(|line| line.values("tsc").any(|value| value == "reliable"));
    match (asked, has_flags(reader, &["tsc_reliable"])) {
        (Ok(true), _) | (_, Ok(true)) => Ok(true),
        (Err(unknown), _) | (_, Err(unknown)) => Err(unknown),
        (Ok(false), Ok(false)) => Ok(false),
    }
}

fn has_flags(reader: &Reader, flags: &[&str]) -> Result<bool, Unknown> {
    let info = CpuInfo::read(reader).map_err(unclear)?;
    let mut all = true;
    for flag in flags {
        let has = info.has_flag(flag);
        all &= has.ok_or_else(|| Unknown::unclear("/proc/cpuinfo has no line of flags (not x86)"))?;
    }
    Ok(all)
}
