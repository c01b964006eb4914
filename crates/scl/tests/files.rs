//! Reads files of each edition.

use scl::{Basic, Document, Quantity, SampledValues, SclError, SmpMod, Type, parse, parse_bytes};
use wire::ether::VlanTag;

const STATION: &str = include_str!("data/station.scd");

fn station() -> Document {
    parse(STATION).expect("a file")
}

fn block<'d>(document: &'d Document, sv_id: &str) -> &'d SampledValues {
    document
        .sampled_values
        .iter()
        .find(|block| block.sv_id == sv_id)
        .expect("a block")
}

#[test]
fn a_station_of_edition_2_1() {
    let document = station();
    assert_eq!(document.edition, "Edition 2.1 (2007B4)");
    assert_eq!(document.ieds, ["MU01", "MU02", "RELAY1"], "nothing private");
    assert_eq!(document.nominal_hz, Some(60.0));
    let names: Vec<&str> = document
        .sampled_values
        .iter()
        .map(|block| block.sv_id.as_str())
        .collect();
    assert_eq!(names, ["MU01_A", "MU01_B", "MU02_A"]);
    assert_eq!(document.warnings, []);
}

#[test]
fn a_control_block_with_its_address_and_dataset() {
    let document = station();
    let block = block(&document, "MU01_A");
    assert_eq!(
        (block.conf_rev, block.smp_rate, block.smp_mod, block.asdus),
        (7, 4_800, SmpMod::PerSecond, 2)
    );
    assert_eq!(block.address.mac.to_string(), "01:0c:cd:04:00:11");
    assert_eq!(block.address.appid, 0x4011);
    assert_eq!(block.address.vlan, Some(VlanTag::new(5, false, 0x64)));
    assert!(block.options.data_set && block.options.sample_rate && !block.options.refresh_time);
    assert_eq!(block.data_set.reference, "MU01MU/LLN0$PhsMeas1");
    assert_eq!(block.data_set.sv_octets(), Some(64));
    let layout = block.data_set.layout().expect("INT32 and quality");
    assert_eq!(layout.counts(), (4, 4));
    assert_eq!(layout.0[4].quantity, Quantity::Voltage);
    assert_eq!(layout.0[4].reference, "MU01MU/U01TVTR1.VolSv.instMag.i[MX]");
}

#[test]
fn rates_by_period_follow_the_frequency() {
    let document = station();
    let block = block(&document, "MU01_B");
    assert_eq!(block.samples_per_second(60.0), Some(4_800));
    assert_eq!(block.samples_per_second(50.0), Some(4_000));
    assert_eq!(block.samples_per_second(16.67), None, "no whole number of samples");
    assert_eq!(block.data_set.layout().expect("a layout").counts(), (6, 3));
    assert_eq!(
        block.address.vlan,
        Some(VlanTag::new(4, false, 0)),
        "a priority is a tag"
    );
}

#[test]
fn whole_data_objects_and_a_server_on_another_access_point() {
    let document = station();
    let block = block(&document, "MU02_A");
    assert_eq!(block.place.access_point, "S1");
    assert_eq!(block.address.appid, 0x4021, "the address stands at P1");
    assert_eq!(
        block.data_set.reference, "BAY2_MU/LLN0$PhsMeas1",
        "ldName is the name on the network"
    );
    assert_eq!(block.data_set.members.len(), 8);
    let layout = block.data_set.layout().expect("instMag.i and q of each");
    assert_eq!(layout.counts(), (4, 4));
    assert_eq!(layout.0[0].reference, "BAY2_MU/TCTR1.AmpSv.instMag.i[MX]");
}

#[test]
fn goose_with_every_kind_of_member() {
    let document = station();
    let [goose] = &document.gooses[..] else {
        panic!("one GOOSE block");
    };
    assert_eq!(goose.gocb_ref, "RELAY1PROT/LLN0$GO$gcbTrip");
    assert_eq!(goose.data_set.reference, "RELAY1PROT/LLN0$dsTrip");
    assert_eq!((goose.go_id.as_str(), goose.conf_rev), ("RELAY1_TRIP", 3));
    assert_eq!((goose.min_time_ms, goose.max_time_ms), (Some(4), Some(1_000)));
    assert_eq!(goose.address.vlan, Some(VlanTag::new(6, false, 10)));
    let values: Vec<&Type> = goose.data_set.members.iter().map(|member| &member.value).collect();
    let whole = Type::Structure(vec![
        ("general".into(), Type::Basic(Basic::Boolean)),
        ("q".into(), Type::Basic(Basic::Quality)),
        ("t".into(), Type::Basic(Basic::Timestamp)),
    ]);
    assert_eq!(
        values,
        [
            &Type::Basic(Basic::Boolean),
            &Type::Basic(Basic::Quality),
            &Type::Basic(Basic::Timestamp),
            &Type::Basic(Basic::DoublePoint),
            &Type::Basic(Basic::Enumerated),
            &Type::Basic(Basic::Float(32)),
            &whole,
        ]
    );
}

