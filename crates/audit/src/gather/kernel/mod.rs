//! The kernel: its build, its command line, its log, its tracers.

pub(crate) mod arguments;
mod boot;
mod length;
mod log;
mod tracing;
pub(in crate::gather) mod vain;

use crate::facts::Facts;
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::cmdline::Cmdline;
use host::config::Config;
use host::error::HostError;
use host::kernel::RT_GROUP_ARGUMENT_SINCE;
use host::reader::Reader;
use host::{hypervisor, kernel};

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let config = Config::read(reader);
    facts.set("kernel.preempt", kernel::model(reader));
    facts.set("kernel.number", kernel::number(reader));
    build(reader, &config, facts);
    facts.set(
        "machine.hypervisor",
        hypervisor::detect(reader).map(|found| found.kind.word()),
    );
    arguments::gather(reader, parameters, facts);
    vain::gather(reader, facts);
    boot::gather(reader, facts);
    length::gather(reader, facts);
    log::gather(reader, facts);
    tracing::gather(reader, facts);
}

fn build(reader: &Reader, config: &Result<Config, HostError>, facts: &mut Facts) {
    let option = |name: &str| {
        let config = config.as_ref().map_err(Clone::clone)?;
        Ok::<_, HostError>(config.get(name).unwrap_or("n").to_owned())
    };
    let group = kernel::rt_group(reader, config.as_ref());
    facts.set("kernel.rt-group-built", has_groups(reader, config, &group));
    facts.set(
        "kernel.rt-group",
        group.map(|text| text.split(' ').next().unwrap_or_default().to_owned()),
    );
    facts.set("kernel.rt-group-sched", option("RT_GROUP_SCHED"));
    facts.set(
        "kernel.high-res-timers",
        match argument(reader, "highres") {
            Ok(Some(off)) if off == "off" => Ok("n".to_owned()),
            _ => option("HIGH_RES_TIMERS"),
        },
    );
    let costly = config.as_ref().map_err(Clone::clone).map(|config| {
        let on = kernel::COSTLY.iter().filter(|option| config.is_on(option));
        on.map(|option| (*option).to_owned()).collect::<Vec<_>>()
    });
    facts.set("kernel.costly-options", costly);
}

/// True if the kernel is built with real-time group scheduling, even if that is switched off.
fn has_groups(
    reader: &Reader,
    config: &Result<Config, HostError>,
    group: &Result<String, HostError>,
) -> Result<bool, HostError> {
    if let Ok(config) = config {
        return Ok(config.is_on("RT_GROUP_SCHED"));
    }
    match group.as_ref().map_err(Clone::clone)?.starts_with("on") {
        true => Ok(true),
        false if kernel::number(reader)? < RT_GROUP_ARGUMENT_SINCE => Ok(false),
        false => Err(HostError::Undecided(
            "real-time group scheduling is off, and no kernel configuration shows if the kernel is built with it"
                .to_owned(),
        )),
    }
}

/// Last value of an argument of the running kernel.
pub(super) fn argument(reader: &Reader, name: &str) -> Result<Option<String>, Unknown> {
    let line = Cmdline::read(reader)?;
    Ok(line.last(name).map(str::to_owned))
}
