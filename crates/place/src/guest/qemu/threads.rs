//! Pins the threads of virtual CPUs to CPUs of this machine.

use super::super::super::PlaceError;
use std::fs::{read_dir, read_to_string};
use std::path::Path;
use sys::thread::{set_affinity_of, set_policy_of};
use units::CpuList;

/// Policy of virtual CPUs: above everything without real-time priority, and below the kernel threads that serve them.
const POLICY: &str = "fifo:1";

/// A thread of QEMU that runs virtual CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Vcpu {
    /// Number of the thread.
    pub(in super::super) thread: u32,
    /// The virtual CPU; `None` if the thread runs all of them.
    pub(in super::super) cpu: Option<u32>,
}

/// The threads of the process that run virtual CPUs, found by the names that QEMU gives them (`debug-threads=on`).
pub(in super::super) fn vcpus(process: u32) -> Vec<Vcpu> {
    of(Path::new(&format!("/proc/{process}/task")))
}

fn of(tasks: &Path) -> Vec<Vcpu> {
    let threads = read_dir(tasks).into_iter().flatten().flatten();
    let mut found: Vec<Vcpu> = threads
        .filter_map(|task| {
            let name = read_to_string(task.path().join("comm")).ok()?;
            let thread = task.file_name().to_str()?.parse().ok()?;
            let name = name.trim();
            let cpu = match name.strip_prefix("CPU ").and_then(|rest| rest.split_once('/')) {
                Some((number, _)) => Some(number.parse().ok()?),
                None if name.starts_with("ALL CPUs/") => None,
                None => return None,
            };
            Some(Vcpu { thread, cpu })
        })
        .collect();
    found.sort_by_key(|vcpu| vcpu.cpu);
    found
}

/// The thread that runs this virtual CPU, if it is pinned to one CPU.
pub(in super::super) fn vcpu(process: u32, cpu: u32) -> Option<crate::Vcpu> {
    let thread = vcpus(process)
        .into_iter()
        .find(|vcpu| vcpu.cpu.is_none_or(|own| own == cpu))?
        .thread;
    let status = read_to_string(format!("/proc/{process}/task/{thread}/status")).ok()?;
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let allowed: CpuList = allowed.trim().parse().ok()?;
    match &allowed.iter().collect::<Vec<u32>>()[..] {
        [only] => Some(crate::Vcpu {
            thread: i32::try_from(thread).ok()?,
            cpu: *only,
        }),
        _ => None,
    }
}

/// Pins each virtual CPU to the CPU of this machine at its position in the list, with real-time priority under KVM; returns a description.
///
/// # Errors
/// The threads do not exist, or the kernel refuses.
pub(in super::super) fn place(process: u32, host_cpus: &CpuList, kvm: bool) -> Result<String, PlaceError> {
    let vcpus = vcpus(process);
    if vcpus.is_empty() {
        return Err(PlaceError::NotAvailable(
            "QEMU does not name the threads of its virtual CPUs: they cannot be placed".to_owned(),
        ));
    }
    let mut done = Vec::new();
    for vcpu in &vcpus {
        let cpus = match vcpu.cpu {
            // A single thread runs on one CPU at a time.
            None => host_cpus.iter().last().into_iter().collect(),
            Some(number) => host_cpus.iter().nth(number as usize).into_iter().collect(),
        };
        set_affinity_of(vcpu.thread, &cpus)?;
        done.push(match vcpu.cpu {
            None => format!("all on {cpus}"),
            Some(number) => format!("{number} on {cpus}"),
        });
    }
    if kvm {
        for vcpu in &vcpus {
            set_policy_of(vcpu.thread, POLICY)?;
        }
        done.push(POLICY.to_owned());
    }
    Ok(done.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Vcpu, of};

    #[test]
    fn threads_are_known_by_their_names() {
        let tasks = tempfile::tempdir().expect("a folder");
        for (thread, name) in [
            ("10", "qemu-system-x86"),
            ("12", "CPU 1/KVM"),
            ("11", "CPU 0/KVM"),
            ("13", "worker"),
        ] {
            std::fs::create_dir(tasks.path().join(thread)).expect("made");
            std::fs::write(tasks.path().join(thread).join("comm"), format!("{name}\n")).expect("written");
        }
        let vcpu = |thread, cpu| Vcpu { thread, cpu };
        assert_eq!(of(tasks.path()), [vcpu(11, Some(0)), vcpu(12, Some(1))]);
        std::fs::write(tasks.path().join("12/comm"), "ALL CPUs/TCG\n").expect("written");
        std::fs::write(tasks.path().join("11/comm"), "other\n").expect("written");
        assert_eq!(of(tasks.path()), [vcpu(12, None)]);
    }
}