#[test]
fn what_cannot_be_used_is_left_out_with_the_reason() {
    let left_out: Vec<String> = station().left_out.iter().map(|left| left.problem.to_string()).collect();
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(
        left_out[0].contains("SampledValueControl MSVCB03 of IED MU01: it has no address"),
        "{left_out:?}"
    );
    assert!(left_out[1].contains("gcbOld of IED RELAY1: it is GSSE"), "{left_out:?}");
    let line = STATION
        .lines()
        .position(|line| line.contains("MSVCB03"))
        .expect("a line")
        + 1;
    assert!(left_out[0].starts_with(&format!("line {line}: ")), "{left_out:?}");
}

#[test]
fn edition_1_with_a_prefix_and_without_templates() {
    let document = parse_bytes(include_bytes!("data/edition1.cid")).expect("a file");
    assert_eq!(document.edition, "Edition 1 (2003)");
    let block = block(&document, "ABCDMU0101");
    assert_eq!(block.samples_per_second(50.0), Some(4_000));
    assert_eq!(block.address.vlan, None);
    assert_eq!(block.data_set.layout().expect("by name").counts(), (4, 4));
    let warnings: Vec<String> = document.warnings.iter().map(ToString::to_string).collect();
    for (part, of) in [
        ("frames without a tag", "SMV of MSVCB01"),
        ("has no confRev: 1 is taken", "MSVCB01 of IED ABCDMU01"),
        ("16 of 16 members have no type", "DataSet PhsMeas1"),
    ] {
        assert!(
            warnings.iter().any(|text| text.contains(part) && text.contains(of)),
            "{part}: {warnings:?}"
        );
    }
}

#[test]
fn the_same_file_in_utf_16_and_with_a_mark() {
    let expected = station();
    let marked = [&[0xef, 0xbb, 0xbf], STATION.as_bytes()].concat();
    assert_eq!(parse_bytes(&marked).as_ref(), Ok(&expected));
    // The XML declaration names the earlier encoding, which no longer fits the bytes.
    let body = STATION.replacen("UTF-8", "UTF-16", 1);
    for (mark, octets) in [
        (0xfeff_u16, u16::to_le_bytes as fn(u16) -> [u8; 2]),
        (0xfeff, u16::to_be_bytes),
    ] {
        let file: Vec<u8> = std::iter::once(mark)
            .chain(body.encode_utf16())
            .flat_map(octets)
            .collect();
        assert_eq!(parse_bytes(&file).as_ref(), Ok(&expected));
        assert!(matches!(
            parse_bytes(&file[..file.len() - 1]),
            Err(SclError::Encoding { .. })
        ));
    }
}

/// The reason why the first block of the station is left out when the file is changed.
fn refusal(from: &str, to: &str) -> String {
    assert!(STATION.contains(from), "{from}");
    let document = parse(&STATION.replacen(from, to, 1)).expect("a file all the same");
    let first = document.left_out.first().expect("left out");
    assert_eq!(first.ied, "MU01");
    first.problem.to_string()
}

#[test]
fn each_thing_that_stops_a_block_is_told_with_what_to_do() {
    for (from, to, part) in [
        (
            "01-0C-CD-04-00-11",
            "01-0C-CD-04-00",
            "MAC-Address `01-0C-CD-04-00` is not valid: write six octets",
        ),
        (
            ">4011<",
            "><",
            "its address has no APPID: add <P type=\"APPID\">4000</P>",
        ),
        (">4011<", ">40111<", "APPID `40111` is not valid"),
        (
            ">064<",
            ">1064<",
            "VLAN-ID `1064` is not valid: write three hexadecimal digits",
        ),
        (">5<", ">8<", "VLAN-PRIORITY `8` is not valid: write 0 to 7"),
        (
            "smvID=\"MU01_A\" datSet=\"PhsMeas1\"",
            "smvID=\"MU01_A\"",
            "it has no datSet",
        ),
        (
            "datSet=\"PhsMeas1\" confRev=\"7\"",
            "datSet=\"Phs\" confRev=\"7\"",
            "no DataSet `Phs` (have: PhsMeas1, Six)",
        ),
        (
            "confRev=\"7\"",
            "confRev=\"-7\"",
            "confRev `-7` is not a possible number",
        ),
        (
            "smpRate=\"4800\" nofASDU=\"2\"",
            "nofASDU=\"2\"",
            "it has no smpRate: add smpRate=\"4800\"",
        ),
        ("nofASDU=\"2\"", "nofASDU=\"0\"", "nofASDU is 0: 1 to 16"),
        ("nofASDU=\"2\"", "nofASDU=\"2\" multicast=\"false\"", "it is unicast"),
        (
            "smpMod=\"SmpPerSec\"",
            "smpMod=\"SmpPerHour\"",
            "smpMod `SmpPerHour` is not valid",
        ),
    ] {
        let text = refusal(from, to);
        assert!(text.contains(part), "{to}: {text}");
    }
}

