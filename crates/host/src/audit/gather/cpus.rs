//! Which CPUs there are, and which are set aside for real-time work.

use units::CpuList;

use crate::audit::facts::{Class, Facts, Subject};
use crate::audit::parameters::Parameters;
use crate::audit::value::{Unknown, Value};
use crate::reader::Reader;
use crate::roles::{self, CpuFacts};

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let read = roles::read(reader).map_err(Unknown::from);
    let of = |pick: fn(&CpuFacts) -> CpuList| read.as_ref().map(pick).map_err(Unknown::clone);
    facts.set("cpus.online", of(|found| found.online.clone()));
    facts.set("cpus.isolated", of(|found| found.isolated.clone()));
    facts.set("cpus.nohz-full", of(|found| found.nohz_full.clone()));
    facts.set("cpus.partitions", of(|found| found.partitions.clone()));
    facts.set("cpus.told", parameters.rt_cpus.is_some());
    let rt_cpus = match &parameters.rt_cpus {
        Some(told) => Ok(told.clone()),
        None => of(set_aside),
    };
    let housekeeping = rt_cpus.as_ref().map_err(Unknown::clone).and_then(|rt_cpus| {
        let online = of(|found| found.online.clone())?;
        Ok::<_, Unknown>(online.without(rt_cpus))
    });
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

/// Those online that the kernel keeps work away from, also those that this process may not use.
fn set_aside(cpus: &CpuFacts) -> CpuList {
    let by_any = |cpu: &u32| {
        let lists = [&cpus.isolated, &cpus.nohz_full, &cpus.partitions];
        lists.iter().any(|list| list.contains(*cpu))
    };
    cpus.online.iter().filter(by_any).collect()
}

/// The CPUs that are asked one by one: those set aside; where none is, every CPU online, since any may get the work.
fn asked(facts: &Facts) -> CpuList {
    let of = |name| match facts.get(None, name) {
        Ok(Value::Cpus(cpus)) if !cpus.is_empty() => Some(cpus),
        _ => None,
    };
    of("rt_cpus").or_else(|| of("cpus.online")).unwrap_or_default()
}

/// CPUs that a fact of the machine names.
pub(super) fn known(facts: &Facts, name: &str) -> Result<CpuList, Unknown> {
    match facts.get(None, name)? {
        Value::Cpus(cpus) => Ok(cpus),
        other => Err(Unknown::unclear(format!("{name}: \"{other}\" is not a list of CPUs"))),
    }
}

/// The number that a fact of the machine is, when it is known.
pub(super) fn number(facts: &Facts, name: &str) -> Option<f64> {
    match facts.get(None, name) {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}
