//! Facts of the run about an interface.

use super::Nic;
use super::kind::{Needs, NicKind};
use super::settings::{
    adaptive_rx, adaptive_tx, channels, disciplines, eee, hardware_stamps, listed, on_off, rx_ring, tx_ring,
};
use model::{Fact, NOT_APPLICABLE};
use sys::ethtool::{Coalesce, Duplex, Told};

/// Facts of the interface `name`, in the group `nic NAME`.
pub(super) fn of(name: &str, nic: Result<&Nic, &String>) -> Vec<Fact> {
    let mut sheet = Sheet {
        group: format!("nic {name}"),
        facts: Vec::new(),
    };
    match nic {
        Err(reason) => sheet.add("kind", "ip -d link", Err(reason.clone())),
        Ok(nic) => everything(&mut sheet, nic),
    }
    sheet.facts
}

struct Sheet {
    group: String,
    facts: Vec<Fact>,
}

impl Sheet {
    /// `as_shown_by`: the command that shows the same to a person; it is not run.
    fn add(&mut self, name: &str, as_shown_by: &str, value: Result<String, String>) {
        self.facts.push(Fact {
            group: self.group.clone(),
            name: name.to_owned(),
            value,
            source: format!("the kernel (as {as_shown_by})"),
        });
    }
}

fn everything(sheet: &mut Sheet, nic: &Nic) {
    link(sheet, nic);
    coalescing(sheet, nic);
    energy_and_pause(sheet, nic);
    offloads(sheet, nic);
    queues(sheet, nic);
    stamps(sheet, nic);
    files(sheet, nic);
}

/// A part of an answer, formatted by `show`; unknown if the driver leaves it out.
fn told<T>(answer: &Told<T>, show: impl Fn(&T) -> Option<String>) -> Result<String, String> {
    match answer {
        Ok(answer) => show(answer).ok_or_else(|| "the driver does not say".to_owned()),
        Err(silence) => Err(silence.to_string()),
    }
}

/// Same as [`told`], for parts that some kinds of interfaces cannot have.
fn told_of<T>(
    kind: &NicKind,
    needs: Needs,
    answer: &Told<T>,
    show: impl Fn(&T) -> Option<String>,
) -> Result<String, String> {
    match answer {
        Err(silence) => kind.without(needs, silence),
        answer => told(answer, show),
    }
}

fn link(sheet: &mut Sheet, nic: &Nic) {
    let said = &nic.said;
    sheet.add("kind", "ip -d link", Ok(nic.kind.text()));
    sheet.add(
        "carrier",
        "ip link",
        Ok(if nic.link.carrier { "yes" } else { "no" }.to_owned()),
    );
    let driver = |name: &str, sheet: &mut Sheet, pick: fn(&sys::ethtool::Driver) -> &String| {
        let value = told_of(&nic.kind, Needs::Interrupts, &said.driver, |driver| {
            Some(pick(driver).clone()).filter(|text| !text.is_empty())
        });
        sheet.add(name, "ethtool -i", value);
    };
    driver("driver", sheet, |driver| &driver.name);
    driver("driver version", sheet, |driver| &driver.version);
    driver("firmware", sheet, |driver| &driver.firmware);
    driver("bus", sheet, |driver| &driver.bus);
    let speed = on_a_line(
        nic,
        told(&said.link, |link| {
            link.speed_mbit.map(|speed| format!("{speed} Mbit/s"))
        }),
    );
    sheet.add("speed", "ethtool", speed);
    let word = |duplex| if duplex == Duplex::Full { "full" } else { "half" }.to_owned();
    let duplex = told(&said.link, |link| link.duplex.map(word));
    sheet.add("duplex", "ethtool", on_a_line(nic, duplex));
    let autoneg = told(&said.link, |link| link.autoneg.map(on_off));
    sheet.add("autonegotiation", "ethtool", on_a_line(nic, autoneg));
}

/// A speed that drivers without a cable report has no meaning.
fn on_a_line(nic: &Nic, value: Result<String, String>) -> Result<String, String> {
    let NicKind::Software(word) = &nic.kind else {
        return value;
    };
    let in_name = value.map_or_else(|_| String::new(), |value| format!(" ({value} in name only)"));
    Ok(format!("{NOT_APPLICABLE}: {word} has no cable{in_name}"))
}

/// A parameter that the answer leaves out does not exist in the driver.
fn parameter(nic: &Nic, show: impl Fn(&Coalesce) -> Option<String>) -> Result<String, String> {
    match &nic.said.coalesce {
        Ok(coalesce) => {
            Ok(show(coalesce).unwrap_or_else(|| format!("{NOT_APPLICABLE}: the driver has no such setting")))
        }
        Err(silence) => nic.kind.without(Needs::Interrupts, silence),
    }
}

