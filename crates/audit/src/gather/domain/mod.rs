//! libvirt domains: their stored and running definitions, and the threads of running domains.

mod differences;
mod facts;
mod functions;
mod hardware;
mod moves;
mod nics;
mod pins;
mod priorities;
mod slice;
mod threads;
mod unstarted;

pub use moves::moves;
pub(super) use pins::pinned;
pub use priorities::priorities;

use std::collections::BTreeSet;
use std::path::Path;

use units::CpuList;

use crate::definition::domain::Domain;
use crate::definition::{is_file, text};
use crate::facts::{Class, Facts, Subject};
use crate::gather::shared::{cpus, unclear};
use crate::parameters::Parameters;
use crate::value::{Unknown, Value, Why};
use host::reader::Reader;

/// Definitions of domains, as stored by libvirt and as running.
pub(super) const STORED: &str = "/etc/libvirt/qemu";
pub(super) const RUNNING: &str = "/run/libvirt/qemu";

/// A domain that was named.
pub(super) struct Named {
    pub(super) name: String,
    /// True if it was given as a file, which may belong to another machine.
    pub(super) is_file: bool,
    /// Definition for the next start.
    pub(super) stored: Result<Domain, Unknown>,
    /// Running definition; `None`: the domain does not run.
    pub(super) running: Option<Result<Domain, Unknown>>,
}

impl Named {
    /// Definition under audit: the running one, else the stored one.
    pub(super) fn judged(&self) -> Result<&Domain, Unknown> {
        let judged = self.running.as_ref().unwrap_or(&self.stored);
        judged.as_ref().map_err(Unknown::clone)
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.stored.as_ref().is_ok_and(|domain| domain.name == name)
    }

    /// Checks that a definition fits this machine: a file may belong to another machine, and name CPUs or nodes that do not exist here.
    ///
    /// # Errors
    /// It does not fit; the message names the missing parts.
    pub(super) fn here(&self, reader: &Reader) -> Result<(), Unknown> {
        let Ok(domain) = self.judged() else { return Ok(()) };
        if !self.is_file {
            return Ok(());
        }
        let cpus = domain.tuning.vcpu_cpus();
        let emulator = domain.tuning.emulator.iter().flat_map(CpuList::iter);
        let cpus: CpuList = cpus.iter().chain(emulator).collect();
        fits(
            "CPU",
            &cpus,
            &reader.cpus("/sys/devices/system/cpu/online").map_err(unclear)?,
        )?;
        let nodes = domain.numa.sets()?;
        if nodes.is_empty() {
            return Ok(());
        }
        fits("node", &nodes, &reader.cpus(hardware::NODES_ONLINE).map_err(unclear)?)
    }
}

/// # Errors
/// Some of `asked` do not exist on this machine.
fn fits(what: &str, asked: &CpuList, here: &CpuList) -> Result<(), Unknown> {
    match asked.without(here) {
        missing if missing.is_empty() => Ok(()),
        missing => Err(Unknown::unclear(format!(
            "the definition names {what} {missing}, and this machine has {here}: it was written for another machine, which is not known here"
        ))),
    }
}

/// Input for the facts of a domain.
struct Scene<'a> {
    reader: &'a Reader,
    named: &'a Named,
    /// Other domains that were named, and those that the machine stores or runs.
    others: Result<Vec<&'a Domain>, Unknown>,
    /// `Ok`, or the message that the definition was written for another machine, so that facts of this one are no evidence.
    here: Result<(), Unknown>,
    rt_cpus: Result<CpuList, Unknown>,
}

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let all: Vec<Named> = named(reader, parameters);
    let beside = beside(reader, &all);
    facts.set("domains.not-named", unnamed(&all, &beside));
    for (place, domain) in all.iter().enumerate() {
        let others = all.iter().enumerate().filter(|(other, _)| *other != place);
        let others = others.filter_map(|(_, other)| other.judged().ok()).collect();
        let here = domain.here(reader);
        let scene = Scene {
            reader,
            named: domain,
            others: with_beside(others, &beside, &here),
            here,
            rt_cpus: rt_cpus(facts, domain.is_file),
        };
        let mut part = Subject::new(domain.name.clone());
        facts::note(&mut part, &scene);
        part.set("dom.housekeeping-cpus", housekeeping(facts, &part));
        facts.add(Class::Domain, part);
    }
}

/// Domains of this machine that were not named: stored ones, and those that only run (transient ones, of `virsh create`).
///
/// # Errors
/// A folder cannot be read.
pub(super) fn beside(reader: &Reader, named: &[Named]) -> Result<Vec<Named>, Unknown> {
    let is_named = |name: &str| named.iter().any(|known| known.is_called(name));
    let names = names(reader)?;
    let beside = names.iter().filter(|name| !is_named(name));
    Ok(beside.map(|name| of_name(reader, name)).collect())
}

