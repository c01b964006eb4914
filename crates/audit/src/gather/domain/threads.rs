//! Threads of a running domain, and the kernel threads on the same CPUs.

use units::CpuList;

use super::Scene;
use crate::definition::domain::{Domain, Running};
use crate::facts::{IntoKnown, Subject};
use crate::value::{Known, Unknown};
use host::error::HostError;
use host::processes;
use host::reader::Reader;
use host::stat::ThreadStat;

/// Stores the threads whose CPUs or policy differ from the definition.
pub(super) fn note(part: &mut Subject, scene: &Scene<'_>, domain: Result<&Domain, Unknown>) {
    let with_status = domain.and_then(|domain| match (&scene.named.running, &domain.running) {
        (None, _) => Err(Unknown::absent("the domain does not run")),
        (Some(_), None) => Err(Unknown::unclear("the status file names no process of the domain")),
        (Some(_), Some(running)) => Ok((domain, running)),
    });
    type Check = fn(&Reader, &Domain, &Running) -> Result<Vec<String>, Unknown>;
    let checks: [(&str, Check); 3] = [
        ("dom.vcpu-threads-elsewhere", vcpus_elsewhere),
        ("dom.vcpu-threads-of-other-policy", other_policies),
        ("dom.emulator-threads-on-vcpu-cpus", emulator_on_vcpu_cpus),
    ];
    for (name, check) in checks {
        let found = with_status
            .clone()
            .and_then(|(domain, running)| check(scene.reader, domain, running));
        part.set(name, found);
    }
}

fn vcpus_elsewhere(reader: &Reader, domain: &Domain, running: &Running) -> Result<Vec<String>, Unknown> {
    let mut elsewhere = Vec::new();
    for (vcpu, thread) in &running.vcpus {
        let allowed = allowed(reader, running.pid, *thread)?;
        if domain.tuning.pin(*vcpu).is_some_and(|pin| *pin != allowed) {
            elsewhere.push(format!("vCPU {vcpu} (thread {thread}) on {allowed}"));
        }
    }
    Ok(elsewhere)
}

fn other_policies(reader: &Reader, domain: &Domain, running: &Running) -> Result<Vec<String>, Unknown> {
    let mut others = Vec::new();
    for (vcpu, thread) in &running.vcpus {
        let path = format!("/proc/{}/task/{thread}/stat", running.pid);
        let line = reader.line(&path).map_err(gone)?;
        let policy = ThreadStat::parse(&line).and_then(|stat| stat.policy);
        let policy = policy.ok_or_else(|| Unknown::unclear(format!("{path} shows no policy")))?;
        let wanted = domain
            .tuning
            .policies
            .get(vcpu)
            .map(|(name, priority)| format!("{name}:{priority}"));
        if wanted.is_some_and(|wanted| wanted != policy) {
            others.push(format!("vCPU {vcpu} (thread {thread}): {policy}"));
        }
    }
    Ok(others)
}

fn emulator_on_vcpu_cpus(reader: &Reader, domain: &Domain, running: &Running) -> Result<Vec<String>, Unknown> {
    let vcpu_cpus = domain.tuning.vcpu_cpus();
    let threads = emulator_threads(reader, running)?.into_iter();
    let beside = threads.filter(|(_, allowed)| allowed.iter().any(|cpu| vcpu_cpus.contains(cpu)));
    Ok(beside
        .map(|(thread, allowed)| format!("thread {thread} on {allowed}"))
        .collect())
}

/// Threads that are not vCPUs, with their CPUs. A helper that ends during the reading is left out.
pub(super) fn emulator_threads(reader: &Reader, running: &Running) -> Result<Vec<(u32, CpuList)>, Unknown> {
    let folder = format!("/proc/{}/task", running.pid);
    let is_number = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
    let names = reader.names(&folder, is_number).map_err(gone)?;
    let is_vcpu = |thread: u32| running.vcpus.iter().any(|(_, of_vcpu)| *of_vcpu == thread);
    let threads = names
        .iter()
        .filter_map(|name| name.parse().ok())
        .filter(|thread| !is_vcpu(*thread));
    let known = threads.filter_map(|thread| Some((thread, allowed(reader, running.pid, thread).ok()?)));
    Ok(known.collect())
}

/// CPUs on which a thread may run.
pub(super) fn allowed(reader: &Reader, process: u32, thread: u32) -> Result<CpuList, Unknown> {
    let path = format!("/proc/{process}/task/{thread}/status");
    let text = reader.text(&path).map_err(gone)?;
    let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let cpus = line.and_then(|line| line.trim().parse().ok());
    cpus.ok_or_else(|| Unknown::unclear(format!("{path} has no Cpus_allowed_list")))
}

/// A missing thread is unknown, not a thread without a setting.
fn gone(error: HostError) -> Unknown {
    Unknown::from(error).never_absent()
}

/// Lowest real-time priority of the kernel's `rcuc` threads on the CPUs of the vCPUs: 0 if one of them has none. Only read for domains
/// above priority 1, a value that works with every kernel.
pub(super) fn kernel_priority(scene: &Scene<'_>, domain: &Domain) -> Known {
    let above_one = domain.tuning.policies.values().any(|(_, priority)| *priority > 1);
    if !above_one {
        return Err(Unknown::unclear("not needed: no vCPU is above priority 1"));
    }
    let cpus = domain.tuning.vcpu_cpus();
    let running = processes::running(scene.reader)?;
    let mut lowest: Option<u32> = None;
    for cpu in cpus.iter() {
        let ids = running.get(&format!("rcuc/{cpu}"));
        let id = ids.and_then(|ids| ids.first());
        let id = id.ok_or_else(|| Unknown::unclear(format!("no thread rcuc/{cpu} can be seen")))?;
        let line = scene.reader.line(&format!("/proc/{id}/stat")).map_err(gone)?;
        let policy = ThreadStat::parse(&line)
            .and_then(|stat| stat.policy)
            .unwrap_or_default();
        let priority = policy
            .split_once(':')
            .and_then(|(_, priority)| priority.parse().ok())
            .unwrap_or(0);
        lowest = Some(lowest.map_or(priority, |known| known.min(priority)));
    }
    lowest.ok_or_else(|| Unknown::unclear("no vCPU has a pin")).into_known()
}
