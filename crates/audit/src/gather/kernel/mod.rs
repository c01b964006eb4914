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
use host::reader::Reader;
use host::{hypervisor, kernel};

const RELEASE: &str = "/proc/sys/kernel/osrelease";

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let config = Config::read(reader);
    facts.set("kernel.preempt", kernel::model(reader));
    facts.set("kernel.number", number(reader));
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

/// Version as 1000 times the first number plus the second: 6012 for 6.12.
pub(super) fn number(reader: &Reader) -> Result<u32, HostError> {
    let release = reader.line(RELEASE)?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(first)), Some(Ok(second))) if first < 1000 && second < 1000 => Ok(first * 1000 + second),
        _ => Err(HostError::unexpected(RELEASE, "a release such as 6.12.8", &release)),
    }
}

fn build(reader: &Reader, config: &Result<Config, HostError>, facts: &mut Facts) {
    let option = |name: &str| {
        let config = config.as_ref().map_err(Clone::clone)?;
        Ok::<_, HostError>(config.get(name).unwrap_or("n").to_owned())
    };
    let group = kernel::rt_group(reader, config.as_ref());
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

/// Last value of an argument of the running kernel.
pub(super) fn argument(reader: &Reader, name: &str) -> Result<Option<String>, Unknown> {
    let line = Cmdline::read(reader)?;
    Ok(line.last(name).map(str::to_owned))
}
