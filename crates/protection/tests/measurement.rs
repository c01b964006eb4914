//! Phasors, RMS, frequency against analytic truth, NumPy and the reference numbers.

mod common;

use common::{Rig, balanced, eight, number, numbers, rated};
use proptest::prelude::*;
use protection::Complex;
use protection::measure::{BaySettings, Channel, Channels, ORDERS};
use serde_json::Value;
use std::f64::consts::{SQRT_2, TAU};

fn without_dc_removal() -> BaySettings {
    BaySettings {
        harmonics: ORDERS[1..].to_vec(),
        dc_time_constant_ms: 0.0,
        ..BaySettings::default()
    }
}

fn with_dc_removal() -> BaySettings {
    BaySettings {
        harmonics: ORDERS[1..].to_vec(),
        ..BaySettings::default()
    }
}

/// The 15 rows of section 3.1: first window and extremes, without tracking.
#[test]
fn fixed_windows_agree_with_the_reference_numbers() {
    let numbers = numbers();
    let rows = numbers["dft"].as_array().unwrap();
    assert_eq!(rows.len(), 15);
    for row in rows {
        let (rate, f0, hz) = (number(&row["fs"]), number(&row["f0"]), number(&row["f"]));
        let window = row["N"].as_u64().unwrap();
        let mut rig = Rig::new(rated(rate, f0), &without_dc_removal(), false);
        let mut found = Vec::new();
        let signal = Complex::degrees(number(&row["amp_rms"]), number(&row["phase_deg"]));
        for n in 0..40 * window {
            let x = common::instant(signal, hz, rate, n);
            let set = rig.push([x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
            if n + 1 >= window {
                found.push(set.current[0]);
            }
        }
        let first = Complex::degrees(number(&row["mag_window0"]), number(&row["ang_window0"]));
        assert!((found[0] - first).norm() < 1e-6 * first.norm(), "{row}: {:?}", found[0]);
        let (mut least, mut most) = (f64::INFINITY, 0f64);
        for phasor in &found {
            least = least.min(phasor.norm());
            most = most.max(phasor.norm());
        }
        // The reference took the extremes of more windows than whole turns of the beat hold.
        assert!((least - number(&row["mag_min"])).abs() < 5e-3, "{row}: {least}");
        assert!((most - number(&row["mag_max"])).abs() < 5e-3, "{row}: {most}");
    }
}

fn numpy_samples(case: &Value, n: u64) -> f64 {
    let (rate, hz) = (number(&case["rate"]), number(&case["f"]));
    let turns = TAU * hz * n as f64 / rate;
    let mut x = 0.0;
    for part in case["parts"].as_array().unwrap() {
        let angle = number(&part[0]) * turns + number(&part[2]).to_radians();
        x += SQRT_2 * number(&part[1]) * angle.cos();
    }
    let tau = number(&case["tau"]);
    if tau > 0.0 {
        x += number(&case["offset"]) * (-(n as f64) / (tau * rate)).exp();
    }
    x
}

#[test]
fn numpy_computes_the_same() {
    let truth: Value = serde_json::from_str(include_str!("data/numpy_truth.json")).unwrap();
    for case in truth["cases"].as_array().unwrap() {
        for (key, settings) in [("plain", without_dc_removal()), ("clean", with_dc_removal())] {
            let mut rig = Rig::new(rated(number(&case["rate"]), number(&case["f0"])), &settings, false);
            let mut n = 0;
            for answer in case["answers"].as_array().unwrap() {
                let last = answer["last"].as_u64().unwrap();
                while n <= last {
                    let x = numpy_samples(case, n);
                    rig.push([x, 0.0, 0.0, 0.0, x, 0.0, 0.0, 0.0]);
                    n += 1;
                }
                for (row, theirs) in common::pairs(&answer[key]).into_iter().enumerate() {
                    let ours = rig.set.harmonics[row][0];
                    let scale = number(&case["parts"][0][1]);
                    let what = format!("{} {key}, order {}: {ours:?}, {theirs:?}", case["name"], ORDERS[row]);
                    assert!((ours - theirs).norm() < 1e-9 * scale, "{what}");
                }
                // A voltage keeps its DC.
                let voltage = common::pairs(&answer["plain"])[0];
                assert!((rig.set.voltage[0] - voltage).norm() < 1e-9 * voltage.norm());
                let rms = number(&answer["rms"]);
                assert!((rig.set.rms[0] - rms).abs() < 1e-9 * rms);
            }
        }
    }
}

/// Settles the tracker on a balanced voltage, and returns the rig.
fn settled(rate: f64, f0: f64, hz: f64, settings: &BaySettings, harmonics: &[(u32, f64)]) -> Rig {
    let mut rig = Rig::new(rated(rate, f0), settings, true);
    for n in 0..(rate as u64) {
        let mut samples = eight(balanced(100.0, 30.0), balanced(11_547.0, 0.0), hz, rate, n);
        for (order, share) in harmonics {
            for (phase, sample) in samples.iter_mut().take(3).enumerate() {
                let turn = TAU * ((hz * n as f64 / rate).fract() - phase as f64 / 3.0);
                *sample += SQRT_2 * 100.0 * share * (f64::from(*order) * turn).cos();
            }
        }
        samples[3] = samples[0] + samples[1] + samples[2];
        rig.push(samples);
    }
    rig
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Over the whole range that a grid can have: magnitude within 0.05 %, frequency within 1 mHz, df/dt within 10 mHz/s.
    #[test]
    fn tracked_phasors_are_exact(
        off in -5.0f64..5.0,
        base in prop::sample::select(vec![(4000.0, 50.0), (4800.0, 60.0), (4800.0, 50.0), (14_400.0, 60.0), (5_000.0, 60.0)]),
    ) {
        let (rate, f0) = base;
        let mut rig = settled(rate, f0, f0 + off, &with_dc_removal(), &[]);
        for n in (rate as u64)..(rate as u64 + 200) {
            let samples = eight(balanced(100.0, 30.0), balanced(11_547.0, 0.0), f0 + off, rate, n);
            let set = rig.push(samples);
            for phase in 0..3 {
                prop_assert!((set.current[phase].norm() - 100.0).abs() < 0.3, "{:?}", set.current[phase].norm());
                prop_assert!((set.voltage[phase].norm() / 11_547.0 - 1.0).abs() < 5e-4, "{}", set.voltage[phase].norm());
                prop_assert!((set.rms[phase] - 100.0).abs() < 0.1);
            }
            prop_assert!((set.voltage_sequence.positive.norm() / 11_547.0 - 1.0).abs() < 1e-4);
            prop_assert!((set.current_sequence.positive.norm() - 100.0).abs() < 0.05);
            let found = set.frequency.expect("a frequency");
            prop_assert!((found.hz - f0 - off).abs() < 1e-3, "{found:?}");
            prop_assert!(found.hz_per_s.unwrap().abs() < 0.01, "{found:?}");
        }
        // Angle between current and voltage: what impedance and direction are made of.
        let angle = (rig.set.current[1] / rig.set.voltage[1]).arg_degrees();
        prop_assert!((angle - 30.0).abs() < 0.1, "{angle}");
    }

    /// A fault leaves voltages of three sizes, whose image of twice the frequency disturbs: 5 mHz, 0.1 %.
    #[test]
    fn unbalanced_voltages_have_a_frequency(off in -5.0f64..5.0, a in 0.2f64..1.0, b in 0.5f64..1.0) {
        let mut rig = Rig::new(rated(4000.0, 50.0), &with_dc_removal(), true);
        let [va, vb, vc] = balanced(11_547.0, 0.0);
        for n in 0..6000 {
            let set = rig.push(eight(balanced(100.0, 0.0), [va * a, vb * b, vc], 50.0 + off, 4000.0, n));
            if n > 5000 {
                let found = set.frequency.expect("a frequency");
                prop_assert!((found.hz - 50.0 - off).abs() < 5e-3, "{found:?}");
                prop_assert!((set.voltage[0].norm() / (11_547.0 * a) - 1.0).abs() < 1e-3, "{}", set.voltage[0].norm());
            }
        }
    }

    /// Harmonics neither disturb the fundamental nor are lost, at any frequency.
    #[test]
    fn harmonics_are_separated(off in -5.0f64..5.0, second in 0.02f64..0.3, third in 0.02f64..0.3, fifth in 0.02f64..0.3) {
        let harmonics = [(2, second), (3, third), (5, fifth)];
        let rig = settled(4000.0, 50.0, 50.0 + off, &without_dc_removal(), &harmonics);
        prop_assert!((rig.set.current[0].norm() - 100.0).abs() < 0.2, "{}", rig.set.current[0].norm());
        for (order, share) in harmonics {
            let found = rig.set.phasor(Channel::IA, order).unwrap().norm() / 100.0;
            prop_assert!((found - share).abs() < 0.004, "{order}: {found} of {share}");
        }
        let rms = 100.0 * (1.0 + second * second + third * third + fifth * fifth).sqrt();
        prop_assert!((rig.set.rms[0] - rms).abs() < 0.002 * rms, "{}", rig.set.rms[0]);
    }

    /// One cycle after the fault a decaying DC component of any time constant does less than a fifth of the harm.
    #[test]
    fn decaying_dc_is_removed(tau_ms in 15.0f64..120.0, degrees in 0.0f64..360.0) {
        let mut worst = [0.0f64; 2];
        for (which, settings) in [without_dc_removal(), with_dc_removal()].iter().enumerate() {
            let mut rig = Rig::new(rated(4000.0, 50.0), settings, false);
            let fault = Complex::degrees(1000.0, degrees);
            let offset = -SQRT_2 * fault.re;
            for n in 0..480u64 {
                let since = n.saturating_sub(160);
                let dc = offset * (-(since as f64) / (tau_ms * 4.0)).exp();
                let x = if n < 160 { 0.0 } else { common::instant(fault, 50.0, 4000.0, n) + dc };
                let set = rig.push([x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
                if n > 160 + 81 {
                    worst[which] = worst[which].max((set.current[0] - fault).norm() / 1000.0);
                }
            }
        }
        prop_assert!(worst[1] < 0.032, "{worst:?}");
        prop_assert!(worst[1] < 0.2 * worst[0] + 0.01, "{worst:?}");
    }

    /// Nothing that a stream can hold makes a number that stays.
    #[test]
    fn no_sample_poisons_the_window(
        poison in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, f64::MIN_POSITIVE]),
        channel in 0usize..8,
        at in 0u64..400,
    ) {
        let mut rig = Rig::new(rated(4000.0, 50.0), &with_dc_removal(), true);
        for n in 0..600 {
            let mut samples = eight(balanced(100.0, 30.0), balanced(11_547.0, 0.0), 50.0, 4000.0, n);
            if n == at {
                samples[channel] = poison;
            }
            let set = *rig.push(samples);
            prop_assert!(set.harmonics.iter().flatten().all(|each| each.is_finite()), "{n}");
            prop_assert!(set.rms.iter().all(|each| each.is_finite()), "{n}");
            if n == at && poison.abs() > 1.0 {
                prop_assert_eq!(set.health.bad, Channels(1 << channel));
            }
        }
        prop_assert_eq!(rig.set.health.bad, Channels::NONE);
        prop_assert!((rig.set.current[0].norm() - 100.0).abs() < 0.05);
    }
}

/// Days of sliding leave no error: the sums are exact every cycle, so a million cycles are as good as ten.
#[test]
fn sliding_does_not_drift() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &without_dc_removal(), false);
    let signal = Complex::degrees(100.0, 30.0);
    for n in 0..4_000_000u64 {
        // Bursts five orders larger leave rounding behind in sums that only slide.
        let size = if n % 1600 < 400 { 1e5 } else { 1.0 };
        let x = size * common::instant(signal, 50.0, 4000.0, n);
        let at = rig.reference.advance();
        rig.bay.push(&rig.reference, at, &[x; 8], Channels::NONE);
    }
    rig.bay.measure(&rig.reference, &mut rig.set);
    assert!((rig.set.current[0] - signal).norm() < 1e-9, "{:?}", rig.set.current[0]);
    assert!((rig.set.rms[0] - 100.0).abs() < 1e-9);
}

