//! For any text of a device on the bus, a file or a run file, no output contains a character with an effect on the display.

use capture::write::PcapWriter;
use model::{
    Cause, Event, EventKind, Explanation, Extent, Fact, Part, RunInfo, RunState, SeriesClock, SeriesId, SeriesSpec,
    Spike, Window,
};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::process::Output;
use store::{Batch, RunWriter};
use support::{json, namespace, root_or_skip, run, start, stderr, wait};
use sys::packet::{PacketPort, PortOptions};
use units::Realtime;
use units::foreign::is_unfit;
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::OwnedAsdu;
use wire::time::UtcTime;
use wire::{goose, sv};

/// Clears the screen, rings, begins a line that is a pass, colours it by C1, reverses the direction, hides, and breaks lines; also a formula for a
/// spreadsheet, markup for a page, and a backslash. Each text contains its own word, by which it can be found.
fn nasty(word: &str) -> String {
    format!(
        "=1+{word}\u{1b}[2J\u{7}\nPASS\r\u{9b}32m\u{85}\u{202e}SSAP\u{2066}\u{200b}\u{2028}\u{feff}\u{7f}</script>\\"
    )
}

/// As [`nasty`], short enough for the wire.
fn on_the_wire(word: &str) -> Vec<u8> {
    let text = nasty(word).into_bytes();
    assert!(text.len() <= 129, "{}", text.len());
    text
}

/// Asserts that a text has no active characters except its line ends, and no line that looks like a verdict.
fn assert_seen(face: &str, text: &str) {
    for (number, line) in text.split(['\n']).enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let unfit: Vec<char> = line.chars().filter(|c| is_unfit(*c)).collect();
        assert!(unfit.is_empty(), "{face}, line {}: {unfit:?} in {line:?}", number + 1);
        assert_ne!(line, "PASS", "{face}");
    }
}

/// Asserts this for all output of a command, and that there is some output.
fn assert_output(face: &str, output: &Output) {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert_seen(face, &text);
    assert_seen(&format!("{face}, standard error"), &stderr(output));
    assert!(!text.is_empty() || !output.stderr.is_empty(), "{face} says nothing");
}

