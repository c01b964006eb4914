//! Finds reasons to doubt a measurement on an interface before it begins.

use host::Host;
use host::nic::{self, Measurement};
use probes::Rest;
use sys::packet::Listener;
use units::CpuList;

/// Smallest stolen time, in per mille of the time since boot, that is reported.
const NOTABLE_STEAL: f64 = 0.1;

/// EtherTypes of sockets that receive frames like the measured ones: all frames (`ETH_P_ALL`), or one of our types.
const OURS: [u16; 5] = [
    3,
    wire::test_frame::ETHER_TYPE,
    wire::ether::SV,
    wire::ether::GOOSE,
    wire::avtp::ETHER_TYPE,
];

/// How a probe will measure on an interface.
#[derive(Debug, Clone, Default)]
pub struct Intent {
    /// The CPUs that measure.
    pub cpus: CpuList,
    /// True if a real-time thread spins without the rests that keep it below the kernel's throttling.
    pub spins_without_rest: bool,
    /// True if frames carry the instant at which they must leave.
    pub launch_times: bool,
}

/// Each doubt is a sentence with its remedy: link, coalescing, energy-efficient Ethernet, offloads, interrupts, other packet
/// sockets, real-time throttling, stolen time. Empty: nothing found.
pub fn doubts(interface: &str, intent: &Intent) -> Vec<String> {
    let of = Measurement {
        cpus: intent.cpus.clone(),
        launch_times: intent.launch_times,
    };
    let mut found = nic::doubts(interface, &of);
    found.extend(listeners(interface));
    found.extend(throttling(intent));
    found.extend(stolen(&intent.cpus));
    found
}

/// Other packet sockets. For each of them the kernel clones every frame: some 0.4 us of a round trip (measured on veth).
fn listeners(interface: &str) -> Vec<String> {
    let others = match sys::packet::listeners(interface) {
        Ok(others) => others,
        Err(error) => return vec![format!("cannot find other packet sockets that listen: {error}")],
    };
    let name = |other: &Listener| match &other.process {
        Some(process) => format!("{} (pid {})", process.name, process.pid),
        None => "a process that cannot be seen from here".to_owned(),
    };
    let describe = |other: &Listener| {
        format!(
            "{} listens on {interface} with a packet socket, for which the kernel clones every frame: end it if it is not needed",
            name(other)
        )
    };
    others.iter().filter(|other| clones_ours(other)).map(describe).collect()
}

/// True if the kernel clones frames like the measured ones for this socket: it does not for sockets bound to another EtherType.
fn clones_ours(other: &Listener) -> bool {
    OURS.contains(&other.protocol)
}

fn throttling(intent: &Intent) -> Option<String> {
    let rests = rest();
    (intent.spins_without_rest && rests.is_on()).then(|| {
        "a real-time thread will spin without rests, and the kernel will take its CPU away for some 50 ms of each second: \
         set kernel.sched_rt_runtime_us to -1, or leave out --no-rest (with --dialect l2reflect: --engine block)"
            .to_owned()
    })
}

/// Pauses required by this kernel's real-time throttling, and by the budget of the control group if that is less. If they cannot be
/// read, the kernel's defaults are assumed.
pub fn rest() -> Rest {
    let host = Host::live();
    let all = host.rt_runtime().ok();
    let of_group = host.group_rt_runtime().ok().flatten();
    let limited = [all, of_group].into_iter().flatten().filter(|rt| !rt.is_unlimited());
    let least = limited.min_by_key(|rt| u64::try_from(rt.runtime_us).unwrap_or(0) * 1_000_000 / rt.period_us.max(1));
    let (runtime_us, period_us) = least.or(all).map_or((950_000, 1_000_000), |rt| {
        (rt.runtime_us, i64::try_from(rt.period_us).unwrap_or(i64::MAX))
    });
    Rest::below_throttling(runtime_us, period_us)
}

fn stolen(cpus: &CpuList) -> Vec<String> {
    let Ok(steals) = Host::live().steal_ticks() else {
        return Vec::new();
    };
    // CLOCK_MONOTONIC starts at boot.
    let up_s = sys::clock::monotonic().as_ns() as f64 / 1e9;
    let of_cpus = steals.into_iter().filter(|steal| cpus.contains(steal.cpu));
    let share = of_cpus.map(|steal| {
        // A tick is 10 ms in /proc/stat, whatever the kernel's own tick is.
        let per_mille = steal.ticks as f64 * 10.0 / up_s;
        (steal.cpu, per_mille)
    });
    share
        .filter(|(_, per_mille)| *per_mille >= NOTABLE_STEAL)
        .map(|(cpu, per_mille)| {
            format!(
                "cpu{cpu}: the hypervisor ran something else for {:.2} % of the time since boot: maxima contain the \
                 host's stalls",
                per_mille / 10.0
            )
        })
        .collect()
}
