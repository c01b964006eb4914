use super::Hidden;
use crate::ether::EthernetView;

const ADDRESSES: [u8; 12] = [1, 0x0c, 0xcd, 4, 0, 1, 2, 0, 0, 0, 0, 1];

/// Addresses of other traffic.
const OTHERS: [u8; 12] = [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1];

/// A frame with these octets after its addresses.
fn frame(parts: &[&[u8]]) -> Vec<u8> {
    [&OTHERS[..], &parts.concat(), &[0; 46]].concat()
}

fn hidden(parts: &[&[u8]]) -> Option<Hidden> {
    Hidden::of(&EthernetView::parse(&frame(parts)).unwrap())
}

const SV: &[u8] = &[0x88, 0xba];
const GOOSE: &[u8] = &[0x88, 0xb8];
const ARP: &[u8] = &[0x08, 0x06];
const TAG: &[u8] = &[0x81, 0, 0, 5];
const OLD_TAG: &[u8] = &[0x91, 0, 0, 5];
const HSR: &[u8] = &[0x89, 0x2f, 0x10, 0x40, 0, 1];
const R_TAG: &[u8] = &[0xf1, 0xc1, 0, 0, 0, 1];

/// An IPv4 header with options, so that its length field matters.
fn ipv4(protocol: u8) -> Vec<u8> {
    let mut header = vec![0; 24];
    (header[0], header[9]) = (0x46, protocol);
    [&[8, 0][..], &header].concat()
}

/// IPv6 with an extension header of 16 octets.
fn ipv6(protocol: u8) -> Vec<u8> {
    let mut header = vec![0; 40 + 16];
    (header[0], header[6]) = (0x60, 60);
    (header[40], header[41]) = (protocol, 1);
    [&[0x86, 0xdd][..], &header].concat()
}

fn udp(port: u16) -> Vec<u8> {
    [&[0x30, 0x39][..], &port.to_be_bytes(), &[0; 4]].concat()
}

#[test]
fn tags_are_looked_behind() {
    for wanted in [SV, GOOSE] {
        assert_eq!(hidden(&[TAG, TAG, TAG, wanted]), Some(Hidden::Vlan));
        assert_eq!(hidden(&[OLD_TAG, wanted]), Some(Hidden::Vlan));
        assert_eq!(hidden(&[HSR, TAG, HSR, wanted]), Some(Hidden::Hsr));
        assert_eq!(hidden(&[R_TAG, wanted]), Some(Hidden::RTag));
    }
    for tag in [&[TAG, TAG, TAG].concat()[..], OLD_TAG, &HSR.repeat(2), R_TAG] {
        assert_eq!(hidden(&[tag, ARP]), None);
    }
    for tags in [&[][..], TAG, HSR, &[TAG, HSR].concat()] {
        assert_eq!(hidden(&[tags, SV]), None, "it is read");
    }
}

#[test]
fn gre_and_erspan_are_looked_behind() {
    let second = [0; 8];
    let (third, third_and_more) = ([0; 12], [[0; 11].as_slice(), &[1], &[0; 8]].concat());
    let tunnels: [(&str, &[u8], &[u8]); 6] = [
        ("Ethernet", &[0, 0, 0x65, 0x58], &[]),
        ("checksum, key, sequence", &[0xb0, 0, 0x65, 0x58], &[0; 12]),
        ("ERSPAN I", &[0, 0, 0x88, 0xbe], &[]),
        ("ERSPAN II", &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 7], &second),
        ("ERSPAN III", &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 7], &third),
        ("ERSPAN III, long", &[0x10, 0, 0x22, 0xeb, 0, 0, 0, 7], &third_and_more),
    ];
    for ip in [ipv4(47), ipv6(47)] {
        for (name, gre, header) in tunnels {
            for tags in [&[][..], TAG] {
                let inside = |wanted| hidden(&[TAG, &ip, gre, header, &ADDRESSES, tags, wanted]);
                assert_eq!(inside(SV), Some(Hidden::Gre), "{name}");
                assert_eq!(inside(ARP), None, "{name}");
            }
        }
        assert_eq!(hidden(&[&ip, &[0, 0], GOOSE]), Some(Hidden::Gre), "without Ethernet");
    }
}

#[test]
fn overlays_are_looked_behind() {
    let vxlan = [udp(4789), vec![8, 0, 0, 0, 0, 0, 5, 0]].concat();
    let geneve = [udp(6081), vec![2, 0, 0x65, 0x58, 0, 0, 5, 0], vec![0; 8]].concat();
    for ip in [ipv4(17), ipv6(17)] {
        for overlay in [&vxlan, &geneve] {
            let inside = |wanted| hidden(&[&ip, overlay, &ADDRESSES, wanted]);
            assert_eq!((inside(SV), inside(ARP)), (Some(Hidden::Overlay), None));
        }
    }
}

