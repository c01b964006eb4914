//! Single implausible samples: none starts a function, and a fault waits at most one sample.

mod common;

use common::{Rig, balanced, eight, rated};
use protection::measure::{BaySettings, Channels, ORDERS, Residual, Spikes, Synch};
use protection::overcurrent::{Pioc, PiocSettings};
use protection::supervision::{Lsvs, SampleState, SampleSupervision};
use protection::{Complex, Function, Inputs};
use std::f64::consts::{SQRT_2, TAU};

const HEALTHY_V: f64 = 11_547.0;

fn healthy(rate: f64, n: u64) -> [f64; 8] {
    eight(balanced(300.0, -20.0), balanced(HEALTHY_V, 0.0), 50.0, rate, n)
}

fn settings(spikes: Spikes) -> BaySettings {
    BaySettings {
        harmonics: ORDERS[1..].to_vec(),
        spikes,
        ..BaySettings::default()
    }
}

const OFF: Spikes = Spikes {
    current: 0.0,
    voltage: 0.0,
};

/// 150 kA or 500 kV in one sample, at each point of the wave, in each channel and sign: no task sees it, whatever its phase.
#[test]
fn one_sample_changes_no_phasor() {
    for rate in [4000.0, 4800.0, 14_400.0] {
        let rated = rated(rate, 50.0);
        let cycle = (rate / 50.0) as u64;
        let mut pioc = Pioc::new(PiocSettings::default(), &rated).expect("settings");
        let mut rig = Rig::new(rated, &settings(Spikes::default()), false);
        let mut count = 0;
        for n in 0..cycle * 60 {
            let mut sample = healthy(rate, n);
            // A spike every half a cycle or so, at another point and in another channel each time.
            if n > 3 * cycle && n % (cycle / 2 + 7) == 0 {
                let channel = (count % 8) as usize;
                let value = if channel < 4 { 150_000.0 } else { 500_000.0 };
                sample[channel] = if count % 3 == 0 { -value } else { value };
                count += 1;
            }
            let set = *rig.push(sample);
            if n < 3 * cycle {
                continue;
            }
            let output = pioc.step(&Inputs::of(&[set]));
            assert!(!output.started.any(), "{rate}, sample {n}: {output:?}");
            let voltage = set.voltage.map(|each| (each.norm() / HEALTHY_V - 1.0).abs());
            assert!(voltage.iter().all(|off| *off < 2e-3), "{rate}, sample {n}: {voltage:?}");
        }
        assert!(count > 50);
        assert_eq!(rig.bay.spikes(), count, "{rate}: each was found");
    }
}

/// Without the check the same sample starts an overcurrent function of 5 In: the test above can fail.
#[test]
fn without_the_check_it_starts() {
    let rated = rated(4000.0, 50.0);
    let small = PiocSettings {
        pickup: 2.0,
        ..PiocSettings::default()
    };
    let mut pioc = Pioc::new(small, &rated).expect("settings");
    let mut rig = Rig::new(rated, &settings(OFF), false);
    let mut operated = false;
    for n in 0..800 {
        let mut sample = healthy(4000.0, n);
        if n == 400 {
            sample[0] = 150_000.0;
        }
        let set = *rig.push(sample);
        operated |= n > 300 && n % 4 == 3 && pioc.step(&Inputs::of(&[set])).operated.any();
    }
    assert!(operated && rig.bay.spikes() == 0);
}

/// The sums after a replacement are those of a window that never had the spike, to rounding, also across the end of a cycle.
#[test]
fn a_replaced_sample_leaves_nothing() {
    let rated = rated(4000.0, 50.0);
    for at in 300..390 {
        let mut with = Rig::new(rated, &settings(Spikes::default()), false);
        let mut without = Rig::new(rated, &settings(OFF), false);
        for n in 0..480 {
            let sample = healthy(4000.0, n);
            let mut spiked = sample;
            let mut mended = sample;
            if n == at {
                spiked[1] += 40_000.0;
                mended[1] = 0.5 * (healthy(4000.0, n - 1)[1] + healthy(4000.0, n + 1)[1]);
            }
            let (found, expected) = (*with.push(spiked), *without.push(mended));
            if n == at {
                continue;
            }
            for (found, expected) in found
                .harmonics
                .iter()
                .flatten()
                .zip(expected.harmonics.iter().flatten())
            {
                assert!((*found - *expected).norm() < 1e-6, "spike at {at}, sample {n}");
            }
            assert!(
                (found.rms[1] - expected.rms[1]).abs() < 1e-6,
                "spike at {at}, sample {n}"
            );
        }
    }
}

