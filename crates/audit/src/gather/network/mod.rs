//! Network interfaces and virtual switching.
//!
//! The parts of class [`Class::Nic`] are the named interfaces and those below them; if none was named, every device with a link, since any
//! may carry the process bus.

mod answer;
mod counters;
mod macvlan;
mod multicast;
mod place;
mod queues;
mod settings;
mod switching;

pub(super) use answer::only_live;
pub(super) use counters::count;
pub(super) use macvlan::Macvlans;
pub(super) use switching::{cpus as cpus_of, gather as switching, moves_frames};

pub use answer::DriverAnswer;

use crate::facts::{Class, Facts, Subject};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::nic::interface::{self, Interface, InterfaceKind};
use host::reader::Reader;
use place::Links;

/// Maximum number of interfaces below the named ones: a bridge can have hundreds of ports.
const MOST_BELOW: usize = 16;

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    limits(facts);
    facts.set("nic.told", !parameters.nics.is_empty());
    let first = parameters.nics.first().cloned();
    facts.set(
        "nic",
        first.ok_or_else(|| Unknown::unclear("name the interface with --nic")),
    );
    let kernel = facts.get(None, "kernel.number");
    let links = Links::read(reader);
    let macvlans = Macvlans::read(reader);
    let groups = multicast::Groups::read(reader);
    for name in asked(reader, parameters, &links) {
        let mut part = Subject::new(&name);
        part.set("nic", name.as_str());
        place::gather(reader, &links, &macvlans, &name, &mut part);
        settings::gather(reader, &name, &mut part);
        queues::gather(reader, &name, &mut part);
        multicast::gather(reader, (&links, &groups, &macvlans, &kernel), &name, &mut part);
        facts.add(Class::Nic, part);
    }
}

/// Default limits: those of the catalogue, and the frames of twenty streams of 4800 a second.
fn limits(facts: &mut Facts) {
    facts.set("limits.nic-coalesce-us", 0u32);
    // stmmac accepts at least 20; Sienda's example sets 21.
    facts.set("limits.nic-coalesce-tolerated-us", 21u32);
    facts.set("limits.burst-s", 0.01);
    facts.set("plan.frames-per-s", 96_000u32);
    facts.set("plan.ring-frames", 960u32);
}

/// Names of the parts, each once: interfaces below another one follow it.
fn asked(reader: &Reader, parameters: &Parameters, links: &Links) -> Vec<String> {
    let mut open = match parameters.nics.is_empty() {
        false => parameters.nics.clone(),
        true => in_use(reader),
    };
    let most = open.len() + MOST_BELOW;
    let mut names: Vec<String> = Vec::new();
    while names.len() < most && !open.is_empty() {
        let name = open.remove(0);
        if !names.contains(&name) {
            open.extend(links.below(&name));
            names.push(name);
        }
    }
    names
}

fn in_use(reader: &Reader) -> Vec<String> {
    let is_used = |one: &Interface| one.kind == InterfaceKind::Device && one.operstate.as_deref() != Some("down");
    let all = interface::all(reader).unwrap_or_default().into_iter();
    all.filter(is_used).map(|one| one.name).collect()
}
