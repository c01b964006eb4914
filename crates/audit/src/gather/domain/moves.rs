//! Finds threads of a running domain that must move to other CPUs to match its definition.

use units::CpuList;

use super::{of_name, threads};
use crate::definition::domain::{Domain, Running};
use host::reader::Reader;
use host::stat::ThreadStat;

/// A thread and the CPUs it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub tid: u32,
    /// Start time in clock ticks since boot.
    pub started_ticks: u64,
    pub name: String,
    pub cpus: CpuList,
}

/// Moves vCPUs to their pins. Emulator threads on a vCPU's CPU move to the emulator's pin, else to `housekeeping`.
///
/// # Errors
/// The domain does not run, or its threads cannot be read.
pub fn moves(reader: &Reader, name: &str, housekeeping: &CpuList) -> Result<Vec<Move>, String> {
    let (domain, process) = running(reader, name)?;
    let mut moves = vcpus(reader, &domain, &process)?;
    moves.extend(emulator(reader, &domain, &process, housekeeping)?);
    Ok(moves)
}

/// Finds a running domain and its process.
pub(super) fn running(reader: &Reader, name: &str) -> Result<(Domain, Running), String> {
    let running = of_name(reader, name).running;
    let domain =
        running.ok_or_else(|| format!("{name} does not run: its definition is changed with --emit libvirt"))?;
    let domain = domain.map_err(|unknown| unknown.text)?;
    let process = domain.running.clone();
    let process = process.ok_or_else(|| format!("{name}: its status file names no process"))?;
    Ok((domain, process))
}

fn vcpus(reader: &Reader, domain: &Domain, process: &Running) -> Result<Vec<Move>, String> {
    let mut moves = Vec::new();
    for (vcpu, tid) in &process.vcpus {
        let pin = domain.tuning.pin(*vcpu).filter(|pin| pin.len() == 1);
        let now = threads::allowed(reader, process.pid, *tid).map_err(|unknown| unknown.text)?;
        if let Some(pin) = pin.filter(|pin| **pin != now) {
            moves.extend(one(reader, process.pid, *tid, pin.clone()));
        }
    }
    Ok(moves)
}

fn emulator(reader: &Reader, domain: &Domain, process: &Running, housekeeping: &CpuList) -> Result<Vec<Move>, String> {
    let vcpu_cpus = domain.tuning.vcpu_cpus();
    let pinned = domain.tuning.emulator.as_ref().unwrap_or(housekeeping);
    let cpus = pinned.without(&vcpu_cpus);
    let found = threads::emulator_threads(reader, process).map_err(|unknown| unknown.text)?;
    let beside = found
        .into_iter()
        .filter(|(_, now)| now.iter().any(|cpu| vcpu_cpus.contains(cpu)));
    let beside: Vec<u32> = beside.map(|(tid, _)| tid).collect();
    if cpus.is_empty() && !beside.is_empty() {
        return Err("no CPU is left for the emulator: name CPUs with --cpus, and leave one for it".to_owned());
    }
    Ok(beside
        .into_iter()
        .filter_map(|tid| one(reader, process.pid, tid, cpus.clone()))
        .collect())
}

/// Returns `None` if the thread has ended.
fn one(reader: &Reader, process: u32, tid: u32, cpus: CpuList) -> Option<Move> {
    let line = reader.line(&format!("/proc/{process}/task/{tid}/stat")).ok()?;
    let stat = ThreadStat::parse(&line)?;
    Some(Move {
        tid,
        started_ticks: stat.started_ticks,
        name: stat.name,
        cpus,
    })
}
