//! Encoded messages decode to the same message; the two shortcuts agree with the full parser.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use proptest::{prop_assert, prop_assert_eq, proptest};
use testing::vectors::{hex, vector, vectors};
use wire::avtp::{self, AafStream, AafTemplate};
use wire::ether::{EthernetView, Mac, TPID_8021AD, VlanTag};
use wire::goose::{self, Value};
use wire::header::EncodeError;
use wire::quality::SvQuality;
use wire::sv::{self, OwnedAsdu};
use wire::time::{TimeQuality, UtcTime};

fn tags() -> impl Strategy<Value = Vec<VlanTag>> {
    let tag = (any::<bool>(), any::<u16>()).prop_map(|(outer, tci)| VlanTag {
        tpid: if outer { TPID_8021AD } else { 0x8100 },
        tci,
    });
    vec(tag, 0..=2)
}

fn mac() -> impl Strategy<Value = Mac> {
    any::<[u8; 6]>().prop_map(Mac)
}

fn time() -> impl Strategy<Value = UtcTime> {
    any::<[u8; 8]>().prop_map(UtcTime::from_bytes)
}

fn name(range: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    vec(0x20u8..0x7f, range)
}

fn asdu(octets: usize) -> impl Strategy<Value = OwnedAsdu> {
    let fixed = (name(1..=34), any::<u16>(), any::<u32>(), vec(any::<u8>(), octets));
    let optional = (
        option::of(name(1..=34)),
        option::of(time()),
        option::of(any::<u8>()),
        option::of(any::<u16>()),
    );
    let late = (option::of(any::<u16>()), option::of(any::<[u8; 8]>()));
    (fixed, optional, late).prop_map(
        |((sv_id, smp_cnt, conf_rev, seq_data), (dat_set, refr_tm, smp_synch, smp_rate), late)| OwnedAsdu {
            sv_id,
            dat_set,
            smp_cnt,
            conf_rev,
            refr_tm,
            smp_synch,
            smp_rate,
            seq_data,
            smp_mod: late.0,
            gm_identity: late.1,
        },
    )
}

fn sv_message() -> impl Strategy<Value = sv::Message> {
    let alike = (asdu(64), 1usize..=8).prop_map(|(asdu, count)| {
        (0..count as u16)
            .map(|i| OwnedAsdu {
                smp_cnt: asdu.smp_cnt.wrapping_add(i),
                ..asdu.clone()
            })
            .collect()
    });
    let asdus = prop_oneof![alike, vec((0usize..4).prop_flat_map(|m| asdu(4 + 8 * m)), 1..=8)];
    (mac(), mac(), tags(), any::<u16>(), any::<bool>(), asdus).prop_map(|(dst, src, tags, appid, simulate, asdus)| {
        sv::Message {
            dst,
            src,
            tags,
            appid,
            simulate,
            asdus,
        }
    })
}

fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        (0u8..8, vec(any::<u8>(), 1..6)).prop_map(|(unused, bits)| Value::BitString { unused, bits }),
        Just(Value::BitString {
            unused: 0,
            bits: Vec::new()
        }),
        any::<i64>().prop_map(Value::Integer),
        (any::<u64>(), 0u32..64).prop_map(|(value, shift)| Value::Unsigned(value >> shift)),
        any::<f32>().prop_map(Value::Float32),
        any::<f64>().prop_map(Value::Float64),
        vec(any::<u8>(), 0..20).prop_map(Value::OctetString),
        name(0..=20).prop_map(Value::VisibleString),
        prop_oneof![vec(any::<u8>(), 4), vec(any::<u8>(), 6)].prop_map(Value::BinaryTime),
        time().prop_map(Value::UtcTime),
        vec(any::<u8>(), 0..5).prop_map(|octets| Value::Other {
            tag: wire::ber::Tag(0x90),
            octets
        }),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec(inner, 0..4).prop_map(Value::Structure)
        ]
    })
    .boxed()
}