#[test]
fn a_header_of_vxlan_is_known_at_any_port() {
    let header = [8, 0, 0, 0, 0, 0, 5, 0];
    for ip in [ipv4(17), ipv6(17)] {
        for port in [1, 53, 8_472, 65_535] {
            let inside = |wanted| hidden(&[&ip, &udp(port), &header, &ADDRESSES, TAG, wanted]);
            assert_eq!((inside(SV), inside(ARP)), (Some(Hidden::Overlay), None), "{port}");
        }
        for bit in (0..64).filter(|bit| !(32..56).contains(bit)) {
            let mut other = header;
            other[bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(hidden(&[&ip, &udp(8_472), &other, &ADDRESSES, SV]), None, "bit {bit}");
        }
    }
}

#[test]
fn further_tunnels_are_looked_behind() {
    let ip = ipv4(17);
    let tzsp = |tags: &[u8]| [&ip, &udp(37_008)[..], &[1, 0, 0, 1], tags].concat();
    let l2tp = |header: &[u8]| [&ipv4(115), header].concat();
    let cases: [(Vec<u8>, Hidden); 13] = [
        (tzsp(&[1]), Hidden::Tzsp),
        (tzsp(&[0, 10, 1, 5, 0, 0x29, 2, 0, 1, 1]), Hidden::Tzsp),
        (vec![0x22, 0xf3, 0, 5, 0, 1, 0, 2], Hidden::Trill),
        (
            [&[0x22, 0xf3, 0, 0x85, 0, 1, 0, 2][..], &[0; 8]].concat(),
            Hidden::Trill,
        ),
        (vec![0x89, 0x4f, 0x0f, 0xc2, 2, 3, 0, 0, 5, 0xff], Hidden::Nsh),
        ([&[0x89, 0x4f, 0x0f, 0xc6, 1, 3][..], &[0; 20]].concat(), Hidden::Nsh),
        (vec![0x88, 0x64, 0x11, 0, 0, 1, 0, 60, 0, 0x31, 0, 1], Hidden::Pppoe),
        (vec![0x88, 0x64, 0x11, 0, 0, 1, 0, 60, 0, 0x31], Hidden::Pppoe),
        (l2tp(&[0, 0, 0, 1]), Hidden::L2tp),
        (l2tp(&[0, 0, 0, 1, 0, 0, 0, 0]), Hidden::L2tp),
        (l2tp(&[0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9]), Hidden::L2tp),
        (l2tp(&[0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0]), Hidden::L2tp),
        (
            [&ip, &udp(1701)[..], &[0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]].concat(),
            Hidden::L2tp,
        ),
    ];
    for (header, expected) in cases {
        for tags in [&[][..], TAG] {
            for wanted in [SV, GOOSE] {
                assert_eq!(
                    hidden(&[&header, &ADDRESSES, tags, wanted]),
                    Some(expected),
                    "{header:x?}"
                );
            }
            assert_eq!(hidden(&[&header, &ADDRESSES, tags, ARP]), None, "{header:x?}");
        }
    }
    let session = [&ip[2..], &udp(102), &[0xa2]].concat();
    assert_eq!(
        hidden(&[&[0x88, 0x64, 0x11, 0, 0, 1, 0, 60, 0, 0x21], &session]),
        Some(Hidden::Pppoe)
    );
    assert_eq!(
        hidden(&[&[0x89, 0x4f, 0x0f, 0xc2, 2, 1, 0, 0, 5, 0xff], &session]),
        Some(Hidden::Nsh)
    );
}

/// Random octets in datagrams to any port, and ordinary traffic in each tunnel, hold no protection.
#[test]
fn other_traffic_is_not_taken_for_theirs() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    for round in 0..200_000_u32 {
        let payload: Vec<u8> = (0..40 + round % 64).map(|_| random()).collect();
        let port = [53, 123, 5_004, 8_472][round as usize % 4];
        assert_eq!(hidden(&[&ipv4(17), &udp(port), &payload]), None, "{payload:x?}");
    }
    let datagram = [
        &ipv4(17),
        &udp(53)[..],
        &[8, 0, 0, 0, 0, 1, 0, 0, 7],
        b"example\x03com\0\0\x01\0\x01",
    ]
    .concat();
    let ordinary: [&[u8]; 5] = [ARP, &datagram, &ipv4(6), &ipv6(58), &[0x88, 0xcc, 2, 7, 4]];
    let tunnels: [&[u8]; 7] = [
        &[],
        &[&ipv4(17), &udp(8_472)[..], &[8, 0, 0, 0, 0, 0, 5, 0]].concat(),
        &[&ipv4(17), &udp(37_008)[..], &[1, 0, 0, 1, 1]].concat(),
        &[0x22, 0xf3, 0, 5, 0, 1, 0, 2],
        &[0x89, 0x4f, 0x0f, 0xc2, 2, 3, 0, 0, 5, 0xff],
        &[0x88, 0x64, 0x11, 0, 0, 1, 0, 60, 0, 0x31, 0, 1],
        &[&ipv4(115), &[0, 0, 0, 1, 0, 0, 0, 0][..]].concat(),
    ];
    for tunnel in tunnels {
        for traffic in ordinary {
            let addresses = if tunnel.is_empty() { &[][..] } else { &OTHERS };
            assert_eq!(hidden(&[tunnel, addresses, traffic]), None, "{tunnel:x?} {traffic:x?}");
        }
    }
}

