//! The relay file: its meaning, and the errors that refuse it.

use protection::FunctionSettings;
use relay::config::{Attribute, Cpus, Feed, Signal, parse};

const FEEDER: &str = include_str!("data/feeder.toml");

fn refusal(text: &str) -> String {
    parse(text, "relay.toml").expect_err(text).to_string()
}

/// The example file with one line changed.
fn changed(from: &str, to: &str) -> String {
    assert!(FEEDER.contains(from), "{from}");
    FEEDER.replacen(from, to, 1)
}

#[test]
fn the_example_is_a_relay() {
    let config = parse(FEEDER, "feeder.toml").expect("a relay");
    assert_eq!(
        (config.rate, config.task_ns, config.wait_ns),
        (4000, 1_000_000, 2_000_000)
    );
    let apart = Cpus::Apart {
        receive: 1,
        functions: 2,
        output: 3,
    };
    assert_eq!(config.cpus, apart);
    let nodes: Vec<String> = config.functions.iter().map(|each| each.node.to_string()).collect();
    assert_eq!(
        nodes,
        [
            "PIOC (50)",
            "PTOC (51)",
            "PTOC (51N)",
            "PTUV (27)",
            "PTUF (81U)",
            "PDIS (21)"
        ]
    );
    assert_eq!(config.trips[0].functions, [0, 1, 2, 5]);
    assert!(config.trips[0].breaker_failure.is_some());
    let signal = |signal, attribute| Feed::Signal(signal, attribute);
    assert_eq!(
        config.gooses[0].feeds,
        [
            (0, signal(Signal::Trip(0), Attribute::General)),
            (1, Feed::Quality),
            (3, signal(Signal::Start(1), Attribute::Phase(protection::Phases::A))),
            (4, signal(Signal::Backtrip(0), Attribute::General)),
            (5, Feed::Health),
        ]
    );
}

#[test]
fn names_are_enough() {
    let text = r#"
        [relay]
        name = "R"
        [[stream]]
        name = "a"
        sv = { svID = "MU01" }
        [[stream]]
        name = "b"
        sv = { svID = "MU02", profile = "F4800S2I3U0" }
        [[function]]
        name = "87"
        sides = ["a", "b"]
        settings.pdif = {}
        [[function]]
        name = "21"
        current-stream = "b"
        voltage-stream = "a"
        settings.pdis = {}
        [[trip]]
        name = "Q0"
    "#;
    let config = parse(text, "r.toml").expect("a relay");
    assert_eq!(config.rate, 4800);
    assert_eq!(config.functions[0].settings.sets(), [0, 1]);
    assert_eq!(config.functions[1].settings.sets(), [1, 0]);
    assert_eq!(config.trips[0].functions, [0, 1], "all, without a list");
    assert_eq!(config.streams[0].measuring.harmonics, [2, 5], "what pdif needs");
    assert!(!config.streams[1].order.has(3) && !config.streams[1].order.has(4));
    assert!(matches!(config.functions[1].settings, FunctionSettings::Pdis(_)));
}