/// Bytes as text, in which each byte of a binary format outside ASCII becomes one character.
fn texts_of(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

fn explanation() -> Explanation {
    let part = |word: &str| Part {
        what: nasty(word),
        ns: 40_000,
    };
    Explanation {
        cause: Cause::Thread,
        text: nasty("sentence"),
        extent: Extent::OneCpu,
        stages: vec![part("stage")],
        occupants: vec![part("occupant")],
        unexplained_ns: 0,
        around: vec![nasty("around")],
    }
}

/// A run file with such a text in every possible place.
fn run_file(path: &Path) {
    let info = RunInfo {
        id: nasty("id"),
        command: nasty("command"),
        arguments: vec![nasty("argument")],
        tool_version: nasty("version"),
        started: Realtime::from_ns(1_790_000_000_000_000_000),
        window_ns: 1_000_000_000,
    };
    let mut writer = RunWriter::create(path, &info, None).expect("a run");
    let names = [
        nasty("series"),
        format!("wakeup/{}", nasty("wakeup")),
        format!("age/{}", nasty("age")),
    ];
    let mut batch = Batch::default();
    for (number, name) in (0..).zip(names) {
        let id = writer.add_series(&SeriesSpec {
            what: nasty("what"),
            clock: SeriesClock::Monotonic,
            interval_ns: Some(250_000.0),
            threshold_ns: Some(10_000),
            settings: vec![(nasty("setting"), nasty("value")), ("policy".into(), nasty("policy"))],
            ..SeriesSpec::named(&name)
        });
        assert_eq!(id.expect("added"), SeriesId(number));
        let mut histogram = stats::Histogram::new();
        for n in 0..4_000 {
            histogram.record(5_000 + n);
        }
        histogram.record(50_000);
        batch.windows.push(Window {
            series: SeriesId(number),
            start_ns: 0,
            end_ns: 1_000_000_000,
            counters: model::Counters {
                expected: 4_002,
                received: 4_001,
                lost: 1,
                overflow: 1,
                ..Default::default()
            },
            sum_ns: 28_048_000,
            min_ns: Some(5_000),
            max_ns: Some(50_000),
            histogram,
        });
        batch.spikes.push(Spike {
            series: SeriesId(number),
            at_ns: 500_000_000,
            value_ns: 50_000,
            cpu: Some(1),
            sequence: Some(7),
            explanation: Some(explanation()),
        });
    }
    let event = |kind, series| Event {
        at_ns: 1,
        since_ns: None,
        kind,
        series,
        text: nasty("event"),
    };
    batch.events = vec![
        event(EventKind::Note, None),
        event(EventKind::Incomplete, Some(SeriesId(0))),
        event(EventKind::Stream, Some(SeriesId(2))),
    ];
    writer.write(&batch).expect("written");
    let fact = |group: &str, name: &str, value| Fact {
        group: group.to_owned(),
        name: name.to_owned(),
        value,
        source: nasty("source"),
    };
    let facts = [
        fact(&nasty("group"), &nasty("fact"), Ok(nasty("fact value"))),
        fact(&nasty("group"), &nasty("unknown"), Err(nasty("why"))),
        fact("kernel", "host name", Ok(nasty("host"))),
        fact("flight recorder", &nasty("cost"), Ok(nasty("ms"))),
        fact(&format!("nic {}", nasty("eth")), "driver", Ok(nasty("driver"))),
    ];
    writer.add_facts(&facts).expect("added");
    writer.finish(RunState::Complete, 1_000_000_000).expect("finished");
}

/// A limit file with such texts, too.
fn limits(path: &Path) {
    let text = |word: &str| {
        // TOML accepts JSON's texts, except for an unescaped DEL.
        let json = serde_json::to_string(&nasty(word)).expect("JSON");
        json.replace('\u{7f}', "\\u007f")
    };
    let limit = |id: &str, series: &str, quantity: &str, max: &str| {
        let (source, why) = (text("source"), text("why"));
        format!(
            "[[limit]]\nid = {id}\nseries = {series}\nquantity = \"{quantity}\"\nallowed = {max}\nsource = {source}\nwhy = {why}\n"
        )
    };
    let all = [
        format!("name = {}\nwhat = {}\n", text("profile"), text("kind")),
        limit(&text("limit"), "\"*\"", "max", "\"10us\""),
        limit(&text("loss"), "\"age/*\"", "lost", "0"),
        limit(&text("none"), &text("nowhere"), "max", "\"1us\""),
    ];
    fs::write(path, all.join("\n")).expect("written");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn no_face_of_a_run_file_shows_what_acts() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let file = at("a\u{1b}[2J\nPASS \u{202e}.triptime");
    let (profile, page) = (at("limits\u{9b}.toml"), at("report\u{7}.html"));
    run_file(&file);
    limits(&profile);
    let screen = run(&["report", text(&file), "--limits", text(&profile)]);
    assert_output("report", &screen);
    assert!(texts_of(&screen.stdout).starts_with("✗ FAIL"));
    let judged = [
        "report",
        text(&file),
        "--full",
        "--limits",
        text(&profile),
        "--html",
        text(&page),
    ];
    let output = run(&judged);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_output("report", &output);
    let shown = texts_of(&output.stdout);
    assert!(shown.starts_with("FAIL"), "{shown}");
    for word in ["wakeup", "profile", "limit", "event", "ms", "nowhere"] {
        assert!(
            shown.contains(&format!("=1+{word}\\u{{1b}}[2J")),
            "{word} is not in\n{shown}"
        );
    }
    assert_seen("page", &fs::read_to_string(&page).expect("a page"));
    let junit = at("junit.xml");
    let output = run(&[
        "report",
        text(&file),
        "--limits",
        text(&profile),
        "--json",
        "--junit",
        text(&junit),
    ]);
    assert_output("report --json", &output);
    assert_seen("JUnit", &fs::read_to_string(&junit).expect("a file"));
    let document = json(&output);
    assert_eq!(document["series"][0]["name"], nasty("series"), "JSON keeps the names");
    for table in ["vm", "jitter", "avb", "networks", "vpc"] {
        assert_output(table, &run(&["compare", text(&file), text(&file), "--table", table]));
    }
    let page = at("compare.html");
    let name = format!("{}={}", "x\u{1b}[1m", text(&file));
    for more in [vec!["--html", text(&page)], vec!["--json"]] {
        let output = run(&[&["compare", text(&file), text(&file)], more.as_slice()].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_output("compare", &output);
    }
    assert_output("compare", &run(&["compare", &name, text(&file)]));
    assert_seen("compared page", &fs::read_to_string(&page).expect("a page"));
    for format in [
        "json",
        "csv",
        "hlog",
        "cyclictest",
        "cyclictest-2.7",
        "cyclictest-json",
        "openmetrics",
        "frames",
        "perfetto",
    ] {
        assert_output(format, &run(&["export", text(&file), "--format", format]));
    }
    let exported = run(&["export", text(&file), "--format", "parquet", "--out", text(&at("x"))]);
    assert_eq!(exported.status.code(), Some(0), "{}", stderr(&exported));
    for name in ["x.windows.parquet", "x.spikes.parquet"] {
        let octets = fs::read(at(name)).expect("a file");
        for acting in [
            "=1+id\u{1b}",
            "=1+series\u{1b}",
            "=1+age\u{1b}",
            "=1+host\u{1b}",
            "=1+sentence\u{1b}",
        ] {
            assert!(
                !octets.windows(acting.len()).any(|part| part == acting.as_bytes()),
                "{acting:?} in {name}"
            );
        }
    }
}

#[test]
fn a_spreadsheet_is_given_no_formula() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("x.triptime");
    run_file(&file);
    let rows = texts_of(&run(&["export", text(&file), "--format", "csv"]).stdout);
    assert!(rows.lines().count() == 4 && rows.contains("\n'=1+series"), "{rows}");
}

#[test]
fn messages_about_files_show_no_name_that_acts() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let (missing, foreign) = (at("none\u{1b}[2J\nPASS\u{202e}"), at("no run\u{1b}[2J\nPASS\u{202e}"));
    fs::write(&foreign, "no run, no capture, no limits").expect("written");
    for path in [&missing, &foreign] {
        let path = text(path);
        for words in [
            vec!["report", path],
            vec!["export", path, "--format", "csv"],
            vec!["compare", path, path],
            vec!["merge", path, path],
            vec!["import", path],
            vec!["pcap", path],
            vec!["pcap", path, "--decode"],
            vec!["qualify", path],
            vec!["wakeup", "--limits", path],
            vec!["publish", path],
            vec!["publish", "lo", "--set", path],
            vec!["publish", "lo", "--scl", path],
            vec!["subscribe", path],
            vec!["trace", path],
        ] {
            let output = run(&words);
            assert_ne!(output.status.code(), Some(0), "{words:?}");
            let said = stderr(&output);
            assert_seen(words[0], &said);
        }
    }
}

