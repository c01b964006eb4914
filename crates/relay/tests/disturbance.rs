//! Disturbance records: they contain the received samples and the relay's states, exactly.

mod common;

use common::{RATE, Wave, relay, sample};
use relay::config::Config;
use relay::disturbance::{Disturbance, Keeper, Row, RowTap, Stamp};
use relay::events::{Change, Subject};
use relay::{Engine, Sample};
use std::path::Path;
use std::process::Command;
use units::Realtime;
use waveform::comtrade::{ComtradeRecord, FileType, Values, parse};

const FEEDER: &str = include_str!("data/feeder.toml");

/// The top of a second.
const SECOND_NS: i64 = 1_790_000_000_000_000_000;

/// The relay without breaker failure; its records have these times before and after a trip.
fn feeder(pre: &str, post: &str) -> Config {
    let changes = [
        (
            "pre = \"200ms\"\npost = \"500ms\"",
            format!("pre = \"{pre}\"\npost = \"{post}\""),
        ),
        (
            "breaker-failure.settings = { retrip-ms = 120, backtrip-ms = 240 }\n",
            String::new(),
        ),
        ("    { name = \"backtrip:Q0\", type = \"boolean\" },\n", String::new()),
    ];
    let mut text = FEEDER.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, &to);
    }
    relay(&text)
}

/// An engine that is fed from sample 0 on, with a task each millisecond, and the records made from it.
struct Recorder {
    engine: Engine,
    tap: RowTap,
    keeper: Keeper,
    records: Vec<Disturbance>,
    /// Last sample of each trip, start of PIOC, and operation of PIOC.
    trips: Vec<u64>,
    starts: Vec<u64>,
    operates: Vec<u64>,
    pushed: u64,
}

impl Recorder {
    fn new(config: &Config) -> Self {
        Self {
            engine: Engine::new(config).expect("a relay"),
            tap: RowTap::new(config),
            keeper: Keeper::new(config, RATE as f64, Some(1_000)),
            records: Vec::new(),
            trips: Vec::new(),
            starts: Vec::new(),
            operates: Vec::new(),
            pushed: 0,
        }
    }

    /// Runs a task; its rows are lost unless they are `told`.
    fn task(&mut self, is_told: bool) {
        let from = self.engine.next();
        self.engine.align(self.pushed.saturating_sub(self.engine.wait()));
        self.engine.measure();
        for event in self.engine.decide().events {
            let list = match (event.subject, event.change) {
                (Subject::Trip(0), Change::Operate(_)) => &mut self.trips,
                (Subject::Function(0), Change::Start(..)) => &mut self.starts,
                (Subject::Function(0), Change::Operate(_)) => &mut self.operates,
                _ => continue,
            };
            list.push(event.at);
        }
        let numbers = from..self.engine.next();
        if numbers.is_empty() || !is_told {
            return;
        }
        let newest = self.pushed - 1;
        let stamp = Stamp {
            newest,
            // It came 400 us after its instant.
            came: Realtime::from_ns(SECOND_NS + newest as i64 * 250_000 + 400_000),
            top: self.engine.top(),
        };
        let most = self.tap.most(&numbers);
        let rows = self.tap.samples(&self.engine, numbers.clone());
        let rows: Vec<Row> = rows
            .chain(self.tap.decided(&self.engine, numbers, Some(stamp)))
            .collect();
        assert!(rows.len() <= most, "{} rows, {most} announced", rows.len());
        for row in rows {
            self.records.extend(self.keeper.take(row));
        }
    }

    /// Feeds samples up to `until`, changed or left out by `change`. The rows of tasks over `untold` are lost.
    fn feed(&mut self, wave: &Wave, until: u64, untold: &[u64], change: impl Fn(u64, Sample) -> Option<Sample>) {
        while self.pushed < until {
            if let Some(sample) = change(self.pushed, sample(wave, self.pushed)) {
                self.engine.push(0, &sample);
            }
            self.pushed += 1;
            if self.pushed.is_multiple_of(4) {
                self.task(!untold.contains(&self.pushed));
            }
        }
    }
}

fn all(_: u64, sample: Sample) -> Option<Sample> {
    Some(sample)
}

