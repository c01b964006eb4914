//! Compares the running domain with the definition for the next start.

use super::Named;
use crate::definition::domain::Domain;
use crate::facts::IntoKnown;
use crate::value::{Known, Unknown};

type Part = (&'static str, fn(&Domain, &Domain) -> bool);

/// Parts of a definition that matter to real-time work.
const PARTS: [Part; 9] = [
    ("vCPUs, pins and policies", |a, b| a.tuning == b.tuning),
    ("memory backing", |a, b| a.memory == b.memory),
    ("memory's nodes", |a, b| a.numa == b.numa),
    ("processor", |a, b| {
        a.cpu.mode == b.cpu.mode && a.cpu.topology == b.cpu.topology
    }),
    ("pmu and vmport", |a, b| a.pmu == b.pmu && a.vmport == b.vmport),
    ("timers", |a, b| a.hpet == b.hpet && a.pit == b.pit),
    ("balloon and watchdog", |a, b| {
        a.devices.balloon == b.devices.balloon && a.devices.watchdogs == b.devices.watchdogs
    }),
    ("devices of the host", |a, b| {
        a.devices.host_devices == b.devices.host_devices
    }),
    ("disks", |a, b| a.devices.disks == b.devices.disks),
];

/// Names of the parts that differ.
pub(super) fn known(named: &Named) -> Known {
    let Some(running) = &named.running else {
        return Err(Unknown::absent("the domain does not run"));
    };
    let running = running.as_ref().map_err(Unknown::clone)?;
    let stored = named.stored.as_ref().map_err(Unknown::clone)?;
    let differ = PARTS.iter().filter(|(_, same)| !same(running, stored));
    let names: Vec<String> = differ.map(|(name, _)| (*name).to_owned()).collect();
    names.into_known()
}
