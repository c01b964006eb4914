//! Cache shares that were written directly into the registers (`wrmsr`), without the kernel's groups.

use std::collections::BTreeMap;

use super::super::interrupts::register;
use super::super::shared::{cpus, unclear};
use units::CpuList;

use crate::facts::Facts;
use crate::value::Unknown;
use host::cpu;
use host::error::HostError;
use host::reader::Reader;

/// Register with the class of service of a CPU, in the upper half (IA32_PQR_ASSOC; AMD's has the same number).
const CLASS_OF_CPU: u64 = 0xc8f;
/// First register with a mask of the L3 cache (IA32_L3_MASK_0); one per class of service.
pub(super) const L3_MASKS: u64 = 0xc90;

/// Real-time CPUs that may fill the same part of the cache as other CPUs.
pub(super) fn overlaps(reader: &Reader, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let rt_cpus = cpus(facts, "rt_cpus")?;
    let online = cpu::online(reader).map_err(unclear)?;
    let answer = reader.answer("l3-classes", || all(online.iter())).map_err(unclear)?;
    let masks = answer.lines().map(mask).collect::<Option<BTreeMap<u32, u64>>>();
    let masks =
        masks.ok_or_else(|| Unknown::unclear("/.answers/l3-classes: lines of a CPU and a mask were expected"))?;
    let of = |cpu| {
        let mask = masks.get(&cpu).copied().filter(|mask| *mask != 0);
        mask.ok_or_else(|| Unknown::unclear(format!("the mask of CPU {cpu} is not known")))
    };
    let mut all = Vec::new();
    for cpu in rt_cpus.iter() {
        let beside = reader.cpus(&format!(
            "/sys/devices/system/cpu/cpu{cpu}/cache/index3/shared_cpu_list"
        ));
        let mut with = Vec::new();
        for other in beside.map_err(unclear)?.without(&rt_cpus).iter() {
            if of(cpu)? & of(other)? != 0 {
                with.push(other);
            }
        }
        if !with.is_empty() {
            let with: CpuList = with.into_iter().collect();
            all.push(format!("CPU {cpu} with CPU {with}"));
        }
    }
    Ok(all)
}

fn mask(line: &str) -> Option<(u32, u64)> {
    let (cpu, mask) = line.split_once(' ')?;
    Some((cpu.parse().ok()?, u64::from_str_radix(mask, 16).ok()?))
}

/// Formats a line for each CPU: its number, and the mask of its class in hexadecimal.
fn all(cpus: impl Iterator<Item = u32>) -> Result<String, HostError> {
    let line = |cpu| {
        let class = register(cpu, CLASS_OF_CPU)? >> 32;
        Ok(format!("{cpu} {:x}\n", register(cpu, L3_MASKS + class)?))
    };
    cpus.map(line).collect()
}
