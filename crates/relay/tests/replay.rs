//! Generated records and captures, played through relays.

mod common;

use capture::Reader;
use capture::write::PcapWriter;
use common::{Wave, earth_fault, relay};
use protection::Complex;
use relay::config::Config;
use relay::disturbance::Disturbance;
use relay::events::{Change, Subject};
use relay::replay::{Channels, Replayed, capture, record};
use std::fmt::Write;
use units::Realtime;
use waveform::comtrade::{ComtradeRecord, parse};
use waveform::replay::{Side, parse_assignments};
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

const FEEDER: &str = include_str!("data/feeder.toml");

/// A record at 4000 samples a second with these channels of the wave, in A and V; triggered after half a second.
fn recorded(wave: &Wave, channels: &[(&str, usize)], samples: u64, rates: &str) -> ComtradeRecord {
    repeated(wave, channels, samples, rates, 1)
}

/// The same record with each sample of the wave repeated this many times.
fn repeated(wave: &Wave, channels: &[(&str, usize)], samples: u64, rates: &str, times: u64) -> ComtradeRecord {
    let mut config = format!("s,d,1999\n{0},{0}A,0D\n", channels.len());
    for (number, (name, channel)) in channels.iter().enumerate() {
        let unit = if *channel < 4 { "A" } else { "V" };
        let _ = writeln!(
            config,
            "{},{name},,,{unit},0.001,0,0,-99999999,99999999,1,1,P",
            number + 1
        );
    }
    let _ = write!(config, "50\n{rates}\n1/1/2024,0:0:0.0\n1/1/2024,0:0:0.5\nASCII\n1\n");
    let mut data = String::new();
    for n in 0..samples {
        let values = wave.at(n / times);
        let _ = write!(data, "{},0", n + 1);
        for (_, channel) in channels {
            let _ = write!(data, ",{:.0}", values[*channel] * 1000.0);
        }
        data.push('\n');
    }
    parse((config.as_bytes(), "cfg"), (data.as_bytes(), "dat")).unwrap_or_else(|error| panic!("{error}"))
}

/// Start of the records: 2024-01-01.
const START: Realtime = Realtime::from_ns(1_704_067_200_000_000_000);

const EIGHT: [(&str, usize); 8] = [
    ("IA", 0),
    ("IB", 1),
    ("IC", 2),
    ("IN", 3),
    ("UA", 4),
    ("UB", 5),
    ("UC", 6),
    ("UN", 7),
];

fn fault() -> Wave {
    Wave {
        during: earth_fault(Complex::degrees(8000.0, -75.0), 2000.0),
        fault: 2000..2400,
        ..Wave::default()
    }
}

fn played(config: &Config, from: &ComtradeRecord) -> Replayed {
    record(config, from, &[], Side::Primary, None).expect("played")
}

/// First sample at which a subject had this change.
fn first(replayed: &Replayed, subject: Subject, is_wanted: impl Fn(Change) -> bool) -> Option<u64> {
    let mut rows = replayed.story.rows.iter();
    let found = rows.find(|row| row.event.subject == subject && is_wanted(row.event.change));
    found.map(|row| row.event.at)
}

fn operated(replayed: &Replayed, subject: Subject) -> Option<u64> {
    first(replayed, subject, |change| matches!(change, Change::Operate(_)))
}