fn goose_message() -> impl Strategy<Value = goose::Message> {
    let head = (mac(), mac(), tags(), any::<u16>(), any::<bool>(), any::<bool>());
    let names = (name(0..=129), name(0..=129), option::of(name(0..=129)));
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    (head, names, numbers, time(), any::<bool>(), vec(value(), 0..8)).prop_map(
        |((dst, src, tags, appid, simulate, flag), names, numbers, t, nds_com, all_data)| goose::Message {
            dst,
            src,
            tags,
            appid,
            simulate,
            gocb_ref: names.0,
            time_allowed_to_live: numbers.0,
            dat_set: names.1,
            go_id: names.2,
            t,
            st_num: numbers.1,
            sq_num: numbers.2,
            simulation: simulate || flag,
            conf_rev: numbers.3,
            nds_com,
            all_data,
        },
    )
}

fn parse_sv(frame: &[u8]) -> sv::Message {
    let ethernet = EthernetView::parse(frame).unwrap();
    let frame = sv::Frame::parse(&ethernet).unwrap_or_else(|error| panic!("{error}: {}", hex(frame)));
    sv::Message::from(&frame)
}

fn parse_goose(frame: &[u8]) -> goose::Message {
    let ethernet = EthernetView::parse(frame).unwrap();
    let frame = goose::Frame::parse(&ethernet).unwrap_or_else(|error| panic!("{error}: {}", hex(frame)));
    goose::Message::from(&frame)
}

/// The fast path may refuse frames that the parser accepts; for a frame that it accepts, the parser returns the same
/// fields.
fn fast_path_agrees(fast: &sv::FastPath, frame: &[u8]) -> bool {
    let Some(asdus) = fast.accept(frame) else { return false };
    let slow = parse_sv(frame);
    assert_eq!(asdus.len(), slow.asdus.len());
    for (fast, slow) in asdus.zip(&slow.asdus) {
        assert_eq!(
            (fast.smp_cnt, fast.smp_synch, fast.seq_data),
            (slow.smp_cnt, slow.smp_synch, &slow.seq_data[..])
        );
    }
    true
}

fn learned(frame: &[u8]) -> sv::FastPath {
    let mut fast = sv::FastPath::new();
    fast.learn(&sv::Frame::parse(&EthernetView::parse(frame).unwrap()).unwrap());
    fast
}

