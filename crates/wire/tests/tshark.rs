//! tshark decodes the frames that this crate encodes to the same values.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use wire::avtp::{AafStream, AafTemplate};
use wire::ether::{Mac, VlanTag};
use wire::goose::{self, Value};
use wire::quality::{GooseQuality, SvQuality};
use wire::redundancy::{Lan, Node, Protocol, SUPERVISION_DST, Supervision, add};
use wire::routed::SessionWriter;
use wire::sv::{self, OwnedAsdu};
use wire::time::{TimeQuality, UtcTime};

const SRC: Mac = Mac([2, 0, 0, 0, 0, 1]);

/// Pseudo-random numbers, the same in every run (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn capture_of(path: &Path, frames: &[Vec<u8>]) {
    let mut writer = capture::write::PcapWriter::new(BufWriter::new(File::create(path).unwrap())).unwrap();
    for (index, frame) in frames.iter().enumerate() {
        writer.write(index as i64, frame).unwrap();
    }
    writer.finish().unwrap();
}

/// For each frame, the values of each field.
fn tshark(frames: &[Vec<u8>], fields: &[&str]) -> Vec<Vec<Vec<String>>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("published.pcap");
    capture_of(&path, frames);
    let output = Command::new("tshark")
        .args([
            "-o",
            "sv.decode_data_as_phsmeas:TRUE",
            "-o",
            "prp.enable:TRUE",
            "-T",
            "fields",
            "-E",
            "occurrence=a",
            "-E",
            "aggregator=;",
        ])
        .args(["-e", "_ws.malformed", "-e", "_ws.expert"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .arg("-r")
        .arg(&path)
        .output()
        .expect("tshark is the oracle of this test: apt-get install tshark");
    let split = |cell: &str| {
        cell.split(';')
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<Vec<String>>> = text.lines().map(|line| line.split('\t').map(split).collect()).collect();
    assert_eq!(rows.len(), frames.len());
    rows.into_iter()
        .map(|mut row| {
            let complaints: Vec<_> = row.drain(..2).collect();
            assert!(complaints.iter().all(Vec::is_empty), "tshark complains: {complaints:?}");
            row
        })
        .collect()
}

fn texts<T: ToString>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

/// A stream with `count` ASDUs; every third stream has the optional fields.
fn stream(numbers: &mut Numbers, index: u8, count: usize) -> sv::Message {
    let optional = index.is_multiple_of(3);
    let asdu = |numbers: &mut Numbers| {
        let members: Vec<_> = (0..8)
            .map(|_| (numbers.next() as i32, SvQuality(numbers.next() as u32 & 0x3fff)))
            .collect();
        OwnedAsdu {
            smp_cnt: numbers.next() as u16,
            dat_set: optional.then(|| b"MU01/LLN0$PhsMeas1".to_vec()),
            refr_tm: optional.then(|| UtcTime::from_bytes(numbers.next().to_be_bytes())),
            smp_rate: optional.then_some(4800),
            smp_mod: optional.then_some(1),
            ..OwnedAsdu::new(&format!("MU{index:02}"), numbers.next() as u32, index % 128, &members)
        }
    };
    sv::Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, index]),
        src: SRC,
        tags: vec![VlanTag::new(index % 8, false, u16::from(index))],
        appid: 0x4000 + u16::from(index),
        simulate: index.is_multiple_of(2),
        asdus: (0..count).map(|_| asdu(numbers)).collect(),
    }
}

