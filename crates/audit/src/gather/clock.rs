//! Clock source and tick.

use super::shared::{argument, unclear};
use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::cpuinfo::CpuInfo;
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    facts.set("tsc.invariant", has_flags(reader, &["constant_tsc", "nonstop_tsc"]));
    facts.set("tsc.deadline-timer", has_flags(reader, &["tsc_deadline_timer"]));
    facts.set("clock.skew-tick", argument(reader, "skew_tick"));
    facts.set("clock.booted-source", argument(reader, "clocksource"));
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