proptest! {
    #[test]
    fn audio_streams(dst in mac(), src in mac(), tags in tags(), unique_id: u16, number: u8, time: u32, data: [u8; 48]) {
        let stream = AafStream { dst, src, tags: tags.clone(), unique_id };
        let mut template = AafTemplate::new(&stream);
        template.set_sequence_num(number);
        template.set_timestamp_ns(time);
        template.data_mut().copy_from_slice(&data);
        let ethernet = EthernetView::parse(template.bytes()).unwrap();
        prop_assert_eq!((ethernet.dst(), ethernet.src()), (dst, src));
        prop_assert_eq!((ethernet.vlan(), ethernet.inner_vlan()), (tags.first().copied(), tags.get(1).copied()));
        let frame = avtp::Frame::parse(&ethernet).unwrap();
        prop_assert_eq!((frame.sequence_num(), frame.timestamp_ns()), (number, Some(time)));
        prop_assert_eq!((frame.subtype(), frame.stream_id()), (avtp::AAF, Some(stream.id())));
        prop_assert_eq!(frame.data(), data);
    }

    #[test]
    fn sv_round_trip(message in sv_message(), padding in 0usize..40) {
        match message.encode() {
            Ok(mut frame) => {
                frame.resize(frame.len() + padding, 0);
                prop_assert_eq!(parse_sv(&frame), message);
            }
            Err(error) => prop_assert!(matches!(error, EncodeError::TooLong(1493..)), "{}", error),
        }
    }

    #[test]
    fn goose_round_trip(message in goose_message(), padding in 0usize..40) {
        match message.encode() {
            Ok(mut frame) => {
                frame.resize(frame.len() + padding, 0);
                prop_assert_eq!(parse_goose(&frame), message.clone());
                let fixed = goose::Template::new(&message);
                prop_assert!(fixed.is_err() || parse_goose(fixed.unwrap().bytes()) == message);
            }
            Err(error) => prop_assert!(matches!(error, EncodeError::TooLong(1493..)), "{}", error),
        }
    }

    #[test]
    fn a_patched_sv_template_equals_an_encoded_message(message in sv_message(), change in asdu(64), at: Index, simulate: bool) {
        let Ok(mut template) = sv::Template::new(&message) else { return Ok(()) };
        prop_assert_eq!(template.asdu_count(), message.asdus.len());
        let mut message = message;
        let at = at.index(message.asdus.len());
        let mut patch = template.asdu_mut(at).unwrap();
        let asdu = &mut message.asdus[at];
        asdu.smp_cnt = change.smp_cnt;
        patch.set_smp_cnt(change.smp_cnt);
        let synch = change.smp_synch.unwrap_or(3);
        asdu.smp_synch = asdu.smp_synch.map(|_| synch);
        patch.set_smp_synch(synch);
        let len = asdu.seq_data.len().min(64);
        asdu.seq_data[..len].copy_from_slice(&change.seq_data[..len]);
        patch.seq_data_mut()[..len].copy_from_slice(&change.seq_data[..len]);
        let has_member = patch.set_member(0, i32::MIN, SvQuality(0x2001));
        prop_assert_eq!(has_member, asdu.seq_data.len() >= 8);
        if has_member {
            asdu.seq_data[..8].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 0x20, 1]);
        }
        prop_assert!(!patch.set_member(asdu.seq_data.len() / 8, 0, SvQuality::GOOD));
        message.simulate = simulate;
        template.set_simulate(simulate);
        prop_assert!(template.asdu_mut(message.asdus.len()).is_none());
        prop_assert_eq!(template.bytes(), &message.encode().unwrap()[..]);
    }

    #[test]
    fn the_fast_path_follows_a_stream(message in sv_message(), next in vec((any::<u16>(), any::<u8>(), any::<u8>()), 1..8)) {
        let Ok(mut template) = sv::Template::new(&message) else { return Ok(()) };
        let fast = learned(template.bytes());
        for (smp_cnt, synch, fill) in next {
            for at in 0..template.asdu_count() {
                let mut asdu = template.asdu_mut(at).unwrap();
                asdu.set_smp_cnt(smp_cnt);
                asdu.set_smp_synch(synch);
                asdu.seq_data_mut().fill(fill);
            }
            prop_assert!(fast_path_agrees(&fast, template.bytes()));
            let padded = [template.bytes(), &[0x55; 9]].concat();
            prop_assert!(fast_path_agrees(&fast, &padded));
        }
    }

    #[test]
    fn the_fast_path_never_accepts_more_than_the_parser(
        message in sv_message(),
        changes in vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let Ok(frame) = message.encode() else { return Ok(()) };
        let fast = learned(&frame);
        let mut mutated = frame.clone();
        for (at, octet) in changes {
            mutated[at.index(frame.len())] = octet;
        }
        fast_path_agrees(&fast, &mutated);
    }
}

/// Only the octets of smpCnt, smpSynch and seqData may change.
#[test]
fn the_fast_path_compares_every_other_octet() {
    for name in [
        "sv_61869_4800_2asdu_vlan_sim",
        "sv_9_2le_4000_1asdu_untagged",
        "sv_unknown_extension_field",
        "sv_no_smpsynch",
    ] {
        let frame = vector(name);
        let message = parse_sv(&frame);
        let fast = learned(&frame);
        let free: usize = message
            .asdus
            .iter()
            .map(|a| 2 + usize::from(a.smp_synch.is_some()) + a.seq_data.len())
            .sum();
        let mut free_found = 0;
        for at in 0..frame.len() {
            for bit in 0..8 {
                let mut changed = frame.clone();
                changed[at] ^= 1 << bit;
                free_found += usize::from(fast_path_agrees(&fast, &changed));
            }
        }
        assert_eq!(free_found, free * 8, "{name}");
        assert!(fast.accept(&frame[..frame.len() - 1]).is_none());
    }
    let fast = learned(&vector("sv_smpsynch_2"));
    assert!(fast.accept(&vector("sv_smpsynch_254")).is_some());
    assert!(fast.accept(&[]).is_none());
}

