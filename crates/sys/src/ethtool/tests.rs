//! Recorded answers of real drivers, and hand-made answers of a card that is not available.

use super::model::{Channels, Coalesce, Duplex, Eee, Features, LinkSettings, Pause, Rings, Rss, Silence, TimeStamping};
use super::netlink::{Family, Request, attribute};
use super::{Asker, Control, Ethtool, Told, bits, decode, legacy};
use crate::netns::NetNs;
use crate::privilege::{self, Capability};
use rustix::io::Errno;

const QUESTIONS: [Request; 10] = [
    Request::LinkModes,
    Request::LinkState,
    Request::Features,
    Request::Rings,
    Request::Channels,
    Request::Coalesce,
    Request::Pause,
    Request::Eee,
    Request::TimeStamping,
    Request::Rss,
];

/// A recording of Linux 6.18, of `lo`, one end of a veth pair and a tap: for each request its name, and the bytes of the answer or
/// the errno instead.
fn recorded(file: &str, question: Request) -> Result<Vec<u8>, i32> {
    let text = match file {
        "veth" => include_str!("recorded/veth.txt"),
        "tap" => include_str!("recorded/tap.txt"),
        _ => include_str!("recorded/lo.txt"),
    };
    let wanted = format!("{question:?} ");
    let answer = text
        .lines()
        .find_map(|line| line.strip_prefix(&wanted))
        .expect("recorded");
    match answer.strip_prefix("errno ") {
        Some(errno) => Err(errno.parse().expect("a number")),
        None => {
            let (pairs, _) = answer.as_bytes().as_chunks::<2>();
            let octet = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).expect("hex"), 16).expect("hex");
            Ok(pairs.iter().map(octet).collect())
        }
    }
}

/// All recorded answers of an interface, decoded by the real code.
fn everything(file: &str) -> Ethtool {
    let octets = |question| recorded(file, question).map_err(|errno| Silence::of(Errno::from_raw_os_error(errno)));
    Ethtool {
        driver: Err(Silence::Unsupported),
        link: octets(Request::LinkModes).map(|o| decode::link(&o)),
        detected: octets(Request::LinkState).map(|o| decode::detected(&o) == Some(true)),
        coalesce: octets(Request::Coalesce).map(|o| decode::coalesce(&o)),
        eee: octets(Request::Eee).map(|o| decode::eee(&o)),
        pause: octets(Request::Pause).map(|o| decode::pause(&o)),
        features: octets(Request::Features).map(|o| decode::features(&o)),
        rings: octets(Request::Rings).map(|o| decode::rings(&o)),
        channels: octets(Request::Channels).map(|o| decode::channels(&o)),
        rss: octets(Request::Rss).map(|o| decode::rss(&o)),
        stamping: octets(Request::TimeStamping).map(|o| decode::stamping(&o)),
    }
}

fn software_stamps() -> TimeStamping {
    let names = ["software-transmit", "software-receive", "software-system-clock"];
    TimeStamping {
        capabilities: names.map(str::to_owned).to_vec(),
        ..TimeStamping::default()
    }
}

#[test]
fn a_recorded_veth_says_its_speed_and_queues_and_nothing_of_hardware() {
    let veth = everything("veth");
    let link = LinkSettings {
        speed_mbit: Some(10_000),
        duplex: Some(Duplex::Full),
        autoneg: Some(false),
    };
    assert_eq!((veth.link, veth.detected), (Ok(link), Ok(true)));
    let channels = veth.channels.expect("channels");
    assert_eq!((channels.rx, channels.tx, channels.combined), (Some(1), Some(1), None));
    assert_eq!(veth.coalesce, Err(Silence::Unsupported));
    assert_eq!(veth.eee, Err(Silence::Unsupported));
    let features = veth.features.expect("features").active;
    assert!(
        features.iter().any(|name| name == "tx-tcp-segmentation"),
        "{features:?}"
    );
    assert!(!features.iter().any(|name| name == "rx-lro"), "{features:?}");
    let stamping = veth.stamping.expect("stamps");
    assert_eq!(stamping.phc, None);
    assert!(stamping.capabilities.iter().any(|name| name == "software-receive"));
}

#[test]
fn a_recorded_tap_has_a_coalescing_that_is_not_known_from_none() {
    let tap = everything("tap");
    let coalesce = Coalesce {
        rx_frames: Some(0),
        ..Coalesce::default()
    };
    assert_eq!((tap.coalesce, tap.eee), (Ok(coalesce), Err(Silence::Unsupported)));
    assert_eq!(tap.stamping.expect("stamps").capabilities.len(), 3);
}

