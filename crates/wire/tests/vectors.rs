//! Every test vector is decoded or refused, as its policy says.

use serde_json::{Value, json};
use testing::vectors::{Vector, hex, vector, vectors};
use wire::ether::EthernetView;
use wire::goose::{self, Data};
use wire::sequence::Sequence;
use wire::{FrameError, sv};

fn text(octets: &[u8]) -> Value {
    json!(std::str::from_utf8(octets).unwrap())
}

/// The fields common to both protocols, with the names used in the vectors.
fn common_fields(ethernet: &EthernetView<'_>, header: &wire::header::Header) -> Value {
    let vlan = ethernet
        .vlan()
        .map(|tag| json!({"pcp": tag.pcp(), "dei": u8::from(tag.dei()), "vid": tag.vid()}));
    json!({
        "dst": ethernet.dst().to_string(), "src": ethernet.src().to_string(), "vlan": vlan,
        "appid": header.appid, "length": header.length,
        "reserved1": header.reserved1, "reserved2": header.reserved2, "simulate": header.simulate(),
    })
}

fn decode_sv(frame: &[u8]) -> Result<Value, FrameError> {
    let ethernet = EthernetView::parse(frame)?;
    let frame = sv::Frame::parse(&ethernet)?;
    let mut fields = common_fields(&ethernet, frame.header());
    fields["asdus"] = frame.asdus().map(|asdu| asdu_fields(&asdu)).collect();
    assert_eq!(frame.asdu_count(), frame.asdus().count());
    Ok(fields)
}

fn asdu_fields(asdu: &sv::Asdu<'_>) -> Value {
    let members = asdu.members().unwrap();
    let mut fields = json!({
        "svID": text(asdu.sv_id()), "smpCnt": asdu.smp_cnt(), "confRev": asdu.conf_rev(),
        "values": members.iter().map(|(value, _)| value).collect::<Vec<_>>(),
        "qualities": members.iter().map(|(_, quality)| quality.0).collect::<Vec<_>>(),
    });
    if let Some(smp_synch) = asdu.smp_synch() {
        fields["smpSynch"] = json!(smp_synch);
    }
    assert!(asdu.dat_set().is_none() && asdu.refr_tm().is_none() && asdu.smp_rate().is_none());
    assert!(asdu.smp_mod().is_none() && asdu.gm_identity().is_none());
    fields
}

fn decode_goose(frame: &[u8]) -> Result<Value, FrameError> {
    let ethernet = EthernetView::parse(frame)?;
    let frame = goose::Frame::parse(&ethernet)?;
    let mut fields = common_fields(&ethernet, frame.header());
    fields["gocbRef"] = text(frame.gocb_ref());
    fields["timeAllowedtoLive"] = json!(frame.time_allowed_to_live());
    fields["datSet"] = text(frame.dat_set());
    fields["goID"] = text(frame.go_id().unwrap());
    fields["t"] = json!(hex(&frame.t().to_bytes()));
    fields["stNum"] = json!(frame.st_num());
    fields["sqNum"] = json!(frame.sq_num());
    fields["simulation"] = json!(frame.simulation());
    fields["confRev"] = json!(frame.conf_rev());
    fields["ndsCom"] = json!(frame.nds_com());
    fields["numDatSetEntries"] = json!(frame.num_dat_set_entries());
    fields["allData"] = frame.all_data().map(data).collect();
    Ok(fields)
}

fn data(data: Data<'_>) -> Value {
    let float = |value: f64| (value * 1e6).round() / 1e6;
    match data {
        Data::Array(entries) => json!({"type": "array", "value": entries.map(self::data).collect::<Value>()}),
        Data::Structure(entries) => json!({"type": "structure", "value": entries.map(self::data).collect::<Value>()}),
        Data::Boolean(value) => json!({"type": "boolean", "value": value}),
        Data::BitString { unused, bits } => {
            let mut digits: String = bits.iter().map(|octet| format!("{octet:08b}")).collect();
            digits.truncate(digits.len() - usize::from(unused));
            json!({"type": "bitstring", "unused": unused, "bytes": hex(bits), "bits": digits})
        }
        Data::Integer(value) => json!({"type": "integer", "value": value}),
        Data::Unsigned(value) => json!({"type": "unsigned", "value": value}),
        Data::Float32(value) => json!({"type": "float32", "value": float(f64::from(value))}),
        Data::Float64(value) => json!({"type": "float64", "value": value}),
        Data::OctetString(octets) => json!({"type": "octetstring", "raw": hex(octets)}),
        Data::VisibleString(octets) => json!({"type": "visiblestring", "value": text(octets)}),
        Data::BinaryTime(octets) => json!({"type": "binarytime", "raw": hex(octets)}),
        Data::UtcTime(time) => json!({"type": "utctime", "raw": hex(&time.to_bytes())}),
        Data::Other { tag, octets } => json!({"type": "other", "tag": tag.to_string(), "raw": hex(octets)}),
    }
}

/// Removes the vectors' notes for readers.
fn strip_notes(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(strip_notes),
        Value::Object(fields) => {
            fields.remove("note");
            if fields.get("type").is_some_and(|kind| kind == "float32") {
                fields.remove("raw");
            }
            fields.values_mut().for_each(strip_notes);
        }
        _ => {}
    }
}