#[test]
fn a_new_stream_as_9_2le_publishes_it() {
    let members = [
        (489_898, SvQuality::GOOD),
        (-489_898, SvQuality::GOOD),
        (0, SvQuality::GOOD),
        (0, SvQuality(0x2000)),
    ];
    let last = [
        (1_632_993, SvQuality::GOOD),
        (-816_497, SvQuality::GOOD),
        (-816_497, SvQuality::GOOD),
        (-1, SvQuality(0x2000)),
    ];
    let message = sv::Message {
        dst: "01:0c:cd:04:00:01".parse().unwrap(),
        src: "02:00:00:00:00:01".parse().unwrap(),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![OwnedAsdu::new("ABCDMU0101", 1, 2, &[members, last].concat())],
    };
    assert_eq!(message.encode().unwrap(), vector("sv_9_2le_4000_1asdu_untagged"));
}

#[test]
fn encoding_a_decoded_vector_gives_it_back() {
    let skip = [
        "sv_nonminimal_lengths",
        "goose_fixed_length",
        "goose_defaults_omitted",
        "goose_bool_true_01",
    ];
    for vector in vectors()
        .iter()
        .filter(|v| v.policy == "accept" && !skip.contains(&v.name.as_str()))
    {
        let again = match vector.kind.as_str() {
            "sv" => parse_sv(&vector.frame).encode(),
            _ => parse_goose(&vector.frame).encode(),
        };
        assert_eq!(again.as_ref(), Ok(&vector.frame), "{}", vector.name);
    }
}

#[test]
fn a_goose_template_is_patched_in_place() {
    let mut message = parse_goose(&vector("goose_initial"));
    let mut template = goose::Template::new(&message).unwrap();
    let octets = template.bytes().len();
    message.st_num = u32::MAX;
    message.sq_num = 7;
    message.time_allowed_to_live = 2000;
    message.t = UtcTime::from_ns(1_790_000_001_024_000_000, TimeQuality(10));
    message.all_data[0] = Value::Boolean(true);
    message.all_data[1] = Value::BitString {
        unused: 3,
        bits: vec![0x40, 0x10],
    };
    message.all_data[2] = Value::UtcTime(message.t);
    (message.simulate, message.simulation) = (true, true);
    template.set_st_num(message.st_num);
    template.set_sq_num(message.sq_num);
    template.set_time_allowed_to_live(message.time_allowed_to_live);
    template.set_t(message.t);
    template.set_simulation(true);
    for (index, value) in message.all_data.iter().enumerate() {
        assert!(template.set_entry(index, value));
    }
    assert_eq!(parse_goose(template.bytes()), message);
    assert_eq!(template.bytes().len(), octets);
    assert!(!template.set_entry(0, &Value::Integer(1)), "another type");
    assert!(
        !template.set_entry(
            1,
            &Value::BitString {
                unused: 4,
                bits: vec![0, 0]
            }
        ),
        "another length"
    );
    assert!(!template.set_entry(3, &Value::Boolean(true)), "no such entry");
    assert_eq!(parse_goose(template.bytes()), message);
}