#[test]
fn recorded_loopback_stamps_in_software_only() {
    let lo = everything("lo");
    assert_eq!(lo.stamping, Ok(software_stamps()));
    assert_eq!((lo.link, lo.detected), (Err(Silence::Unsupported), Ok(true)));
}

/// A bitset with names, as the kernel sends it; without a mask it lists the bits that are set.
fn bitset(masked: bool, bits: &[(u32, &str, bool)]) -> Vec<u8> {
    let mut list = Vec::new();
    for (index, name, is_set) in bits {
        let mut bit = attribute(1, &index.to_ne_bytes());
        bit.extend(attribute(2, &[name.as_bytes(), b"\0"].concat()));
        if *is_set {
            bit.extend(attribute(3, &[]));
        }
        list.extend(attribute(1 | 1 << 15, &bit));
    }
    let mut set = if masked { Vec::new() } else { attribute(1, &[]) };
    set.extend(attribute(2, &64_u32.to_ne_bytes()));
    set.extend(attribute(3 | 1 << 15, &list));
    set
}

fn words(kinds: &[(u16, u32)]) -> Vec<u8> {
    kinds
        .iter()
        .flat_map(|(kind, value)| attribute(*kind, &value.to_ne_bytes()))
        .collect()
}

fn octets(kinds: &[(u16, u8)]) -> Vec<u8> {
    kinds
        .iter()
        .flat_map(|(kind, value)| attribute(*kind, &[*value]))
        .collect()
}

#[test]
fn a_card_with_everything() {
    let link = [octets(&[(2, 1), (6, 1)]), words(&[(5, 1000)])].concat();
    assert_eq!(
        decode::link(&link),
        LinkSettings {
            speed_mbit: Some(1000),
            duplex: Some(Duplex::Full),
            autoneg: Some(true)
        }
    );
    let coalesce = [words(&[(2, 3), (6, 3)]), octets(&[(11, 0)])].concat();
    let expected = Coalesce {
        rx_usecs: Some(3),
        tx_usecs: Some(3),
        adaptive_rx: Some(false),
        ..Coalesce::default()
    };
    assert_eq!(decode::coalesce(&coalesce), expected);
    let peer = attribute(3, &bitset(false, &[(5, "1000baseT/Full", true)]));
    let ours = attribute(
        2,
        &bitset(true, &[(3, "100baseT/Full", false), (5, "1000baseT/Full", true)]),
    );
    let eee = [ours, peer, octets(&[(4, 1), (5, 1), (6, 1)]), words(&[(7, 17)])].concat();
    let expected = Eee {
        enabled: Some(true),
        active: Some(true),
        tx_lpi: Some(true),
        tx_lpi_timer_us: Some(17),
        peer_offers: Some(true),
        supported: Some(vec!["100baseT/Full".to_owned(), "1000baseT/Full".to_owned()]),
        advertised: Some(vec!["1000baseT/Full".to_owned()]),
    };
    assert_eq!(decode::eee(&eee), expected);
    let alone = attribute(3, &bitset(false, &[]));
    assert_eq!(decode::eee(&alone).peer_offers, Some(false));
    let pause = Pause {
        autoneg: Some(true),
        rx: Some(true),
        tx: Some(false),
    };
    assert_eq!(decode::pause(&octets(&[(2, 1), (3, 1), (4, 0)])), pause);
    let rings = words(&[(2, 4096), (5, 4096), (6, 256), (9, 512)]);
    let expected = Rings {
        rx: Some(256),
        rx_max: Some(4096),
        tx: Some(512),
        tx_max: Some(4096),
    };
    assert_eq!(decode::rings(&rings), expected);
    let channels = decode::channels(&words(&[(4, 1), (5, 4), (8, 1), (9, 4)]));
    let expected = Channels {
        other: Some(1),
        combined: Some(4),
        other_max: Some(1),
        combined_max: Some(4),
        ..Channels::default()
    };
    assert_eq!(channels, expected);
}