/// Faults of 100 ms that begin with these samples.
fn faults(config: &Config, begins: &[u64], until: u64) -> Recorder {
    let mut recorder = Recorder::new(config);
    for begin in begins {
        let wave = Wave {
            fault: *begin..begin + 400,
            ..Wave::default()
        };
        recorder.feed(&wave, begin + 600, &[], all);
    }
    recorder.feed(&Wave::default(), until, &[], all);
    recorder
}

fn files(record: &Disturbance) -> (Vec<u8>, Vec<u8>) {
    let (mut config, mut data) = (Vec::new(), Vec::new());
    let written = record.write(&mut config, &mut data).expect("written");
    assert_eq!(written.clipped, 0);
    (config, data)
}

fn read(record: &Disturbance) -> ComtradeRecord {
    let (config, data) = files(record);
    parse((&config, "cfg"), (&data, "dat")).unwrap_or_else(|error| panic!("{error}"))
}

/// States of the digital channel of this name.
fn states(record: &ComtradeRecord, name: &str) -> Vec<bool> {
    let channel = record.config.digital.iter().position(|channel| channel.name == name);
    let channel = channel.unwrap_or_else(|| panic!("no channel {name}"));
    let samples = 0..record.times_s().len();
    samples
        .map(|sample| record.digital(channel, sample).expect("a state"))
        .collect()
}

/// First sample of the relay at which the channel is on, for a record that begins with `first`.
fn comes(record: &ComtradeRecord, first: u64, name: &str) -> Option<u64> {
    let states = states(record, name);
    states.iter().position(|state| *state).map(|index| first + index as u64)
}

#[test]
fn a_record_is_what_came_and_what_was_decided() {
    let recorder = faults(&feeder("100ms", "200ms"), &[6000], 8000);
    let [disturbance] = &recorder.records[..] else {
        panic!("{} records", recorder.records.len())
    };
    let trip = recorder.trips[0];
    assert_eq!(disturbance.trigger, "trip:Q0");
    assert_eq!((disturbance.missing, disturbance.unrecorded), (0, 0));
    assert_eq!(disturbance.samples(), 400 + 1 + 800);
    let first = trip - 400;
    // Count 0 is number 0: smpCnt gives the instant of each sample, however late it came.
    assert_eq!(disturbance.start().as_ns(), SECOND_NS + first as i64 * 250_000);
    assert_eq!(disturbance.at().as_ns(), SECOND_NS + trip as i64 * 250_000);

    let record = read(disturbance);
    assert_eq!(record.config.start, Some(disturbance.start()));
    assert_eq!(record.config.trigger_ns, Some(100_000_000));
    assert_eq!(
        (record.config.revision, record.config.file_type),
        (2013, FileType::Binary32)
    );
    let described = record.config.analog.iter().map(|channel| {
        assert_eq!(channel.values, Values::Primary);
        format!("{} {} {}", channel.name, channel.phase, channel.unit)
    });
    assert_eq!(
        described.collect::<Vec<_>>(),
        [
            "bay1 Ia A A",
            "bay1 Ib B A",
            "bay1 Ic C A",
            "bay1 In N A",
            "bay1 Ua A V",
            "bay1 Ub B V",
            "bay1 Uc C V",
            "bay1 Un N V"
        ]
    );
    let wave = Wave {
        fault: 6000..6400,
        ..Wave::default()
    };
    for index in 0..record.times_s().len() {
        for (channel, value) in wave.at(first + index as u64).into_iter().enumerate() {
            let half_a_step = if channel < 4 { 0.000_5 } else { 0.005 };
            let recorded = record.analog(channel)[index];
            assert!(
                (recorded - value).abs() <= half_a_step * 1.001,
                "{channel}, {index}: {recorded}, not {value}"
            );
        }
    }
    for (name, at) in [
        ("start:I>>", recorder.starts[0]),
        ("operate:I>>", recorder.operates[0]),
        ("trip:Q0", trip),
    ] {
        assert_eq!(comes(&record, first, name), Some(at), "{name}");
    }
    for name in [
        "operate:U<",
        "missing:bay1",
        "bad:bay1",
        "alarm:bay1",
        "unsynchronised:bay1",
        "unrecorded",
    ] {
        assert_eq!(comes(&record, first, name), None, "{name}");
    }
}