#[test]
fn a_record_trips_as_it_did() {
    let config = relay(FEEDER);
    let from = recorded(&fault(), &EIGHT, 6000, "1\n4000,6000");
    let one = played(&config, &from);
    assert_eq!(
        (one.rate, one.samples, one.trigger_ns),
        (4000.0, 6000, Some(500_000_000))
    );
    assert!(one.inputs[0].starts_with("bay1: Ia from IA [A]"), "{:?}", one.inputs);
    let pioc = operated(&one, Subject::Function(0)).expect("PIOC");
    assert!((2004..2090).contains(&pioc), "{pioc}");
    assert_eq!(operated(&one, Subject::Trip(0)), Some(pioc));
    let tally = one.story.functions[0];
    assert_eq!((tally.starts, tally.operates), (1, 1));
    assert_eq!(tally.first_operate_ns, Some(pioc * 250_000));
    let row = one
        .story
        .rows
        .iter()
        .find(|row| row.event.subject == Subject::Function(0) && row.since_start_ns.is_some());
    assert!(
        row.is_some_and(|row| row.since_start_ns == Some(1_000_000)),
        "{row:?}: two tasks"
    );
    assert_eq!(one.story.functions[3].operates, 0, "undervoltage of 500 ms");
    // The first cycle settles.
    assert!(
        (20_000_000..24_000_000).contains(&tally.blocked_ns),
        "{}",
        tally.blocked_ns
    );
    let two = played(&config, &from);
    assert_eq!(one.story.rows, two.story.rows, "every time the same");
}

#[test]
fn what_a_record_does_not_have_blocks() {
    let config = relay(FEEDER);
    let currents = recorded(&fault(), &EIGHT[..3], 6000, "1\n4000,6000");
    let replayed = played(&config, &currents);
    assert!(
        replayed
            .inputs
            .iter()
            .any(|line| line.starts_with("bay1: Ua from nothing, quality invalid")),
        "{:?}",
        replayed.inputs
    );
    assert!(
        replayed
            .inputs
            .iter()
            .any(|line| line == "bay1: In from the sum of the phases")
    );
    assert!(operated(&replayed, Subject::Function(0)).is_some());
    let [distance, undervoltage] = [5, 3].map(|number: usize| replayed.story.functions[number]);
    for tally in [distance, undervoltage] {
        assert_eq!((tally.starts, tally.operates), (0, 0));
        assert_eq!(tally.blocked_ns, replayed.story.ns(5999) - replayed.story.ns(3));
    }
    let none = recorded(&fault(), &[("X", 0)], 6000, "1\n4000,6000");
    let error = record(&config, &none, &[], Side::Primary, None)
        .expect_err("no channel")
        .to_string();
    assert!(error.contains("no analog channel of the record"), "{error}");
}

#[test]
fn several_rates_become_one() {
    let config = relay(FEEDER);
    let from = recorded(&fault(), &EIGHT, 6000, "2\n4000,1000\n4000.4,6000");
    let replayed = played(&config, &from);
    assert_eq!(replayed.rate, 4000.4);
    assert!(
        replayed.notes.iter().any(|note| note.contains("2 stretches")),
        "{:?}",
        replayed.notes
    );
    assert!(operated(&replayed, Subject::Function(0)).is_some_and(|at| (2004..2090).contains(&at)));
}

/// A second at 50 samples a second between two fast parts: a straight line through the wave is no undervoltage, and the replay says so.
#[test]
fn a_slow_part_blocks() {
    let settings = "[relay]\nname = \"R\"\n[[stream]]\nname = \"b\"\nsv = { svID = \"MU01\" }\n[[function]]\nname = \"U<\"\n\
                    settings.ptuv = { pickup = 0.8, delay-ms = 10, dead-line = 0 }\n";
    let healthy = Wave::default();
    let from = recorded(&healthy, &EIGHT, 4050, "3\n4000,2000\n50,2050\n4000,4050");
    let replayed = played(&relay(settings), &from);
    let tally = replayed.story.functions[0];
    assert_eq!((tally.starts, tally.operates), (0, 0), "{:?}", replayed.story.rows);
    let second = 1_000_000_000;
    assert!((second..second + 60_000_000).contains(&tally.blocked_ns), "{tally:?}");
    assert!(
        replayed
            .notes
            .iter()
            .any(|note| note.contains("fewer than 8 samples a cycle")),
        "{:?}",
        replayed.notes
    );
}

