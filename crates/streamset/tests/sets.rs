//! Stream sets from each source.

use proptest::prelude::{ProptestConfig, proptest};
use scl::Document;
use streamset::{Content, SclChoice, Selection, StreamSet, StreamSpec, counted, parse};
use units::Refusal;
use wire::ether::VlanTag;
use wire::quality::SvQuality;

const STATION: &str = include_str!("data/station.scd");

/// The streams of these IEDs, which must have sampled values.
fn of_ieds(document: &Document, ieds: &[String], frequency_hz: Option<f64>) -> Result<Selection, Refusal> {
    let choice = SclChoice {
        ieds,
        frequency_hz,
        goose_alone: false,
    };
    streamset::from_scl(document, "station.scd", choice)
}

fn set(text: &str) -> Vec<StreamSpec> {
    parse(text, "set.toml").expect("a set")
}

fn refusal(text: &str) -> String {
    parse(text, "set.toml").expect_err(text).to_string()
}

#[test]
fn a_stream_needs_only_its_name() {
    assert_eq!(
        set("[[stream]]\nsvID = \"MU01\"\n"),
        [StreamSpec {
            origin: "set.toml, line 1".into(),
            ..StreamSpec::named("MU01")
        }]
    );
}

#[test]
fn every_key() {
    let text = r#"
[defaults]
profile = "F4800S2I4U4"
vlan = 100
pcp = 6
dst = "01-0C-CD-04-00-10"
confRev = 3
quality = "test"

[[stream]]
svID = "BAY{08..10}"
appid = 0x4010
appid_step = 1
phase_step_deg = 120

[[stream]]
svID = "METER"
profile = "6I3U"
appid = 0x4100
dst = "01:0c:cd:04:01:00"
vlan = "none"
confRev = 9
smpSynch = 0
simulate = true
quality = 0x2001
phase_deg = -30.5
datSet = "METERMU/LLN0$PhsMeas1"

[[stream]]
svID = "LAST"
"#;
    let streams = set(text);
    let names: Vec<&str> = streams.iter().map(|stream| stream.sv_id.as_str()).collect();
    assert_eq!(names, ["BAY08", "BAY09", "BAY10", "METER", "LAST"]);
    let addresses: Vec<String> = streams.iter().map(|stream| stream.destination.to_string()).collect();
    let expected = ["00:10", "00:11", "00:12", "01:00", "00:14"].map(|end| format!("01:0c:cd:04:{end}"));
    assert_eq!(addresses, expected, "one of the defaults counts over the whole file");
    assert_eq!(streams[2].appid, 0x4012);
    assert_eq!(streams[2].phase_deg, 240.0);
    assert_eq!(streams[2].vlan, Some(VlanTag::new(6, false, 100)));
    assert_eq!(
        (streams[2].conf_rev, streams[2].quality),
        (3, SvQuality(SvQuality::TEST))
    );
    let meter = &streams[3];
    assert_eq!(meter.profile().expect("a profile").to_string(), "F4800S2I6U3");
    assert_eq!(meter.content.octets(), Some(72));
    assert_eq!(
        (meter.vlan, meter.conf_rev, meter.smp_synch, meter.simulate),
        (None, 9, 0, true)
    );
    assert_eq!((meter.quality, meter.phase_deg), (SvQuality(0x2001), -30.5));
    assert_eq!(meter.dat_set.as_deref(), Some("METERMU/LLN0$PhsMeas1"));
    assert_eq!(meter.origin, "set.toml, line 16");
}

