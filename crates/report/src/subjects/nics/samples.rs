//! Facts of interfaces that this machine does not have, for tests.

use model::Fact;

/// A run's facts about an interface, by name.
fn nic_facts(interface: &str, known: &[(&str, &str)]) -> Vec<Fact> {
    let fact = |(name, value): &(&str, &str)| Fact {
        group: format!("nic {interface}"),
        name: (*name).to_owned(),
        value: Ok((*value).to_owned()),
        source: "the kernel (as ethtool)".to_owned(),
    };
    known.iter().map(fact).collect()
}

/// A network card with default settings: adaptive coalescing, energy-efficient Ethernet in use, its own clock.
pub(crate) fn card_facts(interface: &str) -> Vec<Fact> {
    const NONE: &str = "not applicable: the driver has no such setting";
    const MODE: &str = "on (rx-usecs 3 is a mode of igc, not a time: up to 250 us)";
    let known = [
        ("kind", "device"),
        ("driver", "igc"),
        ("speed", "1000 Mbit/s"),
        ("duplex", "full"),
        ("rx-usecs", "3"),
        ("rx-frames", NONE),
        ("tx-usecs", "3"),
        ("tx-frames", NONE),
        ("adaptive-rx", MODE),
        ("adaptive-tx", MODE),
        ("eee", "on, in use"),
        ("queueing discipline", "mq, below it fq_codel (4)"),
        ("hardware stamps", "transmit and receive"),
        ("PTP clock", "/dev/ptp0"),
    ];
    nic_facts(interface, &known)
}

/// One end of a veth pair, without hardware features.
pub(crate) fn veth_facts(interface: &str) -> Vec<Fact> {
    const NONE: &str = "not applicable: veth has no such thing";
    let known = [
        ("kind", "veth"),
        ("driver", "veth"),
        ("speed", "not applicable: veth has no cable (10000 Mbit/s in name only)"),
        ("duplex", "not applicable: veth has no cable (full in name only)"),
        ("rx-usecs", NONE),
        ("rx-frames", NONE),
        ("tx-usecs", NONE),
        ("tx-frames", NONE),
        ("adaptive-rx", NONE),
        ("adaptive-tx", NONE),
        ("eee", NONE),
        ("queueing discipline", "noqueue"),
        ("hardware stamps", "none"),
        ("PTP clock", "none"),
    ];
    nic_facts(interface, &known)
}
