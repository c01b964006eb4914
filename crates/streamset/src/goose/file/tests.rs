use super::parse;
use wire::goose::Value;

const FILE: &str = r#"
[[goose]]
gocb_ref = "IED1LD0/LLN0$GO$gcbTrip"
dat_set = "IED1LD0/LLN0$dsTrip"
go_id = "IED1_TRIP"
dst = "01:0c:cd:01:00:01"
appid = 0x0001
vlan = 100
min_time = "2ms"
max_time = "500ms"
tal_factor = 3
member = [
    { name = "trip", type = "boolean" },
    { name = "q", type = "quality", value = "questionable" },
    { name = "t", type = "timestamp" },
    { name = "pos", type = "dbpos", value = "off" },
    { name = "count", type = "integer", value = 3 },
]
change = [
    { at = "1s", every = "2s", set = { trip = true, pos = "on" } },
    { at = "2s", every = "2s", set = { trip = false, pos = "off" } },
    { at = "500ms", set = { count = -70000, q = 0x0800 } },
]
"#;

#[test]
fn a_whole_file() {
    let blocks = parse(FILE, "trip.toml").expect("the file is sound");
    let block = &blocks[0];
    assert_eq!(block.message.gocb_ref, b"IED1LD0/LLN0$GO$gcbTrip");
    assert_eq!(
        (block.message.appid, block.message.st_num, block.message.sq_num),
        (1, 1, 1)
    );
    assert_eq!(block.message.tags[0].vid(), 100);
    assert_eq!((block.curve.first_ns, block.curve.last_ns), (2_000_000, 500_000_000));
    let quality = |bits: [u8; 2]| Value::BitString {
        unused: 3,
        bits: bits.to_vec(),
    };
    assert_eq!(block.message.all_data[1], quality([0xc0, 0]));
    assert_eq!(block.changes.len(), 3);
    assert_eq!(
        (block.changes[0].at_ns, block.changes[0].every_ns),
        (1_000_000_000, Some(2_000_000_000))
    );
    let on = Value::BitString {
        unused: 6,
        bits: vec![0x80],
    };
    let mut set = block.changes[0].set.clone();
    set.sort_by_key(|(index, _)| *index);
    assert_eq!(set, [(0, Value::Boolean(true)), (3, on)]);
    assert!(block.changes[2].set.contains(&(1, quality([0x40, 0]))));
}

/// The first file with one part replaced.
fn problem(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    parse(&FILE.replace(from, to), "trip.toml").expect_err(to).to_string()
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let cases = [
        (
            "trip = true, pos",
            "trap = true, pos",
            "line 20: control block IED1LD0/LLN0$GO$gcbTrip: set: no member \"trap\" (have: trip, q, t, pos, count)",
        ),
        (
            "trip = true, pos",
            "trip = 1, pos",
            "line 20: set: trip: 1 is not possible: use true or false",
        ),
        (
            "pos = \"on\" }",
            "pos = \"open\" }",
            "use \"off\", \"on\", \"intermediate\" or \"bad\"",
        ),
        ("q = 0x0800", "t = 5", "a timestamp follows t: leave its value out"),
        (
            "count = -70000",
            "count = 0x100000000",
            "line 22: set: count: must take as many octets as its first value",
        ),
        (
            "value = \"questionable\"",
            "value = 0x2000",
            "line 14: member \"q\": 8192 is not possible",
        ),
        ("tal_factor = 3", "tal_factor = 0.5", "tal_factor must be 1 to 1000"),
        (
            "max_time = \"500ms\"",
            "max_time = \"1ms\"",
            "min_time must be at least 100us, and at most max_time",
        ),
        ("dst = \"01:0c", "dst = \"1:0c", "line 6, column 7"),
        ("go_id", "goid", "unknown field `goid`"),
        ("at = \"1s\"", "at = \"1\"", "has no known unit"),
        (
            "every = \"2s\", set = { trip = true",
            "every = \"1us\", set = { trip = true",
            "every must be at least 1ms",
        ),
        ("vlan = 100", "vlan = 5000", "vlan is 0 to 4095"),
    ];
    for (from, to, expected) in cases {
        let found = problem(from, to);
        assert!(
            found.starts_with("trip.toml: ") && found.contains(expected),
            "{to}: {found}"
        );
    }
    let empty = parse("goose = []", "trip.toml").expect_err("no block");
    assert_eq!(empty.to_string(), "trip.toml: no control block: add a table [[goose]]");
    let long = "x".repeat(130);
    assert!(problem("IED1_TRIP", &long).contains("at most 129"));
}

#[test]
fn the_documented_file_can_be_used() {
    let page = include_str!("../../../tests/data/goose-file.md");
    let file = page.split("```toml").nth(1).and_then(|rest| rest.split("```").next());
    let blocks = parse(file.expect("an example"), "goose-file.md").expect("the example is sound");
    assert_eq!((blocks[0].message.all_data.len(), blocks[0].changes.len()), (4, 2));
}
