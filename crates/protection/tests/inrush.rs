//! Differential protection and inrush, from one side and from both, through current transformers that saturate.

mod common;
mod pair;
mod transformer;

use common::{Seed, rated};
use pair::Span;
use protection::Rated;
use protection::differential::PdifSettings;
use std::f64::consts::{SQRT_2, TAU};
use transformer::{LINEAR_S, SHARP_S, Transformer};

const RATE: f64 = 4000.0;
const TASK: u64 = 4;

/// Begin of the inrush in samples, and its end: the detection lifts the block by harmonics only after a second without a fault.
const BEGINS: u64 = 4400;
const ENDS: u64 = 5600;

/// Steps of the transformer's integration in a sample.
const STEPS: u32 = 20;

fn base() -> Rated {
    rated(RATE, 50.0)
}

fn settings(second_harmonic: f64, saturation: bool) -> PdifSettings {
    PdifSettings {
        sides: [0, 1],
        second_harmonic,
        fifth_harmonic: 0.0,
        saturation,
        ..PdifSettings::default()
    }
}

/// Current transformers of a case.
#[derive(Clone, Copy)]
struct Cores {
    /// Accuracy limit factor at the burden that they have.
    factor: f64,
    /// Inductance below the knee, relative to the burden, in s.
    linear_s: f64,
}

/// 5P20 that hardly err below their knee.
const GOOD: Cores = Cores {
    factor: 20.0,
    linear_s: LINEAR_S,
};

/// Inrush of which the first side feeds a part and the other one the rest, through transformers with remanence: half-waves above the knee of the core, whose
/// direct component decays.
fn inrush(seed: &mut Seed, size: f64, load: f64, part: f64, cores: Cores) -> impl FnMut(u64) -> [[f64; 8]; 2] + use<> {
    let angle_deg = seed.between(0.0, 360.0);
    let (knee, offset) = (seed.between(1.05, 1.3), seed.between(0.6, 1.0));
    let mut transformers = [(); 6].map(|()| {
        // With what an earlier fault left in it.
        let limit = cores.factor * SQRT_2 / (TAU * 50.0);
        Transformer {
            limit,
            flux: limit * seed.between(-0.7, 0.7),
            saturated_s: SHARP_S,
            linear_s: cores.linear_s,
        }
    });
    let returns = seed.between(0.9, 1.2);
    move |n| {
        let mut out = [[0.0; 8]; 2];
        let dt = 1.0 / (RATE * f64::from(STEPS));
        for phase in 0..3 {
            let turn = (angle_deg - 120.0 * phase as f64).to_radians();
            for step in 1..=STEPS {
                let seconds = (n as f64 - BEGINS as f64 - 1.0 + f64::from(step) / f64::from(STEPS)) / RATE;
                let through =
                    SQRT_2 * load * (TAU * 50.0 * seconds + turn).cos() * if seconds > 0.0 { returns } else { 1.0 };
                let flux = if seconds > 0.0 {
                    // The flux begins at its value, and its mean decays.
                    let mean = offset * turn.cos() * (-seconds / 0.3).exp();
                    (TAU * 50.0 * seconds + turn + std::f64::consts::PI).cos() + mean
                } else {
                    0.0
                };
                let over = (flux.abs() - knee).max(0.0) * flux.signum();
                let inrush = size * SQRT_2 * 2.0 * over;
                let one = through + part * inrush;
                out[0][phase] = 1000.0 * transformers[phase].step(one, dt);
                // A side that feeds nothing has its load without an error.
                out[1][phase] = match part {
                    1.0 => -1000.0 * through,
                    _ => 1000.0 * transformers[3 + phase].step((1.0 - part) * inrush - through, dt),
                };
            }
        }
        out
    }
}

/// Cases of inrush that operate with the detection, without it, and without a block by harmonics; of how many.
fn inrushes(seed: u64, sizes: &[f64], loads: &[f64], part: f64, cores: Cores) -> [u32; 4] {
    let mut seed = Seed(seed);
    let span = Span {
        begins: BEGINS,
        ends: ENDS,
    };
    let [mut with, mut without, mut control, mut runs] = [0; 4];
    for size in sizes {
        for load in loads {
            for _ in 0..24 {
                let case = (seed.next() * 1e9) as u64;
                let of = |second, saturation| {
                    let wave = inrush(&mut Seed(case), *size, *load, part, cores);
                    u32::from(pair::operates(settings(second, saturation), base(), TASK, span, wave).is_some())
                };
                runs += 1;
                with += of(0.15, true);
                without += of(0.15, false);
                control += of(0.0, true);
            }
        }
    }
    [with, without, control, runs]
}

/// Energising, and the voltage that comes back to a transformer with load: neither begins in both sides, so the detection lifts no block.
#[test]
fn inrush_operates_nothing() {
    let [with, without, control, runs] = inrushes(6, &[2.0, 4.0, 8.0], &[0.0, 0.2, 0.6], 1.0, GOOD);
    // Three large ones whose transformers saturate have less than 15 % of the second harmonic, whatever the detection does.
    assert_eq!((with, without, control), (3, 3, runs));
}

/// A transformer at a tap of the line, or one with sources on both sides: both ends feed its inrush, and its gaps tell it from a fault.
#[test]
fn inrush_from_both_sides_lifts_no_block() {
    for part in [0.7, 0.6] {
        let [with, without, control, runs] = inrushes(7, &[4.0, 8.0], &[0.0, 0.2], part, GOOD);
        assert_eq!(with, without, "{part}");
        assert!(
            without <= 3 && control == runs,
            "{part}: {without}, {control} of {runs}"
        );
    }
}

/// Transformers at the limit of their class: in the gaps of an inrush their own magnetising current is left, up to some percent of the peak.
#[test]
fn inrush_through_poor_transformers_lifts_no_block() {
    for factor in [10.0, 20.0] {
        for linear_s in [0.2, 0.064] {
            for part in [0.7, 0.6] {
                let cores = Cores { factor, linear_s };
                let [with, without, control, runs] = inrushes(8, &[4.0], &[0.2], part, cores);
                assert_eq!(
                    (with, control),
                    (without, runs),
                    "{factor}, {linear_s}, {part}: of {runs}"
                );
            }
        }
    }
}
