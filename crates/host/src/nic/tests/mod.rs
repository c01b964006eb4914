mod kernel;

use super::kind::{Needs, NicKind};
use super::{Nic, facts, settings};
use model::{Fact, NOT_APPLICABLE};
use proptest::prelude::{ProptestConfig, any, proptest};
use sys::ethtool::{Coalesce, Driver, Duplex, Eee, Ethtool, LinkSettings, Silence};
use sys::link::{Below, Cbs, Etf, HsrLink, LinkInfo, QDISC_ROOT, Qdisc};

fn silent() -> Ethtool {
    Ethtool {
        driver: Err(Silence::Unsupported),
        link: Err(Silence::Unsupported),
        detected: Err(Silence::Unsupported),
        coalesce: Err(Silence::Unsupported),
        eee: Err(Silence::Unsupported),
        pause: Err(Silence::Unsupported),
        features: Err(Silence::Unsupported),
        rings: Err(Silence::Unsupported),
        channels: Err(Silence::Unsupported),
        rss: Err(Silence::Unsupported),
        stamping: Err(Silence::Unsupported),
    }
}

fn driven_by(name: &str) -> Ethtool {
    Ethtool {
        driver: Ok(Driver {
            name: name.to_owned(),
            version: "6.18".to_owned(),
            firmware: String::new(),
            bus: "0000:02:00.0".to_owned(),
        }),
        ..silent()
    }
}

fn link_of(kind: Option<&str>) -> LinkInfo {
    LinkInfo {
        index: 7,
        name: "eth1".to_owned(),
        mac: [2, 0, 0, 0, 0, 1],
        mtu: 1500,
        up: true,
        carrier: true,
        carrier_losses: None,
        operstate: "up",
        ethernet: true,
        kind: kind.map(str::to_owned),
        master: None,
        xdp_program: None,
        below: Below::Nothing,
        hsr: None,
    }
}

/// An igc with default settings, with energy-efficient Ethernet in use.
fn card() -> Nic {
    let mut said = driven_by("igc");
    said.link = Ok(LinkSettings {
        speed_mbit: Some(1000),
        duplex: Some(Duplex::Full),
        autoneg: Some(true),
    });
    said.coalesce = Ok(Coalesce {
        rx_usecs: Some(3),
        tx_usecs: Some(3),
        ..Coalesce::default()
    });
    said.eee = Ok(Eee {
        enabled: Some(true),
        active: Some(true),
        tx_lpi: Some(true),
        tx_lpi_timer_us: Some(17),
        peer_offers: Some(true),
        supported: Some(vec!["100baseT/Full".to_owned(), "1000baseT/Full".to_owned()]),
        advertised: Some(Vec::new()),
    });
    Nic {
        kind: NicKind::of(&link_of(None), &said, Some(Vec::new())),
        link: link_of(None),
        said,
        qdiscs: Ok(Vec::new()),
        files: Err("not here".to_owned()),
    }
}

fn value(facts: &[Fact], name: &str) -> Result<String, String> {
    let fact = facts.iter().find(|fact| fact.name == name);
    fact.unwrap_or_else(|| panic!("no fact {name}")).value.clone()
}

#[test]
fn a_card_by_its_facts() {
    let facts = facts::of("eth1", Ok(&card()));
    assert!(facts.iter().all(|fact| fact.group == "nic eth1"));
    let known = |name| value(&facts, name).expect(name);
    assert_eq!(
        (known("kind"), known("driver"), known("speed")),
        ("device".into(), "igc".into(), "1000 Mbit/s".into())
    );
    assert_eq!((known("rx-usecs"), known("eee")), ("3".into(), "on, in use".into()));
    assert_eq!(
        ["eee tx-lpi", "eee supported modes", "eee advertised modes"].map(known),
        ["on", "100baseT/Full 1000baseT/Full", "none"]
    );
    assert_eq!(
        known("adaptive-rx"),
        "on (rx-usecs 3 is a mode of igc, not a time: up to 250 us)"
    );
    assert_eq!(
        known("tx-frames"),
        format!("{NOT_APPLICABLE}: the driver has no such setting")
    );
    assert_eq!(
        value(&facts, "rx-ring"),
        Err("the driver does not say (EOPNOTSUPP)".into()),
        "unknown on a card"
    );
    assert_eq!(value(&facts, "firmware"), Err("the driver does not say".into()));
}

#[test]
fn small_numbers_are_modes_only_in_the_drivers_that_have_them() {
    for (driver, usecs, is_mode) in [
        ("igc", 3, true),
        ("igc", 0, false),
        ("igc", 10, false),
        ("ixgbe", 1, true),
        ("ixgbe", 3, false),
        ("e1000e", 4, true),
        ("stmmac", 3, false),
    ] {
        assert_eq!(
            settings::mode(&driven_by(driver), Some(usecs)).is_some(),
            is_mode,
            "{driver} {usecs}"
        );
    }
}

#[test]
fn eee_that_is_not_in_use_is_still_on() {
    let of = |enabled, active| {
        let eee = Eee {
            enabled,
            active,
            ..Eee::default()
        };
        settings::eee(&eee)
    };
    assert_eq!(of(Some(false), Some(false)).as_deref(), Some("off"));
    assert_eq!(
        of(Some(true), Some(false)).as_deref(),
        Some("on, not in use with this peer")
    );
    assert!(of(Some(false), Some(true)).is_some_and(|word| word.starts_with("on")));
    assert_eq!(of(None, Some(false)), None, "unknown is not off");
}

