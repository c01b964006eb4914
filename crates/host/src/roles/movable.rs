//! Threads that could leave CPUs: threads without real-time priority that may run there and elsewhere.

use units::CpuList;

use super::owners::{allowed_cpus, is_virtual_cpu, numbers, own_number, thread};
use crate::error::HostError;
use crate::reader::Reader;

/// A thread that can be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movable {
    /// Thread id.
    pub tid: u32,
    /// Start time in clock ticks since boot.
    pub started_ticks: u64,
    /// Name, as the kernel keeps it.
    pub name: String,
}

/// Threads that may run on one of `cpus`, and on others too. Real-time threads and virtual CPUs are there on purpose; a thread that may run
/// nowhere else was put there, or is a kernel thread for that CPU.
pub fn read(reader: &Reader, cpus: &CpuList) -> Result<Vec<Movable>, HostError> {
    let own = own_number(reader);
    let mut movable = Vec::new();
    for pid in numbers(reader, "/proc")?.into_iter().filter(|pid| Some(*pid) != own) {
        let directory = format!("/proc/{pid}/task");
        for tid in numbers(reader, &directory).unwrap_or_default() {
            movable.extend(one(reader, &format!("{directory}/{tid}"), tid, cpus));
        }
    }
    Ok(movable)
}

fn one(reader: &Reader, directory: &str, tid: u32, cpus: &CpuList) -> Option<Movable> {
    let thread = thread(reader, directory)?;
    let allowed = allowed_cpus(reader, directory)?;
    let is_here = allowed.iter().any(|cpu| cpus.contains(cpu));
    let elsewhere = !allowed.without(cpus).is_empty();
    let on_purpose = thread.is_real_time || is_virtual_cpu(&thread.name);
    (is_here && elsewhere && !on_purpose && !thread.is_bound).then_some(Movable {
        tid,
        started_ticks: thread.started_ticks,
        name: thread.name,
    })
}
