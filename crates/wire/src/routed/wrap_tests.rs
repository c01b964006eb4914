//! Datagrams that are made from frames, signed, checked, and made into frames again.

use super::key::LONGEST;
use super::{Algorithm, Datagram, Key, Proof, Publisher, Route, Security, SpduNumbers, Unwrapper, Wrapper, stand_in};
use crate::ether::{EthernetView, Mac, VlanTag};
use crate::goose::{self, Value};
use crate::quality::SvQuality;
use crate::sv;
use core::net::IpAddr;

const SECRET: &[u8] = b"Jefe";

fn route(key: Option<Key>) -> Route {
    Route {
        source: [10, 0, 0, 1].into(),
        group: [239, 192, 0, 7].into(),
        ttl: 5,
        dscp: Route::EXPEDITED,
        key,
    }
}

fn key(id: u32, algorithm: Algorithm) -> Key {
    Key::new(id, algorithm, SECRET).expect("a key")
}

fn goose_frame() -> Vec<u8> {
    let message = goose::Message {
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: vec![VlanTag::new(4, false, 100)],
        appid: 0x3001,
        gocb_ref: b"IED1LD0/LLN0$GO$gcb1".to_vec(),
        dat_set: b"IED1LD0/LLN0$ds1".to_vec(),
        all_data: vec![Value::Boolean(true)],
        simulation: true,
        ..goose::Message::default()
    };
    message.encode().expect("a message")
}

fn sv_frame(members: usize) -> Vec<u8> {
    let message = sv::Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![sv::OwnedAsdu::new("MU01", 1, 2, &vec![(5, SvQuality(0)); members])],
    };
    message.encode().expect("a frame")
}

fn proof(octets: &[u8], keys: &[Key]) -> Proof {
    let ethernet = EthernetView::parse(octets).expect("a header");
    let datagram = Datagram::within(&ethernet).expect("a session").expect("readable");
    Proof::of(&datagram, keys)
}

#[test]
fn a_frame_comes_back_as_it_was_but_for_its_addresses() {
    for frame in [goose_frame(), sv_frame(8)] {
        let mut wrapper = Wrapper::new(route(None));
        for number in 0..3 {
            let octets = wrapper.wrap(&frame).expect("short").expect("a protocol").to_vec();
            let ethernet = EthernetView::parse(&octets).expect("a header");
            assert_eq!(ethernet.dst(), Mac([1, 0, 0x5e, 64, 0, 7]));
            assert_eq!(ethernet.payload()[1] >> 2, 46);
            assert_eq!(ethernet.payload()[8], 5);
            let datagram = Datagram::within(&ethernet).expect("a session").expect("readable");
            assert_eq!((datagram.number(), datagram.security()), (number, Security::None));
            let message = datagram.messages().next().expect("one").expect("readable");
            let mut unwrapper = Unwrapper::default();
            let back = unwrapper.frame(&message);
            let publisher = stand_in(IpAddr::from([10, 0, 0, 1]));
            assert_eq!(back[..12], [Mac([1, 0, 0x5e, 64, 0, 7]).0, publisher.0].concat());
            assert_eq!(back[12..], frame[12..], "tags, header and APDU");
            assert_eq!(Publisher(publisher).to_string(), "10.0.0.1");
        }
    }
}

#[test]
fn another_router_is_no_other_publisher() {
    let frame = goose_frame();
    let mut octets = Wrapper::new(route(None))
        .wrap(&frame)
        .expect("short")
        .expect("GOOSE")
        .to_vec();
    let source = |octets: &[u8]| {
        let ethernet = EthernetView::parse(octets).expect("a header");
        let datagram = Datagram::within(&ethernet).expect("a session").expect("readable");
        let message = datagram.messages().next().expect("one").expect("readable");
        message.src()
    };
    let before = source(&octets);
    octets[6..12].copy_from_slice(&[0, 0, 0x5e, 0, 1, 9]);
    assert_eq!(source(&octets), before);
    assert_eq!(Publisher(Mac([0, 0, 0x5e, 0, 1, 9])).to_string(), "00:00:5e:00:01:09");
}

