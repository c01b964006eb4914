//! libvirt domains: their definitions, stored and running, and the threads of those that run.

mod differences;
mod facts;
mod hardware;
mod moves;
mod nics;
mod priorities;
mod slice;
mod threads;

pub(crate) use moves::moves;
pub(crate) use priorities::priorities;

use std::path::Path;

use units::CpuList;

use crate::audit::definition::domain::Domain;
use crate::audit::definition::{is_file, text};
use crate::audit::facts::{Class, Facts, Subject};
use crate::audit::parameters::Parameters;
use crate::audit::value::{Unknown, Value, Why};
use crate::reader::Reader;

/// Definitions of domains, as libvirt stores them and as they run.
const STORED: &str = "/etc/libvirt/qemu";
const RUNNING: &str = "/run/libvirt/qemu";

/// A domain that was named.
pub(super) struct Named {
    pub(super) name: String,
    /// Whether it was named as a file: that may be of another machine.
    pub(super) is_file: bool,
    /// What the next start will give.
    pub(super) stored: Result<Domain, Unknown>,
    /// What runs; none: it does not run.
    pub(super) running: Option<Result<Domain, Unknown>>,
}

impl Named {
    /// What is judged: what runs, else what is stored.
    pub(super) fn judged(&self) -> Result<&Domain, Unknown> {
        let judged = self.running.as_ref().unwrap_or(&self.stored);
        judged.as_ref().map_err(Unknown::clone)
    }
}

/// What the facts of a domain are made of.
struct Scene<'a> {
    reader: &'a Reader,
    named: &'a Named,
    /// The other domains that were named.
    others: Vec<&'a Domain>,
    rt_cpus: Result<CpuList, Unknown>,
}

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let all: Vec<Named> = named(reader, parameters);
    for (place, domain) in all.iter().enumerate() {
        let others = all.iter().enumerate().filter(|(other, _)| *other != place);
        let others = others.filter_map(|(_, other)| other.judged().ok()).collect();
        let scene = Scene {
            reader,
            named: domain,
            others,
            rt_cpus: rt_cpus(facts, domain.is_file),
        };
        let mut part = Subject::new(domain.name.clone());
        facts::note(&mut part, &scene);
        facts.add(Class::Domain, part);
    }
}

/// The CPUs for real-time work. That none is set aside here says nothing of the machine a file was made for.
fn rt_cpus(facts: &Facts, of_file: bool) -> Result<CpuList, Unknown> {
    let told = facts.get(None, "cpus.told") == Ok(Value::Flag(true));
    match facts.get(None, "rt_cpus")? {
        Value::Cpus(cpus) if !cpus.is_empty() || told || !of_file => Ok(cpus),
        _ => Err(Unknown::unclear(
            "no CPU of this machine is set aside: name those of the domain's host with --cpus",
        )),
    }
}

/// The domains that the user named. Files with the same name inside go by their paths.
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

/// A domain without a definition is not one whose definition says nothing.
fn not_defined(name: &str, unknown: Unknown) -> Unknown {
    match unknown.why {
        Why::Absent => Unknown::unclear(format!("no domain {name} is defined: {}", unknown.text)),
        _ => unknown,
    }
}

fn parse(path: &str, text: &str) -> Result<Domain, String> {
    Domain::parse(text).map_err(|error| format!("{path}: {error}"))
}
