//! Replies of ptp4l 3.1.1 as received over its socket; the expected values are those that pmc printed for them.

use super::{Action, ClockIdentity, Content, GET_OCTETS, Id, PortIdentity, PortState, Refused, Reply, get};
use proptest::prelude::{ProptestConfig, any, proptest};

const HEADER: &str = "00000000000000000000000000000000ba7cd7fffeeb87610000";
const SLAVE: ClockIdentity = ClockIdentity([0xba, 0x7c, 0xd7, 0xff, 0xfe, 0xeb, 0x87, 0x61]);
const MASTER: ClockIdentity = ClockIdentity([0xa2, 0x8a, 0x82, 0xff, 0xfe, 0xaf, 0x93, 0x9c]);

/// A reply with this length, port, and octets after the management fields.
fn answer(length: &str, port: u8, tlv: &str) -> Vec<u8> {
    let header = HEADER.trim_end_matches("0000");
    octets(&format!(
        "0d02{length}{header}{port:04x}0009047f0000000000000000241d00000200{tlv}"
    ))
}

fn octets(text: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(pair).collect()
}

fn read(octets: &[u8]) -> Content<'_> {
    let reply = Reply::parse(octets).expect("an answer");
    assert_eq!(reply.source.clock, SLAVE);
    assert_eq!((reply.sequence, reply.action, reply.domain), (9, Action::Response, 0));
    reply.content
}

fn time_status() -> Vec<u8> {
    answer(
        "0068",
        0,
        "00010034c00000000000000001d618ea1e8f23158b690000000000000000000000000000000000000000000000000001a28a82fffeaf939c",
    )
}

#[test]
fn time_status_of_a_slave() {
    let octets = time_status();
    let Content::TimeStatus(status) = read(&octets) else {
        panic!("another data set")
    };
    assert_eq!(status.master_offset_ns, 470);
    assert_eq!(status.ingress_ns, 1_795_281_001_578_335_081);
    assert!(status.grandmaster_present);
    assert_eq!(status.grandmaster, MASTER);
    assert_eq!(status.grandmaster.to_string(), "a28a82.fffe.af939c");
}

#[test]
fn the_standard_data_sets() {
    let default = answer(
        "004a",
        0,
        "000100162000030000 0180fffeffff80ba7cd7fffeeb87610000"
            .replace(' ', "")
            .as_str(),
    );
    let Content::Default(data) = read(&default) else {
        panic!("another data set")
    };
    assert!(data.slave_only);
    assert_eq!((data.ports, data.identity, data.domain), (1, SLAVE, 0));
    assert_eq!((data.quality.class, data.quality.accuracy), (255, 0xfe));

    let current = answer(
        "0048",
        0,
        "0001001420010001 0000000001d60000 000000000a180000"
            .replace(' ', "")
            .as_str(),
    );
    let Content::Current(data) = read(&current) else {
        panic!("another data set")
    };
    assert_eq!(
        (data.steps_removed, data.offset_ns, data.mean_path_delay_ns),
        (1, 470, 2584)
    );

    let parent = answer(
        "0056",
        0,
        "000100222002a28a82fffeaf939c00010000ffff7fffffff80f8feffff80a28a82fffeaf939c",
    );
    let Content::Parent(data) = read(&parent) else {
        panic!("another data set")
    };
    assert_eq!(
        (data.parent.clock, data.parent.port, data.grandmaster),
        (MASTER, 1, MASTER)
    );
    assert_eq!(data.grandmaster_quality.class, 248);

    let port = answer(
        "0050",
        1,
        "0001001c2004ba7cd7fffeeb8761000109000000000000000000fe03fd01fd02",
    );
    let Content::Port(data) = read(&port) else {
        panic!("another data set")
    };
    assert_eq!((data.identity.port, data.state), (1, PortState::Slave));
    assert_eq!(
        (
            data.log_announce_interval,
            data.announce_timeout,
            data.log_sync_interval
        ),
        (-2, 3, -3)
    );
    assert!(!data.peer_to_peer());

    let properties = answer("003a", 0, "000100062003002500a0");
    let Content::TimeProperties(data) = read(&properties) else {
        panic!("another data set")
    };
    assert_eq!((data.utc_offset_s, data.source), (37, 0xa0));
    assert!(!data.flags.utc_offset_valid && !data.flags.leap_61 && !data.flags.time_traceable);
}