#[test]
fn what_need_not_stop_a_block_is_a_warning() {
    for (from, to, part) in [
        (
            "smvID=\"MU01_A\"",
            "",
            "its reference MU01MU/LLN0$MS$MSVCB01 is the svID",
        ),
        ("01-0C-CD-04-00-11", "01-0C-CD-01-00-11", "outside 01:0c:cd:04:00:00"),
        (">4011<", ">3011<", "APPID 3011 is outside 4000 to 7FFF"),
        (
            "sampleSynchronized=\"true\"",
            "sampleSynchronized=\"false\"",
            "as it is mandatory",
        ),
        (
            "sampleSynchronized=\"true\"",
            "security=\"true\"",
            "security is neither sent nor checked",
        ),
        (
            "smvID=\"MU01_B\"",
            "smvID=\"MU01_A\"",
            "its smvID MU01_A is also that of MSVCB01 of IED MU01",
        ),
        ("multiplier=\"m\">4<", "multiplier=\"\">4<", "taken as ms"),
        ("lnType=\"TCTR_T\"", "lnType=\"GONE\"", "no type of its logical node"),
    ] {
        assert!(STATION.contains(from), "{from}");
        let document = parse(&STATION.replacen(from, to, 1)).expect("a file");
        assert_eq!(document.left_out.len(), 2, "{to}: {:?}", document.left_out);
        assert!(
            document.warnings.iter().any(|warning| warning.what.contains(part)),
            "{to}: {:?}",
            document.warnings
        );
    }
}

#[test]
fn an_address_without_control_block_is_a_warning() {
    for (from, to, name) in [
        (
            "cbName=\"MSVCB02\"",
            "cbName=\"MSVCB2\"",
            "SMV of MSVCB2: IED MU01 has no SampledValueControl `MSVCB2` in logical device `MU`",
        ),
        (
            "ldInst=\"PROT\" cbName=\"gcbTrip\"",
            "ldInst=\"CTRL\" cbName=\"gcbTrip\"",
            "GSE of gcbTrip: IED RELAY1 has no GSEControl `gcbTrip` in logical device `CTRL`",
        ),
    ] {
        assert!(STATION.contains(from), "{from}");
        let document = parse(&STATION.replacen(from, to, 1)).expect("a file");
        let [warning] = &document.warnings[..] else {
            panic!("one warning: {:?}", document.warnings);
        };
        let line = STATION.lines().position(|line| line.contains(from)).expect("a line") + 1;
        let expected = format!("line {line}: {name}");
        assert!(warning.to_string().starts_with(&expected), "{warning}");
    }
}

#[test]
fn datasets_that_are_no_currents_and_voltages_say_which_member() {
    for (from, to, part) in [
        (
            "name=\"i\" bType=\"INT32\"",
            "name=\"i\" bType=\"INT16\"",
            "I01TCTR1.AmpSv.instMag.i[MX] is INT16",
        ),
        (
            "lnClass=\"TCTR\" lnInst=\"1\" doName=\"AmpSv\" daName=\"q\" fc=\"MX\"/>",
            "lnClass=\"TCTR\" lnInst=\"1\" doName=\"AmpSv\" daName=\"instMag.i\" fc=\"MX\"/>",
            "is not followed by its quality (q)",
        ),
    ] {
        assert!(STATION.contains(from), "{from}");
        let document = parse(&STATION.replacen(from, to, 1)).expect("a file");
        let error = block(&document, "MU01_A").data_set.layout().expect_err("no layout");
        assert!(
            error.to_string().contains(part) && error.to_string().contains("line "),
            "{error}"
        );
    }
}

#[test]
fn what_is_no_scl_file() {
    let text = |octets: &[u8]| parse_bytes(octets).expect_err("no file").to_string();
    assert!(text(b"").contains("not well-formed XML"), "{}", text(b""));
    assert!(text(b"<SCL>\n<IED>\n</SCL>").starts_with("line 3: not well-formed XML"));
    assert_eq!(
        text(b"<html/>"),
        "line 1: the root element is <html>, but an SCL file has <SCL>"
    );
    assert!(text(b"<SCL>\xff</SCL>").starts_with("octet 5 is not UTF-8"));
    let laughs = b"<!DOCTYPE SCL [<!ENTITY a \"ha\">]><SCL>&a;</SCL>";
    assert!(text(laughs).contains("DTD"), "{}", text(laughs));
}
