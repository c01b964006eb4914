//! Gathers the CPUs of the machine, and those reserved for real-time work.

use units::CpuList;

use crate::facts::{Class, Facts, Subject};
use crate::gather::isolation::cpusets;
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::reader::Reader;
use host::{cpu, isolation};

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    facts.set("cpus.online", cpu::online(reader));
    facts.set("cpus.isolated", isolation::isolated(reader));
    facts.set("cpus.nohz-full", isolation::nohz_full(reader));
    cpusets::gather(reader, facts);
    facts.set("cpus.told", parameters.rt_cpus.is_some());
    let rt_cpus = match &parameters.rt_cpus {
        Some(told) => Ok(told.clone()),
        None => kept_free(facts),
    };
    let housekeeping = rt_cpus
        .clone()
        .and_then(|rt_cpus| Ok::<_, Unknown>(known(facts, "cpus.online")?.without(&rt_cpus)));
    facts.set("rt_cpus", rt_cpus);
    facts.set("hk_cpus", housekeeping);
    let considered = match known(facts, "rt_cpus") {
        Ok(cpus) if cpus.is_empty() => known(facts, "cpus.online"),
        cpus => cpus,
    };
    facts.set("cpus.asked", considered);
    for cpu in asked(facts).iter() {
        let mut part = Subject::new(cpu.to_string());
        part.set("cpu", cpu);
        facts.add(Class::RtCpu, part);
    }
}

/// Online CPUs that the kernel keeps work away from, by any of the three means. The cpuset of this process does not matter: the auditing
/// process is seldom allowed on them.
fn kept_free(facts: &Facts) -> Result<CpuList, Unknown> {
    let online = known(facts, "cpus.online")?;
    let booted = [known(facts, "cpus.isolated")?, known(facts, "cpus.nohz-full")?];
    let by_boot: CpuList = booted.iter().flat_map(CpuList::iter).collect();
    let partitions = match known(facts, "cpus.partitions") {
        Err(unknown) if by_boot.is_empty() => return Err(unknown),
        partitions => partitions.unwrap_or_default(),
    };
    let apart = |cpu: &u32| by_boot.contains(*cpu) || partitions.contains(*cpu);
    Ok(online.iter().filter(apart).collect())
}

/// CPUs that are audited one by one: the reserved ones; if there are none, every online CPU, since any may get the work.
fn asked(facts: &Facts) -> CpuList {
    let of = |name| match facts.get(None, name) {
        Ok(Value::Cpus(cpus)) if !cpus.is_empty() => Some(cpus),
        _ => None,
    };
    of("rt_cpus").or_else(|| of("cpus.online")).unwrap_or_default()
}

/// CPUs in a fact of the machine.
pub(super) fn known(facts: &Facts, name: &str) -> Result<CpuList, Unknown> {
    match facts.get(None, name)? {
        Value::Cpus(cpus) => Ok(cpus),
        other => Err(Unknown::unclear(format!("{name}: \"{other}\" is not a list of CPUs"))),
    }
}

/// A fact of the machine as a number, if known.
pub(super) fn number(facts: &Facts, name: &str) -> Option<f64> {
    match facts.get(None, name) {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}
