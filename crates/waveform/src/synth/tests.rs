//! Signals against formulas.

use super::{Decay, Harmonic, Noise, Of, Operating, Ramp, State, Synth, parse};
use crate::sample::{SampleTable, Sampling};
use std::f64::consts::{SQRT_2, TAU};
use wire::quality::SvQuality;

fn members(table: &SampleTable, sample: u64) -> Vec<i32> {
    let word = |octets: &[u8]| i32::from_be_bytes(octets.try_into().expect("four octets"));
    table
        .seq_data(sample)
        .chunks_exact(8)
        .map(|member| word(&member[..4]))
        .collect()
}

fn quality(table: &SampleTable, sample: u64, member: usize) -> u32 {
    let octets = &table.seq_data(sample)[8 * member + 4..8 * member + 8];
    u32::from_be_bytes(octets.try_into().expect("four octets"))
}

fn table(synth: &Synth, rate: u32) -> SampleTable {
    synth
        .table(&Sampling::new(rate))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Complex RMS of one harmonic of a member over `cycles` cycles of `per_cycle` samples.
fn phasor(table: &SampleTable, member: usize, from: u64, per_cycle: u64, cycles: u64, order: u64) -> (f64, f64) {
    let n = per_cycle * cycles;
    let (mut re, mut im) = (0.0, 0.0);
    for sample in 0..n {
        let value = f64::from(members(table, from + sample)[member]);
        let angle = TAU * ((order * sample) % per_cycle) as f64 / per_cycle as f64;
        re += value * angle.cos();
        im -= value * angle.sin();
    }
    let scale = SQRT_2 / n as f64;
    (
        (re * scale).hypot(im * scale),
        (im * scale).atan2(re * scale).to_degrees(),
    )
}

#[test]
fn the_steady_state_is_that_of_worked_frames() {
    // Frames that tshark decoded to these values: 400 A lagging 30 degrees, 20 kV between phases.
    let steady = table(&Synth::default(), 4_800);
    assert_eq!((steady.once(), steady.looped()), (0, 96));
    assert_eq!(
        members(&steady, 0),
        [489_898, -489_898, 0, 0, 1_632_993, -816_497, -816_497, -1]
    );
    assert_eq!(
        members(&steady, 4_798),
        [448_788, -522_625, 73_837, 0, 1_619_023, -994_103, -624_919, 1]
    );
    assert_eq!(
        members(&steady, 4_799),
        [470_350, -507_348, 36_998, 0, 1_629_497, -907_242, -722_254, 1]
    );
    assert_eq!(steady.frequency_hz(), Some(50.0));
}

#[test]
fn loops_of_any_frequency_go_on_without_a_jump() {
    for (hz, rate) in [(60.0, 4_000), (50.1, 4_800), (49.987, 14_400), (16.7, 4_800)] {
        let nominal = Operating {
            frequency_hz: hz,
            ..Operating::default()
        };
        let steady = table(
            &Synth {
                nominal,
                ..Synth::default()
            },
            rate,
        );
        let actual = steady.frequency_hz().expect("one frequency");
        assert!((actual - hz).abs() / hz < 2e-5, "{actual} for {hz}");
        for sample in (0..3).chain(steady.looped() - 2..steady.looped() + 3) {
            let expected = Operating::default().voltages_v[0]
                * SQRT_2
                * 100.0
                * (TAU * actual * sample as f64 / f64::from(rate)).cos();
            let found = f64::from(members(&steady, sample)[4]);
            assert!(
                (found - expected).abs() < 0.6,
                "{hz} Hz, sample {sample}: {found}, not {expected}"
            );
        }
    }
}

#[test]
fn unbalance_harmonics_and_angles() {
    let synth = Synth {
        nominal: Operating {
            currents_a: [100.0, 200.0, 300.0],
            current_angles_deg: [10.0, -100.0, 130.0],
            ..Operating::default()
        },
        harmonics: vec![
            Harmonic {
                order: 5,
                percent: 20.0,
                angle_deg: 40.0,
                of: Of::Currents,
            },
            Harmonic {
                order: 3,
                percent: 10.0,
                angle_deg: 0.0,
                of: Of::All,
            },
        ],
        ..Synth::default()
    };
    let table = table(&synth, 4_800);
    for (member, rms, angle) in [(0, 100e3, 10.0), (1, 200e3, -100.0), (2, 300e3, 130.0)] {
        let (found, at) = phasor(&table, member, 0, 96, 1, 1);
        assert!(
            (found - rms).abs() < 2.0 && (at - angle).abs() < 0.01,
            "{member}: {found} at {at}"
        );
        let (found, at) = phasor(&table, member, 0, 96, 1, 5);
        let expected: f64 = 5.0 * angle + 40.0;
        assert!((found - 0.2 * rms).abs() < 2.0, "{member}: {found}");
        assert!(
            ((at - expected) / 360.0)
                .fract()
                .abs()
                .min(1.0 - ((at - expected) / 360.0).fract().abs())
                < 1e-4
        );
    }
    let (fifth, _) = phasor(&table, 4, 0, 96, 1, 5);
    let (third, _) = phasor(&table, 4, 0, 96, 1, 3);
    assert!(fifth < 2.0 && (third - 115_470.0).abs() < 5.0, "{fifth} {third}");
    let sum = |sample| members(&table, sample);
    assert!((0..96).all(|sample| sum(sample)[3] == sum(sample)[..3].iter().sum::<i32>()));
}

/// Two states of 100 ms, then a fault for ever with its d.c. component.
fn fault(percent: f64) -> Synth {
    let faulted = Operating {
        currents_a: [4_000.0, 400.0, 400.0],
        current_angles_deg: [-80.0, -150.0, 90.0],
        ..Operating::default()
    };
    let pre = State {
        duration_ns: Some(100_000_000),
        ..State::steady("pre-fault", Operating::default())
    };
    let fault = State {
        decay: Some(Decay {
            percent,
            time_constant_ns: 40_000_000,
        }),
        ..State::steady("fault", faulted)
    };
    Synth {
        states: vec![pre, fault],
        ..Synth::default()
    }
}

#[test]
fn a_fault_begins_where_the_current_was() {
    let with = table(&fault(100.0), 4_800);
    let without = table(&fault(0.0), 4_800);
    let i = |table: &SampleTable, sample| f64::from(members(table, sample)[0]) / 1_000.0;
    // 480 samples are 100 ms, five cycles.
    let before = 400.0 * SQRT_2 * (TAU * 50.0 * 0.1 - TAU / 12.0).cos();
    assert!((i(&with, 480) - before).abs() < 0.01, "{}", i(&with, 480));
    let alone = 4_000.0 * SQRT_2 * (-80f64).to_radians().cos();
    assert!((i(&without, 480) - alone).abs() < 0.01, "{}", i(&without, 480));
    for (cycle, seconds) in [(1, 0.02), (4, 0.08)] {
        let offset = i(&with, 480 + 96 * cycle) - i(&without, 480 + 96 * cycle);
        let expected = (before - alone) * (-seconds / 0.04f64).exp();
        assert!((offset - expected).abs() < 0.01, "{offset}, not {expected}");
    }
    let far = with.once() + 1;
    assert!(
        (i(&with, far) - i(&without, far)).abs() <= 0.001 + 1e-9,
        "it decays to nothing"
    );
    assert_eq!(with.looped(), 96);
    let names: Vec<(&str, u64)> = with
        .marks()
        .iter()
        .map(|mark| (mark.name.as_str(), mark.sample))
        .collect();
    assert_eq!(names, [("pre-fault", 0), ("fault", 480)]);
}

#[test]
fn phases_go_on_over_ramps_and_states() {
    let ramped = State {
        duration_ns: Some(1_000_000_000),
        ramp: Some(Ramp {
            hz_per_s: 2.0,
            to_hz: 49.0,
        }),
        ..State::steady("ramp", Operating::default())
    };
    let synth = Synth {
        states: vec![ramped, State::steady("after", Operating::default())],
        ..Synth::default()
    };
    let table = table(&synth, 4_800);
    // 0.5 s from 50 to 49 Hz have 24.75 cycles, 0.5 s at 49 Hz have 24.5, then 50 Hz.
    for (seconds, cycles) in [
        (0.25, 12.4375),
        (0.5, 24.75),
        (0.75, 37.0),
        (1.0, 49.25),
        (1.1, 54.25),
        (7.3, 364.25),
    ] {
        let sample = (seconds * 4_800.0_f64).round() as u64;
        let expected = Operating::default().voltages_v[0] * SQRT_2 * 100.0 * (TAU * cycles).cos();
        let found = f64::from(members(&table, sample)[4]);
        assert!((found - expected).abs() < 1.0, "{seconds} s: {found}, not {expected}");
    }
}

#[test]
fn faults_on_schedule_with_the_nominal_state_between() {
    let text = r#"
        currents_a = 100
        repeat_every = "10s"
        [[state]]
        name = "one"
        at = "2s"
        duration = "100ms"
        currents_a = [1000, 100, 100]
        quality = "test"
        [[state]]
        name = "two"
        at = "5s"
        duration = "200ms"
        voltages_v = 0
    "#;
    let synth = parse(text, "x.toml").expect("a file");
    let table = table(&synth, 4_000);
    let marks: Vec<(&str, u64)> = table
        .marks()
        .iter()
        .map(|mark| (mark.name.as_str(), mark.sample))
        .collect();
    assert_eq!(
        marks,
        [
            ("nominal", 0),
            ("one", 8_000),
            ("nominal", 8_400),
            ("two", 20_000),
            ("nominal", 20_800)
        ]
    );
    assert_eq!((table.once(), table.looped()), (0, 40_000));
    for (sample, factor) in [(0, 1), (7_920, 1), (8_000, 10), (8_400, 1), (48_000, 10)] {
        let expected = members(&table, 0)[0] * factor;
        assert!((members(&table, sample)[0] - expected).abs() <= 5, "sample {sample}");
    }
    assert_eq!(
        (quality(&table, 8_399, 7), quality(&table, 8_400, 7)),
        (SvQuality::TEST, 0)
    );
    assert_eq!(members(&table, 20_400)[4..], [0; 4]);
    assert!(members(&table, 20_400)[0] != 0);
}

#[test]
fn a_repetition_closes_or_is_refused() {
    let repeated = |ns| Synth {
        repeat_every_ns: Some(ns),
        states: vec![State {
            ramp: Some(Ramp {
                hz_per_s: 1.0,
                to_hz: 49.0,
            }),
            ..State::steady("ramp", Operating::default())
        }],
        ..Synth::default()
    };
    // 1 s of ramp has 49.5 cycles; the rest has 49 a second.
    let refused = repeated(2_000_000_000)
        .table(&Sampling::new(4_800))
        .expect_err("half a cycle off")
        .to_string();
    assert!(refused.contains("180") && refused.contains("ns\""), "{refused}");
    let better: u64 = refused
        .split('"')
        .nth(1)
        .and_then(|text| text.strip_suffix("ns"))
        .expect("a proposal")
        .parse()
        .expect("ns");
    let table = table(&repeated(better), 4_800);
    let phase = |sample: u64| f64::from(members(&table, sample)[4]) / 1_632_993.0;
    let before_end = phase(table.looped() - 1);
    let expected = (-TAU * 49.0 / 4_800.0).cos();
    assert!((before_end - expected).abs() < 0.001, "{before_end}, not {expected}");
    assert!((phase(table.looped()) - 1.0).abs() < 1e-6);
}

#[test]
fn noise_is_of_the_rms_that_was_asked_for_and_of_the_seed() {
    let noisy = |seed| {
        let nominal = Operating {
            currents_a: [0.0; 3],
            ..Operating::default()
        };
        let noise = Noise {
            current_a: 2.0,
            voltage_v: 0.0,
            seed,
        };
        table(
            &Synth {
                nominal,
                noise,
                ..Synth::default()
            },
            4_800,
        )
    };
    let table = noisy(7);
    assert_eq!(table.looped(), 4_800, "a second of it");
    let square: f64 = (0..4_800)
        .map(|sample| f64::from(members(&table, sample)[1]).powi(2))
        .sum();
    let rms = (square / 4_800.0).sqrt();
    assert!((rms - 2_000.0).abs() < 100.0, "{rms} mA");
    assert_eq!(table, noisy(7));
    assert_ne!(table, noisy(8));
    assert_eq!(members(&table, 5)[4], members(&noisy(8), 5)[4], "voltages are without");
}

#[test]
fn a_shifted_stream_is_the_same_signal_earlier() {
    let mut synth = Synth {
        harmonics: vec![Harmonic {
            order: 5,
            percent: 20.0,
            angle_deg: 40.0,
            of: Of::All,
        }],
        ..Synth::default()
    };
    synth.extras = parse("[extra]\nUn = { rms = 100, angle_deg = 20 }", "x")
        .expect("a file")
        .extras;
    let table_0 = table(&synth, 4_800);
    let shifted = table(&synth.shifted(15.0, 1), 4_800);
    for sample in 0..96 {
        let (ours, theirs) = (members(&shifted, sample), members(&table_0, sample + 4));
        assert!(
            ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() <= 1),
            "15 degrees are four samples"
        );
    }
}

