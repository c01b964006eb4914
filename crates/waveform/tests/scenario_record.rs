//! COMTRADE records as scenarios.

use std::path::Path;
use waveform::WaveformError;
use waveform::sample::{SampleTable, Sampling};
use waveform::scenario::{Scenario, Shot, find};

/// 250 ms of phase a to earth on a 110 kV line, at 4000 samples a second: the fault lasts from 100.6 ms to 200.6 ms.
const FAULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/scenario/fault.cfg");

/// A scenario with these keys after those of the record's file.
fn scenario(file: &Path, keys: &str, sampling: &Sampling) -> Result<Scenario, WaveformError> {
    let text = format!(
        "what = \"x\"\n[expect]\ntrip = true\n[record]\nfile = {:?}\n{keys}\n",
        file.display().to_string()
    );
    Scenario::parse(&text, "x", "x.toml", sampling)
}

fn fault(keys: &str, sampling: &Sampling) -> Scenario {
    scenario(Path::new(FAULT), keys, sampling).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(keys: &str) -> String {
    let refused = scenario(Path::new(FAULT), keys, &Sampling::new(4_800));
    refused.expect_err(keys).to_string()
}

/// Member number `member` of a sample, in mA or 10 mV.
fn value(table: &SampleTable, sample: u64, member: usize) -> f64 {
    let octets = table.seq_data(sample)[8 * member..].first_chunk().expect("a member");
    f64::from(i32::from_be_bytes(*octets))
}

fn largest(table: &SampleTable, samples: std::ops::Range<u64>, member: usize) -> f64 {
    samples
        .map(|sample| value(table, sample, member).abs())
        .fold(0.0, f64::max)
}

/// The largest second difference over `samples`: what a jump of value or phase would stand out in.
fn bend(table: &SampleTable, samples: std::ops::Range<u64>, member: usize) -> f64 {
    let bend = |n: u64| value(table, n - 1, member) - 2.0 * value(table, n, member) + value(table, n + 1, member);
    samples.map(|sample| bend(sample).abs()).fold(0.0, f64::max)
}

#[test]
fn the_steady_state_is_the_pre_fault_cycle_and_joins_the_record_without_a_jump() {
    let sampling = Sampling::new(4_800);
    let scenario = find(&FAULT.replace(".cfg", ".toml"), &sampling).expect("its file is beside it");
    for (lead, shift) in [(2_400, 0.0), (3_001, 77.7), (500, 300.0)] {
        let Shot { table, fault, end, .. } = scenario.shot(&sampling, lead, shift, lead).expect("a shot");
        assert!(fault >= lead && fault < lead + 200, "{fault} behind {lead}");
        // 149.4 ms after the inception.
        assert!((715..=718).contains(&(end - fault)), "{fault} {end}");
        for (member, peak, noise) in [(0, 565_700.0, 6_000.0), (4, 8_900_000.0, 30_000.0)] {
            let steady = largest(&table, 0..fault - 480, member);
            assert!((steady / peak - 1.0).abs() < 0.03, "{member}: {steady}");
            // The most that a sine of 50 Hz bends from sample to sample, and the recorder's noise.
            let most = peak * (std::f64::consts::TAU / 96.0).powi(2) + 6.0 * noise;
            let found = bend(&table, 1..fault - 20, member);
            assert!(found < most, "{member}: {found} over {most}");
            let found = bend(&table, end - 100..end + 200, member);
            assert!(found < 1.5 * most, "{member} behind: {found} over {most}");
        }
        let during = largest(&table, fault..fault + 200, 0);
        assert!((7.0e6..14.0e6).contains(&during), "{during}");
        let after = largest(&table, end..end + 10_000, 0);
        assert!(
            (after / 565_700.0 - 1.0).abs() < 0.03,
            "the load is back for ever: {after}"
        );
    }
}

#[test]
fn the_phase_goes_on_and_the_fault_begins_at_the_records_own_point_on_wave() {
    let sampling = Sampling::new(4_800);
    let scenario = fault("", &sampling);
    let phase = |shot: &Shot, sample: u64| shot.wave.phase_deg_at(sample as f64 / 4_800.0).expect("a phase");
    let mut begins = std::collections::BTreeSet::new();
    for number in 0..40 {
        let shift = 9.0 * number as f64;
        let shot = scenario
            .shot(&sampling, 2_400 + 13 * number, shift, number)
            .expect("a shot");
        let point = (shift + phase(&shot, shot.fault)).rem_euclid(360.0);
        let first = scenario.shot(&sampling, 2_400, 0.0, 0).expect("a shot");
        let same = phase(&first, first.fault).rem_euclid(360.0);
        let off = (point - same + 180.0).rem_euclid(360.0) - 180.0;
        assert!(off.abs() < 1e-6, "{point} is not {same}");
        // A voltage of phase a with its crest where the phase is 0.
        let crest = |sample: u64| {
            let degrees = shift + phase(&shot, sample);
            2f64.sqrt() * 62_600.0 * 100.0 * degrees.to_radians().cos()
        };
        for sample in (0..shot.fault - 1).step_by(37) {
            let [is, wanted] = [value(&shot.table, sample, 4), crest(sample)];
            assert!((is - wanted).abs() < 300_000.0, "{sample}: {is} is not {wanted}");
        }
        let lead = shot.fault as f64 / 4_800.0;
        let nominal = 360.0 * (50.0 * lead).rem_euclid(1.0);
        let turned = (phase(&shot, shot.fault) - nominal + 180.0).rem_euclid(360.0) - 180.0;
        assert!(
            turned.abs() <= 360.0 * 0.05 * lead + 1.9,
            "{turned} degrees in {lead} s"
        );
        begins.insert(((turned / 3.75).round() as i64, (shift as i64) % 4));
    }
    assert!(
        begins.len() > 3,
        "not always at the same phase of the second: {begins:?}"
    );
}

#[test]
fn the_inception_is_found_given_or_the_trigger() {
    let sampling = Sampling::new(4_800);
    let said = |keys: &str| fault(keys, &sampling).notes.join("\n");
    let found = said("");
    assert!(
        found.contains("fault inception 100.") && found.contains("begins to differ from the cycle before"),
        "{found}"
    );
    assert!(found.contains("Ia from IA [A] times 1"), "{found}");
    assert!(said("inception = \"trigger\"").contains("inception 130"), "the trip");
    let given = said("inception = \"100ms\"\nprefault = \"40ms\"\nuntil = \"80ms\"");
    assert!(
        given.contains("inception 100.0 ms after")
            && given.contains("plays 40.0 ms")
            && given.contains("and 80.0 ms from"),
        "{given}"
    );
    // The true inception is 100.6 ms: not earlier than a sample of the recorder before, nor more than two behind.
    let shot = fault("", &sampling);
    let text = shot.notes[0].split("inception ").nth(1).expect("an instant");
    let ms: f64 = text.split(' ').next().expect("a number").parse().expect("a number");
    assert!((100.3..101.2).contains(&ms), "{ms}");
}

#[test]
fn what_cannot_be_played_is_refused() {
    for (keys, why) in [
        ("inception = \"10ms\"", "a cycle (20.0 ms) and a sample are needed"),
        ("prefault = \"10ms\"", "a cycle (20.0 ms) and a sample are needed"),
        ("prefault = \"200ms\"", "has only 100."),
        ("inception = \"9s\"", "less than a cycle is played"),
        ("until = \"10ms\"", "less than a cycle is played"),
        (
            "inception = \"150ms\"\nprefault = \"45ms\"",
            "is not steady, so it cannot be repeated",
        ),
        (
            "frequency_hz = 60\ninception = \"100ms\"",
            "is not steady, so it cannot be repeated",
        ),
        ("frequency_hz = 1", "record.frequency_hz"),
        ("channels = \"Ia=IX\"", "IX"),
        ("inception = \"soon\"", "write \"found\" or \"trigger\""),
    ] {
        let text = refusal(keys);
        assert!(text.contains(why), "{keys}: {text}");
    }
    let missing = scenario(Path::new("nowhere.cfg"), "", &Sampling::new(4_800)).expect_err("no file");
    assert!(missing.to_string().contains("nowhere.cfg"), "{missing}");
    let text = "what = \"x\"\nfault = \"x\"\n[expect]\ntrip = true\n[record]\nfile = \"fault.cfg\"\n";
    let both = Scenario::parse(text, "x", "x.toml", &Sampling::new(4_800)).expect_err("a state");
    assert!(both.to_string().contains("record.inception"), "{both}");
}

#[test]
fn other_rates_and_cycles_that_are_no_whole_number_of_samples_close() {
    for rate in [4_000, 14_400, 4_830] {
        let sampling = Sampling::new(rate);
        let scenario = fault("", &sampling);
        let shot = scenario.shot(&sampling, u64::from(rate) / 2, 10.0, 3).expect("a shot");
        let end = shot.end + shot.table.looped();
        let peak = 565_700.0;
        let most = peak * (50.0 * std::f64::consts::TAU / f64::from(rate)).powi(2) + 40_000.0;
        let found = bend(&shot.table, shot.end + 1..end + 2_000, 0);
        assert!(found < most, "{rate}: {found} over {most}");
    }
}

#[test]
fn a_disturbance_of_the_samples_takes_the_load_and_a_breaker_its_voltages() {
    let sampling = Sampling::new(4_800);
    let wave = fault("", &sampling).wave;
    let scenario = Scenario {
        wave: wave.clone().at_load(),
        ..fault("", &sampling)
    };
    let shot = scenario.shot(&sampling, 2_400, 0.0, 1).expect("a shot");
    assert!(largest(&shot.table, 0..shot.end + 500, 0) < 600_000.0, "no fault");
    assert!(shot.end - shot.fault > 700, "for as long");
    let opened = wave.opened().shifted(30.0).table(&sampling).expect("a table");
    assert_eq!(largest(&opened, 0..960, 0), 0.0);
    assert!(largest(&opened, 0..960, 4) > 8_000_000.0);
}
