//! Finds reasons, before a measurement, that make it questionable on an interface, as sentences for a person.

use super::facts::OFFLOADS;
use super::interrupts::NicInterrupt;
use super::settings::{LONGEST_IN_MODE_US, adaptive_rx, knows_launch_times, mode};
use super::{Nic, with_below};
use crate::Host;
use sys::ethtool::{Coalesce, Duplex};
use units::CpuList;

/// Planned measurement on an interface.
#[derive(Debug, Clone, Default)]
pub struct Measurement {
    /// Measuring CPUs.
    pub cpus: CpuList,
    /// True if frames get an instant at which to leave (`SO_TXTIME`).
    pub launch_times: bool,
}

/// Reasons that make a measurement on the interface `name`, or on the interfaces below it, questionable. Each sentence names the interface,
/// the fault, and the command that corrects it if there is one. Empty: nothing found. A setting that the driver does not report is no
/// doubt; the facts show it. Sentences that begin with `for information:` do not affect the figures of test frames and sampled values.
pub fn doubts(name: &str, of: &Measurement) -> Vec<String> {
    let isolated = Host::live().isolated_cpus().unwrap_or_default();
    let mut found = Vec::new();
    for (asked, nic) in with_below(&[name.to_owned()]) {
        match nic {
            Err(reason) => found.push(format!("{asked} cannot be examined: {reason}")),
            Ok(nic) => {
                of_driver(&nic, &mut found);
                interrupts(&nic, of, &isolated, &mut found);
                if of.launch_times && asked == name {
                    launch_times(&nic, &mut found);
                }
                offloads(&nic, &mut found);
            }
        }
    }
    found
}

/// Finds doubts from the driver's own answers.
pub(super) fn of_driver(nic: &Nic, found: &mut Vec<String>) {
    link(nic, found);
    holding(nic, found);
}

fn link(nic: &Nic, found: &mut Vec<String>) {
    let name = nic.name();
    if !nic.link.up {
        found.push(format!("{name} is down: bring it up with `ip link set {name} up`"));
    } else if !nic.link.carrier {
        found.push(format!("{name} has no carrier: no frame leaves it"));
    }
    let duplex = nic.said.link.as_ref().ok().and_then(|link| link.duplex);
    if duplex == Some(Duplex::Half) {
        found.push(format!("{name} is half duplex: collisions delay frames without bound"));
    }
    let eee = nic.said.eee.as_ref().ok();
    if eee.is_some_and(|eee| eee.enabled == Some(true) || eee.active == Some(true)) {
        found.push(format!(
            "{name} has energy-efficient Ethernet on: its transmitter sleeps between frames and wakes late \
             (`ethtool --set-eee {name} eee off`)"
        ));
    }
}

/// Finds settings that delay frames or their interrupts.
fn holding(nic: &Nic, found: &mut Vec<String>) {
    let name = nic.name();
    if let Ok(coalesce) = &nic.said.coalesce {
        if let Some(how) = held(nic, coalesce) {
            found.push(format!(
                "{name} holds received frames back: {how} (`ethtool -C {name} adaptive-rx off rx-usecs 0`)"
            ));
        }
        if let Some(frames) = coalesce.tx_frames.filter(|frames| *frames > 1) {
            found.push(format!(
                "{name} reports sent frames in batches of {frames} (`ethtool -C {name} tx-frames 1`)"
            ));
        }
    }
    let number = |wanted: &str| {
        let facts = nic
            .files
            .as_ref()
            .map(|files| files.facts.as_slice())
            .unwrap_or_default();
        let fact = facts.iter().find(|fact| fact.name == wanted)?;
        fact.value.as_ref().ok()?.parse::<u64>().ok()
    };
    if let (Some(rounds @ 1..), Some(timeout_ns @ 1..)) =
        (number("deferred interrupts"), number("GRO flush timeout (ns)"))
    {
        found.push(format!(
            "{name} leaves interrupts off for up to {} while nothing polls it (napi_defer_hard_irqs {rounds}, \
             gro_flush_timeout {timeout_ns} ns)",
            units::format_ns(rounds.saturating_mul(timeout_ns) as f64)
        ));
    }
}

fn held(nic: &Nic, coalesce: &Coalesce) -> Option<String> {
    if mode(&nic.said, coalesce.rx_usecs).is_some() {
        return Some(format!("for up to {LONGEST_IN_MODE_US} us, by the traffic"));
    }
    if adaptive_rx(&nic.said, coalesce).is_some_and(|adaptive| adaptive.starts_with("on")) {
        return Some("for as long as the driver chooses (adaptive-rx)".to_owned());
    }
    let usecs = coalesce
        .rx_usecs
        .filter(|usecs| *usecs > 0 && coalesce.rx_frames != Some(1))?;
    Some(format!("for up to {usecs} us (rx-usecs)"))
}

fn interrupts(nic: &Nic, of: &Measurement, isolated: &CpuList, found: &mut Vec<String>) {
    let all = nic
        .files
        .as_ref()
        .map(|files| files.interrupts.as_slice())
        .unwrap_or_default();
    for one in all {
        let Ok(cpus) = &one.effective else { continue };
        for (set, why) in [(&of.cpus, "which is measured"), (isolated, "which is isolated")] {
            if let Some(cpu) = cpus.iter().find(|cpu| set.contains(*cpu)) {
                found.push(served(nic.name(), one, cpu, why));
                break;
            }
        }
    }
}

fn served(nic: &str, one: &NicInterrupt, cpu: u32, why: &str) -> String {
    let called = one
        .name
        .as_deref()
        .map_or_else(String::new, |name| format!(" ({name})"));
    let number = one.number;
    format!(
        "interrupt {number}{called} of {nic} is served by CPU {cpu}, {why} (`echo CPUS > /proc/irq/{number}/smp_affinity_list`)"
    )
}

fn launch_times(nic: &Nic, found: &mut Vec<String>) {
    if nic.qdiscs.as_ref().is_ok_and(|all| !knows_launch_times(all)) {
        found.push(format!(
            "{} has neither an etf nor a taprio queueing discipline: launch times are not kept",
            nic.name()
        ));
    }
}

fn offloads(nic: &Nic, found: &mut Vec<String>) {
    let Ok(features) = &nic.said.features else { return };
    let on = OFFLOADS
        .iter()
        .filter(|(_, feature)| features.active.iter().any(|known| known == feature));
    let on: Vec<String> = on.map(|(name, _)| name.to_uppercase()).collect();
    if !on.is_empty() {
        let name = nic.name();
        found.push(format!(
            "for information: {name} has {} on, which join and split TCP and UDP segments only",
            on.join(", ")
        ));
    }
}