/// Test case 2 of RFC 4231.
#[test]
fn the_hash_is_that_of_the_rfc() {
    let wanted = [
        0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00,
        0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43,
    ];
    for algorithm in Algorithm::ALL {
        let mut out = [0; LONGEST];
        key(1, algorithm).sign(b"what do ya want for nothing?", &mut out);
        let octets = algorithm.octets();
        assert_eq!(out[..octets], wanted[..octets], "{}", algorithm.word());
        assert!(out[octets..].iter().all(|octet| *octet == 0), "and no more");
        assert_eq!(algorithm.word().parse(), Ok(algorithm));
    }
    assert!("hmac-sha256".parse::<Algorithm>().is_err());
    assert!(Key::new(0, Algorithm::HmacSha256_256, SECRET).is_none(), "no number");
    assert!(Key::new(1, Algorithm::HmacSha256_256, b"").is_none(), "no secret");
    assert!(!format!("{:?}", key(3, Algorithm::HmacSha256_80)).contains("Jefe"));
}

#[test]
fn a_signature_is_right_only_for_its_octets_and_its_key() {
    for (number, algorithm) in (1..).zip(Algorithm::ALL) {
        let signing = key(number, algorithm);
        let mut wrapper = Wrapper::new(route(Some(signing.clone())));
        let octets = wrapper.wrap(&goose_frame()).expect("short").expect("GOOSE").to_vec();
        let keys = [key(99, algorithm), signing];
        assert_eq!(proof(&octets, &keys), Proof::Right);
        assert_eq!(proof(&octets, &[]), Proof::NotChecked);
        assert_eq!(proof(&octets, &keys[..1]), Proof::UnknownKey);
        let other = Key::new(number, algorithm, b"Jeff").expect("a key");
        assert_eq!(proof(&octets, &[other]), Proof::Wrong);
        let longer = Algorithm::ALL
            .into_iter()
            .find(|other| *other != algorithm)
            .expect("another");
        assert_eq!(proof(&octets, &[key(number, longer)]), Proof::Wrong, "another length");
        // Every octet of the session counts, but the length of the signature, which libiec61850 writes as 16 in any case.
        let length_at = octets.len() - algorithm.octets() - 1;
        for at in (18 + 28..octets.len()).filter(|at| *at != length_at) {
            let mut changed = octets.clone();
            changed[at] ^= 1;
            let ethernet = EthernetView::parse(&changed).expect("a header");
            if let Some(Ok(datagram)) = Datagram::within(&ethernet) {
                assert_ne!(Proof::of(&datagram, &keys), Proof::Right, "octet {at}");
            }
        }
    }
    let mut plain = Wrapper::new(route(None));
    let octets = plain.wrap(&goose_frame()).expect("short").expect("GOOSE").to_vec();
    assert_eq!(proof(&octets, &[]), Proof::None);
    assert_eq!(proof(&octets, &[key(1, Algorithm::HmacSha256_80)]), Proof::Unsigned);
}

#[test]
fn clones_share_the_number_and_other_frames_stay_as_they_are() {
    let mut wrapper = Wrapper::new(route(None));
    let clone = wrapper.clone();
    let mut out = [0; 1_600];
    for number in [0, 2] {
        let octets = wrapper.wrap(&sv_frame(8)).expect("short").expect("SV");
        assert_eq!(octets[42 + 2 + 8..][..4], u32::to_be_bytes(number));
        clone.wrap_into(&sv_frame(8), &mut out).expect("short").expect("SV");
    }
    let mut ptp = sv_frame(8);
    ptp[12..14].copy_from_slice(&[0x88, 0xf7]);
    assert_eq!(wrapper.wrap(&ptp), Ok(None));
}

#[test]
fn a_datagram_that_needs_fragments_is_refused() {
    let longest = |signed: bool| {
        let key = signed.then(|| key(1, Algorithm::HmacSha256_256));
        let mut wrapper = Wrapper::new(route(key));
        let fits = |members: &usize| wrapper.wrap(&sv_frame(*members)).is_ok_and(|octets| octets.is_some());
        (100..200).take_while(fits).last().expect("some fit")
    };
    let (plain, signed) = (longest(false), longest(true));
    // A member has eight octets, a signature with its tag and length 34.
    assert!((4..=5).contains(&(plain - signed)), "{plain} and {signed} members");
    let error = Wrapper::new(route(None))
        .wrap(&sv_frame(plain + 1))
        .expect_err("too long");
    assert!(error.to_string().contains("at most 1500"), "{error}");
}

