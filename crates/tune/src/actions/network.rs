//! Settings of network interfaces, and of macvlans on them.

use sys::ethtool::Setting;

use super::Scene;
use crate::operation::{BROADCAST_LIMIT, BROADCAST_QUEUE, Operation};
use audit::NicAnswer;
use audit::value::Value;

/// Minimum receive ring that is set: drivers accept powers of two.
const RING: u32 = 1024;
/// Length that holds 100 ms of twenty streams of 4800 frames a second, so that a burst does not fill it.
const QUEUE_FRAMES: i64 = 10_000;

/// The driver's answers about one interface.
struct Nic {
    name: String,
    said: NicAnswer,
}

impl Nic {
    fn of(scene: &Scene<'_>) -> Result<Self, String> {
        let name = scene.part()?.name.clone();
        Ok(Self {
            said: NicAnswer::read(scene.reader, &name),
            name,
        })
    }

    /// Returns `None` if the driver lacks it or does not report it.
    fn number(&self, question: &str, key: &str) -> Option<f64> {
        match self.said.get(question, key) {
            Ok(Value::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn is_on(&self, question: &str, key: &str) -> bool {
        self.said.get(question, key) == Ok(Value::Flag(true))
    }

    fn set(&self, setting: Setting, value: i64) -> Operation {
        Operation::nic(&self.name, setting.to_string(), value)
    }

    /// Switches off a setting that is on.
    fn off(&self, question: &str, switches: &[(&str, Setting)]) -> Vec<Operation> {
        let on = switches.iter().filter(|(key, _)| self.is_on(question, key));
        on.map(|(_, setting)| self.set(*setting, 0)).collect()
    }
}

/// No frame waits for others: a driver that counts sent frames ends the wait at the first, others do not wait at all.
pub(super) fn coalescing(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let nic = Nic::of(scene)?;
    let adaptive = [
        ("adaptive-rx", Setting::AdaptiveRx),
        ("adaptive-tx", Setting::AdaptiveTx),
    ];
    let mut operations = nic.off("coalesce", &adaptive);
    let waits = |key: &str| nic.number("coalesce", key).is_some_and(|usecs| usecs > 0.0);
    if waits("rx-usecs") {
        operations.push(nic.set(Setting::RxUsecs, 0));
    }
    match nic.number("coalesce", "tx-frames") {
        _ if !waits("tx-usecs") => {}
        Some(frames) if frames > 1.0 || frames == 0.0 => operations.push(nic.set(Setting::TxFrames, 1)),
        Some(_) => {}
        None => operations.push(nic.set(Setting::TxUsecs, 0)),
    }
    Ok(operations)
}

/// Switches energy-efficient Ethernet off at this end of the cable.
pub(super) fn eee(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    Ok(Nic::of(scene)?.off("eee", &[("enabled", Setting::Eee)]))
}

/// Sets a receive ring for 10 ms of the traffic, up to the driver's maximum.
pub(super) fn ring(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let nic = Nic::of(scene)?;
    let planned = scene.number("plan.ring-frames").unwrap_or(0.0) as u32;
    let longest = nic.number("rings", "rx-max").map_or(RING, |longest| longest as u32);
    let wanted = RING.max(planned.next_power_of_two()).min(longest);
    let now = nic.number("rings", "rx");
    let now = now.ok_or_else(|| format!("{}: the driver does not report the length of its ring", nic.name))?;
    Ok(match now < f64::from(wanted) {
        true => vec![nic.set(Setting::RxRing, i64::from(wanted))],
        false => Vec::new(),
    })
}

/// Sets a single receive queue.
pub(super) fn channels(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let nic = Nic::of(scene)?;
    let several = |key| nic.number("channels", key).is_some_and(|count| count > 1.0);
    Ok(match () {
        () if several("combined") => vec![nic.set(Setting::CombinedChannels, 1)],
        () if several("rx") => vec![nic.set(Setting::RxChannels, 1)],
        () => Vec::new(),
    })
}

/// Pause frames are neither negotiated nor sent nor obeyed.
pub(super) fn pause(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let switches = [
        ("autoneg", Setting::PauseAutoneg),
        ("rx", Setting::PauseRx),
        ("tx", Setting::PauseTx),
    ];
    Ok(Nic::of(scene)?.off("pause", &switches))
}

/// Passes groups to macvlans without the kernel's work queue. The last macvlan that is set decides for all on the interface.
pub(super) fn macvlan_direct(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    Ok(vec![Operation::nic(macvlan(scene)?, BROADCAST_LIMIT, -1)])
}

/// Sets a work queue that holds a burst; the longest that any macvlan of the interface requested is used.
pub(super) fn macvlan_queue(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    Ok(vec![Operation::nic(macvlan(scene)?, BROADCAST_QUEUE, QUEUE_FRAMES)])
}

fn macvlan(scene: &Scene<'_>) -> Result<String, String> {
    let found = scene.list("nic.macvlans")?.into_iter().next();
    found.ok_or_else(|| "no macvlan of this network namespace is on the interface".to_owned())
}
