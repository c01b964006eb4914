//! CPUs on which domains of this machine run, for what is beside them.

use units::CpuList;

use super::{beside, named};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::reader::Reader;

/// Each domain that was named, or that the machine stores or runs, and the CPUs to which its threads are pinned. A definition that was
/// written for another machine is no evidence about this one.
///
/// # Errors
/// A definition cannot be read.
pub(in crate::gather) fn pinned(reader: &Reader, parameters: &Parameters) -> Result<Vec<(String, CpuList)>, Unknown> {
    let named = named(reader, parameters);
    let beside = beside(reader, &named)?;
    let mut found = Vec::new();
    for domain in named.iter().chain(&beside) {
        let tuning = &domain.judged()?.tuning;
        if domain.here(reader).is_ok() {
            let cpus = tuning.vcpu_cpus().iter().chain(tuning.other_cpus().iter()).collect();
            found.push((domain.name.clone(), cpus));
        }
    }
    Ok(found)
}