#[test]
fn the_data_sets_of_linuxptp() {
    let settings = answer("003e", 0, "0001000ac001fffeffff002500a0");
    let Content::GrandmasterSettings(data) = read(&settings) else {
        panic!("another data set")
    };
    assert_eq!((data.quality.class, data.time.utc_offset_s), (255, 37));

    let properties = answer("0046", 1, "00010012c004ba7cd7fffeeb87610001090002706200");
    let Content::PortProperties(data) = read(&properties) else {
        panic!("another data set")
    };
    assert_eq!(
        (data.state, data.timestamping, data.interface),
        (PortState::Slave, 0, &b"pb"[..])
    );
}

#[test]
fn a_refused_data_set_is_said_to_be() {
    let refused = answer("003c", 1, "000200080002c0ff00000000");
    assert_eq!(read(&refused), Content::Error { code: 2, id: 0xc0ff });
}

#[test]
fn unknown_tlvs_and_longer_data_are_passed_over() {
    let behind_another = answer("0042", 0, "00030004deadbeef000100062003002500a0");
    assert!(matches!(read(&behind_another), Content::TimeProperties(data) if data.utc_offset_s == 37));
    let longer = answer("003c", 0, "000100082003002500a0ffff");
    assert!(matches!(read(&longer), Content::TimeProperties(data) if data.source == 0xa0));
}

#[test]
fn what_cannot_be_read_says_why() {
    let whole = time_status();
    for cut in 0..whole.len() {
        assert!(matches!(Reply::parse(&whole[..cut]), Err(Refused::Cut { .. })), "{cut}");
    }
    let changed = |at: usize, to: u8| {
        let mut octets = whole.clone();
        octets[at] = to;
        Reply::parse(&octets).map(|_| ()).expect_err("refused")
    };
    assert_eq!(changed(0, 0x0b), Refused::NotManagement { found: 0x0b });
    assert_eq!(changed(1, 0x01), Refused::Version { found: 1 });
    assert_eq!(changed(51, 0x35), Refused::TlvCut);
    assert_eq!(
        changed(51, 0x20),
        Refused::DataCut {
            id: 0xc000,
            octets: 0x1e
        }
    );
    assert_eq!(
        Reply::parse(&answer("0034", 0, "00030000")).map(|_| ()),
        Err(Refused::NoTlv)
    );
    // An interface name shorter than its length field is refused.
    let long_name = answer("0046", 1, "00010012c004ba7cd7fffeeb87610001090009706200");
    assert!(matches!(
        Reply::parse(&long_name),
        Err(Refused::DataCut { id: 0xc004, .. })
    ));
}

#[test]
fn a_question_is_a_message_of_its_own() {
    let source = PortIdentity {
        clock: ClockIdentity::default(),
        port: 77,
    };
    let question = get(Id::TimeStatus, 3, 1, source, 513);
    let read = Reply::parse(&question).expect("a message");
    assert_eq!(question.len(), GET_OCTETS);
    assert_eq!(
        (read.domain, read.transport_specific, read.source, read.sequence),
        (3, 1, source, 513)
    );
    assert_eq!(
        (read.action, read.content),
        (Action::Get, Content::Other { id: 0xc000 })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_octets_make_it_panic(mut octets: Vec<u8>, at in any::<usize>(), value: u8) {
        let _ = Reply::parse(&octets);
        let mut near = time_status();
        let at = at % near.len();
        near[at] = value;
        let _ = Reply::parse(&near);
        near.append(&mut octets);
        let _ = Reply::parse(&near);
    }
}