fn decode(vector: &Vector) -> Result<Value, FrameError> {
    match vector.kind.as_str() {
        "sv" => decode_sv(&vector.frame),
        "goose" => decode_goose(&vector.frame),
        other => panic!("{}: kind {other}", vector.name),
    }
}

#[test]
fn every_vector_meets_its_policy() {
    for vector in vectors() {
        let decoded = decode(&vector);
        match vector.policy.as_str() {
            "drop" => assert!(decoded.is_err(), "{} must be refused", vector.name),
            "accept" | "accept_flag" | "drop_count" => {
                let decoded = decoded.unwrap_or_else(|error| panic!("{}: {error}", vector.name));
                let mut expect = vector.expect.clone();
                strip_notes(&mut expect);
                if !expect.is_null() {
                    assert_eq!(decoded, expect, "{}", vector.name);
                }
            }
            other => panic!("{}: policy {other}", vector.name),
        }
    }
}

/// Violations found by `inspect` are also refused by `parse`, and `inspect` never stops before the first one.
#[test]
fn inspection_agrees_with_the_parse() {
    for vector in vectors() {
        let ethernet = EthernetView::parse(&vector.frame).unwrap();
        let (parsed, inspected) = if vector.kind == "sv" {
            (sv::Frame::parse(&ethernet).err(), sv::inspect(&ethernet).error)
        } else {
            (goose::Frame::parse(&ethernet).err(), goose::inspect(&ethernet).error)
        };
        assert_eq!(parsed, inspected, "{}", vector.name);
    }
}

#[test]
fn what_accept_flag_flags_can_be_seen() {
    let frame = vector("sv_no_smpsynch");
    let parsed = sv::Frame::parse(&EthernetView::parse(&frame).unwrap()).unwrap();
    assert_eq!(parsed.asdus().next().unwrap().smp_synch(), None);
    let frame = vector("sv_unknown_extension_field");
    let parsed = sv::Frame::parse(&EthernetView::parse(&frame).unwrap()).unwrap();
    assert_eq!(
        (parsed.unknown_fields(), parsed.asdus().next().unwrap().unknown_fields()),
        (1, 1)
    );
    let frame = vector("bad_goose_negative_stnum");
    let parsed = goose::Frame::parse(&EthernetView::parse(&frame).unwrap()).unwrap();
    assert_eq!(parsed.st_num(), 1 << 31);
    assert_eq!(parsed.negative_numbers().collect::<Vec<_>>(), [wire::Field::StNum]);
}

#[test]
fn a_refusal_names_rule_and_octet() {
    let cases = [
        (
            "bad_sv_truncated_in_seqdata",
            "octet 16: Length is 108, but the frame has only 88 octets from APPID on",
        ),
        ("bad_sv_noasdu_more", "octet 24: noASDU is 2, ASDUs present: 1"),
        ("bad_sv_noasdu_less", "octet 25: noASDU is 1, ASDUs present: 2 or more"),
        (
            "bad_sv_indefinite_primitive",
            "octet 31: indefinite length (80), which these protocols do not allow",
        ),
        (
            "bad_sv_asdu_overruns_seq",
            "octet 29: the element is 92 octets long, but only 91 are left",
        ),
        (
            "bad_sv_wrong_outer_tag",
            "octet 22: savPdu is missing: tag 61 is in its place",
        ),
        (
            "bad_sv_app_class_alias",
            "octet 43: smpCnt is missing: tag 62 is in its place",
        ),
        ("bad_sv_refrtm_7", "octet 53: refrTm is 7 octets long; it must be 8"),
        ("bad_sv_empty_apdu", "octet 16: no APDU: Length ends with the header"),
        (
            "bad_goose_integer_9",
            "octet 121: integer is 9 octets long; it must be 1 to 8",
        ),
        (
            "bad_goose_sbit_without_simulation",
            "octet 22: the simulate bit of Reserved1 is set, but simulation is FALSE",
        ),
    ];
    let all = vectors();
    for (name, message) in cases {
        let vector = all.iter().find(|v| v.name == name).unwrap();
        assert_eq!(decode(vector).unwrap_err().to_string(), message, "{name}");
    }
}

#[test]
fn counters_of_every_sequence() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/sv_counter_sequences.json")).unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let mut sequence = Sequence::new(case["rate"].as_u64().unwrap() as u32);
        let counts = case["smpCnt"].as_array().unwrap();
        for count in counts {
            sequence.accept(count.as_u64().unwrap() as u16);
        }
        let counters = sequence.counters();
        let found = json!({
            "asdus": counters.asdus, "lost": counters.lost, "gaps": counters.gaps, "duplicates": counters.duplicates,
            "out_of_order": counters.out_of_order, "restarts": counters.restarts, "out_of_range": counters.out_of_range,
        });
        let wanted = |key: &str| {
            case[key]
                .as_u64()
                .unwrap_or(if key == "asdus" { counts.len() as u64 } else { 0 })
        };
        for (key, value) in found.as_object().unwrap() {
            assert_eq!(value.as_u64().unwrap(), wanted(key), "{}: {key}", case["name"]);
        }
    }
}