/// Section 3.3: 50.5 Hz turns the phasor by 3.6 degrees in 20 ms.
#[test]
fn the_phasor_turns_with_the_frequency() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &without_dc_removal(), false);
    let mut before = Complex::ZERO;
    for n in 0..500 {
        let set = *rig.push(eight(balanced(1.0, 0.0), balanced(11_547.0, 0.0), 50.5, 4000.0, n));
        if n == 419 {
            before = set.voltage_sequence.positive;
        }
    }
    let turned = (rig.set.voltage_sequence.positive / before).arg_degrees();
    assert!((turned - 3.6).abs() < 1e-9, "{turned}");
    assert!((rig.set.frequency.unwrap().hz - 50.5).abs() < 1e-9);
}

/// A ramp of 1 Hz/s is followed, and its slope found within 20 mHz/s.
#[test]
fn a_ramp_has_its_slope() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &with_dc_removal(), true);
    let mut turns = 0.0f64;
    for n in 0..8000u64 {
        let hz = if n < 2000 {
            50.0
        } else {
            50.0 - (n - 2000) as f64 / 4000.0
        };
        turns = (turns + hz / 4000.0).fract();
        let value = |shift: f64| 16_330.0 * (TAU * (turns + shift)).cos();
        let samples = [0.0, 0.0, 0.0, 0.0, value(0.0), value(-1.0 / 3.0), value(1.0 / 3.0), 0.0];
        let set = rig.push(samples);
        if n > 3000 {
            let found = set.frequency.unwrap();
            assert!((found.hz_per_s.unwrap() + 1.0).abs() < 0.02, "{n}: {found:?}");
            // Four cycles of averaging and two of measuring lie behind by 50 ms.
            assert!((found.hz - hz - 0.05).abs() < 0.02, "{n}: {found:?}, {hz}");
            assert!(
                (set.voltage[0].norm() - 11_547.0).abs() < 30.0,
                "{n}: {}",
                set.voltage[0].norm()
            );
        }
    }
}