#[test]
fn an_ipv6_publisher_has_its_last_octets() {
    let address: IpAddr = "2001:db8::12:34ff".parse().expect("an address");
    assert_eq!(Publisher(stand_in(address)).to_string(), "…:0012:34ff");
    assert_ne!(stand_in(address), stand_in([0, 0x12, 0x34, 0xff].into()));
}

#[test]
fn a_datagram_leaves_room_for_the_mark_of_a_redundant_network() {
    let longest = |wrapper: &mut Wrapper| {
        let fits = |members: &usize| matches!(wrapper.wrap(&sv_frame(*members)), Ok(Some(_)));
        (1..180).rev().find(fits).expect("some fit")
    };
    let octets = |members| {
        let mut wrapper = Wrapper::new(route(None));
        let datagram = wrapper.wrap(&sv_frame(members)).expect("short").expect("a protocol");
        datagram.len() - 14
    };
    let members = longest(&mut Wrapper::new(route(None)));
    // Each member has eight octets.
    let spare = 1500 - octets(members);
    assert_eq!(longest(&mut Wrapper::new(route(None)).leaving(spare)), members);
    let mut fewer = Wrapper::new(route(None)).leaving(spare + 1);
    assert_eq!(longest(&mut fewer), members - 1);
    let refused = fewer.wrap(&sv_frame(members)).expect_err("too long").to_string();
    assert!(refused.contains(&format!("at most {}", 1500 - spare - 1)), "{refused}");
}

/// Datagrams of this frame, with the numbers from 0 on.
fn counted(frame: &[u8], source: [u8; 4], count: usize) -> Vec<Vec<u8>> {
    let mut wrapper = Wrapper::new(Route {
        source: source.into(),
        ..route(Some(key(1, Algorithm::HmacSha256_128)))
    });
    (0..count)
        .map(|_| wrapper.wrap(frame).expect("short").expect("a protocol").to_vec())
        .collect()
}

#[test]
fn a_datagram_that_its_sender_has_left_behind_is_recognised() {
    let keys = [key(1, Algorithm::HmacSha256_128)];
    for (frame, window) in [(goose_frame(), 64), (sv_frame(8), 4_096)] {
        let mut numbers = SpduNumbers::default();
        let mut proof = |octets: &[u8]| {
            let ethernet = EthernetView::parse(octets).expect("a header");
            let datagram = Datagram::within(&ethernet).expect("a session").expect("readable");
            Proof::followed(&datagram, &keys, &mut numbers)
        };
        let all = counted(&frame, [10, 0, 0, 1], window + 100);
        assert!(all.iter().all(|octets| proof(octets) == Proof::Right));
        // Copies, and a burst that was held back.
        assert!(all[99..].iter().all(|octets| proof(octets) == Proof::Right));
        assert!(all[..99].iter().all(|octets| proof(octets) == Proof::Behind));
        let of_another = counted(&frame, [10, 0, 0, 2], 10);
        assert!(of_another.iter().all(|octets| proof(octets) == Proof::Right));
        let mut forged = all[0].clone();
        *forged.last_mut().expect("octets") ^= 1;
        assert_eq!(
            proof(&forged),
            Proof::Wrong,
            "nothing is known of a number that nobody signed"
        );
    }
}

/// A message with another name has a count of its own.
#[test]
fn two_blocks_of_one_sender_may_count_by_themselves() {
    let mut numbers = SpduNumbers::default();
    let mut is_behind = |octets: &[u8]| {
        let ethernet = EthernetView::parse(octets).expect("a header");
        numbers.is_behind(&Datagram::within(&ethernet).expect("a session").expect("readable"))
    };
    let (goose, sv) = (goose_frame(), sv_frame(8));
    assert!(
        !counted(&goose, [10, 0, 0, 1], 200)
            .iter()
            .any(|octets| is_behind(octets))
    );
    assert!(!counted(&sv, [10, 0, 0, 1], 10).iter().any(|octets| is_behind(octets)));
}