fn samples(word: &str, number: u8, smp_cnt: u16) -> Vec<u8> {
    let message = sv::Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, number]),
        src: Mac([2, 0, 0, 0, 0, number]),
        tags: vec![VlanTag::new(4, false, 1)],
        appid: 0x4000,
        simulate: false,
        asdus: vec![OwnedAsdu {
            sv_id: on_the_wire(word),
            dat_set: Some(on_the_wire("svset")),
            smp_cnt,
            ..OwnedAsdu::new("x", 1, 2, &[(0, SvQuality(0)); 8])
        }],
    };
    message.encode().expect("encodes")
}

fn state(number: u8, st_num: u32) -> Vec<u8> {
    let message = goose::Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, number]),
        src: Mac([2, 0, 0, 0, 0, number]),
        tags: Vec::new(),
        appid: 0x1000,
        simulate: false,
        gocb_ref: on_the_wire("gocb"),
        time_allowed_to_live: 20,
        // A change within the stream is an event.
        dat_set: on_the_wire(if st_num > 3 { "newset" } else { "dataset" }),
        go_id: Some(on_the_wire("goid")),
        t: UtcTime::from_bytes([0x6a, 0, 0, 0, 0, 0, 0, 0x0a]),
        st_num,
        sq_num: 0,
        simulation: false,
        conf_rev: 1 + st_num / 5,
        nds_com: false,
        all_data: vec![goose::Value::Boolean(true)],
    };
    message.encode().expect("encodes")
}