/// A number of the answer, by name.
type Number = (&'static str, fn(&Coalesce) -> Option<u32>);

fn coalescing(sheet: &mut Sheet, nic: &Nic) {
    let numbers: [Number; 8] = [
        ("rx-usecs", |all| all.rx_usecs),
        ("rx-frames", |all| all.rx_frames),
        ("tx-usecs", |all| all.tx_usecs),
        ("tx-frames", |all| all.tx_frames),
        ("rx-usecs-irq", |all| all.rx_usecs_irq),
        ("rx-frames-irq", |all| all.rx_frames_irq),
        ("tx-usecs-irq", |all| all.tx_usecs_irq),
        ("tx-frames-irq", |all| all.tx_frames_irq),
    ];
    for (name, pick) in numbers {
        sheet.add(
            name,
            "ethtool -c",
            parameter(nic, |all| pick(all).map(|value| value.to_string())),
        );
    }
    sheet.add(
        "adaptive-rx",
        "ethtool -c",
        parameter(nic, |all| adaptive_rx(&nic.said, all)),
    );
    sheet.add(
        "adaptive-tx",
        "ethtool -c",
        parameter(nic, |all| adaptive_tx(&nic.said, all)),
    );
}

fn energy_and_pause(sheet: &mut Sheet, nic: &Nic) {
    let said = &nic.said;
    sheet.add(
        "eee",
        "ethtool --show-eee",
        told_of(&nic.kind, Needs::Phy, &said.eee, eee),
    );
    let timer = told_of(&nic.kind, Needs::Phy, &said.eee, |eee| {
        eee.tx_lpi_timer_us.map(|timer| timer.to_string())
    });
    sheet.add("eee idle time before sleep (us)", "ethtool --show-eee", timer);
    let sleeps = told_of(&nic.kind, Needs::Phy, &said.eee, |eee| eee.tx_lpi.map(on_off));
    sheet.add("eee tx-lpi", "ethtool --show-eee", sleeps);
    let modes = |pick: fn(&sys::ethtool::Eee) -> &Option<Vec<String>>| {
        told_of(&nic.kind, Needs::Phy, &said.eee, |eee| {
            pick(eee).as_ref().map(|names| listed(names))
        })
    };
    sheet.add("eee supported modes", "ethtool --show-eee", modes(|eee| &eee.supported));
    sheet.add(
        "eee advertised modes",
        "ethtool --show-eee",
        modes(|eee| &eee.advertised),
    );
    let pause = |pick: fn(&sys::ethtool::Pause) -> Option<bool>| {
        told_of(&nic.kind, Needs::Phy, &said.pause, |pause| pick(pause).map(on_off))
    };
    sheet.add("pause-rx", "ethtool -a", pause(|pause| pause.rx));
    sheet.add("pause-tx", "ethtool -a", pause(|pause| pause.tx));
}

fn offloads(sheet: &mut Sheet, nic: &Nic) {
    let features = &nic.said.features;
    for (name, feature) in OFFLOADS {
        let is_on = told(features, |all| {
            Some(on_off(all.active.iter().any(|known| known == feature)))
        });
        sheet.add(name, "ethtool -k", is_on);
    }
    sheet.add(
        "features on",
        "ethtool -k",
        told(features, |all| Some(listed(&all.active))),
    );
}

/// Offloads that join or split frames, by their short names and the kernel's.
pub(super) const OFFLOADS: [(&str, &str); 5] = [
    ("gro", "rx-gro"),
    ("gro-hw", "rx-gro-hw"),
    ("lro", "rx-lro"),
    ("tso", "tx-tcp-segmentation"),
    ("gso", "tx-generic-segmentation"),
];

fn queues(sheet: &mut Sheet, nic: &Nic) {
    let said = &nic.said;
    let kind = &nic.kind;
    sheet.add(
        "rx-ring",
        "ethtool -g",
        told_of(kind, Needs::Interrupts, &said.rings, rx_ring),
    );
    sheet.add(
        "tx-ring",
        "ethtool -g",
        told_of(kind, Needs::Interrupts, &said.rings, tx_ring),
    );
    sheet.add(
        "channels",
        "ethtool -l",
        told_of(kind, Needs::Interrupts, &said.channels, channels),
    );
    let rss = told_of(kind, Needs::Interrupts, &said.rss, |rss| {
        let queues: Vec<String> = rss.queues.iter().map(u32::to_string).collect();
        let over = if queues.is_empty() {
            String::new()
        } else {
            format!(" over queues {}", queues.join(" "))
        };
        Some(
            rss.entries
                .map_or_else(|| "none".to_owned(), |entries| format!("{entries} entries{over}")),
        )
    });
    sheet.add("RSS table", "ethtool -x", rss);
    let disciplines = nic.qdiscs.as_ref().map(|all| disciplines(all)).map_err(Clone::clone);
    sheet.add("queueing discipline", "tc qdisc", disciplines);
}

fn stamps(sheet: &mut Sheet, nic: &Nic) {
    let stamping = &nic.said.stamping;
    let source = "ethtool -T";
    sheet.add(
        "hardware stamps",
        source,
        told(stamping, |all| Some(hardware_stamps(all))),
    );
    sheet.add(
        "stamping capabilities",
        source,
        told(stamping, |all| Some(listed(&all.capabilities))),
    );
    sheet.add(
        "transmit stamp types",
        source,
        told(stamping, |all| Some(listed(&all.tx_types))),
    );
    sheet.add(
        "receive stamp filters",
        source,
        told(stamping, |all| Some(listed(&all.rx_filters))),
    );
    let clock = told(stamping, |all| {
        Some(
            all.phc
                .map_or_else(|| "none".to_owned(), |index| format!("/dev/ptp{index}")),
        )
    });
    sheet.add("PTP clock", source, clock);
}

fn files(sheet: &mut Sheet, nic: &Nic) {
    match &nic.files {
        Err(reason) => sheet.add("files of /sys", "ls /sys/class/net", Err(reason.clone())),
        Ok(files) => sheet.facts.extend(files.facts.iter().cloned()),
    }
}
