//! Changes beyond a single write, by the names that rules give them: one file for each subject. An action only reads files and facts; the
//! changes that it returns are shown before they are made.

mod bandwidth;
mod cache;
mod containers;
mod cpus;
mod domain;
mod groups;
mod interrupts;
mod memory;
mod network;
#[cfg(test)]
mod tests;
mod threads;

use units::CpuList;

use super::operation::Operation;
use audit::facts::{Facts, Subject};
use audit::value::Value;
use host::reader::Reader;

type Action = fn(&Scene<'_>) -> Result<Vec<Operation>, String>;

const ACTIONS: [(&str, Action); 30] = [
    ("irq-affinity", interrupts::affinity),
    ("rps-off", interrupts::steering_off),
    ("irq-thread-priority", threads::of_interrupts),
    ("cpus-online", cpus::online),
    ("uncore-frequency", cpus::uncore_frequency),
    ("pcie-aspm", cpus::links_awake),
    ("cpuset-partition", groups::partition),
    ("slice-cpus", groups::slices),
    ("container-cpuset", containers::cpus),
    ("container-no-quota", containers::no_quota),
    ("thread-affinity", threads::off_real_time),
    ("rcu-affinity", threads::of_rcu),
    ("kthread-priority", threads::serving),
    ("vhost-placement", threads::vhost),
    ("ovs-affinity", threads::switch),
    ("time-placement", threads::of_time),
    ("domain-threads", domain::places),
    ("vcpu-priority", domain::priorities),
    ("planned-task", threads::planned),
    ("hugepages", memory::huge_pages),
    ("swapoff", memory::swap_off),
    ("cache-partition", cache::partition),
    ("bandwidth-partition", bandwidth::partition),
    ("nic-coalesce", network::coalescing),
    ("nic-eee", network::eee),
    ("nic-ring", network::ring),
    ("nic-channels", network::channels),
    ("nic-pause", network::pause),
    ("macvlan-direct", network::macvlan_direct),
    ("macvlan-queue", network::macvlan_queue),
];

/// True if an action of that name exists.
#[cfg(test)]
pub(crate) fn exists(name: &str) -> bool {
    ACTIONS.iter().any(|(known, _)| *known == name)
}

/// Changes that the action of that name makes.
pub(super) fn operations(
    name: &str,
    reader: &Reader,
    facts: &Facts,
    part: Option<&Subject>,
) -> Result<Vec<Operation>, String> {
    let action = ACTIONS.iter().find(|(known, _)| *known == name);
    let (_, action) = action.ok_or_else(|| format!("this version does not know the action {name}"))?;
    action(&Scene { reader, facts, part })
}

/// Input of an action.
struct Scene<'a> {
    reader: &'a Reader,
    facts: &'a Facts,
    part: Option<&'a Subject>,
}

impl<'a> Scene<'a> {
    /// Interface, CPU, container, domain or task that the rule checks.
    fn part(&self) -> Result<&'a Subject, String> {
        self.part
            .ok_or_else(|| "the rule names no part of the machine".to_owned())
    }

    fn fact(&self, name: &str) -> Result<Value, String> {
        self.facts.get(self.part, name).map_err(|unknown| unknown.text)
    }

    fn cpus(&self, name: &str) -> Result<CpuList, String> {
        match self.fact(name)? {
            Value::Cpus(cpus) if cpus.is_empty() => Err(format!("{name}: no CPU; name CPUs with --cpus")),
            Value::Cpus(cpus) => Ok(cpus),
            other => Err(format!("{name}: \"{other}\" is not a list of CPUs")),
        }
    }

    fn number(&self, name: &str) -> Result<f64, String> {
        match self.fact(name)? {
            Value::Number(number) => Ok(number),
            other => Err(format!("{name}: \"{other}\" is not a number")),
        }
    }

    fn list(&self, name: &str) -> Result<Vec<String>, String> {
        match self.fact(name)? {
            Value::List(items) => Ok(items),
            other => Err(format!("{name}: \"{other}\" is not a list")),
        }
    }

    fn names(&self, path: &str, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, String> {
        self.reader.names(path, wanted).map_err(|error| error.to_string())
    }

    fn line(&self, path: &str) -> Result<String, String> {
        self.reader.line(path).map_err(|error| error.to_string())
    }

    fn count(&self, path: &str) -> Result<u64, String> {
        let number = self.reader.parsed(path, "a number");
        number.map_err(|error| error.to_string())
    }

    fn exists(&self, path: &str) -> bool {
        self.reader.exists(path).unwrap_or(false)
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|octet| octet.is_ascii_digit())
}
