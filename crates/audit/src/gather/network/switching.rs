//! Threads that move frames between interfaces and virtual machines: Open vSwitch and vhost.

use units::CpuList;

use crate::facts::Facts;
use crate::gather::daemons::{Daemon, Thread};
use crate::value::Unknown;

const OVS: &str = "ovs-vswitchd";
/// Begin of the names of its threads that poll ports of DPDK: they have CPUs of their own on purpose.
const POLLS: &str = "pmd";

/// True if this module needs the process of this name.
pub(in crate::gather) fn moves_frames(name: &str) -> bool {
    name == OVS || name.starts_with("vhost-") || is_emulator(name)
}

/// From the processes of such names.
pub(in crate::gather) fn gather(found: &Result<Vec<Daemon>, Unknown>, facts: &mut Facts) {
    ovs(found, facts);
    vhost(found, facts);
}

/// Names of QEMU's processes: `qemu-system-x86`, `qemu-kvm`, `kvm`; `CPU 0/KVM` is a thread of one.
fn is_emulator(name: &str) -> bool {
    name.starts_with("qemu") || name == "kvm"
}

fn ovs(found: &Result<Vec<Daemon>, Unknown>, facts: &mut Facts) {
    let threads = found.clone().map(|found| {
        let own = found.into_iter().filter(|daemon| daemon.name == OVS);
        own.flat_map(|daemon| daemon.threads).collect::<Vec<Thread>>()
    });
    facts.set("ovs.runs", threads.clone().map(|threads| !threads.is_empty()));
    let others = threads.map(|threads| {
        let others = threads.into_iter().filter(|thread| !thread.name.starts_with(POLLS));
        others.collect::<Vec<Thread>>()
    });
    facts.set("ovs.cpus", others.and_then(|threads| cpus(&threads)));
}

fn vhost(found: &Result<Vec<Daemon>, Unknown>, facts: &mut Facts) {
    let threads = |wanted: fn(&str) -> bool| {
        let found = found.clone()?.into_iter();
        let all = found
            .flat_map(|daemon| daemon.threads)
            .filter(move |thread| wanted(&thread.name));
        Ok::<Vec<Thread>, Unknown>(all.collect())
    };
    let workers = threads(|name| name.starts_with("vhost-"));
    facts.set("vhost.threads", workers.clone().map(|all| names(&all)));
    facts.set("vhost.not-real-time", workers.clone().and_then(|all| ordinary(&all)));
    facts.set("vhost.cpus", workers.and_then(|all| cpus(&all)));
    let virtual_cpus = threads(|name| name.ends_with("/KVM"));
    facts.set("vhost.vcpu-cpus", virtual_cpus.and_then(|all| cpus(&all)));
}

fn names(threads: &[Thread]) -> Vec<String> {
    threads.iter().map(|thread| thread.name.clone()).collect()
}

fn ordinary(threads: &[Thread]) -> Result<Vec<String>, Unknown> {
    let mut names = Vec::new();
    for thread in threads {
        if !thread.is_real_time()? {
            names.push(thread.name.clone());
        }
    }
    Ok(names)
}

/// CPUs on which any of them may run.
pub(in crate::gather) fn cpus(threads: &[Thread]) -> Result<CpuList, Unknown> {
    let mut all = Vec::new();
    for thread in threads {
        all.extend(thread.cpus.clone()?.iter());
    }
    Ok(all.into_iter().collect())
}
