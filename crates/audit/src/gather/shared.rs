//! Helpers of several gatherers.

use std::collections::BTreeMap;

use units::CpuList;

use crate::facts::{Class, Facts};
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::cmdline::Cmdline;
use host::reader::Reader;

/// The CPUs of a fact of the machine.
pub(super) fn cpus(facts: &Facts, name: &str) -> Result<CpuList, Unknown> {
    match facts.get(None, name)? {
        Value::Cpus(cpus) => Ok(cpus),
        other => Err(Unknown::unclear(format!("{name}: \"{other}\" is not a list of CPUs"))),
    }
}

/// Numbers of the processes that run, by their names.
pub(super) fn running(facts: &Facts) -> Result<BTreeMap<String, Vec<u64>>, Unknown> {
    let read = facts.processes.clone();
    read.unwrap_or_else(|| Err(Unknown::unclear("the processes were not read")))
}

/// The interfaces that were named, and those that others found.
pub(super) fn nics(parameters: &Parameters, facts: &Facts) -> Vec<String> {
    let mut names = parameters.nics.clone();
    let known = facts.parts(Class::Nic).iter().map(|part| part.name.clone());
    names.extend(known.filter(|name| !parameters.nics.contains(name)));
    names
}

/// True if a name is a number, as the folders of processes, threads and interrupts are.
pub(super) fn is_number(name: &str) -> bool {
    name.bytes().all(|octet| octet.is_ascii_digit())
}

/// Of something that must be there before anything can be said: that it is missing is no answer.
pub(super) fn unclear(why: impl Into<Unknown>) -> Unknown {
    Unknown::unclear(why.into().text)
}

/// The last value of a kernel argument; absent when it is not given.
pub(super) fn argument(reader: &Reader, name: &str) -> Result<String, Unknown> {
    let line = Cmdline::read(reader).map_err(unclear)?;
    let value = line.last(name).map(str::to_owned);
    value.ok_or_else(|| Unknown::absent(format!("the kernel was started without {name}")))
}

/// Result of a search: finds decide, whatever else could not be looked at.
#[derive(Clone, Default)]
pub(super) struct Search {
    found: Vec<String>,
    unknown: Option<Unknown>,
}

impl Search {
    /// Notes what was found.
    pub(super) fn add(&mut self, item: impl Into<String>) {
        self.found.push(item.into());
    }

    /// Notes why something could not be looked at.
    pub(super) fn missed(&mut self, why: impl Into<Unknown>) {
        self.unknown.get_or_insert(why.into());
    }

    /// Everything found; where nothing was, the first reason why something could not be looked at.
    pub(super) fn result(self) -> Result<Vec<String>, Unknown> {
        match self.unknown {
            Some(unknown) if self.found.is_empty() => Err(unclear(unknown)),
            _ => Ok(self.found),
        }
    }
}

/// The strings of a file in which the kernel ends each with a zero byte (`/proc/PID/cmdline`, `environ`).
pub(super) fn strings(reader: &Reader, path: &str) -> Result<Vec<String>, Unknown> {
    const LONGEST: u64 = 1 << 20;
    let bytes = reader.bytes(path, LONGEST)?;
    let parts = bytes.split(|octet| *octet == 0).filter(|part| !part.is_empty());
    Ok(parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect())
}
