//! Interrupts of an interface: their number, and whether each has CPUs of its own.

use units::CpuList;

use crate::facts::Subject;
use crate::gather::shared::unclear;
use crate::value::{Unknown, Value};
use host::cpu;
use host::nic::interface::ROOT;
use host::nic::interrupts::{NicInterrupt, of_nic};
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, name: &str, part: &mut Subject) {
    let queues = reader.names(&format!("{ROOT}/{name}/queues"), |queue| queue.starts_with("rx-"));
    // Every interface has receive queues, and the kernel lists them (Linux 6.12: net/core/net-sysfs.c, register_queue_kobjects).
    let queues = queues.map_err(unclear).and_then(|queues| match queues.len() {
        0 => Err(Unknown::unclear(format!("{ROOT}/{name}/queues lists no receive queue"))),
        count => Ok(Value::from(count)),
    });
    part.set_known("nic.queues", queues);
    let all = of_nic(reader, name).map_err(Unknown::from);
    let used = all.and_then(|all| {
        let used: Vec<NicInterrupt> = all.into_iter().filter(|one| one.name.is_some()).collect();
        match used.is_empty() {
            true => Err(Unknown::absent(format!("no interrupt of {name} is in use"))),
            false => Ok(used),
        }
    });
    let online = cpu::online(reader).map_err(Unknown::from);
    let loose = used.and_then(|used| loose(&used, &online?));
    part.set("nic.irqs-anywhere", loose);
}

/// Interrupts that may go to every CPU.
fn loose(used: &[NicInterrupt], online: &CpuList) -> Result<Vec<String>, Unknown> {
    let mut names = Vec::new();
    for one in used {
        let allowed = one.allowed.clone()?;
        if online.len() > 1 && online.without(&allowed).is_empty() {
            names.push(format!("{} ({})", one.number, one.name.as_deref().unwrap_or_default()));
        }
    }
    Ok(names)
}