#[test]
fn a_refusal_names_file_line_and_key() {
    for (text, parts) in [
        ("", ["set.toml: no stream", "[[stream]]"]),
        ("[[stream]]\nappid = 1\n", ["set.toml: line 1", "it has no svID"]),
        ("[defaults]\nsvID = \"A\"\n", ["[defaults]", "svID"]),
        ("[[stream]]\nsvid = \"A\"\n", ["line 2", "unknown field `svid`"]),
        (
            "[[stream]]\nsvID = \"A\"\nprofile = \"F1\"\n",
            ["line 3", "`F1` is not a profile"],
        ),
        (
            "[[stream]]\nsvID = \"A\"\ndst = \"1\"\n",
            ["line 3", "not a MAC address"],
        ),
        (
            "[[stream]]\nsvID = \"A\"\nvlan = 4096\n",
            ["line 3", "4096 is not a VLAN"],
        ),
        ("[[stream]]\nsvID = \"A\"\npcp = 8\n", ["line 3", "8 is not a priority"]),
        (
            "[[stream]]\nsvID = \"A\"\nquality = \"bad\"\n",
            ["line 3", "`bad` is not a quality"],
        ),
        ("[[stream]]\nsvID = \"A\"\nappid = 65536\n", ["line 3", "65536"]),
        (
            "[[stream]]\nsvID = \"A\"\n\n[[stream]]\nsvID = \"B{1..2\"\n",
            ["line 4: svID", "without }"],
        ),
        (
            "[[stream]]\nsvID = \"A{1..3}\"\nappid = 0xfffe\nappid_step = 1\n",
            ["line 1: appid_step", "above 0xffff"],
        ),
        (
            "[[stream]]\nsvID = \"A\"\ndatSet = \"\"\n",
            ["line 1: datSet", "visible ASCII"],
        ),
        (
            "[[stream]]\nsvID = \"A\"\nphase_deg = nan\n",
            ["line 1: phase_deg", "degrees"],
        ),
        (
            "[[stream]]\nsvID = \"A{0..9999}\"\n[[stream]]\nsvID = \"B\"\n",
            ["line 3", "more than 10000 streams"],
        ),
    ] {
        let error = refusal(text);
        for part in parts {
            assert!(error.contains(part), "{text}: {error}");
        }
    }
    let twice = refusal(
        "[[stream]]\nsvID = \"A\"\ndst = \"01:0c:cd:04:00:01\"\n[[stream]]\nsvID = \"A\"\ndst = \"01:0c:cd:04:00:01\"\n",
    );
    assert!(twice.contains("set.toml, line 1 and set.toml, line 4"), "{twice}");
}

#[test]
fn so_many_streams() {
    let streams = counted(&StreamSpec::named("MU"), 300);
    assert_eq!(
        (streams[0].sv_id.as_str(), streams[299].sv_id.as_str()),
        ("MU01", "MU300")
    );
    assert_eq!(streams[299].destination.to_string(), "01:0c:cd:04:01:2c");
}

#[test]
fn the_streams_of_a_station() {
    let document = scl::parse(STATION).expect("a file");
    let all = of_ieds(&document, &[], None).expect("streams");
    let names: Vec<&str> = all.streams.iter().map(|stream| stream.sv_id.as_str()).collect();
    assert_eq!(names, ["MU01_A", "MU01_B", "MU02_A"]);
    let first = &all.streams[0];
    assert_eq!(first.profile().expect("a profile").to_string(), "F4800S2I4U4");
    assert_eq!(first.dat_set.as_deref(), Some("MU01MU/LLN0$PhsMeas1"));
    assert_eq!((first.smp_rate, first.smp_mod), (Some(4_800), Some(1)));
    assert_eq!(
        all.streams[1].profile().expect("a profile").to_string(),
        "F4800S1I6U3",
        "60 Hz by the file"
    );
    assert_eq!(all.streams[2].dat_set, None);
    assert!(
        all.left_out
            .iter()
            .any(|left| left.is_sampled_values && left.why.contains("MSVCB03")),
        "{:?}",
        all.left_out
    );
    assert!(all.notes.iter().any(|note| note.contains("refrTm")), "{:?}", all.notes);

    let one = of_ieds(&document, &["MU02".into()], None).expect("streams");
    assert_eq!(one.streams.len(), 1);
    let at_50 = of_ieds(&document, &[], Some(50.0)).expect("streams");
    assert_eq!(at_50.streams[1].rate, 4_000);
}