#[test]
fn streams_get_their_own_channels() {
    let config = relay(include_str!("data/bay.toml"));
    let from = recorded(&fault(), &EIGHT, 6000, "1\n4000,6000");
    let given = |text: &str, stream: &str| Channels {
        stream: Some(stream.to_owned()),
        assignments: parse_assignments(text).expect("assignments"),
    };
    let far = "Ia=-IA,Ib=-IB,Ic=-IC,In=-IN";
    let differential = Subject::Function(15);
    let through = [given("Ia=IA", "near"), given(far, "far")];
    let through = record(&config, &from, &through, Side::Primary, None).expect("played");
    assert_eq!(operated(&through, differential), None, "what goes in comes out");
    let both = [given("Ia=IA", "near"), given("Ia=IA", "far")];
    let both = record(&config, &from, &both, Side::Primary, None).expect("played");
    assert!(operated(&both, differential).is_some(), "what goes in from both sides");
    let alone = played(&config, &from);
    assert_eq!(operated(&alone, differential), None, "a stream that does not come");
    assert_eq!(alone.streams[1].status.received, 0);
    assert!(operated(&alone, Subject::Function(0)).is_some());
    let refused = |channels: &[Channels]| {
        record(&config, &from, channels, Side::Primary, None)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(&[given("Ia=IA", "nera")]).contains("no stream \"nera\" in the relay (have: near, far)"));
    assert!(refused(&[given("Ia=IA", "far"), given("Ia=IB", "far")]).contains("given twice"));
}

/// Long tasks of fast records have more samples than are pushed at a time.
#[test]
fn a_fast_record_loses_nothing() {
    let mut config = relay(FEEDER);
    config.task_ns = 20_000_000;
    let from = repeated(&fault(), &EIGHT, 30_000, "1\n20000,30000", 5);
    let mut records = Vec::new();
    let mut keep = |disturbance: Disturbance| records.push(disturbance);
    let replayed = record(&config, &from, &[], Side::Primary, Some(&mut keep)).expect("played");
    let received = replayed.streams[0];
    assert_eq!(
        (
            received.status.received,
            received.status.lost,
            received.counters.overruns
        ),
        (30_000, 0, 0)
    );
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].missing, records[0].unrecorded), (0, 0));
    // Its trip operates, then its breaker failure twice: both within half a second.
    let trip = operated(&replayed, Subject::Trip(0)).expect("a trip");
    assert_eq!(records[0].start() - START, (trip as i64 - 4000) * 50_000);
}

const BEGIN_NS: i64 = 1_700_000_000_000_000_000;

/// The frame of sample `n` of a stream of the wave.
fn frame(sv_id: &str, wave: &Wave, n: u64, sign: f64) -> Vec<u8> {
    let values = wave.at(n);
    let member = |channel: usize| {
        let lsb = if channel < 4 { 1000.0 * sign } else { 100.0 };
        ((values[channel] * lsb).round() as i32, SvQuality::GOOD)
    };
    let members: Vec<_> = (0..8).map(member).collect();
    let message = Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, if sv_id == "MU01" { 1 } else { 2 }]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: vec![VlanTag::new(4, false, 100)],
        appid: 0x4000,
        simulate: false,
        asdus: vec![OwnedAsdu {
            smp_cnt: (n % 4000) as u16,
            ..OwnedAsdu::new(sv_id, 1, 2, &members)
        }],
    };
    message.encode().expect("a frame")
}

/// A capture of two streams, whose frames come 300 us and 500 us after their samples; only samples for which `comes` is true.
fn captured(wave: &Wave, samples: u64, comes: impl Fn(u64) -> bool) -> Vec<u8> {
    let mut frames = Vec::new();
    for n in 0..samples {
        let at_ns = BEGIN_NS + (n * 250_000) as i64;
        if comes(n) {
            frames.push((at_ns + 300_000, frame("MU01", wave, n + 1000, 1.0)));
        }
        frames.push((at_ns + 500_000, frame("MU02", wave, n + 1000, -1.0)));
    }
    frames.sort_by_key(|(at_ns, _)| *at_ns);
    let mut writer = PcapWriter::new(Vec::new()).expect("a file");
    for (at_ns, frame) in &frames {
        writer.write(*at_ns, frame).expect("a frame");
    }
    writer.finish().expect("a file")
}