#[test]
fn other_datasets_and_extra_members() {
    let sampling = Sampling {
        dataset: "6I3U".parse().expect("a dataset"),
        ..Sampling::new(4_800)
    };
    let synth = parse("currents_a = [10, 10, 0]\n[extra]\nIh = { rms = 3 }", "x").expect("a file");
    let table = synth.table(&sampling).expect("a table");
    let row = members(&table, 0);
    assert_eq!(row.len(), 9);
    assert_eq!(row[3], row[..3].iter().sum::<i32>());
    assert_eq!((row[4], row[5]), (0, 4_243));
    for (text, part) in [
        ("[extra]\nI9 = { rms = 3 }", "have: Ia"),
        ("[extra]\nIa = { rms = 3 }", "is a phase"),
    ] {
        let refused = parse(text, "x")
            .expect("a file")
            .table(&sampling)
            .expect_err(part)
            .to_string();
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn wrong_files_are_refused_with_line_or_state_and_key() {
    for (text, parts) in [
        ("frequency = 50", &["line 1", "frequency"][..]),
        (
            "frequency_hz = 50\ncurrents_a = [1, 2]",
            &["line 2", "three in brackets"],
        ),
        ("repeat_every = \"3\"", &["line 1"]),
        ("frequency_hz = 0", &["nominal state", "frequency_hz is 0"]),
        ("frequency_hz = nan", &["frequency_hz is NaN"]),
        ("[[state]]\nduration = \"1s\"", &["line 1", "name"]),
        (
            "[[state]]\nname = \"a\"\nquality = \"nice\"",
            &["line 3", "`nice` is not a quality"],
        ),
        (
            "[[state]]\nname = \"a\"\n[[state]]\nname = \"b\"",
            &["state 2 (b)", "`at`"],
        ),
        (
            "[[state]]\nname = \"a\"\nduration = \"2s\"\n[[state]]\nname = \"b\"\nat = \"1s\"",
            &["state 2 (b)", "before"],
        ),
        (
            "[[state]]\nname = \"a\"\nat = \"1s\"\n[[state]]\nname = \"b\"\nat = \"1s\"",
            &["state 2 (b)", "begins when"],
        ),
        (
            "repeat_every = \"1s\"\n[[state]]\nname = \"a\"\nat = \"1s\"",
            &["repeat_every", "do not fit"],
        ),
        (
            "repeat_every = \"1s\"\n[[state]]\nname = \"a\"\nduration = \"2s\"",
            &["repeat_every", "do not fit"],
        ),
        (
            "[[state]]\nname = \"a\"\nramp = { hz_per_s = -1, to_hz = 49 }",
            &["state 1 (a)", "ramp.hz_per_s is -1"],
        ),
        ("[[harmonic]]\norder = 1\npercent = 5", &["harmonic", "order is 1"]),
    ] {
        let error = parse(text, "x.toml").map(|_| ()).expect_err(text).to_string();
        assert!(error.starts_with("x.toml: "), "{error}");
        for part in parts {
            assert!(error.contains(part), "{text}: {error}");
        }
    }
    let high = parse("[[harmonic]]\norder = 50\npercent = 5", "x")
        .expect("a file")
        .table(&Sampling::new(4_800));
    assert!(
        high.expect_err("aliases").to_string().contains("5000 samples"),
        "needs a higher rate"
    );
}

#[test]
fn a_state_has_harmonics_of_its_own() {
    let text = r#"
        currents_a = 100
        current_angles_deg = 0
        [[harmonic]]
        order = 3
        percent = 10
        [[state]]
        name = "inrush"
        at = "20ms"
        duration = "20ms"
        harmonic = [{ order = 2, percent = 50, of = "currents" }]
    "#;
    let synth = parse(text, "x.toml").expect("a waveform");
    let table = synth.table(&Sampling::new(4_000)).expect("a table");
    let peak = |sample: u64| {
        let octets = table.seq_data(sample).first_chunk().expect("a member");
        f64::from(i32::from_be_bytes(*octets)) / 1e3
    };
    // All cosines are at their peaks at the start of a cycle.
    for (sample, share) in [(0, 1.1), (80, 1.6), (160, 1.1)] {
        assert!(
            (peak(sample) - 141.421_4 * share).abs() < 2e-3,
            "{sample}: {}",
            peak(sample)
        );
    }
    let wrong = parse(&text.replace("order = 2", "order = 1"), "x.toml").expect_err("no harmonic");
    assert!(
        wrong
            .to_string()
            .contains("state 1 (inrush): harmonic.order is 1: use 2 to 1000"),
        "{wrong}"
    );
}