#[test]
fn a_session_is_told_from_others_at_its_port() {
    for ip in [ipv4(17), ipv6(17)] {
        for session in 0..=0xff {
            let expected = (0xa0..=0xa2).contains(&session).then_some(Hidden::Routed);
            for transport in [&[][..], &[1, 0x40], &[3, 0x40, 0, 0]] {
                let packet = [transport, &[session, 0x10]].concat();
                assert_eq!(hidden(&[&ip, &udp(102), &packet]), expected, "{packet:x?}");
            }
            assert_eq!(hidden(&[&ip, &udp(103), &[session]]), None);
        }
    }
}

#[test]
fn a_later_fragment_has_no_header_to_look_at() {
    let mut ip = ipv4(17);
    ip[2 + 7] = 9;
    assert_eq!(hidden(&[&ip, &udp(102), &[0xa2]]), None);
}

#[test]
fn cut_and_endless_headers_are_nothing() {
    let ip = ipv4(47);
    let whole = [&OTHERS[..], &ip, &[0x10, 0, 0x22, 0xeb], &[0; 16], &ADDRESSES, SV].concat();
    for len in 14..whole.len() {
        assert_eq!(Hidden::of(&EthernetView::parse(&whole[..len]).unwrap()), None, "{len}");
    }
    assert_eq!(Hidden::of(&EthernetView::parse(&whole).unwrap()), Some(Hidden::Gre));
    assert_eq!(hidden(&[&TAG.repeat(10_000), SV]), None);
}

#[test]
fn labels_bridges_and_tunnels_are_looked_behind() {
    const LABELS: &[u8] = &[0x88, 0x47, 0, 1, 0x10, 64, 0, 2, 0x01, 64];
    let low = [[2, 0, 0, 0, 0, 1].as_slice(), &[2; 6]].concat();
    let high = [[0xf2, 0, 0, 0, 0, 1].as_slice(), &[2; 6]].concat();
    for addresses in [&ADDRESSES[..], &low, &high] {
        for control in [&[][..], &[0, 0, 0, 7]] {
            let inside = |wanted| hidden(&[LABELS, control, addresses, TAG, wanted]);
            assert_eq!(
                (inside(SV), inside(ARP)),
                (Some(Hidden::Mpls), None),
                "{addresses:x?} {control:x?}"
            );
        }
    }
    let ip = &ipv4(47)[2..];
    assert_eq!(hidden(&[LABELS, ip, &[0, 0], GOOSE]), Some(Hidden::Mpls));
    let bridged = |wanted| hidden(&[&[0x88, 0xa8, 0, 5, 0x88, 0xe7, 0, 0, 0, 9], &ADDRESSES, wanted]);
    assert_eq!((bridged(GOOSE), bridged(ARP)), (Some(Hidden::Pbb), None));
    let (v4, v6) = (ipv4(17), ipv6(17));
    for (outer, inner) in [(ipv4(4), &v4), (ipv4(41), &v6), (ipv6(4), &v4), (ipv6(41), &v6)] {
        let inside = |session| hidden(&[&outer, &inner[2..], &udp(102), &[session]]);
        assert_eq!((inside(0xa2), inside(0x01)), (Some(Hidden::Tunnel), None));
    }
}

#[test]
fn frames_to_their_addresses_that_are_not_read_are_told() {
    let of = |group: u8, ether_type: u16| {
        let mut frame = frame(&[&ether_type.to_be_bytes()]);
        frame[..6].copy_from_slice(&[1, 0x0c, 0xcd, group, 0, 1]);
        Hidden::of(&EthernetView::parse(&frame).unwrap())
    };
    // MACsec, a length with LLC and SNAP, PPPoE.
    for ether_type in [0x88e5, 0x0030, 0x8864] {
        for group in [1, 2, 4] {
            assert_eq!(of(group, ether_type), Some(Hidden::Unread), "{ether_type:#x}");
        }
        assert_eq!(of(3, ether_type), None);
    }
    for ether_type in [0x88ba, 0x88b8, 0x88b9] {
        assert_eq!(of(4, ether_type), None, "{ether_type:#x}");
    }
}
