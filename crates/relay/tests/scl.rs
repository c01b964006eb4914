//! A relay whose streams and GOOSE come from a station's SCL file.

use relay::Config;
use relay::config::{Attribute, Feed, Signal, parse, parse_with};
use units::refusal;

/// Two merging units, and a relay that subscribes to the first; its trip block has a member of each kind.
const STATION: &str = include_str!("data/station.scd");

const RELAY: &str = r#"
[relay]
name = "R1"
frequency = 60

[scl]
file = "station.scd"
ied = "RELAY1"

[[scl.goose]]
block = "gcbTrip"
feed = { "PTRC1.Tr.general" = "trip:Q0" }

[[function]]
name = "I>>"
stream = "MU01"
settings.pioc = { pickup = 2 }

[[trip]]
name = "Q0"
"#;

fn relay(text: &str) -> Result<Config, String> {
    let mut read = |file: &str| match file {
        "station.scd" => Ok(STATION.as_bytes().to_vec()),
        _ => Err(refusal!("{file}: not there")),
    };
    parse_with(text, "relay.toml", &mut read).map_err(|error| error.to_string())
}

/// The error for the relay file with one part changed.
fn refusal(from: &str, to: &str) -> String {
    assert!(RELAY.contains(from), "{from}");
    relay(&RELAY.replacen(from, to, 1)).expect_err(to)
}

#[test]
fn streams_are_those_that_the_ied_subscribes_to() {
    let config = relay(RELAY).expect("a relay");
    let stream = &config.streams[0];
    assert_eq!((config.streams.len(), stream.name.as_str()), (1, "MU01"));
    assert_eq!(config.rate, 4800, "80 samples in a period of 60 Hz");
    assert_eq!((stream.spec.appid, stream.spec.conf_rev), (0x4001, 3));
    assert_eq!(stream.spec.vlan.map(|tag| tag.vid()), Some(5));
    assert!(
        stream.spec.origin.contains("station.scd, line "),
        "{}",
        stream.spec.origin
    );
}

#[test]
fn goose_is_that_of_the_ied_and_its_members_follow_what_the_file_says() {
    let config = relay(RELAY).expect("a relay");
    let output = &config.gooses[0];
    assert_eq!(output.block.message.gocb_ref, b"RELAY1LD/LLN0$GO$gcbTrip");
    assert_eq!(output.block.message.conf_rev, 7);
    assert_eq!(
        output.feeds,
        [
            (1, Feed::Quality),
            (0, Feed::Signal(Signal::Trip(0), Attribute::General))
        ]
    );
    let whole = RELAY.replace("PTRC1.Tr.general\"", "RELAY1LD/PTRC1.Tr.general[ST]\"");
    assert_eq!(
        relay(&whole).expect("by the whole reference").gooses[0].feeds,
        output.feeds
    );
}

#[test]
fn control_blocks_are_named_where_there_is_more_to_say() {
    let second = "[[stream]]\nname = \"second\"\nscl = \"MU02\"\nrated = { current-a = 200 }\n[[function]]";
    let text = RELAY.replace("[[function]]", second).replace("\"MU01\"", "\"second\"");
    let config = relay(&text).expect("a relay");
    assert_eq!(
        (config.streams.len(), config.streams[0].spec.sv_id.as_str()),
        (1, "MU02")
    );
    assert_eq!(config.streams[0].rated.current_a, 200.0);
    let by_reference = text.replace("\"MU02\"", "\"UNIT2MU/LLN0$MS$CB\"");
    assert_eq!(
        relay(&by_reference).expect("a relay").streams[0].spec,
        config.streams[0].spec
    );
    let range = text.replace(
        "name = \"second\"\nscl = \"MU02\"",
        "name = \"second{1..2}\"\nscl = \"MU{01..02}\"",
    );
    assert_eq!(
        relay(&range.replace("\"second\"", "\"second2\""))
            .expect("both")
            .streams
            .len(),
        2
    );
}

#[test]
fn what_cannot_be_is_refused_with_file_and_line() {
    for (from, to, says) in [
        (
            "file = \"station.scd\"",
            "file = \"other.scd\"",
            "line 7: [scl] file: other.scd: not there",
        ),
        (
            "ied = \"RELAY1\"",
            "ied = \"RELAY2\"",
            "line 8: [scl] station.scd: no IED RELAY2 (have: UNIT1, UNIT2, RELAY1)",
        ),
        (
            "ied = \"RELAY1\"",
            "ied = \"UNIT1\"",
            "subscribes to no sampled values (ExtRef)",
        ),
        (
            "\"gcbTrip\"",
            "\"gcbTrap\"",
            "IED RELAY1 has no GSEControl gcbTrap (have: gcbTrip)",
        ),
        (
            "PTRC1.Tr.general",
            "PTRC2.Tr.general",
            "(have: PTRC1.Tr.general, PTRC1.Tr.q, PTRC1.Tr.t)",
        ),
        ("PTRC1.Tr.general", "PTRC1.Tr.q", "its type has to be boolean"),
        (
            "\"trip:Q0\"",
            "\"trip:Q1\"",
            "line 12: feed of \"PTRC1.Tr.general\": no trip \"Q1\"",
        ),
        ("\"trip:Q0\"", "\"Q0\"", "\"Q0\" is not a state of this relay"),
        (
            "[[function]]",
            "[[stream]]\nname = \"a\"\nscl = \"MU03\"\n[[function]]",
            "no SampledValueControl with the svID or reference MU03 (have: MU01, MU02)",
        ),
        (
            "[[function]]",
            "[[stream]]\nname = \"a\"\n[[function]]",
            "give its source",
        ),
    ] {
        let message = refusal(from, to);
        assert!(message.contains(says), "{message}");
    }
    let alone = parse(RELAY, "relay.toml").expect_err("no other file").to_string();
    assert!(alone.contains("no other file can be read here"), "{alone}");
}
