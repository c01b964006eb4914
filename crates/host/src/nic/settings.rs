//! The driver's settings as words and numbers.

use sys::ethtool::{Channels, Coalesce, Eee, Ethtool, Rings, TimeStamping};
use sys::link::{Cbs, QDISC_ROOT, Qdisc};

/// Drivers for which small values of rx-usecs are modes that follow the traffic, not microseconds (`*_set_itr` of each): the driver, and
/// the values.
const MODES: [(&str, &[u32]); 6] = [
    ("igb", &[1, 2, 3]),
    ("igbvf", &[1, 2, 3]),
    ("igc", &[1, 2, 3]),
    ("e1000e", &[1, 2, 3, 4]),
    ("ixgbe", &[1]),
    ("ixgbevf", &[1]),
];

/// The longest wait in such a mode: 4000 interrupts a second.
pub const LONGEST_IN_MODE_US: u32 = 250;

/// Mode in place of a time, if the value is one.
pub(super) fn mode(said: &Ethtool, usecs: Option<u32>) -> Option<(&str, u32)> {
    let (driver, usecs) = (said.driver.as_ref().ok()?.name.as_str(), usecs?);
    is_mode(driver, usecs).then_some((driver, usecs))
}

/// True if this rx-usecs of this driver is a mode that follows the traffic.
pub fn is_mode(driver: &str, usecs: u32) -> bool {
    let modes = MODES.iter().find(|(known, _)| *known == driver);
    modes.is_some_and(|(_, modes)| modes.contains(&usecs))
}

/// Describes whether the receive side follows the traffic, in words that begin with `on` or `off`.
pub(super) fn adaptive_rx(said: &Ethtool, coalesce: &Coalesce) -> Option<String> {
    adaptive(said, coalesce.rx_usecs, coalesce.adaptive_rx, "rx")
}

/// Same as [`adaptive_rx`], for the transmit side.
pub(super) fn adaptive_tx(said: &Ethtool, coalesce: &Coalesce) -> Option<String> {
    adaptive(said, coalesce.tx_usecs, coalesce.adaptive_tx, "tx")
}

fn adaptive(said: &Ethtool, usecs: Option<u32>, flag: Option<bool>, side: &str) -> Option<String> {
    match mode(said, usecs) {
        Some((driver, mode)) => Some(format!(
            "on ({side}-usecs {mode} is a mode of {driver}, not a time: up to {LONGEST_IN_MODE_US} us)"
        )),
        None => flag.map(on_off),
    }
}

pub(super) fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// State of the switch, and the agreement of the other end; begins with `on` or `off`.
pub(super) fn eee(eee: &Eee) -> Option<String> {
    let word = match (eee.enabled?, eee.active) {
        (false, Some(true)) => "on, in use although it is switched off",
        (false, _) => "off",
        (true, Some(true)) => "on, in use",
        (true, Some(false)) => "on, not in use with this peer",
        (true, None) => "on",
    };
    Some(word.to_owned())
}

pub(super) fn rings(length: Option<u32>, max: Option<u32>) -> Option<String> {
    let most = max.map_or_else(String::new, |max| format!(" of {max}"));
    length.map(|length| format!("{length}{most}"))
}

pub(super) fn rx_ring(all: &Rings) -> Option<String> {
    rings(all.rx, all.rx_max)
}

pub(super) fn tx_ring(all: &Rings) -> Option<String> {
    rings(all.tx, all.tx_max)
}

/// Such as `4 combined of 4, 1 other of 1`.
pub(super) fn channels(all: &Channels) -> Option<String> {
    let kinds = [
        (all.combined, all.combined_max, "combined"),
        (all.rx, all.rx_max, "receive"),
        (all.tx, all.tx_max, "transmit"),
        (all.other, all.other_max, "other"),
    ];
    let shown = kinds.into_iter().filter_map(|(count, max, word)| {
        let most = max.map_or_else(String::new, |max| format!(" of {max}"));
        count.map(|count| format!("{count} {word}{most}"))
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Frames that the hardware can stamp: transmitted, received, or none.
pub(super) fn hardware_stamps(all: &TimeStamping) -> String {
    let can = |name: &str| all.capabilities.iter().any(|known| known == name);
    match (can("hardware-transmit"), can("hardware-receive")) {
        (true, true) => "transmit and receive",
        (true, false) => "transmit only",
        (false, true) => "receive only",
        (false, false) => "none",
    }
    .to_owned()
}

pub(super) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(" ")
    }
}

/// Such as `mq, below it fq_codel (4)`; ETF and CBS with their parameters.
pub(super) fn disciplines(all: &[Qdisc]) -> String {
    let Some(root) = all.iter().find(|one| one.parent == QDISC_ROOT) else {
        return "none".to_owned();
    };
    let mut below: Vec<(String, usize)> = Vec::new();
    for one in all.iter().filter(|one| one.parent != QDISC_ROOT) {
        let text = discipline(one);
        match below.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => below.push((text, 1)),
        }
    }
    let mut text = discipline(root);
    if !below.is_empty() {
        let below: Vec<String> = below
            .into_iter()
            .map(|(text, count)| format!("{text} ({count})"))
            .collect();
        text = format!("{text}, below it {}", below.join(", "));
    }
    text
}

/// The shaper of IEEE 802.1Qav in the words of tc-cbs(8).
fn shaper(cbs: &Cbs) -> String {
    let offload = if cbs.offload { ", in hardware" } else { "" };
    format!(
        "cbs idleslope {} kbit/s sendslope {} kbit/s hicredit {} bytes locredit {} bytes{offload}",
        cbs.idle_slope_kbit, cbs.send_slope_kbit, cbs.high_credit, cbs.low_credit
    )
}

fn discipline(one: &Qdisc) -> String {
    /// CLOCK_TAI (linux/time.h).
    const TAI: i32 = 11;
    if let Some(cbs) = one.cbs {
        return shaper(&cbs);
    }
    let Some(etf) = one.etf else { return one.kind.clone() };
    let clock = if etf.clock == TAI {
        "TAI".to_owned()
    } else {
        etf.clock.to_string()
    };
    let offload = if etf.offload { ", in hardware" } else { "" };
    format!("{} clock {clock} delta {} ns{offload}", one.kind, etf.delta_ns)
}

/// True if frames can get an instant at which to leave.
pub(super) fn knows_launch_times(all: &[Qdisc]) -> bool {
    all.iter().any(|one| one.kind == "etf" || one.kind == "taprio")
}