#[test]
fn sampled_values_from_patched_templates() {
    let mut numbers = Numbers(1);
    let mut published: Vec<sv::Message> = Vec::new();
    let mut frames = Vec::new();
    for index in 0..40u8 {
        let mut message = stream(&mut numbers, index, 1 + usize::from(index) % 8);
        let mut template = sv::Template::new(&message).unwrap();
        for (at, asdu) in message.asdus.iter_mut().enumerate() {
            let mut patch = template.asdu_mut(at).unwrap();
            asdu.smp_cnt = numbers.next() as u16;
            patch.set_smp_cnt(asdu.smp_cnt);
            let (value, quality) = (numbers.next() as i32, SvQuality(1));
            assert!(patch.set_member(7, value, quality));
            asdu.seq_data[56..].copy_from_slice(&[value.to_be_bytes(), [0, 0, 0, 1]].concat());
        }
        frames.push(template.bytes().to_vec());
        published.push(message);
    }
    let fields = [
        "sv.appid",
        "sv.reserve1.s_bit",
        "sv.noASDU",
        "sv.svID",
        "sv.datSet",
        "sv.smpCnt",
        "sv.confRev",
        "sv.smpSynch",
        "sv.smpRate",
        "sv.smpMod",
        "sv.meas_value",
        "sv.meas_quality",
        "vlan.id",
        "vlan.priority",
    ];
    for (message, row) in published.iter().zip(tshark(&frames, &fields)) {
        let asdus = &message.asdus;
        let text = |octets: &Vec<u8>| String::from_utf8(octets.clone()).unwrap();
        let members: Vec<_> = asdus
            .iter()
            .flat_map(|a| sv::Members::new(&a.seq_data).unwrap().iter())
            .collect();
        let quality = |q: &SvQuality| format!("0x{:08x}", q.0);
        let tag = message.tags[0];
        let expected = [
            vec![format!("0x{:04x}", message.appid)],
            texts([u8::from(message.simulate)]),
            texts([asdus.len()]),
            asdus.iter().map(|a| text(&a.sv_id)).collect(),
            asdus.iter().filter_map(|a| a.dat_set.as_ref().map(text)).collect(),
            texts(asdus.iter().map(|a| a.smp_cnt)),
            texts(asdus.iter().map(|a| a.conf_rev)),
            texts(asdus.iter().filter_map(|a| a.smp_synch)),
            texts(asdus.iter().filter_map(|a| a.smp_rate)),
            texts(asdus.iter().filter_map(|a| a.smp_mod)),
            texts(members.iter().map(|(value, _)| value)),
            members.iter().map(|(_, q)| quality(q)).collect(),
            texts([tag.vid()]),
            texts([tag.pcp()]),
        ];
        assert_eq!(row, expected);
    }
}

#[test]
fn goose_messages_from_patched_templates() {
    let mut message = goose::Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
        src: SRC,
        tags: Vec::new(),
        appid: 1,
        simulate: false,
        gocb_ref: b"IED1LD0/LLN0$GO$gcbTrip".to_vec(),
        time_allowed_to_live: 8,
        dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
        go_id: Some(b"IED1_TRIP".to_vec()),
        t: UtcTime::from_ns(1_790_000_000_500_000_000, TimeQuality(10)),
        st_num: 1,
        sq_num: 1,
        simulation: false,
        conf_rev: 3,
        nds_com: false,
        all_data: vec![
            Value::Boolean(false),
            Value::quality(GooseQuality::default()),
            Value::Integer(-70_000),
        ],
    };
    let mut template = goose::Template::new(&message).unwrap();
    let mut frames = vec![message.encode().unwrap(), template.bytes().to_vec()];
    template.set_st_num(2);
    template.set_sq_num(0);
    template.set_time_allowed_to_live(100_000);
    template.set_t(UtcTime::from_ns(1_790_000_001_024_000_000, TimeQuality(10)));
    assert!(template.set_entry(0, &Value::Boolean(true)));
    template.set_simulation(true);
    frames.push(template.bytes().to_vec());
    message.all_data = vec![Value::Structure(vec![
        Value::Boolean(true),
        Value::Unsigned(200),
        Value::Integer(5),
    ])];
    frames.push(message.encode().unwrap());
    let fields = [
        "goose.stNum",
        "goose.sqNum",
        "goose.timeAllowedtoLive",
        "goose.t",
        "goose.boolean",
        "goose.integer",
        "goose.unsigned",
        "goose.bit_string",
        "goose.simulation",
        "goose.reserve1.s_bit",
        "goose.numDatSetEntries",
    ];
    let rows = tshark(&frames, &fields);
    let early = "Sep 21, 2026 14:13:20.500000000 UTC";
    let first = ["1", "1", "8", early, "0", "-70000", "", "0000", "0", "0", "3"];
    let trip = [
        "2",
        "0",
        "100000",
        "Sep 21, 2026 14:13:21.024000048 UTC",
        "1",
        "-70000",
        "",
        "0000",
        "1",
        "1",
        "3",
    ];
    let nested = ["1", "1", "8", early, "1", "5", "200", "", "0", "0", "1"];
    for (row, expected) in rows.iter().zip([first, first, trip, nested]) {
        let row: Vec<String> = row.iter().map(|cell| cell.join(";")).collect();
        assert_eq!(row, expected);
    }
}