#[test]
fn what_did_not_come_is_missing_and_what_is_bad_says_so() {
    let mut recorder = Recorder::new(&feeder("200ms", "500ms"));
    let wave = Wave {
        fault: 6000..6400,
        ..Wave::default()
    };
    recorder.feed(&wave, 9000, &[], |number, mut sample| {
        if number == 5900 {
            sample.quality[1] = wire::quality::SvQuality::INVALID;
        }
        (!(6200..6203).contains(&number)).then_some(sample)
    });
    let first = recorder.trips[0] - 800;
    let record = read(&recorder.records[0]);
    assert_eq!(recorder.records[0].missing, 3);
    let missing: Vec<u64> = (0..)
        .zip(states(&record, "missing:bay1"))
        .filter_map(|(index, is)| is.then_some(first + index))
        .collect();
    assert_eq!(missing, [6200, 6201, 6202]);
    for (index, value) in (first..).zip(record.analog(0)) {
        assert_eq!(value.is_nan(), missing.contains(&index), "{index}");
    }
    assert_eq!(comes(&record, first, "bad:bay1"), Some(5900));
    assert_eq!(states(&record, "bad:bay1").iter().filter(|state| **state).count(), 1);
    assert!(
        !record.analog(1)[(5900 - first) as usize].is_nan(),
        "the value is there as it came"
    );
}

#[test]
fn a_trip_during_a_record_extends_it_and_a_later_one_has_its_own() {
    let config = feeder("50ms", "300ms");
    // The second trip comes 250 ms after the first, the third 2 s later.
    let recorder = faults(&config, &[6000, 7000, 15_000], 20_000);
    assert_eq!(recorder.trips.len(), 3);
    let samples: Vec<u64> = recorder.records.iter().map(Disturbance::samples).collect();
    assert_eq!(
        samples,
        [200 + 1 + 1200 + recorder.trips[1] - recorder.trips[0], 200 + 1 + 1200]
    );
}

/// The load continues after the fault, as if the breaker had not opened.
#[test]
fn breaker_failure_extends_a_record() {
    let recorder = faults(&relay(FEEDER), &[6000], 10_000);
    let [disturbance] = &recorder.records[..] else {
        panic!("{} records", recorder.records.len())
    };
    let record = read(disturbance);
    let first = recorder.trips[0] - 800;
    let after = |name: &str| comes(&record, first, name).expect(name) - recorder.trips[0];
    assert!((480..490).contains(&after("retrip:Q0")), "120 ms");
    assert!((960..970).contains(&after("backtrip:Q0")), "240 ms");
    assert_eq!(disturbance.samples(), 800 + 1 + after("backtrip:Q0") + 2000);
}

#[test]
fn however_many_trips_follow_a_record_ends() {
    let config = feeder("50ms", "300ms");
    let begins: Vec<u64> = (0..30).map(|fault| 6000 + 1000 * fault).collect();
    let recorder = faults(&config, &begins, 40_000);
    assert_eq!(recorder.trips.len(), 30);
    let longest = 20_000;
    assert_eq!(recorder.records[0].samples(), 200 + longest, "5 s after its first trip");
    let second = recorder
        .trips
        .iter()
        .find(|trip| **trip >= recorder.trips[0] + longest)
        .expect("a later trip");
    assert_eq!(
        recorder.records[1].at().as_ns(),
        SECOND_NS + *second as i64 * 250_000,
        "the next one has the next record"
    );
    assert_eq!(recorder.records.len(), 2);
}

#[test]
fn a_stop_ends_a_record_and_a_beginning_shortens_it() {
    let config = feeder("2s", "500ms");
    let mut recorder = faults(&config, &[3000], 3700);
    assert!(recorder.records.is_empty());
    let record = recorder.keeper.finish().expect("what there is");
    assert_eq!(
        record.samples(),
        recorder.engine.next(),
        "from the first sample to the last"
    );
    assert!(recorder.keeper.finish().is_none(), "once");
    let quiet = &mut faults(&config, &[], 3700);
    assert!(quiet.keeper.finish().is_none(), "no trip, no record");
}

