//! Faults recorded by other devices, through the whole engine.

mod common;

use common::relay;
use protection::{Complex, Phases};
use relay::config::Config;
use relay::events::{Change, Subject};
use relay::replay::{Channels, Replayed, record};
use relay::{Engine, Sample};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use waveform::comtrade::open;
use waveform::replay::{Options, Side, parse_assignments, values};
use waveform::sample::Dataset;
use wire::quality::SvQuality;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A relay that measures the same values as a GE C60 at 330 kV, with 16 samples a cycle.
fn c60() -> Config {
    relay("[relay]\nname = 'C60'\n[rated]\nvoltage-v = 330_000\n[[stream]]\nname = 'a'\nsv = { svID = 'a' }\n")
}

/// True if the relay's own phase voltages are steady, over two cycles before and one cycle after a sample.
fn is_steady(theirs: &[[Complex; 3]], n: usize, phase: usize) -> bool {
    let here = theirs[n][phase].norm();
    let near = |n: usize| (theirs[n][phase].norm() / here - 1.0).abs() < 0.01;
    here > 100_000.0 && n >= 36 && (n - 32..(n + 16).min(theirs.len())).all(near)
}

/// Our values next to those of a relay, wherever its voltages are steady: within 1 % and 0.3 degrees. The engine runs at each
/// sample.
fn assert_like_c60(rate: f64, samples: &[[f64; 8]], theirs: &[[Complex; 3]]) {
    let mut engine = Engine::at_rate(&c60(), rate).expect("a relay");
    let mut compared = 0;
    for (n, values) in samples.iter().enumerate() {
        let sample = Sample {
            smp_cnt: (n % 800) as u16,
            values: *values,
            quality: [SvQuality::GOOD; 8],
            smp_synch: 2,
            simulated: false,
            conflicting: false,
        };
        engine.push(0, &sample);
        engine.task(n as u64 + 1);
        let ours = engine.sets()[0].voltage;
        for phase in (0..3).filter(|phase| is_steady(theirs, n, *phase)) {
            compared += 1;
            let ratio = ours[phase].norm() / theirs[n][phase].norm();
            assert!((ratio - 1.0).abs() < 0.01, "sample {n}, phase {phase}: {ratio}");
            // The relay's angles are relative to phase A, and lose their reference when that phase opens.
            if n < 340 {
                let turned = ours[phase] / ours[0] / (theirs[n][phase] / theirs[n][0]);
                assert!(
                    turned.arg_degrees().abs() < 0.3,
                    "sample {n}, phase {phase}: {}",
                    turned.arg_degrees()
                );
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn phasors_are_those_of_a_relay() {
    let record: Value = serde_json::from_str(include_str!("../../protection/tests/data/c60.json")).expect("JSON");
    let volt = number(&record["volt"]) * number(&record["ratio"]);
    let rows = record["rows"].as_array().expect("rows").iter();
    let (samples, theirs): (Vec<_>, Vec<_>) = rows
        .map(|row| {
            let [a, b, c] = [0, 1, 2].map(|phase| volt * number(&row[phase]));
            let theirs = [0, 1, 2].map(|phase| {
                let kilovolt = number(&record["kilovolt"]) * number(&row[3 + 2 * phase]);
                Complex::degrees(
                    1000.0 * kilovolt,
                    number(&record["degree"]) * number(&row[4 + 2 * phase]),
                )
            });
            ([0.0, 0.0, 0.0, 0.0, a, b, c, a + b + c], theirs)
        })
        .unzip();
    assert_like_c60(number(&record["samples_per_second"]), &samples, &theirs);
}

/// The same from the recorder's own file, by its time stamps.
#[test]
fn the_record_of_a_relay_is_played_by_its_stamps() {
    let Some(corpus) = testing::corpus("the_record_of_a_relay_is_played_by_its_stamps") else {
        return;
    };
    let from = open(&corpus.join("comtrade/recorders/3.cfg")).expect("a record");
    let replayed = record(&c60(), &from, &[], Side::Primary, None).expect("played");
    assert!((replayed.rate - 800.2143).abs() < 0.001, "{}", replayed.rate);
    let columns = values(&from, None, &Dataset::default(), &Options::default()).expect("values");
    let samples: Vec<[f64; 8]> = (0..columns[0].len())
        .map(|n| std::array::from_fn(|at| columns[at][n]))
        .collect();
    let theirs: Vec<[Complex; 3]> = (0..samples.len())
        .map(|n| {
            [0, 1, 2]
                .map(|phase| Complex::degrees(1000.0 * from.analog(8 + 2 * phase)[n], from.analog(9 + 2 * phase)[n]))
        })
        .collect();
    assert_like_c60(replayed.rate, &samples, &theirs);
}

/// Phase B to earth, cleared by one pole 0.1 s later. The relay's own starts of earth fault and phase B are at sample 404, and
/// its pole trip is before 478.
#[test]
fn a_relay_and_ours_see_the_same_fault() {
    let Some(corpus) = testing::corpus("a_relay_and_ours_see_the_same_fault") else {
        return;
    };
    let config = relay(
        "[relay]\nname = 'LINE'\n[rated]\ncurrent-a = 1000\nvoltage-v = 330_000\n[[stream]]\nname = 'a'\nsv = { svID = 'a' }\n\
         [[function]]\nname = '51N'\nsettings.ptoc = { quantity = 'residual', pickup = 0.25, delay-ms = 60 }\n\
         [[function]]\nname = '50'\nsettings.pioc = { pickup = 0.5 }\n\
         [[function]]\nname = '59'\nsettings.ptov = { pickup = 1.2 }\n[[trip]]\nname = 'Q0'\nfunctions = ['51N', '50']\n",
    );
    let from = open(&corpus.join("comtrade/recorders/3.cfg")).expect("a record");
    let replayed = record(&config, &from, &[], Side::Primary, None).expect("played");
    let pioc = operates(&replayed, 1);
    assert!(
        pioc.iter()
            .all(|(at, phases)| (360..404).contains(at) && *phases == Phases::B),
        "{pioc:?}"
    );
    assert_eq!(pioc.len(), 1);
    let earth = operates(&replayed, 0);
    assert!(earth.len() == 1 && (404..478).contains(&earth[0].0), "{earth:?}");
    assert_eq!(replayed.story.functions[2].starts, 0);
}

/// Samples and phases of the operations of a function.
fn operates(replayed: &Replayed, function: usize) -> Vec<(u64, Phases)> {
    let rows = replayed
        .story
        .rows
        .iter()
        .filter(|row| row.event.subject == Subject::Function(function));
    rows.filter_map(|row| match row.event.change {
        Change::Operate(phases) => Some((row.event.at, phases)),
        _ => None,
    })
    .collect()
}

/// Samples and phases of the starts of a function, and samples of its resets.
fn starts(replayed: &Replayed, function: usize) -> (Vec<(u64, Phases)>, Vec<u64>) {
    let rows = replayed
        .story
        .rows
        .iter()
        .filter(|row| row.event.subject == Subject::Function(function));
    let (mut starts, mut resets) = (Vec::new(), Vec::new());
    for row in rows {
        match row.event.change {
            Change::Start(phases, _) => starts.push((row.event.at, phases)),
            Change::Reset => resets.push(row.event.at),
            _ => {}
        }
    }
    (starts, resets)
}

/// True if the packages with published records of other devices are in `directory` now.
fn fetched(test: &str, directory: &Path) -> bool {
    let Some(python) = testing::python(test) else {
        return false;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../waveform/tests/oracle.py");
    let output = Command::new(python)
        .arg(script)
        .arg(directory)
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let first = output.stdout.split(|octet| *octet == b'\n').next().unwrap_or_default();
    let answer: Value = serde_json::from_slice(first).expect("JSON");
    if let Some(reason) = answer["skip"].as_str() {
        testing::skip(test, reason);
    }
    answer["skip"].is_null()
}

/// A real fault in a 13.8 kV network at 60 Hz. The samples at which a full cycle crosses these limits were computed with numpy
/// from the record as read by the Python package `comtrade`; the relay runs at each sample and starts at the same samples, within
/// two.
#[test]
fn a_real_fault_starts_at_the_published_samples() {
    let directory = tempfile::tempdir().expect("a directory");
    if !fetched("a_real_fault_starts_at_the_published_samples", directory.path()) {
        return;
    }
    let config = relay(
        "[relay]\nname = 'G1'\nfrequency = 60\ntask = '100us'\n[rated]\ncurrent-a = 1000\nvoltage-v = 13_800\n\
         [[stream]]\nname = 'g1'\nsv = { svID = 'a' }\nmeasuring.dc-time-constant-ms = 0\n\
         [[function]]\nname = '50'\nsettings.pioc = { pickup = 0.8, confirmations = 1, reset-ratio = 0.99 }\n\
         [[function]]\nname = '50N'\nsettings.pioc = { quantity = 'residual', pickup = 0.05, confirmations = 1, reset-ratio = 0.99 }\n\
         [[function]]\nname = '27'\nsettings.ptuv = { quantity = 'phase-to-earth', pickup = 0.8158, delay-ms = 40 }\n\
         [[function]]\nname = '46'\nsettings.ptoc = { quantity = 'negative-sequence', pickup = 0.4, delay-ms = 20 }\n\
         [[trip]]\nname = 'Q0'\nfunctions = ['50']\n",
    );
    let from = open(&directory.path().join("pyComtrade-0.2.0/examples/test_data2/test2.cfg")).expect("a record");
    let channels = Channels {
        stream: None,
        assignments: parse_assignments("In=IN_TF8").expect("assignments"),
    };
    let replayed = record(&config, &from, &[channels], Side::Primary, None).expect("played");
    assert_eq!((replayed.rate, replayed.samples), (5760.0, 13_248));
    let near = |at: u64, published: u64| at.abs_diff(published) <= 2;
    let (phases, resets) = starts(&replayed, 0);
    assert!(
        near(phases[0].0, 1484) && phases[0].1 == Phases::A,
        "IA over 800 A: {phases:?}"
    );
    let b = phases.iter().find(|(_, phases)| phases.contains(Phases::B));
    assert!(b.is_some_and(|(at, _)| near(*at, 1500)), "IB over 800 A: {phases:?}");
    // It resets at 0.99 of the limit, a little later than it falls below it.
    assert!((1871..1885).contains(&resets[0]), "{resets:?}");
    assert_eq!(operates(&replayed, 0)[0].0, phases[0].0, "without confirmation at once");
    let (residual, resets) = starts(&replayed, 1);
    let (first, last) = (residual[0].0, resets[resets.len() - 1]);
    assert!(
        first.abs_diff(1498) <= 2 && (1824..1840).contains(&last),
        "IN over 50 A: {residual:?} {resets:?}"
    );
    let (voltage, _) = starts(&replayed, 2);
    assert!(
        near(voltage[0].0, 1521) && voltage[0].1 == Phases::A,
        "UA below 6.5 kV: {voltage:?}"
    );
    let negative = operates(&replayed, 3);
    assert!(
        negative.len() == 1 && (1480 + 115..1700).contains(&negative[0].0),
        "I2 of 797 A: {negative:?}"
    );
}