#[test]
fn audio_streams_from_patched_templates() {
    let stream = |tags: Vec<VlanTag>| AafStream {
        dst: Mac([0x91, 0xe0, 0xf0, 0, 0xfe, 0]),
        src: SRC,
        tags,
        unique_id: 0x1234,
    };
    let mut numbers = Numbers(7);
    let mut frames = Vec::new();
    let mut expected = Vec::new();
    for (number, tagged) in [(0, false), (1, true), (200, true), (255, false)] {
        let tags = if tagged {
            vec![VlanTag::new(3, false, 2)]
        } else {
            Vec::new()
        };
        let mut template = AafTemplate::new(&stream(tags));
        let time = numbers.next() as u32;
        template.set_sequence_num(number);
        template.set_timestamp_ns(time);
        let data: Vec<u8> = (0..AafTemplate::DATA).map(|_| numbers.next() as u8).collect();
        template.data_mut().copy_from_slice(&data);
        frames.push(template.bytes().to_vec());
        let id = stream(Vec::new()).id();
        let (priority, vid) = if tagged { ("3", "2") } else { ("", "") };
        expected.push([
            "0x02".to_owned(),
            "1".into(),
            "0x00".into(),
            "0".into(),
            "1".into(),
            number.to_string(),
            "1".into(),
            format!("0x{id:016x}"),
            time.to_string(),
            "0x02".into(),
            "0x0005".into(),
            "2".into(),
            "32".into(),
            "48".into(),
            priority.into(),
            vid.into(),
        ]);
    }
    let fields = [
        "ieee1722.subtype",
        "ieee1722.svfield",
        "ieee1722.verfield",
        "aaf.mrfield",
        "aaf.tvfield",
        "aaf.seqnum",
        "aaf.tufield",
        "aaf.stream_id",
        "aaf.avtp_timestamp",
        "aaf.format_info",
        "aaf.nominal_sample_rate",
        "aaf.channels_per_frame",
        "aaf.bit_depth",
        "aaf.stream_data_len",
        "vlan.priority",
        "vlan.id",
    ];
    for (row, expected) in tshark(&frames, &fields).iter().zip(expected) {
        let row: Vec<String> = row.iter().map(|cell| cell.join(";")).collect();
        assert_eq!(row, expected);
    }
}

