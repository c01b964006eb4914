//! No input makes a decoder panic, hang, or contradict itself.

use proptest::prelude::{any, prop, prop_oneof};
use proptest::proptest;
use proptest::strategy::{Just, Strategy};
use testing::vectors::{vector, vectors};
use wire::ether::{EthernetView, Hidden, VlanTag};
use wire::goose::{self, Data};
use wire::redundancy::{self, Lan, Protocol, Redundancy, Supervision};
use wire::routed::{Datagram, SessionWriter};
use wire::sequence::{Contents, Sample, Sequence};
use wire::{FrameError, avtp, sv, test_frame};

/// Reads sampled values and GOOSE of a frame, or of a message in a datagram.
fn decode_message(ethernet: &EthernetView<'_>, frame: &[u8]) {
    let parsed = sv::Frame::parse(ethernet);
    agree(parsed.as_ref().err(), sv::inspect(ethernet).error);
    for asdu in sv::inspect(ethernet).asdus() {
        assert!(asdu.seq_data().is_none_or(|octets| !octets.is_empty()));
    }
    // The fast path takes no message of a datagram.
    if let Ok(parsed) = parsed.as_ref()
        && !ethernet.is_routed()
    {
        check_sv(parsed, frame);
    }
    let parsed = goose::Frame::parse(ethernet);
    agree(parsed.as_ref().err(), goose::inspect(ethernet).error);
    goose::inspect(ethernet)
        .fields
        .all_data
        .into_iter()
        .flatten()
        .for_each(walk);
    if let Ok(parsed) = parsed {
        assert_eq!(parsed.all_data().count(), parsed.num_dat_set_entries() as usize);
    }
}

/// Calls everything in this crate that reads a frame.
fn decode_all(frame: &[u8]) {
    let tag = Some(VlanTag::new(4, false, 1));
    for ethernet in [EthernetView::parse(frame), EthernetView::with_tag(frame, tag)]
        .into_iter()
        .flatten()
    {
        let _ = Hidden::of(&ethernet);
        let _ = Supervision::parse(&ethernet);
        if let Some(Ok(datagram)) = Datagram::within(&ethernet) {
            assert!(datagram.covered().len() + datagram.signature().len() <= frame.len());
            datagram
                .messages()
                .flatten()
                .for_each(|view| decode_message(&view, frame));
        }
        if let Some(found) = Redundancy::of(&ethernet) {
            assert!(usize::from(found.size) <= frame.len());
        }
        decode_message(&ethernet, frame);
        let _ = test_frame::TestFrame::parse(&ethernet);
        if let Ok(stream) = avtp::Frame::parse(&ethernet) {
            assert!(stream.data().len() + avtp::HEADER <= ethernet.payload().len());
            let _ = test_frame::TestFrame::read(stream.data());
        }
    }
    for protocol in [Protocol::Prp, Protocol::Hsr] {
        let mut own = frame.to_vec();
        if redundancy::add(&mut own, protocol, Lan::B, 7).is_ok() {
            let ethernet = EthernetView::parse(&own).unwrap();
            let found = Redundancy::of(&ethernet).unwrap();
            assert_eq!((found.protocol, found.lan(), found.sequence), (protocol, Lan::B, 7));
        } else {
            assert_eq!(own, frame);
        }
    }
    let mut own = frame.to_vec();
    let _ = test_frame::TestFrameMut::new(&mut own).map(|mut frame| frame.set_sequence(1));
}

fn agree(parsed: Option<&FrameError>, inspected: Option<FrameError>) {
    assert_eq!(parsed.copied(), inspected);
    if let Some(error) = parsed {
        assert!(error.to_string().starts_with("octet "));
    }
}

fn check_sv(parsed: &sv::Frame<'_>, frame: &[u8]) {
    assert_eq!(parsed.asdus().count(), parsed.asdu_count());
    let mut fast = sv::FastPath::new();
    assert!(fast.accept(frame).is_none());
    fast.learn(parsed);
    let fast = fast.accept(frame).expect("a frame equals itself");
    for (fast, slow) in fast.zip(parsed.asdus()) {
        assert!((1..=129).contains(&slow.sv_id().len()));
        assert_eq!(
            (fast.smp_cnt, fast.smp_synch, fast.seq_data),
            (slow.smp_cnt(), slow.smp_synch(), slow.seq_data())
        );
    }
}

