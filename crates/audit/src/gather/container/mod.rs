//! Containers: those named by definition or id, and the one in which this process runs; and the node's kubelet.

mod kubelet;
mod memory;
mod named;
mod running;

use units::CpuList;

use crate::definition::container::Shape;
use crate::facts::{Class, Facts};
use crate::gather::domain;
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::container;
use host::reader::Reader;

const RESCTRL: &str = "/sys/fs/resctrl";

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    kubelet::gather(reader, facts);
    facts.set("resctrl.class-cpus", class_cpus(reader));
    let mut shapes: Vec<Shape> = Vec::new();
    for name in &parameters.containers {
        shapes.extend(named::read(reader, name));
    }
    let domains = match shapes.is_empty() {
        true => Ok(Vec::new()),
        false => domain::pinned(reader, parameters),
    };
    let mut shared: Vec<_> = (0..shapes.len()).map(|at| sharing(&shapes, at, &domains)).collect();
    let pinned =
        |domains: Vec<(String, CpuList)>| -> CpuList { domains.iter().flat_map(|(_, cpus)| cpus.iter()).collect() };
    facts.set("domains.pinned-cpus", domains.map(pinned));
    // A definition that is named inside a container describes that container: it shares no CPU with itself.
    if container::detect(reader).is_ok_and(|found| found.runtime.is_some()) {
        shapes.push(running::read(reader));
        shared.push(Ok(Vec::new()));
    }
    let nic = parameters.nics.first().cloned();
    let nic = nic.ok_or_else(|| Unknown::unclear("name the interface of the process bus with --nic"));
    let mut names: Vec<String> = Vec::new();
    for (shape, shared) in shapes.into_iter().zip(shared) {
        let mut part = shape.into_part();
        // Only the part of a pod has the form POD/CONTAINER; other names may contain anything.
        let of_pod = Facts::default().get(Some(&part), "ctr.form") == Ok(Value::from("pod"));
        let names_of_pod = part.name.split_once('/').filter(|_| of_pod);
        let (pod, container) = names_of_pod.unwrap_or((&part.name, &part.name));
        let (pod, container) = (pod.to_owned(), container.to_owned());
        part.set("pod.name", pod);
        part.set("ctr.name", container);
        part.set("nic", nic.clone());
        part.name = told_apart(&part.name, &names);
        names.push(part.name.clone());
        part.set("ctr.shares-cpus-with", shared);
        facts.add(Class::Container, part);
    }
}

/// Parts need unique names: a second container of a name becomes `relay (2)`.
fn told_apart(name: &str, taken: &[String]) -> String {
    let is_free = |name: &String| !taken.contains(name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

/// Domains with the CPUs to which their threads are pinned.
type Domains = Result<Vec<(String, CpuList)>, Unknown>;

/// Other containers, and domains, that are bound to a CPU of this one.
fn sharing(shapes: &[Shape], at: usize, domains: &Domains) -> Result<Vec<String>, Unknown> {
    let mut names = Vec::new();
    for (_, other) in shapes.iter().enumerate().filter(|(other, _)| *other != at) {
        if other.shares_cpus_with(&shapes[at])? {
            names.push(other.name().to_owned());
        }
    }
    for (name, cpus) in domains.as_ref().map_err(Unknown::clone)? {
        if shapes[at].is_on(cpus)? {
            names.push(format!("domain {name}"));
        }
    }
    Ok(names)
}

/// CPUs in a class of cache allocation other than the default.
fn class_cpus(reader: &Reader) -> Result<CpuList, Unknown> {
    if !reader.exists(&format!("{RESCTRL}/schemata"))? {
        return Err(Unknown::absent(format!("{RESCTRL} is not mounted")));
    }
    let is_class = |name: &str| !["info", "mon_groups", "mon_data"].contains(&name);
    let mut cpus = Vec::new();
    for name in reader.names(RESCTRL, is_class)? {
        let path = format!("{RESCTRL}/{name}/cpus_list");
        match reader.cpus(&path) {
            Ok(of_class) => cpus.extend(of_class.iter()),
            // A plain file among the class folders.
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(cpus.into_iter().collect())
}