#[test]
fn ieds_that_are_not_there_or_publish_nothing() {
    let document = scl::parse(STATION).expect("a file");
    let refusal = |ied: &str| of_ieds(&document, &[ied.to_owned()], None).expect_err(ied).to_string();
    assert_eq!(refusal("MU9"), "station.scd: no IED MU9 (have: MU01, MU02, RELAY1)");
    assert_eq!(
        refusal("RELAY1"),
        "station.scd: no SampledValueControl in IED RELAY1 (others have: MU01, MU02): nothing to publish or to expect"
    );
    let broken = scl::parse(&STATION.replace(">4021<", "><")).expect("a file");
    let error = of_ieds(&broken, &["MU02".into()], None)
        .expect_err("no address")
        .to_string();
    assert!(
        error.contains("MSVCB01 of IED MU02: its address has no APPID: add <P"),
        "{error}"
    );
}

#[test]
fn a_dataset_that_cannot_be_published_can_be_expected() {
    let document =
        scl::parse(&STATION.replace("name=\"i\" bType=\"INT32\"", "name=\"f\" bType=\"FLOAT32\"")).expect("a file");
    let all = of_ieds(&document, &["MU02".into()], None).expect("streams");
    let Content::Other { octets, why } = &all.streams[0].content else {
        panic!("no INT32");
    };
    assert_eq!(*octets, Some(64));
    assert!(why.contains("BAY2_MU/TCTR1.AmpSv.instMag.f[MX] is FLOAT32"), "{why}");
    let error = all.streams[0].profile().expect_err("not to be published").to_string();
    assert!(
        error.starts_with("stream MU02_A: cannot be published: dataset PhsMeas1, line "),
        "{error}"
    );
}

