//! The kernel: its build and its command line.

use crate::audit::facts::Facts;
use crate::audit::parameters::Parameters;
use crate::audit::value::Unknown;
use crate::config::Config;
use crate::reader::Reader;
use crate::{hypervisor, kernel};

pub(super) fn gather(reader: &Reader, _parameters: &Parameters, facts: &mut Facts) {
    facts.set("kernel.preempt", kernel::model(reader));
    facts.set("kernel.rt-group-sched", built_with(reader, "RT_GROUP_SCHED"));
    facts.set(
        "machine.hypervisor",
        hypervisor::detect(reader).map(|found| found.kind.word()),
    );
}

/// The value of an option of the kernel's build configuration: `y`, `m`, `n`…
fn built_with(reader: &Reader, option: &str) -> Result<String, Unknown> {
    let config = Config::read(reader)?;
    Ok(config.get(option).unwrap_or("n").to_owned())
}
