//! Round trip and wake-ups of a guest beside the figures of Welotec and Red Hat.

use super::{Run, Table, us};
use crate::text::count;
use model::{RunView, SeriesView, kind, setting};

const HEADS: [&str; 6] = [
    "Measurement",
    "Max (µs)",
    "Mean (µs)",
    "Samples",
    "Lost or missed",
    "Network card of the device",
];

/// Welotec and Red Hat, Real Time Measurements for Substation on Welotec RSAPC Mk2 with SEAPATH. Their page has no figure of the wake-ups that were
/// measured at the same time.
const PUBLISHED: [[&str; 6]; 2] = [
    [
        "Welotec and Red Hat, 7 days: round trip",
        "82",
        "44",
        "–",
        "–",
        "passed-through port (DPDK l2reflect)",
    ],
    [
        "Welotec and Red Hat, 7 days: wake-up",
        "not published",
        "not published",
        "–",
        "–",
        "–",
    ],
];

/// Drivers of cards that a hypervisor makes.
const EMULATED: [&str; 5] = ["e1000", "e1000e", "8139cp", "8139too", "pcnet32"];
const PARAVIRTUAL: [&str; 4] = ["virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront"];
/// Drivers of virtual functions.
const FUNCTIONS: [&str; 4] = ["iavf", "i40evf", "ixgbevf", "igbvf"];

/// A row for each round trip and each wake-up series, then the published ones.
pub(super) fn table(runs: &[Run]) -> Table {
    let of_run = |run: &'_ Run| {
        let measured = run.view.series.iter();
        let measured = measured.filter(|series| series.is(&kind::RTT) || series.is(&kind::WAKEUP));
        measured.map(|series| row(run, series)).collect::<Vec<_>>()
    };
    let own: Vec<Vec<String>> = runs.iter().flat_map(of_run).collect();
    let published = PUBLISHED.map(|row| row.map(str::to_owned).to_vec());
    let rows = match own.is_empty() {
        true => own,
        false => own.into_iter().chain(published).collect(),
    };
    Table {
        title: "Round trip and wake-up, max and mean".to_owned(),
        heads: HEADS.map(str::to_owned).to_vec(),
        rows,
        notes: vec![
            "A figure is comparable with theirs if the card of the device is a passed-through port or virtual function: a tap adds the threads of \
             its host to the round trip."
                .to_owned(),
        ],
    }
}

fn row(run: &Run, series: &SeriesView) -> Vec<String> {
    let is_round_trip = series.is(&kind::RTT);
    let failed = match is_round_trip {
        true => series.counters.lost,
        false => series.counters.missed,
    };
    let card = match is_round_trip {
        true => card(&run.view, series),
        false => "–".to_owned(),
    };
    vec![
        format!("{}: {}", run.system.name, series.spec.name),
        us(series.max_ns),
        us(series.mean_ns().map(|ns| ns as i64)),
        count(series.counters.received),
        count(failed),
        card,
    ]
}

/// The card of the device: as the run has it from the place that it made, else by the driver of the interface that it measured at.
fn card(run: &RunView, series: &SeriesView) -> String {
    if let Some(card) = series.setting(setting::CARD) {
        return card.to_owned();
    }
    let Some(interface) = series.setting("interface") else {
        return "unknown".to_owned();
    };
    let group = format!("nic {interface}");
    let driver = run
        .facts
        .iter()
        .find(|fact| fact.group == group && fact.name == "driver");
    match driver.and_then(|fact| fact.value.as_ref().ok()) {
        None => format!("unknown: the run does not have the driver of {interface}"),
        Some(driver) => format!("{} ({interface}, {driver})", kind_of(driver)),
    }
}

/// Kind of the card that a driver drives. The driver of a port is the same on the hardware and passed through.
fn kind_of(driver: &str) -> &'static str {
    match driver {
        "veth" | "tun" | "bridge" | "macvlan" => "no card: an interface of the kernel",
        own if PARAVIRTUAL.contains(&own) => "virtio or the like, by a tap of the host",
        own if EMULATED.contains(&own) => "a port, or emulated by the hypervisor",
        own if FUNCTIONS.contains(&own) => "virtual function",
        _ => "port; in a guest, passed through",
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, Tables};
    use model::{Fact, RunView, setting};
    use testing::synthetic;

    fn bench(settings: &[(&str, &str)], driver: Option<&str>) -> RunView {
        let mut trips = synthetic::series("rtt/reflect", 32_000, 44_000, 60);
        trips.max_ns = Some(81_900);
        trips.sum_ns = 32_000 * 44_000;
        trips.counters.lost = 3;
        trips.spec.settings = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let mut run = synthetic::run(vec![trips, synthetic::series("wakeup/cpu3", 40_000, 12_000, 60)]);
        run.facts.extend(driver.map(|driver| Fact {
            group: "nic eth1".to_owned(),
            name: "driver".to_owned(),
            value: Ok(driver.to_owned()),
            source: "ethtool".to_owned(),
        }));
        run
    }

    fn text(run: RunView) -> String {
        Tables::of(Layout::Bench, vec![(Some("mk3".to_owned()), run)]).text()
    }

    #[test]
    fn figures_stand_beside_the_published_ones() {
        let tap = [("interface", "ts0"), (setting::CARD, "virtio over the tap dut0")];
        let text = text(bench(&tap, None));
        let row = |start: &str| {
            let found = text.lines().find(|line| line.contains(start));
            found.unwrap_or_else(|| panic!("no {start} in {text}")).to_owned()
        };
        let own = row("mk3: rtt/reflect");
        for part in ["81", "44", "32 000", "3", "virtio over the tap dut0"] {
            assert!(own.contains(part), "{part} in {own}");
        }
        assert!(row("mk3: wakeup/cpu3").contains("40 000"), "{text}");
        let theirs = row("round trip");
        assert!(
            theirs.contains("82") && theirs.contains("44") && theirs.contains("passed-through"),
            "{theirs}"
        );
        assert!(row("7 days: wake-up").contains("not published"));
    }

    #[test]
    fn the_card_is_that_of_the_place_or_of_the_interface() {
        let at = [("interface", "eth1")];
        for (driver, wanted) in [
            (Some("iavf"), "virtual function (eth1, iavf)"),
            (Some("ice"), "port; in a guest, passed through (eth1, ice)"),
            (Some("virtio_net"), "by a tap of the host (eth1, virtio_net)"),
            (Some("veth"), "no card"),
            (None, "unknown: the run does not have the driver of eth1"),
        ] {
            let text = text(bench(&at, driver));
            assert!(text.contains(wanted), "{wanted} in {text}");
        }
    }
}
