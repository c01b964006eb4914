//! Signals, and a bay that measures them.
#![allow(dead_code, reason = "each test program uses its part")]

use protection::measure::{Bay, BaySettings, Channels, Measured, Reference, Tracker, TrackerSettings};
use protection::{Complex, Function, Inputs, Rated};
use serde_json::Value;
use std::f64::consts::{SQRT_2, TAU};

pub(crate) fn rated(rate: f64, hz: f64) -> Rated {
    Rated {
        samples_per_second: rate,
        frequency_hz: hz,
        ..Rated::default()
    }
}

/// The reference numbers of `iec61850.md`, section 3.
pub(crate) fn numbers() -> Value {
    serde_json::from_str(include_str!("../data/reference.json")).expect("JSON")
}

pub(crate) fn pairs(value: &Value) -> Vec<Complex> {
    let list = value.as_array().expect("a list");
    list.iter()
        .map(|pair| Complex::new(number(&pair[0]), number(&pair[1])))
        .collect()
}

/// Magnitude and degrees.
pub(crate) fn polars(value: &Value) -> Vec<Complex> {
    let list = value.as_array().expect("a list");
    list.iter().map(polar).collect()
}

pub(crate) fn polar(pair: &Value) -> Complex {
    Complex::degrees(number(&pair[0]), number(&pair[1]))
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Three balanced phasors of positive sequence.
pub(crate) fn balanced(magnitude: f64, degrees: f64) -> [Complex; 3] {
    [0.0, -120.0, 120.0].map(|turn| Complex::degrees(magnitude, degrees + turn))
}

/// Instantaneous value of a phasor at `hz`.
pub(crate) fn instant(phasor: Complex, hz: f64, rate: f64, n: u64) -> f64 {
    SQRT_2 * phasor.norm() * (TAU * (hz * n as f64 / rate).fract() + phasor.arg()).cos()
}

/// Eight samples of phasors at `hz`; the residuals are the sums.
pub(crate) fn eight(current: [Complex; 3], voltage: [Complex; 3], hz: f64, rate: f64, n: u64) -> [f64; 8] {
    let [ia, ib, ic] = current.map(|each| instant(each, hz, rate, n));
    let [ua, ub, uc] = voltage.map(|each| instant(each, hz, rate, n));
    [ia, ib, ic, ia + ib + ic, ua, ub, uc, ua + ub + uc]
}

/// Random numbers (SplitMix64).
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    /// From 0 to 1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.next()
    }
}

/// Reference, bay and tracker of one feeder.
pub(crate) struct Rig {
    pub(crate) rated: Rated,
    pub(crate) reference: Reference,
    pub(crate) bay: Bay,
    pub(crate) tracker: Tracker,
    pub(crate) set: Measured,
}

impl Rig {
    pub(crate) fn new(rated: Rated, settings: &BaySettings, steer: bool) -> Self {
        let tracker = TrackerSettings {
            steer,
            ..TrackerSettings::default()
        };
        Self {
            reference: Reference::new(&rated, 0),
            bay: Bay::new(settings, &rated).expect("settings"),
            tracker: Tracker::new(tracker, &rated, rated.phase_voltage_v()).expect("settings"),
            set: Measured::default(),
            rated,
        }
    }

    /// One sample in; the measured set after it.
    pub(crate) fn push(&mut self, samples: [f64; 8]) -> &Measured {
        let at = self.reference.advance();
        self.bay.push(&self.reference, at, &samples, Channels::NONE);
        self.measure(at)
    }

    pub(crate) fn lose(&mut self) -> &Measured {
        let at = self.reference.advance();
        self.bay.push_lost(&self.reference, at);
        self.measure(at)
    }

    fn measure(&mut self, at: u64) -> &Measured {
        self.bay.measure(&self.reference, &mut self.set);
        let usable = self.bay.settled();
        let phasor = self.set.voltage_sequence.positive;
        self.set.frequency = self.tracker.step(at, phasor, usable, &mut self.reference);
        &self.set
    }
}

/// Runs a function every `task` samples on phasors given by time in s; the first times in s of start and operation.
pub(crate) fn run(
    function: &mut dyn Function,
    task: u64,
    limit_s: f64,
    mut sets: impl FnMut(f64, u64) -> Vec<Measured>,
) -> (Option<f64>, Option<f64>) {
    let rate = 4000.0;
    let (mut started, mut operated) = (None, None);
    let mut at = 0;
    while at as f64 / rate <= limit_s {
        let seconds = at as f64 / rate;
        let mut sets = sets(seconds, at);
        for set in &mut sets {
            set.at = at;
        }
        let output = function.step(&Inputs::of(&sets));
        assert!(
            output.started.contains(output.operated),
            "operated without a start: {output:?}"
        );
        assert!(
            !output.blocked.any() || !output.started.any(),
            "blocked, and started: {output:?}"
        );
        if output.started.any() && started.is_none() {
            started = Some(seconds);
        }
        if output.operated.any() {
            operated = Some(seconds);
            break;
        }
        at += task;
    }
    (started, operated)
}

/// A set of currents in x In of the default ratings, with healthy voltages.
pub(crate) fn currents(current: [Complex; 3]) -> Measured {
    let rated = Rated::default();
    Measured::of(
        0,
        current.map(|each| each * rated.current_a),
        balanced(rated.phase_voltage_v(), 0.0),
    )
}

/// A current in phase A alone, in x In.
pub(crate) fn phase_a(multiple: f64) -> Measured {
    currents([Complex::degrees(multiple, -60.0), Complex::ZERO, Complex::ZERO])
}