#[test]
fn a_card_with_a_clock_stamps_in_hardware() {
    let stamping = [
        attribute(
            2,
            &bitset(
                false,
                &[(0, "hardware-transmit", false), (6, "hardware-raw-clock", false)],
            ),
        ),
        attribute(3, &bitset(false, &[(0, "off", false), (1, "on", false)])),
        attribute(4, &bitset(false, &[(0, "none", false), (1, "all", false)])),
        words(&[(5, 0)]),
    ];
    let expected = TimeStamping {
        capabilities: vec!["hardware-transmit".to_owned(), "hardware-raw-clock".to_owned()],
        tx_types: vec!["off".to_owned(), "on".to_owned()],
        rx_filters: vec!["none".to_owned(), "all".to_owned()],
        phc: Some(0),
    };
    assert_eq!(decode::stamping(&stamping.concat()), expected);
    let table: Vec<u8> = [3_u32, 0, 1, 3].iter().flat_map(|queue| queue.to_ne_bytes()).collect();
    let rss = Rss {
        entries: Some(4),
        queues: vec![0, 1, 3],
    };
    assert_eq!(decode::rss(&attribute(4, &table)), rss);
}

#[test]
fn a_masked_bitset_names_only_what_is_set() {
    let set = bitset(true, &[(3, "rx-gro", true), (4, "rx-lro", false), (9, "", true)]);
    assert_eq!(bits::names(&set), ["rx-gro", "bit 9"]);
    let features = decode::features(&attribute(4, &set));
    assert_eq!(features.active, ["rx-gro", "bit 9"]);
}

#[test]
fn no_speed_and_no_duplex_are_not_known() {
    for speed in [0, u32::MAX] {
        let link = decode::link(&[words(&[(5, speed)]), octets(&[(6, 0xff)])].concat());
        assert_eq!(link, LinkSettings::default());
    }
    assert_eq!(decode::link(&octets(&[(6, 0)])).duplex, Some(Duplex::Half));
}

#[test]
fn structures_of_the_older_way() {
    let structure = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let coalesce = legacy::coalesce(&structure(&[0x0e, 20, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0]));
    assert_eq!((coalesce.rx_usecs, coalesce.tx_frames), (Some(20), Some(1)));
    assert_eq!((coalesce.adaptive_rx, coalesce.adaptive_tx), (Some(true), Some(false)));
    let eee = legacy::eee(&structure(&[0x44, 0x28, 0x20, 0, 0, 1, 1, 17, 0, 0]));
    assert_eq!(
        (eee.active, eee.enabled, eee.tx_lpi_timer_us, eee.peer_offers),
        (Some(false), Some(true), Some(17), Some(false))
    );
    let modes = |modes: Option<Vec<String>>| modes.map(|names| names.join(" "));
    assert_eq!(
        (modes(eee.supported).as_deref(), modes(eee.advertised).as_deref()),
        (Some("100baseT/Full 1000baseT/Full"), Some("1000baseT/Full"))
    );
    let channels = legacy::channels(&structure(&[0x3c, 0, 0, 1, 4, 0, 0, 1, 4]));
    assert_eq!(
        (channels.rx, channels.combined, channels.combined_max),
        (None, Some(4), Some(4))
    );
    let rings = legacy::rings(&structure(&[0x10, 4096, 0, 0, 4096, 256, 0, 0, 512]));
    assert_eq!((rings.rx, rings.tx, rings.tx_max), (Some(256), Some(512), Some(4096)));
    let mut stamping = vec![0x41, 0b100_0001, 0, 0b11, 0, 0, 0, 0b11];
    let with_clock = legacy::stamping(&structure(&stamping));
    assert_eq!(with_clock.capabilities, ["hardware-transmit", "hardware-raw-clock"]);
    assert_eq!(
        (with_clock.tx_types.join(" "), with_clock.phc),
        ("off on".to_owned(), Some(0))
    );
    stamping[2] = u32::MAX;
    assert_eq!(legacy::stamping(&structure(&stamping)).phc, None);
    let names = ["a".to_owned(), String::new(), "c".to_owned()];
    let features = legacy::features(&names, &structure(&[0x3a, 1, 0, 0, 0b110, 0]));
    assert_eq!(features.active, ["c"]);
}