#[test]
fn no_face_of_a_capture_shows_what_acts() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let file = at("bay\u{1b}[2J.pcap");
    let mut writer = PcapWriter::new(BufWriter::new(File::create(&file).expect("a file"))).expect("a capture");
    for number in 0..400_u16 {
        let at_ns = 1_790_000_000_000_000_000 + i64::from(number) * 250_000;
        // A gap, so that the output names the stream.
        let smp_cnt = if number < 200 { number } else { number + 3 };
        writer.write(at_ns, &samples("svid", 1, smp_cnt)).expect("written");
        if number % 40 == 0 {
            writer
                .write(at_ns + 1, &state(1, u32::from(number / 40) + 1))
                .expect("written");
        }
    }
    writer.finish().expect("finished");
    let page = at("bay.html");
    let out = at("bay.triptime");
    for words in [
        vec!["pcap", text(&file)],
        vec!["pcap", text(&file), "--decode"],
        vec!["pcap", text(&file), "--html", text(&page), "--out", text(&out)],
    ] {
        let output = run(&words);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_output("pcap", &output);
        assert!(texts_of(&output.stdout).contains("=1+svid"), "{words:?}");
    }
    assert_seen("page", &fs::read_to_string(&page).expect("a page"));
    assert_output("report", &run(&["report", text(&out), "--limits", "substation"]));
}

#[test]
fn what_comes_over_the_wire_is_shown_and_acts_nowhere() {
    if !root_or_skip("what_comes_over_the_wire_is_shown_and_acts_nowhere") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("wire.triptime");
    let namespace = namespace();
    let words = [
        "subscribe",
        "--full",
        "v1",
        "--duration",
        "3s",
        "--policy",
        "other",
        "--rate",
        "4000",
        "--out",
        text(&out),
        "--limits",
        "substation",
    ];
    let subscriber = namespace.run(|| start(&words)).expect("a thread in it");
    let sent = namespace.run(|| {
        let port = PacketPort::open("v0", &PortOptions::default()).expect("a port");
        let until = std::time::Instant::now() + std::time::Duration::from_secs(4);
        let mut number = 0_u16;
        while std::time::Instant::now() < until {
            port.send(&samples("svid", 1, number % 4_000)).expect("sent");
            port.send(&state(1, u32::from(number) + 1)).expect("sent");
            number += 1;
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
    sent.expect("a thread in it");
    let output = wait(subscriber, &words);
    assert_output("subscribe", &output);
    let shown = texts_of(&output.stdout);
    assert!(
        shown.contains("=1+svid\\u{1b}[2J") && shown.contains("=1+gocb\\u{1b}[2J"),
        "{shown}{}",
        stderr(&output)
    );
    let document = json(&run(&["report", text(&out), "--json"]));
    let names: Vec<&str> = document["series"]
        .as_array()
        .expect("series")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(
        names.contains(&format!("spacing/{}", nasty("svid")).as_str()),
        "{names:?}"
    );
}