/// A fault current with DC offset, or with a jump; in A.
fn fault(n: i64, angle: f64, has_dc: bool) -> f64 {
    let peak = 9000.0 * SQRT_2;
    let t = n as f64 / 4000.0;
    let steady = |t: f64| peak * (TAU * 50.0 * t + angle).cos();
    let dc = if has_dc { steady(0.0) * (-t / 0.045).exp() } else { 0.0 };
    steady(t) - dc
}

/// Task in which `I>>` operates, counted from the fault.
fn operates(spikes: Spikes, angle: f64, has_dc: bool, phase: u64) -> u64 {
    let rated = rated(4000.0, 50.0);
    let mut pioc = Pioc::new(PiocSettings::default(), &rated).expect("settings");
    let mut rig = Rig::new(rated, &settings(spikes), false);
    for n in 0..1000u64 {
        let mut sample = healthy(4000.0, n);
        if n >= 400 {
            sample[0] = fault(n as i64 - 400, angle, has_dc);
            sample[4] *= 0.2;
        }
        let set = *rig.push(sample);
        let is_task = n % 4 == phase && n > 300;
        if is_task && pioc.step(&Inputs::of(&[set])).operated.any() {
            return n - 400;
        }
    }
    panic!("no trip at {angle}, phase {phase}")
}

/// The price: a fault that begins as faults do trips in the same task; one that begins with a jump at most one task (1 ms) later.
#[test]
fn the_price_is_a_task_at_most() {
    let (mut later, mut runs) = ([0_u32; 2], 0_u32);
    for step in 0..36 {
        for phase in 0..4 {
            for has_dc in [true, false] {
                let angle = f64::from(step) * TAU / 36.0;
                let before = operates(OFF, angle, has_dc, phase);
                let after = operates(Spikes::default(), angle, has_dc, phase);
                assert!(after >= before && after <= before + 4, "{angle}: {before}, {after}");
                later[usize::from(!has_dc)] += u32::from(after > before);
            }
            runs += 1;
        }
    }
    assert_eq!(later[0], 0, "no price for a current that begins where it was");
    assert!(later[1] * 50 < runs, "{} of {runs}: the page says none", later[1]);
}

/// A saturated transformer's current has steep flanks and thin pulses, and none is taken for a spike.
#[test]
fn saturation_is_no_spike() {
    let rated = rated(4000.0, 50.0);
    for width in 4..20u64 {
        let mut rig = Rig::new(rated, &settings(Spikes::default()), false);
        for n in 0..2000u64 {
            let mut sample = healthy(4000.0, n);
            // The current collapses `width` samples after its zero crossing, in each half cycle.
            let phase = n % 40;
            let full = 30_000.0 * SQRT_2 * (TAU * n as f64 / 80.0).sin();
            sample[0] = if phase < width { full } else { 0.03 * full };
            rig.push(sample);
        }
        assert_eq!(rig.bay.spikes(), 0, "pulses of {width} samples");
    }
}

/// Two implausible samples in a row are taken for a measurement, and a spike before a lost sample is not: stated on the page.
#[test]
fn what_it_does_not_find() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &settings(Spikes::default()), false);
    for n in 0..400 {
        let mut sample = healthy(4000.0, n);
        if n == 300 || n == 301 {
            sample[0] = 150_000.0;
        }
        rig.push(sample);
    }
    assert_eq!(rig.bay.spikes(), 0);
    let mut rig = Rig::new(rated(4000.0, 50.0), &settings(Spikes::default()), false);
    for n in 0..400 {
        let mut sample = healthy(4000.0, n);
        if n == 300 {
            sample[0] = 150_000.0;
        }
        let set = if n == 301 { *rig.lose() } else { *rig.push(sample) };
        let current = set.current[0] - Complex::degrees(300.0, -20.0);
        assert!(n < 200 || current.norm() < 400.0, "held: {n}, {}", current.norm());
    }
}