/// A dead bus has no frequency, and the reference returns to the rated one.
#[test]
fn without_voltage_there_is_no_frequency() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &with_dc_removal(), true);
    for n in 0..4000 {
        rig.push(eight(balanced(100.0, 0.0), balanced(11_547.0, 0.0), 51.5, 4000.0, n));
    }
    assert!((rig.reference.frequency_hz() - 51.5).abs() < 0.01);
    for n in 0..12_000 {
        let set = rig.push([0.0; 8]);
        if n > 80 {
            assert_eq!(set.frequency, None);
        }
    }
    assert_eq!(rig.reference.frequency_hz(), 50.0);
}

/// After a start and after a gap the set says that it is not settled, for one window.
#[test]
fn gaps_begin_anew() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &with_dc_removal(), false);
    let samples = |n| eight(balanced(100.0, 0.0), balanced(11_547.0, 0.0), 50.0, 4000.0, n);
    for n in 0..200 {
        let settled = !rig.push(samples(n)).health.stream.any();
        assert_eq!(settled, n >= 81, "{n}");
    }
    for _ in 0..7 {
        rig.reference.advance();
    }
    for n in 207..400 {
        let settled = !rig.push(samples(n)).health.stream.any();
        assert_eq!(settled, n >= 207 + 81, "{n}");
    }
    assert!((rig.set.current[0].norm() - 100.0).abs() < 1e-9);
}

