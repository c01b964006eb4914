//! Reads the facts for the rules. Every gatherer stores each of its facts on any tree, known or with the reason that it is unknown.

mod absence;
mod cache;
mod clock;
mod container;
mod cpus;
mod daemons;
mod domain;
mod files;
mod guest;
mod interrupts;
mod iommu;
mod isolation;
mod kernel;
mod memory;
mod network;
pub(super) mod observed;
mod platform;
mod power;
mod regressions;
mod scheduler;
mod shared;
mod threads;
mod time;
mod vmware;
mod wanted;

pub use cache::{Masks as CacheMasks, masks as cache_masks, shares as bandwidth_shares};
pub use domain::moves as domain_moves;
pub use domain::priorities as domain_priorities;
pub use isolation::cpusets::root as cpuset_root;
pub use kernel::arguments::REPEATED;
pub use network::DriverAnswer as NicAnswer;
pub use threads::planned::different as planned_differences;

use model::{Fact, NOT_APPLICABLE};

use super::facts::Facts;
use super::parameters::Parameters;
use super::rule::{KernelPlace, Rule};
use super::value::Unknown;
use host::reader::Reader;
use host::{hypervisor, processes, virtualisation};

type Gatherer = fn(&Reader, &Parameters, &mut Facts);

/// In this order: the CPUs come first, since other gatherers use them.
const GATHERERS: &[Gatherer] = &[
    cpus::gather,
    kernel::gather,
    isolation::gather,
    threads::gather,
    scheduler::gather,
    power::gather,
    clock::gather,
    memory::gather,
    cache::gather,
    network::gather,
    interrupts::gather,
    power::pcie,
    domain::gather,
    iommu::gather,
    guest::gather,
    vmware::gather,
    container::gather,
    daemons::gather,
    platform::gather,
    regressions::gather,
    wanted::gather,
];

/// Facts for `rules`.
pub(super) fn facts<'a>(
    reader: &Reader,
    parameters: &Parameters,
    rules: impl Iterator<Item = &'a Rule> + Clone,
) -> Facts {
    let mut facts = Facts::default();
    facts.set("workload", parameters.workload.word());
    let profile = parameters.profile.clone();
    facts.set(
        "profile",
        profile.ok_or_else(|| Unknown::absent("no profile was asked for")),
    );
    facts.processes = Some(processes::running(reader).map_err(shared::unclear));
    for gather in GATHERERS {
        gather(reader, parameters, &mut facts);
    }
    observed::gather(reader, parameters, &mut facts);
    files::gather(reader, rules, &mut facts);
    facts
}

/// Place where the kernel runs, if known.
pub(super) fn place(reader: &Reader) -> Option<KernelPlace> {
    let found = hypervisor::detect(reader).ok()?;
    Some(if found.is_virtual() {
        KernelPlace::Guest
    } else {
        KernelPlace::Host
    })
}

/// Hypervisor and container of the machine, as text; without facts that such a machine cannot have.
pub(super) fn environment(reader: &Reader) -> Vec<(String, Result<String, String>)> {
    let can_have = |fact: &Fact| !fact.value.as_ref().is_ok_and(|value| value.starts_with(NOT_APPLICABLE));
    let facts = virtualisation::facts(reader).into_iter().filter(can_have);
    facts.map(|Fact { name, value, .. }| (name, value)).collect()
}