#[test]
fn a_stream_full_of_them_is_blocked() {
    let rated = rated(4000.0, 50.0);
    let mut lsvs = Lsvs::new(SampleSupervision::default(), &rated).expect("settings");
    let mut rig = Rig::new(rated, &settings(Spikes::default()), false);
    for n in 0..1200u64 {
        let mut sample = healthy(4000.0, n);
        if (480..560).contains(&n) && n % 10 == 0 {
            sample[2] = -150_000.0;
        }
        rig.push(sample);
        lsvs.received(n, Synch::GLOBAL, false, false);
        if rig.bay.spikes() != lsvs.status().implausible {
            lsvs.implausible(n);
        }
        match n {
            530 => assert_eq!(lsvs.status().state, SampleState::Good),
            532..600 => assert_eq!(lsvs.status().state, SampleState::Alarm, "{n}"),
            700.. => assert_eq!(lsvs.status().state, SampleState::Good, "{n}"),
            _ => {}
        }
    }
    assert_eq!(lsvs.status().implausible, 8);
}

/// Spikes of a channel whose quality is bad are neither replaced nor counted; those of the others are.
#[test]
fn a_channel_in_doubt_is_not_checked() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &settings(Spikes::default()), false);
    let bad = Channels(1 << 5);
    for n in 0..800 {
        let mut sample = healthy(4000.0, n);
        if n > 400 && n % 8 == 0 {
            sample[5] = 500_000.0;
        }
        if n == 604 {
            sample[0] = 150_000.0;
        }
        let at = rig.reference.advance();
        rig.bay.push(&rig.reference, at, &sample, bad);
        rig.bay.measure(&rig.reference, &mut rig.set);
        assert_eq!(rig.set.health.bad, bad, "{n}");
    }
    assert_eq!(rig.bay.spikes(), 1, "that of phase a");
    let off = (rig.set.current[0] - Complex::degrees(300.0, -20.0)).norm();
    assert!(off < 1.0, "{off}");
}

/// A residual full of spikes is not trusted for a window; one spike is replaced and nothing more.
#[test]
fn a_residual_full_of_them_is_distrusted() {
    for channel in [3, 7] {
        let mut rig = Rig::new(rated(4000.0, 50.0), &settings(Spikes::default()), false);
        for n in 0..1200u64 {
            let mut sample = healthy(4000.0, n);
            if n == 300 || (480..640).contains(&n) && n % 10 == 0 {
                sample[channel] = 500_000.0;
            }
            let bad = rig.push(sample).health.bad;
            match n {
                0..490 | 720.. => assert_eq!(bad, Channels::NONE, "{n}"),
                492..700 => assert_eq!(bad, Channels(1 << channel), "{n}"),
                _ => {}
            }
        }
        assert_eq!((rig.bay.spikes(), rig.bay.phase_spikes()), (17, 0));
    }
}

/// An earth fault that strikes again is a pulse of one sample in the measured residuals: it stays, as without the check. A residual that is a sum has the
/// spikes of its phases, and they are replaced in both.
#[test]
fn pulses_of_restriking_earth_faults_stay() {
    let rated = rated(4000.0, 50.0);
    let mut rigs = [Spikes::default(), OFF].map(|spikes| Rig::new(rated, &settings(spikes), false));
    let mut most = 0.0_f64;
    for n in 0..1200u64 {
        let mut sample = healthy(4000.0, n);
        if n > 300 && n % 100 == 0 {
            sample[3] += 8000.0;
            sample[7] += 40_000.0;
        }
        let [found, expected] = rigs.each_mut().map(|rig| *rig.push(sample));
        assert_eq!(found.residual_current, expected.residual_current, "{n}");
        assert_eq!(found.residual_voltage, expected.residual_voltage, "{n}");
        most = most.max(found.residual_current.norm());
    }
    assert!(most > 50.0, "an earth-fault function sees them: {most} A");
    let summed = BaySettings {
        residual_current: Residual::Sum,
        ..settings(Spikes::default())
    };
    let mut rig = Rig::new(rated, &summed, false);
    for n in 0..800u64 {
        let mut sample = healthy(4000.0, n);
        if n > 300 && n % 60 == 0 {
            sample[0] += 8000.0;
        }
        let set = *rig.push(sample);
        assert!(n < 200 || set.residual_current.norm() < 5.0, "{n}");
        assert!(n < 200 || set.health.bad == Channels::NONE, "{n}");
    }
}
