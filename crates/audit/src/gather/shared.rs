//! Helpers of several gatherers.

use std::collections::BTreeMap;

use units::CpuList;

use crate::facts::{Class, Facts};
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::cmdline::Cmdline;
use host::reader::Reader;

/// A fact of the machine as CPUs.
pub(super) fn cpus(facts: &Facts, name: &str) -> Result<CpuList, Unknown> {
    match facts.get(None, name)? {
        Value::Cpus(cpus) => Ok(cpus),
        other => Err(Unknown::unclear(format!("{name}: \"{other}\" is not a list of CPUs"))),
    }
}

/// Process ids of the running processes, by name.
pub(super) fn running(facts: &Facts) -> Result<BTreeMap<String, Vec<u64>>, Unknown> {
    let read = facts.processes.clone();
    read.unwrap_or_else(|| Err(Unknown::unclear("the processes were not read")))
}

/// Interfaces that were named, and those that other gatherers found.
pub(super) fn nics(parameters: &Parameters, facts: &Facts) -> Vec<String> {
    let mut names = parameters.nics.clone();
    let known = facts.parts(Class::Nic).iter().map(|part| part.name.clone());
    names.extend(known.filter(|name| !parameters.nics.contains(name)));
    names
}

/// True if a name is a number, as for folders of processes, threads and interrupts.
pub(super) fn is_number(name: &str) -> bool {
    name.bytes().all(|octet| octet.is_ascii_digit())
}

/// Turns "absent" into "unclear", for files that must exist before anything is known.
pub(super) fn unclear(why: impl Into<Unknown>) -> Unknown {
    Unknown::unclear(why.into().text)
}

/// Last value of a kernel argument; absent if it is not given.
pub(super) fn argument(reader: &Reader, name: &str) -> Result<String, Unknown> {
    let line = Cmdline::read(reader).map_err(unclear)?;
    let value = line.last(name).map(str::to_owned);
    value.ok_or_else(|| Unknown::absent(format!("the kernel was started without {name}")))
}

/// Result of a search: findings decide, even if some places could not be examined.
#[derive(Clone, Default)]
pub(super) struct Search {
    found: Vec<String>,
    unknown: Option<Unknown>,
}

impl Search {
    /// Adds a finding.
    pub(super) fn add(&mut self, item: impl Into<String>) {
        self.found.push(item.into());
    }

    /// Adds a reason that a place could not be examined.
    pub(super) fn missed(&mut self, why: impl Into<Unknown>) {
        self.unknown.get_or_insert(why.into());
    }

    /// All findings; if there are none, the first reason that a place could not be examined.
    pub(super) fn result(self) -> Result<Vec<String>, Unknown> {
        match self.unknown {
            Some(unknown) if self.found.is_empty() => Err(unclear(unknown)),
            _ => Ok(self.found),
        }
    }
}

/// Strings of a file in which the kernel ends each with a zero byte (`/proc/PID/cmdline`, `environ`).
pub(super) fn strings(reader: &Reader, path: &str) -> Result<Vec<String>, Unknown> {
    const LONGEST: u64 = 1 << 20;
    let bytes = reader.bytes(path, LONGEST)?;
    let parts = bytes.split(|octet| *octet == 0).filter(|part| !part.is_empty());
    Ok(parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect())
}
