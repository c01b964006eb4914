//! Interrupts and software steering of the named interfaces.

use units::CpuList;

use super::super::shared::{Search, nics, unclear};
use super::irqs::Names;
use super::{irqs, threads};
use crate::condition::as_mask;
use crate::facts::{Class, Facts, Subject};
use crate::parameters::Parameters;
use crate::value::{Unknown, Value};
use host::error::HostError;
use host::nic::interface::ROOT;
use host::nic::interrupts;
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, parameters: &Parameters, names: &Names, facts: &mut Facts) {
    for name in nics(parameters, facts) {
        let mut part = Subject::new(name.clone());
        let numbers = numbers(reader, names, &name);
        let listed = numbers.clone();
        part.set(
            "nic.irqs",
            listed.map(|numbers| numbers.iter().map(u32::to_string).collect::<Vec<String>>()),
        );
        let numbers = numbers.as_deref().map_err(Unknown::clone);
        let delivered = numbers
            .clone()
            .and_then(|numbers| union(reader, numbers, irqs::delivered));
        let allowed = numbers
            .clone()
            .and_then(|numbers| union(reader, numbers, irqs::allowed));
        part.set("nic.irq-cpus-used", delivered.clone());
        part.set("nic.irq-cpus-allowed", allowed);
        part.set(
            "nic.irqs-on-several-cpus",
            numbers.clone().and_then(|numbers| unpinned(reader, numbers)),
        );
        threads::note(reader, &name, numbers, delivered, &mut part);
        part.set("nic.rps-cpus", rps_cpus(reader, &name));
        part.set("nic.rfs-flows", rfs_flows(reader, &name));
        facts.add(Class::Nic, part);
    }
}

/// Interrupts that its device lists, and those named after it: drivers of devices outside PCI list none.
fn numbers(reader: &Reader, names: &Names, name: &str) -> Result<Vec<u32>, Unknown> {
    reader.names(&format!("{ROOT}/{name}"), |_| false).map_err(unclear)?;
    let names = names.as_ref().map_err(|unknown| unclear(unknown.clone()))?;
    let listed = match interrupts::listed(reader, name) {
        Err(error) if error.is_absent() => Vec::new(),
        listed => listed.map_err(unclear)?,
    };
    let of_nic = |(number, handler): &(&u32, &String)| {
        listed.contains(&number.to_string()) || interrupts::is_named_after(handler, name)
    };
    Ok(names.iter().filter(of_nic).map(|(number, _)| *number).collect())
}

type Cpus = fn(&Reader, u32) -> Result<CpuList, HostError>;

fn union(reader: &Reader, numbers: &[u32], cpus: Cpus) -> Result<CpuList, Unknown> {
    let mut all = Vec::new();
    for number in numbers {
        all.extend(cpus(reader, *number).map_err(unclear)?.iter());
    }
    Ok(all.into_iter().collect())
}

/// Interrupts that may go to more than one CPU.
fn unpinned(reader: &Reader, numbers: &[u32]) -> Result<Vec<String>, Unknown> {
    let mut search = Search::default();
    for number in numbers {
        match irqs::allowed(reader, *number) {
            Ok(cpus) if cpus.len() > 1 => search.add(format!("{number} (CPU {cpus})")),
            Ok(_) => {}
            Err(error) => search.missed(error),
        }
    }
    search.result()
}

/// Receive queues of an interface.
fn queues(reader: &Reader, name: &str) -> Result<Vec<String>, Unknown> {
    let folder = format!("{ROOT}/{name}/queues");
    let queues = reader
        .names(&folder, |queue| queue.starts_with("rx-"))
        .map_err(unclear)?;
    if queues.is_empty() {
        return Err(Unknown::unclear(format!("{folder}: no receive queue is listed")));
    }
    // Queues are numbered without gaps (Linux 6.12: net/core/net-sysfs.c, rx_queue_add_kobject).
    match (0..queues.len()).find(|number| !queues.contains(&format!("rx-{number}"))) {
        Some(missing) => Err(Unknown::unclear(format!("{folder}: rx-{missing} is missing"))),
        None => Ok(queues.iter().map(|queue| format!("{folder}/{queue}")).collect()),
    }
}

/// CPUs to which the kernel passes received frames.
fn rps_cpus(reader: &Reader, name: &str) -> Result<CpuList, Unknown> {
    let mut all = Vec::new();
    for queue in queues(reader, name)? {
        let mask = reader.line(&format!("{queue}/rps_cpus")).map_err(unclear)?;
        all.extend(as_mask(&Value::Text(mask))?.iter());
    }
    Ok(all.into_iter().collect())
}

/// Size of the largest flow table that steers frames to their reader's CPU.
fn rfs_flows(reader: &Reader, name: &str) -> Result<f64, Unknown> {
    let mut largest = 0.0_f64;
    for queue in queues(reader, name)? {
        let flows: u32 = reader
            .parsed(&format!("{queue}/rps_flow_cnt"), "a number of flows")
            .map_err(unclear)?;
        largest = largest.max(f64::from(flows));
    }
    Ok(largest)
}