fn walk(data: Data<'_>) {
    if let Data::Array(entries) | Data::Structure(entries) = data {
        entries.for_each(walk);
    }
}

#[test]
fn every_vector_cut_at_every_length() {
    for vector in vectors() {
        for len in 0..=vector.frame.len() {
            decode_all(&vector.frame[..len]);
        }
    }
}

#[test]
fn every_vector_with_every_bit_flipped() {
    for vector in vectors() {
        let mut frame = vector.frame;
        for bit in 0..frame.len() * 8 {
            frame[bit / 8] ^= 1 << (bit % 8);
            decode_all(&frame);
            frame[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_octet_of_a_vector_with_every_value() {
    for name in [
        "sv_61869_4800_2asdu_vlan_sim",
        "sv_unknown_extension_field",
        "goose_all_types",
    ] {
        let mut frame = vector(name);
        for at in 12..frame.len() {
            let kept = frame[at];
            for octet in 0..=255 {
                frame[at] = octet;
                decode_all(&frame);
            }
            frame[at] = kept;
        }
    }
}

/// The deepest nesting that fits in an Ethernet frame, far beyond the limit.
/// A vector as a datagram of R-GOOSE or R-SV, with a signature.
fn routed(name: &str) -> Vec<u8> {
    let writer = SessionWriter {
        source: [10, 0, 0, 1].into(),
        destination: [239, 192, 0, 7].into(),
        number: 1,
        key_id: 1,
    };
    let datagram = writer.write(&vector(name), |_| vec![0x5a; 16]);
    datagram.expect("GOOSE or sampled values")
}

#[test]
fn every_octet_of_a_datagram_with_every_value() {
    for name in ["sv_smpsynch_1", "goose_all_types"] {
        let whole = routed(name);
        (0..whole.len()).for_each(|length| decode_all(&whole[..length]));
        for at in 12..whole.len() {
            let mut octets = whole.clone();
            for value in 0..=255 {
                octets[at] = value;
                decode_all(&octets);
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused_without_recursion_to_the_bottom() {
    let mut data = vec![0xa2, 0];
    while data.len() < 1300 {
        let mut outer = Vec::new();
        wire::ber::write_element(&mut outer, wire::ber::Tag(0xa2), &data);
        data = outer;
    }
    let message = goose_with(&data);
    let error = goose::Frame::parse(&EthernetView::parse(&message).unwrap()).unwrap_err();
    assert_eq!(error.rule, wire::Rule::Nesting);
    decode_all(&message);
}

fn goose_with(all_data: &[u8]) -> Vec<u8> {
    use wire::ber::{Tag, nested, write_element};
    let mut apdu = Vec::new();
    nested(&mut apdu, Tag(0x61), |pdu| {
        for (tag, content) in [
            (0x80, &b"a"[..]),
            (0x81, &[1]),
            (0x82, b"d"),
            (0x84, &[0; 8]),
            (0x85, &[1]),
            (0x86, &[0]),
        ] {
            write_element(pdu, Tag(tag), content);
        }
        write_element(pdu, Tag(0x88), &[1]);
        write_element(pdu, Tag(0x8a), &[1]);
        write_element(pdu, Tag(0xab), all_data);
    });
    let mut frame = vec![0; 12];
    frame.extend_from_slice(&[0x88, 0xb8, 0, 1]);
    frame.extend_from_slice(&(apdu.len() as u16 + 8).to_be_bytes());
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(&apdu);
    frame
}

/// Counts that continue for a while and wrap at `turns_at`, one sample every `every_ns`, as `(count, time)`.
fn counts_going_on() -> impl Strategy<Value = Vec<(u16, i64)>> {
    let turns_at = prop_oneof![Just(4000_u32), Just(4800), 1_u32..100, 1_u32..=1 << 16];
    let every_ns = prop_oneof![Just(0_i64), Just(250_000), Just(208_333), -1_000_000..2_000_000_000_i64];
    (any::<u16>(), turns_at, every_ns, 1_u32..300).prop_map(|(first, turns_at, every_ns, count)| {
        (0..count)
            .map(|at| (((u32::from(first) + at) % turns_at) as u16, every_ns))
            .collect()
    })
}

proptest! {
    /// Counters that jump, wrap at unusual counts, and come from several publishers at once.
    #[test]
    fn no_counts_make_the_account_of_a_stream_panic(
        rate in prop_oneof![Just(None), Just(Some(4000)), (1_u32..=1 << 16).prop_map(Some)],
        parts in prop::collection::vec(counts_going_on(), 1..8),
        at_once in 1_usize..4,
        kinds in prop_oneof![Just(1_u32), Just(7), Just(997)],
        stamped: bool,
    ) {
        let mut sequence = rate.map_or_else(Sequence::learning, Sequence::checking).comparing();
        let mut now_ns = 0_i64;
        for part in parts.chunks(at_once) {
            let longest = part.iter().map(Vec::len).max().unwrap_or(0);
            for (count, every_ns) in (0..longest).flat_map(|at| part.iter().filter_map(move |counts| counts.get(at))) {
                now_ns += every_ns;
                let contents = Contents::new(1 + u32::from(*count) % kinds);
                sequence.accept(Sample { contents, at_ns: stamped.then_some(now_ns), ..Sample::from(*count) });
                while sequence.take_finding().is_some() {}
            }
            sequence.look(now_ns);
        }
        sequence.end(Some(now_ns));
    }

    #[test]
    fn arbitrary_octets(frame in prop::collection::vec(any::<u8>(), 0..400)) {
        decode_all(&frame);
    }

    /// Arbitrary octets after a correct header, which reach further into the parsers.
    #[test]
    fn arbitrary_apdus(goose: bool, apdu in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut frame = vec![0; 12];
        frame.extend_from_slice(&[0x88, if goose { 0xb8 } else { 0xba }, 0x40, 0]);
        frame.extend_from_slice(&(apdu.len() as u16 + 10).to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(&[if goose { 0x61 } else { 0x60 }, apdu.len().min(127) as u8]);
        frame.extend_from_slice(&apdu);
        decode_all(&frame);
    }

    /// The same for AVTP, of which almost only the header is checked.
    #[test]
    fn arbitrary_streams(tagged: bool, payload in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut frame = vec![0; 12];
        if tagged {
            frame.extend_from_slice(&[0x81, 0, 0x60, 2]);
        }
        frame.extend_from_slice(&[0x22, 0xf0]);
        let known = payload.first().map(|octet| octet % 8);
        frame.extend(known.into_iter().chain(payload.iter().skip(1).copied()));
        decode_all(&frame);
    }

    /// Several octets of a valid frame are replaced.
    #[test]
    fn mutated_vectors(
        which in 0usize..61,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut frame = vectors().swap_remove(which).frame;
        for (at, octet) in changes {
            let at = at.index(frame.len());
            frame[at] = octet;
        }
        decode_all(&frame);
    }

    /// Marks of redundant networks: arbitrary octets after a source address, with the end of an RCT.
    #[test]
    fn arbitrary_trailers(tagged: bool, hsr: bool, payload in prop::collection::vec(any::<u8>(), 0..80), lan in 9_u8..13) {
        let mut frame = vec![0; 12];
        if tagged {
            frame.extend_from_slice(&[0x81, 0, 0x60, 2]);
        }
        frame.extend_from_slice(if hsr { &[0x89, 0x2f] } else { &[0x88, 0xfb] });
        frame.extend_from_slice(&payload);
        let size = payload.len() as u8 + 6;
        frame.extend_from_slice(&[0, 1, lan << 4, size, 0x88, 0xfb]);
        decode_all(&frame);
    }
}