#[test]
fn numbers_and_texts_of_a_goose_template_keep_their_length() {
    let text = |text: &str| Value::VisibleString(text.as_bytes().to_vec());
    let mut message = parse_goose(&vector("goose_initial"));
    message.all_data = vec![
        Value::Integer(0),
        Value::Unsigned(0),
        Value::Integer(1 << 40),
        text("off"),
    ];
    let mut template = goose::Template::new(&message).unwrap();
    let octets = template.bytes().len();
    let rounds = [
        [
            Value::Integer(-1),
            Value::Unsigned(255),
            Value::Integer(i64::MIN),
            text("on "),
        ],
        [
            Value::Integer(i32::MIN.into()),
            Value::Unsigned(u32::MAX.into()),
            Value::Integer(3),
            text("abc"),
        ],
    ];
    for values in rounds {
        for (index, value) in values.iter().enumerate() {
            assert!(template.set_entry(index, value), "{value:?}");
        }
        message.all_data = values.to_vec();
        assert_eq!(parse_goose(template.bytes()), message);
        assert_eq!(template.bytes().len(), octets);
    }
    assert!(!template.set_entry(0, &Value::Integer(1 << 40)), "needs more octets");
    assert!(!template.set_entry(3, &text("longer")));
    assert_eq!(parse_goose(template.bytes()), message);
}

#[test]
fn messages_that_cannot_be_sent_are_refused() {
    let good = parse_sv(&vector("sv_9_2le_4000_1asdu_untagged"));
    let with = |change: &dyn Fn(&mut OwnedAsdu)| {
        let mut message = good.clone();
        change(&mut message.asdus[0]);
        message.encode().unwrap_err()
    };
    assert!(matches!(
        with(&|a| a.sv_id.clear()),
        EncodeError::Text { octets: 0, .. }
    ));
    assert!(matches!(
        with(&|a| a.dat_set = Some(vec![b'x'; 130])),
        EncodeError::Text { octets: 130, .. }
    ));
    assert_eq!(with(&|a| a.seq_data.clear()), EncodeError::SeqData(0));
    assert_eq!(with(&|a| a.seq_data.truncate(63)), EncodeError::SeqData(63));
    assert!(matches!(with(&|a| a.seq_data.resize(1480, 0)), EncodeError::TooLong(_)));
    let asdus = |count| {
        sv::Message {
            asdus: vec![good.asdus[0].clone(); count],
            ..good.clone()
        }
        .encode()
    };
    assert_eq!(asdus(0), Err(EncodeError::Asdus(0)));
    assert_eq!(asdus(17), Err(EncodeError::Asdus(17)));
    let goose = goose::Message {
        simulate: true,
        ..parse_goose(&vector("goose_initial"))
    };
    assert_eq!(goose.encode(), Err(EncodeError::SimulationMismatch));
    let nest = |depth| (0..depth).fold(Value::Boolean(true), |inner, _| Value::Structure(vec![inner]));
    let nested = |depth| goose::Message {
        simulate: false,
        all_data: vec![nest(depth)],
        ..goose.clone()
    };
    assert_eq!(parse_goose(&nested(16).encode().unwrap()), nested(16));
    assert_eq!(nested(17).encode(), Err(EncodeError::Nesting));
}

#[test]
fn the_fast_path_follows_frames_with_an_hsr_tag_or_a_prp_trailer() {
    let plain = vector("sv_9_2le_4000_1asdu_untagged");
    let hsr = |path: u8, sequence: u8| [&plain[..12], &[0x89, 0x2f, path, 90, 0, sequence], &plain[12..]].concat();
    let prp = |network: u8, sequence: u8| [&plain[..], &[0, sequence, network, 90, 0x88, 0xfb]].concat();
    assert!(fast_path_agrees(&learned(&hsr(0x10, 1)), &hsr(0x20, 200)));
    assert!(fast_path_agrees(&learned(&prp(0xa0, 1)), &prp(0xb0, 200)));
    assert!(!fast_path_agrees(&learned(&hsr(0x10, 1)), &plain));
    assert!(!fast_path_agrees(&learned(&plain), &hsr(0x10, 1)));
}