/// Names of the domains that this machine stores or runs.
///
/// # Errors
/// A folder cannot be read.
pub(super) fn names(reader: &Reader) -> Result<BTreeSet<String>, Unknown> {
    let mut names = BTreeSet::new();
    for folder in [STORED, RUNNING] {
        let files = match reader.names(folder, |name| name.ends_with(".xml")) {
            Err(error) if error.is_absent() => Vec::new(),
            files => files.map_err(unclear)?,
        };
        names.extend(files.iter().map(|file| file.trim_end_matches(".xml").to_owned()));
    }
    Ok(names)
}

/// Names of these domains, if the user named no definition of any kind.
fn unnamed(named: &[Named], beside: &Result<Vec<Named>, Unknown>) -> Result<Vec<String>, Unknown> {
    if !named.is_empty() {
        return Ok(Vec::new());
    }
    let beside = beside.as_ref().map_err(Unknown::clone)?;
    Ok(beside.iter().map(|domain| domain.name.clone()).collect())
}

/// A definition for another machine shares that machine with other domains.
fn with_beside<'a>(
    mut others: Vec<&'a Domain>,
    beside: &'a Result<Vec<Named>, Unknown>,
    here: &Result<(), Unknown>,
) -> Result<Vec<&'a Domain>, Unknown> {
    if here.is_ok() {
        for domain in beside.as_ref().map_err(Unknown::clone)? {
            others.push(domain.judged()?);
        }
    }
    Ok(others)
}

/// CPUs for the domain's other threads: a pin to a CPU that the group around the domain lacks fails.
fn housekeeping(facts: &Facts, part: &Subject) -> Result<CpuList, Unknown> {
    let others = cpus(facts, "hk_cpus")?;
    let allowed = match facts.get(Some(part), "dom.slice-cpus") {
        Ok(Value::Cpus(allowed)) => allowed,
        _ => return Ok(others),
    };
    match others.without(&allowed) {
        lacking if lacking.is_empty() => Ok(others),
        lacking => Err(Unknown::unclear(format!(
            "the group around the domain has CPU {allowed} only, so a pin to CPU {lacking} fails: give them to its slice first (AllowedCPUs=)"
        ))),
    }
}

/// CPUs for real-time work. Their absence here is no evidence about the machine for which a file was made.
fn rt_cpus(facts: &Facts, of_file: bool) -> Result<CpuList, Unknown> {
    let told = facts.get(None, "cpus.told") == Ok(Value::Flag(true));
    match facts.get(None, "rt_cpus")? {
        Value::Cpus(cpus) if !cpus.is_empty() || told || !of_file => Ok(cpus),
        _ => Err(Unknown::unclear(
            "no CPU of this machine is set aside: name those of the domain's host with --cpus",
        )),
    }
}

/// Domains that the user named. Files that contain the same domain name are listed by path.
pub(super) fn named(reader: &Reader, parameters: &Parameters) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    for asked in &parameters.domains {
        let mut domain = match is_file(asked) {
            true => of_file(asked),
            false => of_name(reader, asked),
        };
        if all.iter().any(|known| known.name == domain.name) {
            domain.name.clone_from(asked);
        }
        all.push(domain);
    }
    all
}

fn of_file(path: &str) -> Named {
    let parsed = text(Path::new(path)).and_then(|text| parse(path, &text));
    Named {
        name: parsed
            .as_ref()
            .map_or_else(|_| path.to_owned(), |domain| domain.name.clone()),
        is_file: true,
        stored: parsed.map_err(Unknown::unclear),
        running: None,
    }
}

fn of_name(reader: &Reader, name: &str) -> Named {
    let read = |folder| {
        let path = format!("{folder}/{name}.xml");
        let text = reader.text(&path)?;
        parse(&path, &text).map_err(Unknown::unclear)
    };
    let running = match read(RUNNING) {
        Err(unknown) if unknown.why == Why::Absent => None,
        other => Some(other),
    };
    Named {
        name: name.to_owned(),
        is_file: false,
        stored: read(STORED).map_err(|unknown| not_defined(name, unknown)),
        running,
    }
}

/// A domain without a definition differs from one whose definition leaves a setting out.
fn not_defined(name: &str, unknown: Unknown) -> Unknown {
    match unknown.why {
        Why::Absent => Unknown::unclear(format!("no domain {name} is defined: {}", unknown.text)),
        _ => unknown,
    }
}

fn parse(path: &str, text: &str) -> Result<Domain, String> {
    Domain::parse(text).map_err(|error| format!("{path}: {error}"))
}