/// Tasks whose rows were lost leave a gap that is marked as not recorded, and not as missing samples.
#[test]
fn what_was_not_told_is_unrecorded() {
    let wave = Wave {
        fault: 6000..6400,
        ..Wave::default()
    };
    let mut recorder = Recorder::new(&feeder("200ms", "500ms"));
    recorder.feed(&wave, 9000, &[5800, 6500, 6504], all);
    let [record] = &recorder.records[..] else {
        panic!("one record")
    };
    assert_eq!((record.unrecorded, record.missing), (12, 0));
    let first = recorder.trips[0] - 800;
    let read = read(record);
    let wait = recorder.engine.wait();
    assert_eq!(comes(&read, first, "unrecorded"), Some(5796 - wait));
    for (index, is_unrecorded) in states(&read, "unrecorded").into_iter().enumerate() {
        assert_eq!(read.analog(0)[index].is_nan(), is_unrecorded);
    }
    // A gap longer than a record ends the unfinished record; the next trip has a record of the samples after the gap.
    let mut recorder = Recorder::new(&feeder("100ms", "500ms"));
    let later = Wave {
        fault: 40_000..40_400,
        ..Wave::default()
    };
    recorder.feed(&wave, 6500, &[], all);
    let untold: Vec<u64> = (6501..39_800).collect();
    recorder.feed(&later, 43_000, &untold, all);
    let samples: Vec<u64> = recorder.records.iter().map(Disturbance::samples).collect();
    assert_eq!(samples.len(), 2);
    assert!(samples[0] < 900 && samples[1] > 2000, "{samples:?}");
    assert_eq!(recorder.records[1].unrecorded, 0);
}

/// Many functions: their states take several rows.
#[test]
fn every_state_has_its_channel() {
    let found = relay(&relay::library::file("bays40").expect("a relay"));
    let mut engine = Engine::new(&found).expect("a relay");
    let tap = RowTap::new(&found);
    let mut keeper = Keeper::new(&found, 4800.0, None);
    let mut records = Vec::new();
    for number in 0..12_000_u64 {
        for stream in 0..40 {
            let is_fault = stream == 39 && number > 9000;
            let mut values = Wave::default().at(number);
            values[0] *= if is_fault { 40.0 } else { 1.0 };
            engine.push(
                stream,
                &Sample {
                    smp_cnt: (number % 4800) as u16,
                    values,
                    ..sample(&Wave::default(), 0)
                },
            );
        }
        if number % 5 == 4 {
            let from = engine.next();
            engine.align(number + 1);
            records.extend(
                tap.samples(&engine, from..number + 1)
                    .filter_map(|row| keeper.take(row)),
            );
            engine.measure();
            engine.decide();
            records.extend(
                tap.decided(&engine, from..number + 1, None)
                    .filter_map(|row| keeper.take(row)),
            );
        }
    }
    records.extend(keeper.finish());
    let record = read(&records[0]);
    assert_eq!(record.config.analog.len(), 320);
    let names: Vec<&str> = record
        .config
        .digital
        .iter()
        .map(|channel| channel.name.as_str())
        .collect();
    assert!(names.len() > 640, "{} channels", names.len());
    let on: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| name.starts_with("operate:") && states(&record, name).contains(&true))
        .collect();
    assert!(!on.is_empty() && on.iter().all(|name| name.ends_with("40")), "{on:?}");
}

/// The Python package `comtrade` can open the record.
#[test]
fn python_reads_a_disturbance_record() {
    let Some(python) = testing::python("python_reads_a_disturbance_record") else {
        return;
    };
    let recorder = faults(&feeder("200ms", "500ms"), &[6000], 9000);
    let (config, data) = files(&recorder.records[0]);
    let directory = tempfile::tempdir().expect("a directory");
    let paths = ["x.cfg", "x.dat"].map(|name| directory.path().join(name));
    std::fs::write(&paths[0], config).expect("written");
    std::fs::write(&paths[1], data).expect("written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../waveform/tests/read_back.py");
    let output = Command::new(python)
        .arg(script)
        .args(&paths)
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let record = read(&recorder.records[0]);
    assert_eq!(
        (answer["station"].as_str(), answer["samples"].as_u64()),
        (Some("FEEDER1"), Some(2801))
    );
    for channel in 0..8 {
        let theirs = answer["analog"][channel].as_array().expect("values");
        for (theirs, ours) in theirs.iter().zip(record.analog(channel)) {
            assert!((theirs.as_f64().expect("a number") - ours).abs() < 1e-9);
        }
    }
    let digital = answer["digital"].as_array().expect("channels");
    assert_eq!(digital.len(), record.config.digital.len());
    for (channel, theirs) in record.config.digital.iter().zip(digital) {
        let ours: Vec<u64> = states(&record, &channel.name).into_iter().map(u64::from).collect();
        assert_eq!(*theirs, serde_json::json!(ours), "{}", channel.name);
    }
}