/// A lost sample held costs 0.2 % of magnitude, one on a straight line 0.03 %.
#[test]
fn a_lost_sample_hardly_shows() {
    for (substitute, most) in [("hold", 0.25), ("linear", 0.035)] {
        let settings: BaySettings =
            toml::from_str(&format!("substitute = \"{substitute}\"\ndc-time-constant-ms = 0")).unwrap();
        let mut worst = 0f64;
        for at in 200..280 {
            let mut rig = Rig::new(rated(4000.0, 50.0), &settings, false);
            for n in 0..300 {
                let set = if n == at {
                    rig.lose()
                } else {
                    rig.push(eight(balanced(100.0, 0.0), balanced(11_547.0, 0.0), 50.0, 4000.0, n))
                };
                if n >= at {
                    worst = worst.max((set.current[0] - Complex::degrees(100.0, 0.0)).norm());
                }
            }
        }
        assert!(worst < most, "{substitute}: {worst} %");
    }
}

/// When the reference is retuned, the frequency does not jump: no cycle's value is off by more than 15 mHz, for a retuning of 2 Hz.
#[test]
fn steering_does_not_disturb_what_it_steers_by() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &with_dc_removal(), true);
    let mut seen = 0;
    for n in 0..4000 {
        let set = rig.push(eight(balanced(1.0, 0.0), balanced(11_547.0, 0.0), 48.0, 4000.0, n));
        if let Some(found) = set.frequency {
            assert!((found.cycle_hz - 48.0).abs() < 0.015, "{n}: {found:?}");
            seen += 1;
        }
    }
    assert!(seen > 3500 && (rig.reference.frequency_hz() - 48.0).abs() < 1e-3);
}