#[test]
fn refusals_name_line_and_key() {
    for (from, to, wanted) in [
        (
            "stream = \"bay1\"",
            "stream = \"bay2\"",
            "line 27: no stream \"bay2\": did you mean \"bay1\"?",
        ),
        ("pickup = 5", "pickpu = 5", "pickpu"),
        (
            "pickup = 5",
            "pickup = 500",
            "line 21: function \"I>>\": PIOC: pickup is 500 x In; it must be",
        ),
        ("pickup = 5 ", "source = 3 ", "name its stream instead"),
        (
            "settings.pioc = { pickup = 5 }",
            "settings.pioc = { pickup = 5 }\nsettings.ptuv = { pickup = 1 }",
            "line 24: function \"I>>\": settings.pioc, settings.ptuv: a function has settings of one kind: write a [[function]] for each",
        ),
        (
            "settings.pioc = { pickup = 5 }",
            "settings = {}",
            "line 21: function \"I>>\": settings: it is empty: give the kind of the function, such as settings.ptoc",
        ),
        (
            "\"I>>\", \"I>\",",
            "\"I>>\", \"I0>x\",",
            "no function \"I0>x\": did you mean \"I0>\"?",
        ),
        ("name = \"I>\"", "name = \"I>>\"", "is in the file twice"),
        ("name = \"I>\"", "name = \"a.b\"", "no dot, colon"),
        (
            "trip:Q0.general",
            "trip:Q1.general",
            "member \"trip:Q1.general\": no trip \"Q1\": did you mean \"Q0\"?",
        ),
        ("trip:Q0.general", "trpi:Q0.general", "did you mean \"trip\"?"),
        ("start:I>.phsA", "start:I>.phsD", "no attribute \"phsD\""),
        (
            "\"quality\", type = \"quality\"",
            "\"quality\", type = \"boolean\"",
            "its type has to be quality",
        ),
        (
            "sv = { svID = \"MU01\", ",
            "sv = { svID = \"MU{1..2}\", ",
            "the name covers 1, and the svID 2",
        ),
        (
            "sv = { svID = \"MU01\", ",
            "sv = { svID = \"MU01\", nosuch = 1, ",
            "nosuch",
        ),
        (
            "task = \"1ms\"",
            "task = \"1s\"",
            "task in us is 1000000; it must be 100 to 20000",
        ),
        ("frequency = 50", "frequency = 500", "frequency-hz is 500 Hz"),
        ("retrip-ms = 120", "retrip-ms = 120, backtrip-mz = 1", "backtrip-mz"),
        ("instances = 1", "instances = 0", "instances is 0"),
        (
            "pre = \"200ms\"",
            "pre = \"3s\"",
            "[record]: pre in ms is 3000; it must be 20 to 2000",
        ),
        ("most = 100", "most = 0", "[record]: most is 0"),
        (
            "max_time = \"1s\"",
            "max_time = \"1s\"\nchange = [{ at = \"1s\", set = { t = true } }]",
            "t",
        ),
    ] {
        let found = refusal(&changed(from, to));
        assert!(
            found.starts_with("relay.toml: ") && found.contains(wanted),
            "{to}: {found}"
        );
        assert!(found.contains("line "), "{to}: {found}");
    }
    assert!(refusal("[relay]\nname = \"x\"").contains("add [[stream]]"));
    assert!(refusal("name = \"x\"").contains("relay.toml"));
}

#[test]
fn sides_are_for_a_differential_function() {
    let two = "[[stream]]\nname = \"bay2\"\nsv = { svID = \"MU02\", profile = \"F4000S1I4U4\" }\n\n[[function]]\nname = \"I>>\"";
    let with = |settings: &str| {
        let text = changed("[[function]]\nname = \"I>>\"", two);
        refusal(&text.replacen("settings.pioc = { pickup = 5 }", settings, 1))
    };
    assert!(with("settings.pioc = {}").contains("name its stream (have: bay1, bay2)"));
    assert!(with("sides = [\"bay1\", \"bay2\"]\nsettings.pioc = {}").contains("sides is for pdif only"));
    assert!(with("settings.pdif = {}").contains("pdif needs sides"));
    assert!(with("sides = [\"bay1\"]\nsettings.pdif = {}").contains("sides needs two streams"));
    assert!(with("sides = [\"bay1\", \"bay1\"]\nsettings.pdif = {}").contains("both sides are one stream"));
    assert!(with("stream = \"bay1\"\nsettings.pdif = {}").contains("and no stream"));
    let mixed = changed(
        "[[function]]\nname = \"I>>\"",
        &two.replace("F4000S1I4U4", "F4800S2I4U4"),
    );
    assert!(refusal(&mixed).contains("all streams of a relay have one rate"));
}

#[test]
fn the_page_shows_the_example() {
    let page = include_str!("data/relay-file.md");
    assert!(
        page.contains(FEEDER),
        "docs/formats/relay-file.md and tests/data/feeder.toml differ"
    );
}

const ZONES: &str = r#"
[relay]
name = "R"
[[stream]]
name = "b"
sv = { svID = "MU01" }
[[function]]
name = "Z1"
settings.pdis = { zone = 1, reach-ohm = 10 }
[[function]]
name = "Z2"
settings.pdis = { zone = 2, reach-ohm = 8 }
"#;

#[test]
fn zones_out_of_order_are_refused() {
    assert_eq!(
        refusal(ZONES),
        "relay.toml: line 10: function \"Z2\": PDIS: zone 1 reaches 10 ohm and zone 2 only 8 ohm: raise reach-ohm of zone 2"
    );
    for (from, to) in [
        ("reach-ohm = 8", "reach-ohm = 12"),
        // A zone in the other direction, and one of another line, have an order of their own.
        ("reach-ohm = 8", "reach-ohm = 8, mode = \"reverse\""),
    ] {
        parse(&ZONES.replace(from, to), "relay.toml").expect(to);
    }
    let other = ZONES
        .replace("[[function]]\nname = \"Z1\"", "[[stream]]\nname = \"c\"\nsv = { svID = \"MU02\", appid = 0x4001 }\n[[function]]\nname = \"Z1\"\nstream = \"b\"")
        .replace("name = \"Z2\"", "name = \"Z2\"\nstream = \"c\"");
    parse(&other, "relay.toml").expect("two lines");
}