#[test]
fn what_cannot_be_and_what_is_not_known_are_told_apart() {
    let below = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let kind =
        |rtnetlink: Option<&str>, driver: &str, below| NicKind::of(&link_of(rtnetlink), &driven_by(driver), below);
    let eee = |kind: &NicKind| kind.without(Needs::Phy, &Silence::Unsupported);
    let holds = |kind: &NicKind| kind.without(Needs::Interrupts, &Silence::Unsupported);
    let veth = kind(Some("veth"), "veth", below(&[]));
    assert_eq!(eee(&veth), Ok("not applicable: veth has no such thing".to_owned()));
    assert!(eee(&kind(None, "igc", below(&[]))).is_err());
    assert!(
        eee(&kind(Some("dsa"), "dsa", below(&[]))).is_err(),
        "a switch port has a cable"
    );
    let virtio = kind(None, "virtio_net", below(&[]));
    assert!(eee(&virtio).is_ok_and(|why| why.starts_with(NOT_APPLICABLE)));
    assert!(holds(&virtio).is_err(), "a hypervisor may hold interrupts back");
    let on_card = kind(Some("macvlan"), "macvlan", below(&["eth1"]));
    assert_eq!(
        eee(&on_card),
        Ok("not applicable: macvlan has no such thing; see eth1".to_owned())
    );
    let elsewhere = kind(Some("macvlan"), "macvlan", None);
    assert!(eee(&elsewhere).is_err_and(|why| why.contains("in another network namespace")));
    assert!(
        veth.without(Needs::Phy, &Silence::Gone).is_err(),
        "gone is not the same as without"
    );
}

#[test]
fn disciplines_in_a_line() {
    let one = |kind: &str, parent| Qdisc {
        kind: kind.to_owned(),
        handle: 0,
        parent,
        etf: None,
        cbs: None,
    };
    let mut all = vec![one("mq", QDISC_ROOT), one("fq_codel", 1), one("fq_codel", 2)];
    assert_eq!(settings::disciplines(&all), "mq, below it fq_codel (2)");
    assert!(!settings::knows_launch_times(&all));
    all[1] = one("etf", 1);
    all[1].etf = Some(Etf {
        clock: 11,
        delta_ns: 200_000,
        offload: true,
        deadline_mode: false,
        skip_sock_check: false,
    });
    let text = settings::disciplines(&all);
    assert_eq!(
        text,
        "mq, below it etf clock TAI delta 200000 ns, in hardware (1), fq_codel (1)"
    );
    assert!(settings::knows_launch_times(&all));
    all[2] = one("cbs", 2);
    all[2].cbs = Some(Cbs {
        idle_slope_kbit: 98_688,
        send_slope_kbit: -901_312,
        high_credit: 153,
        low_credit: -1_389,
        offload: true,
    });
    assert!(
        settings::disciplines(&all).ends_with(
            "cbs idleslope 98688 kbit/s sendslope -901312 kbit/s hicredit 153 bytes locredit -1389 bytes, in hardware (1)"
        ),
        "{}",
        settings::disciplines(&all)
    );
    assert_eq!(settings::disciplines(&[]), "none");
}

#[test]
fn a_card_that_holds_frames_back_is_doubted() {
    let mut found = Vec::new();
    let mut nic = card();
    super::doubts::of_driver(&nic, &mut found);
    assert!(
        found.iter().any(|doubt| doubt.contains("energy-efficient Ethernet on")),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|doubt| doubt.contains("for up to 250 us, by the traffic")),
        "{found:?}"
    );
    nic.said.eee = Err(Silence::Unsupported);
    nic.said.coalesce = Ok(Coalesce {
        rx_usecs: Some(50),
        rx_frames: Some(1),
        tx_frames: Some(25),
        ..Coalesce::default()
    });
    found.clear();
    super::doubts::of_driver(&nic, &mut found);
    assert_eq!(found.len(), 1, "one frame ends the wait: {found:?}");
    assert!(found[0].contains("in batches of 25"), "{found:?}");
    nic.said.link = Ok(LinkSettings {
        duplex: Some(Duplex::Half),
        ..LinkSettings::default()
    });
    nic.said.coalesce = Ok(Coalesce {
        rx_usecs: Some(50),
        adaptive_rx: Some(true),
        ..Coalesce::default()
    });
    found.clear();
    super::doubts::of_driver(&nic, &mut found);
    assert!(
        found[0].contains("half duplex") && found[1].contains("(adaptive-rx)"),
        "{found:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever a driver reports, a fact is a value or a reason, never empty.
    #[test]
    fn facts_of_any_card_have_a_text(
        (rx, frames) in (any::<Option<u32>>(), any::<Option<u32>>()),
        (enabled, active) in (any::<Option<bool>>(), any::<Option<bool>>()),
    ) {
        let mut nic = card();
        nic.said.coalesce = Ok(Coalesce { rx_usecs: rx, tx_frames: frames, ..Coalesce::default() });
        nic.said.eee = Ok(Eee { enabled, active, ..Eee::default() });
        for fact in facts::of("eth1", Ok(&nic)) {
            let (Ok(text) | Err(text)) = &fact.value;
            assert!(!text.trim().is_empty(), "{fact:?}");
        }
    }
}

/// Its ports in the order of the LANs, and its protocol: the kernel has one kind for both.
#[test]
fn a_redundant_device_names_its_protocol_and_its_ports() {
    for (is_prp, text) in [(true, "hsr (PRP) on eth1, eth2"), (false, "hsr (HSR) on eth1, eth2")] {
        let link = LinkInfo {
            hsr: Some(HsrLink {
                ports: [Some(1), Some(2)],
                is_prp,
                ..HsrLink::default()
            }),
            ..link_of(Some("hsr"))
        };
        let kind = NicKind::of(&link, &silent(), Some(vec!["eth1".to_owned(), "eth2".to_owned()]));
        assert_eq!(kind.text(), text);
    }
}