/// The two ends, as in the capture.
fn ends() -> Config {
    relay(&include_str!("data/bay.toml").replace(
        "svID = \"MU02\"",
        "svID = \"MU02\", dst = \"01:0c:cd:04:00:02\", vlan = 100",
    ))
}

/// The record of a capture's relay has the instants of smpCnt, regardless of the delay of its frames.
#[test]
fn a_capture_is_recorded_at_the_instants_of_its_samples() {
    let wave = Wave {
        fault: 4000..4400,
        ..Wave::default()
    };
    let octets = captured(&wave, 8000, |n| n != 3010);
    let mut records = Vec::new();
    let mut keep = |disturbance: Disturbance| records.push(disturbance);
    let mut reader = Reader::new(&octets[..]).expect("a capture");
    let replayed = capture(&ends(), &mut reader, Some(&mut keep)).expect("played");
    let [disturbance] = &records[..] else {
        panic!("{} records", records.len())
    };
    assert_eq!(disturbance.missing, 1);
    // Count 1000, of 250 ms into a second, is sample 0.
    let trip = operated(&replayed, Subject::Trip(0)).expect("a trip");
    assert_eq!(disturbance.at().as_ns(), BEGIN_NS + 250_000_000 + trip as i64 * 250_000);
}

fn from_capture(config: &Config, octets: &[u8]) -> Replayed {
    capture(config, &mut Reader::new(octets).expect("a capture"), None).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_capture_of_two_streams_trips() {
    let config = ends();
    let wave = Wave {
        fault: 4000..4400,
        ..Wave::default()
    };
    let octets = captured(&wave, 8000, |_| true);
    let replayed = from_capture(&config, &octets);
    for received in &replayed.streams {
        assert_eq!(received.status.lost, 0);
        assert!(received.status.received >= 7999, "{}", received.status.received);
    }
    // The capture begins with count 1000: the fault comes 3000 samples later.
    let pioc = operated(&replayed, Subject::Function(0)).expect("PIOC");
    assert!((3004..3090).contains(&pioc), "{pioc}");
    assert_eq!(operated(&replayed, Subject::Function(15)), None, "through current");
    assert_eq!(replayed.story.rows, from_capture(&config, &octets).story.rows);
}

#[test]
fn silence_in_a_capture_blocks() {
    let config = ends();
    let octets = captured(&Wave::default(), 8000, |n| !(3000..5000).contains(&n));
    let replayed = from_capture(&config, &octets);
    assert_eq!(replayed.streams[0].status.lost, 2000);
    assert_eq!(replayed.streams[1].status.lost, 0);
    assert_eq!(replayed.story.trips[0].operates, 0);
    assert!(replayed.story.functions.iter().all(|tally| tally.operates == 0));
    let blocked_ns = replayed.story.streams[0].blocked_ns;
    assert!((500_000_000..530_000_000).contains(&blocked_ns), "{blocked_ns}");
}

#[test]
fn what_a_capture_does_not_have_is_said() {
    let octets = captured(&Wave::default(), 100, |_| true);
    let refused = |config: &Config| {
        capture(config, &mut Reader::new(&octets[..]).expect("a capture"), None).expect_err("refused")
    };
    let other = relay(&FEEDER.replace("appid = 0x4000", "appid = 0x4001"));
    let error = refused(&other).to_string();
    assert!(
        error.contains("svID MU01, APPID 0x4001, to 01:0c:cd:04:00:01"),
        "{error}"
    );
    assert!(error.contains("it has svID MU01, APPID 0x4000"), "{error}");
    let conf_rev = relay(&FEEDER.replace("appid = 0x4000", "confRev = 7"));
    let error = refused(&conf_rev).to_string();
    assert!(error.contains("100 samples have another confRev than 7"), "{error}");
    let members = relay(&FEEDER.replace("F4000S1I4U4", "F4000S1I3U3"));
    assert!(refused(&members).to_string().contains("do not have 6 members"));
    let one = relay(FEEDER);
    let replayed = from_capture(&one, &octets);
    assert!(
        replayed
            .notes
            .iter()
            .any(|note| note.contains("not for this relay: svID MU02")),
        "{:?}",
        replayed.notes
    );
}