/// Every decoder on the same bytes: none may panic.
fn decode_all(octets: &[u8]) {
    let names: Vec<String> = (0..64).map(|n| n.to_string()).collect();
    let _ = (decode::link(octets), decode::detected(octets), decode::coalesce(octets));
    let _ = (decode::eee(octets), decode::pause(octets), decode::features(octets));
    let _ = (decode::rings(octets), decode::channels(octets), decode::rss(octets));
    let _ = (decode::stamping(octets), bits::names(octets), legacy::driver(octets));
    let _ = (legacy::link(octets), legacy::detected(octets), legacy::coalesce(octets));
    let _ = (
        legacy::eee(octets),
        legacy::pause(octets),
        legacy::features(&names, octets),
    );
    let _ = (legacy::rings(octets), legacy::channels(octets), legacy::rss(octets));
    let _ = legacy::stamping(octets);
}

#[test]
fn answers_cut_or_changed_anywhere_do_not_panic() {
    for file in ["veth", "tap", "lo"] {
        for whole in QUESTIONS.iter().filter_map(|question| recorded(file, *question).ok()) {
            for length in 0..whole.len() {
                decode_all(&whole[..length]);
                let mut spoiled = whole.clone();
                spoiled[length] ^= 0xff;
                decode_all(&spoiled);
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_octets_panic(octets in proptest::collection::vec(proptest::num::u8::ANY, 0..512)) {
        decode_all(&octets);
    }

    #[test]
    fn attributes_of_any_content_do_not_panic(
        parts in proptest::collection::vec((0_u16..16, proptest::collection::vec(proptest::num::u8::ANY, 0..40)), 0..12),
    ) {
        let octets: Vec<u8> = parts.iter().flat_map(|(kind, value)| attribute(*kind, value)).collect();
        decode_all(&octets);
        decode_all(&attribute(4, &octets));
    }
}

/// The same interface, queried only by ioctl.
fn by_ioctl(name: &str) -> Ethtool {
    let asker = Asker {
        family: Err(Silence::NotInKernel),
        control: Control::open(name),
        name,
    };
    asker.everything()
}

#[test]
fn both_ways_of_asking_agree_on_loopback() {
    let (new, old) = (super::read("lo").expect("lo"), by_ioctl("lo"));
    assert_eq!(new.stamping, old.stamping);
    assert_eq!(new.features, old.features);
    assert!(new.features.is_ok_and(|features| !features.active.is_empty()));
    assert_eq!((new.link, new.eee, new.detected), (old.link, old.eee, old.detected));
}

#[test]
fn both_ways_of_asking_agree_on_a_veth() {
    if !privilege::has(Capability::SysAdmin) || !privilege::has(Capability::NetAdmin) {
        return testing::skip(
            "both_ways_of_asking_agree_on_a_veth",
            "needs CAP_SYS_ADMIN and CAP_NET_ADMIN",
        );
    }
    let (here, there) = (
        NetNs::create().expect("a namespace"),
        NetNs::create().expect("a namespace"),
    );
    let (new, old) = here
        .run(|| {
            crate::link::add_veth("a0", "b0", &there).expect("a veth");
            (super::read("a0").expect("a0"), by_ioctl("a0"))
        })
        .expect("a thread");
    assert_eq!(new.driver.clone().expect("a driver").name, "veth");
    assert_eq!((&new.link, &new.channels), (&old.link, &old.channels));
    assert_eq!((&new.features, &new.stamping), (&old.features, &old.stamping));
    assert_eq!(
        (&new.driver, &new.coalesce, &new.eee),
        (&old.driver, &old.coalesce, &old.eee)
    );
}

#[test]
fn an_interface_that_has_gone_is_said_to_have_gone() {
    let asker = Asker {
        family: Family::open(),
        control: Control::open("gone0"),
        name: "gone0",
    };
    let all = asker.everything();
    assert_eq!((all.driver, all.link), (Err(Silence::Gone), Err(Silence::Gone)));
    assert_eq!((all.eee, all.features), (Err(Silence::Gone), Err(Silence::Gone)));
    assert_eq!(by_ioctl("gone0").coalesce, Err(Silence::Gone));
    let error = super::read("gone0").expect_err("no such interface");
    assert!(
        error.to_string().starts_with("gone0: no such interface (have: "),
        "{error}"
    );
}

#[test]
fn silences_read_well() {
    let said: Vec<String> = [Silence::Unsupported, Silence::Refused(Errno::PERM)]
        .map(|s| s.to_string())
        .to_vec();
    assert_eq!(said[0], "the driver does not say (EOPNOTSUPP)");
    assert!(said[1].starts_with("the kernel refused: "), "{}", said[1]);
    let none: Told<Features> = Err(Silence::Gone);
    assert!(none.is_err());
}