#[test]
fn the_frequency_that_was_assumed_is_said() {
    let document = scl::parse(&STATION.replace("nomFreq=\"60\"", "")).expect("a file");
    let all = of_ieds(&document, &[], None).expect("streams");
    assert_eq!(all.streams[1].rate, 4_000);
    assert!(
        all.notes.iter().any(|note| note.contains("taken at 50 Hz")),
        "{:?}",
        all.notes
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_makes_it_panic(text in "(\\[\\[stream\\]\\]\n|svID = \"[A-C{}.0-9]{0,9}\"\n|appid = -?[0-9]{1,7}\n|quality = \"[a-z, ]{0,9}\"\n|pcp = [0-9]\n|.{0,9}\n){0,8}") {
        let _ = parse(&text, "set.toml");
    }
}

/// One control block of each kind, and the addresses of both.
const BOTH: &str = r#"<SCL xmlns="http://www.iec.ch/61850/2003/SCL" version="2007" revision="B">
<Communication><SubNetwork name="W1"><ConnectedAP iedName="MU7" apName="P1">
<GSE ldInst="LD0" cbName="gcb1"><Address><P type="MAC-Address">01-0C-CD-01-00-07</P><P type="APPID">0007</P></Address></GSE>
<SMV ldInst="LD0" cbName="svcb1"><Address><P type="MAC-Address">01-0C-CD-04-00-07</P><P type="APPID">4007</P></Address></SMV>
</ConnectedAP></SubNetwork></Communication>
<IED name="MU7"><AccessPoint name="P1"><Server><LDevice inst="LD0"><LN0 lnClass="LLN0" inst="" lnType="X">
<DataSet name="sv"><FCDA ldInst="LD0" prefix="I01A" lnClass="TCTR" lnInst="1" doName="AmpSv" daName="instMag.i" fc="MX"/></DataSet>
<DataSet name="go"><FCDA ldInst="LD0" lnClass="XCBR" lnInst="1" doName="Pos" daName="stVal" fc="ST"/></DataSet>
<GSEControl name="gcb1" datSet="go" appID="MU7_trip" confRev="1"/>
<SampledValueControl name="svcb1" datSet="sv" smvID="MU7_SV" smpRate="4800" smpMod="SmpPerSec" nofASDU="1" confRev="1"><SmvOpts/></SampledValueControl>
</LN0></LDevice></Server></AccessPoint></IED></SCL>"#;

/// The file with `from` replaced, read as `subscribe` reads it.
fn both(from: &str, to: &str) -> Result<StreamSet, Refusal> {
    assert!(from.is_empty() || BOTH.contains(from), "{from}");
    let choice = SclChoice {
        ieds: &[],
        frequency_hz: None,
        goose_alone: true,
    };
    StreamSet::of_scl(BOTH.replace(from, to).as_bytes(), "both.scd".to_owned(), choice)
}

#[test]
fn a_control_block_of_either_kind_that_cannot_be_used_is_left_out_by_name_and_takes_no_other_along() {
    let whole = both("LD0", "LD0").expect("both");
    assert_eq!((whole.selection.left_out.len(), whole.gooses.len()), (0, 1));
    for (from, to, why) in [
        ("<GSE ldInst=\"LD0\"", "<GSE ldInst=\"LD9\"", "it has no address"),
        (
            "<GSEControl name=\"gcb1\" datSet=\"go\"",
            "<GSEControl name=\"gcb1\"",
            "it has no datSet",
        ),
        ("datSet=\"go\"", "datSet=\"none\"", "has no DataSet `none`"),
    ] {
        let set = both(from, to).expect("the sampled values");
        let [left] = &set.selection.left_out[..] else {
            panic!("{why}: {:?}", set.selection.left_out)
        };
        assert!(
            !left.is_sampled_values && left.name == "MU7LD0/LLN0$GO$gcb1",
            "{left:?}"
        );
        assert!(
            left.why.starts_with("both.scd: line ") && left.why.contains(why),
            "{left:?}"
        );
        assert_eq!((set.selection.streams.len(), set.gooses.len()), (1, 0));
        assert!(set.published_blocks(false).1[0].contains(why));
    }
    for (from, to, why) in [
        ("<SMV ldInst=\"LD0\"", "<SMV ldInst=\"LD9\"", "it has no address"),
        ("datSet=\"sv\" smvID", "smvID", "it has no datSet"),
        (" smpMod=\"SmpPerSec\"", "", "write smpMod=\"SmpPerSec\""),
    ] {
        let set = both(from, to).expect("the GOOSE");
        let [left] = &set.selection.left_out[..] else {
            panic!("{why}: {:?}", set.selection.left_out)
        };
        assert!(
            left.is_sampled_values && left.name == "MU7_SV" && left.why.contains(why),
            "{left:?}"
        );
        assert_eq!((set.selection.streams.len(), set.gooses.len()), (0, 1));
    }
}

#[test]
fn of_two_control_blocks_that_no_receiver_can_distinguish_the_second_is_left_out_by_name() {
    let document = scl::parse(&STATION.replace("smvID=\"MU01_B\"", "smvID=\"MU01_A\"")).expect("a file");
    let apart = of_ieds(&document, &[], None).expect("streams");
    assert_eq!(apart.streams.len(), 3, "their addresses differ");
    let same = STATION
        .replace("smvID=\"MU02_A\"", "smvID=\"MU01_A\"")
        .replace("01-0C-CD-04-00-21", "01-0C-CD-04-00-11")
        .replace(">4021<", ">4011<")
        .replace("<P type=\"VLAN-ID\">000</P>", "<P type=\"VLAN-ID\">064</P>");
    let twins = of_ieds(&scl::parse(&same).expect("a file"), &[], None).expect("streams");
    assert_eq!(twins.streams.len(), 2);
    let left = twins.left_out.iter().find(|left| left.name == "MU01_A");
    let left = left.expect("the second");
    assert!(left.is_sampled_values && left.why.contains("listed twice"), "{left:?}");
    assert!(left.why.contains("of MU01") && left.why.contains("of MU02"), "{left:?}");
    assert!(
        !twins.notes.iter().any(|note| note.contains("listed twice")),
        "{:?}",
        twins.notes
    );
}

#[test]
fn a_file_of_which_nothing_can_be_used_says_why_of_the_first() {
    let text = BOTH
        .replace("<SampledValueControl", "<Other")
        .replace("</SampledValueControl", "</Other");
    let text = text.replace("datSet=\"go\"", "");
    let choice = SclChoice {
        ieds: &[],
        frequency_hz: None,
        goose_alone: true,
    };
    let error = StreamSet::of_scl(text.as_bytes(), "both.scd".to_owned(), choice).expect_err("nothing");
    assert!(
        error
            .to_string()
            .contains("GSEControl gcb1 of IED MU7: it has no datSet"),
        "{error}"
    );
}