#[test]
fn trailers_tags_and_supervision_frames_of_redundant_networks() {
    let mut numbers = Numbers(5);
    let (mut frames, mut expected) = (Vec::new(), Vec::new());
    for index in 0..40u8 {
        let lan = Lan::BOTH[usize::from(index % 2)];
        let sequence = numbers.next() as u16;
        let mut message = stream(&mut numbers, index, 1 + usize::from(index) % 4);
        let tags = usize::from(index % 4 < 2);
        message.tags.truncate(tags);
        let mut frame = message.encode().unwrap();
        let protocol = if index % 3 == 0 { Protocol::Hsr } else { Protocol::Prp };
        add(&mut frame, protocol, lan, 0).unwrap();
        let size = frame.len() - 14 - 4 * tags;
        // The number is changed in place, as a publisher does.
        let mut frame = message.encode().unwrap();
        add(&mut frame, protocol, lan, 0)
            .unwrap()
            .set_sequence(&mut frame, sequence);
        frames.push(frame);
        let number = sequence.to_string();
        let mut row = vec![String::new(); 6];
        match protocol {
            Protocol::Prp => row[..3].clone_from_slice(&[number, (10 + lan.number()).to_string(), size.to_string()]),
            // tshark subtracts the tag from the size.
            Protocol::Hsr => row[3..].clone_from_slice(&[number, lan.number().to_string(), size.to_string()]),
        }
        row.push(String::from_utf8(message.asdus[0].sv_id.clone()).unwrap());
        expected.push(row);
    }
    let fields = [
        "prp.trailer.prp_sequence_nr",
        "prp.trailer.prp_lan",
        "prp.trailer.prp_size",
        "hsr.sequence_nr",
        "hsr.laneid",
        "hsr.lsdu_size",
        "sv.svID",
    ];
    for (row, expected) in tshark(&frames, &fields).iter().zip(expected) {
        let row: Vec<String> = row
            .iter()
            .map(|cell| cell.first().cloned().unwrap_or_default())
            .collect();
        assert_eq!(row, expected);
    }
    let supervision = Supervision {
        path: 0,
        version: 1,
        sequence: 513,
        node: Node::PrpDiscard,
        mac: SRC,
        red_box: Some(Mac([2, 0, 0, 0, 0, 9])),
    };
    let mut frame = supervision.encode(SRC);
    add(&mut frame, Protocol::Prp, Lan::B, 77).unwrap();
    let fields = [
        "eth.dst",
        "hsr_prp_supervision.version",
        "hsr_prp_supervision.supervision_seqno",
        "hsr_prp_supervision.tlv.type",
        "hsr_prp_supervision.source_mac_address",
        "hsr_prp_supervision.red_box_mac_address",
        "prp.trailer.prp_sequence_nr",
    ];
    let rows = tshark(&[frame], &fields);
    let row: Vec<String> = rows[0].iter().map(|cell| cell.join(";")).collect();
    let (node, red_box) = (SRC.to_string(), "02:00:00:00:00:09".to_owned());
    let (dst, tlvs) = (SUPERVISION_DST.to_string(), "20;30;0".to_owned());
    assert_eq!(row, [dst, "1".into(), "513".into(), tlvs, node, red_box, "77".into()]);
}

#[test]
fn goose_over_udp() {
    let mut numbers = Numbers(6);
    let (mut frames, mut expected) = (Vec::new(), Vec::new());
    for index in 0..40u32 {
        let message = goose::Message {
            src: SRC,
            appid: 0x3000 + index as u16,
            gocb_ref: format!("IED{index}LD0/LLN0$GO$gcb1").into_bytes(),
            dat_set: b"IED1LD0/LLN0$ds1".to_vec(),
            st_num: numbers.next() as u32 >> 1,
            sq_num: numbers.next() as u32 >> 1,
            all_data: vec![Value::Boolean(index % 2 == 0)],
            ..goose::Message::default()
        };
        let writer = SessionWriter {
            source: [10, 0, 0, 1].into(),
            destination: [239, 192, 0, 7].into(),
            number: numbers.next() as u32,
            key_id: numbers.next() as u32,
        };
        let signature = vec![0x5a; [0, 16, 32][index as usize % 3]];
        let frame = writer.write(&message.encode().unwrap(), |_| signature.clone()).unwrap();
        frames.push(frame);
        expected.push(texts([
            format!("0x{:02x}", 0xa1),
            writer.number.to_string(),
            format!("0x{:08x}", writer.key_id),
            format!("0x{:04x}", message.appid),
            String::from_utf8(message.gocb_ref.clone()).unwrap(),
            message.st_num.to_string(),
            message.sq_num.to_string(),
        ]));
    }
    let fields = [
        "rgoose.spdu_id",
        "rgoose.spdu_num",
        "rgoose.key_id",
        "rgoose.appid",
        "goose.gocbRef",
        "goose.stNum",
        "goose.sqNum",
    ];
    for (row, expected) in tshark(&frames, &fields).iter().zip(expected) {
        let row: Vec<String> = row
            .iter()
            .map(|cell| cell.first().cloned().unwrap_or_default())
            .collect();
        assert_eq!(row, expected);
    }
}
