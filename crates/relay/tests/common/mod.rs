//! Waves, relays, and what they do.
#![allow(dead_code, reason = "each test program uses its part")]

use protection::Complex;
use relay::config::{Config, parse};
use relay::events::{Change, Event, Subject};
use relay::{Engine, Sample};
use std::f64::consts::{SQRT_2, TAU};
use std::ops::Range;
use wire::quality::SvQuality;

pub(crate) const RATE: u64 = 4000;

/// 50 Hz at 4000 samples a second: load, and a fault between two samples.
#[derive(Debug, Clone)]
pub(crate) struct Wave {
    /// Phase current before and in the fault, A; the fault is in phase A alone, with three times the angle.
    pub(crate) load_a: f64,
    pub(crate) fault_a: f64,
    /// Phase-to-earth voltage before, and of phase A in the fault, V.
    pub(crate) volt: f64,
    pub(crate) fault_v: f64,
    pub(crate) fault: Range<u64>,
}

impl Default for Wave {
    fn default() -> Self {
        Self {
            load_a: 300.0,
            fault_a: 8000.0,
            volt: 11_547.0,
            fault_v: 2000.0,
            fault: u64::MAX..u64::MAX,
        }
    }
}

impl Wave {
    /// The eight channels at sample `n`.
    pub(crate) fn at(&self, n: u64) -> [f64; 8] {
        let mut values = [0.0; 8];
        for phase in 0..3 {
            let turn = -120.0 * phase as f64;
            let is_fault = self.fault.contains(&n) && phase == 0;
            let (current, lag, volt) = match is_fault {
                true => (self.fault_a, -75.0, self.fault_v),
                false => (self.load_a, -20.0, self.volt),
            };
            values[phase] = instant(Complex::degrees(current, turn + lag), n);
            values[4 + phase] = instant(Complex::degrees(volt, turn), n);
        }
        values[3] = values[0] + values[1] + values[2];
        values[7] = values[4] + values[5] + values[6];
        values
    }
}

fn instant(phasor: Complex, n: u64) -> f64 {
    let turns = 50.0 * (n % RATE) as f64 / RATE as f64;
    SQRT_2 * phasor.norm() * (TAU * turns + phasor.arg()).cos()
}

/// Sample `n` of a synchronised stream.
pub(crate) fn sample(wave: &Wave, n: u64) -> Sample {
    Sample {
        smp_cnt: (n % RATE) as u16,
        values: wave.at(n),
        quality: [SvQuality::GOOD; 8],
        smp_synch: 2,
        simulated: false,
        conflicting: false,
    }
}

pub(crate) fn relay(text: &str) -> Config {
    parse(text, "relay.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// A relay of one function that trips, at 1000 A and 20 kV.
pub(crate) fn one(settings: &str) -> Config {
    relay(&format!(
        "[relay]\nname = \"R\"\n[[stream]]\nname = \"bay1\"\nsv = {{ svID = \"MU01\", profile = \"F4000S1I4U4\" }}\n\
         [[function]]\nname = \"F\"\nsettings.{settings}\n[[trip]]\nname = \"Q0\"\n"
    ))
}

/// An engine that is fed sample by sample, with a task each millisecond, and what it said.
pub(crate) struct Rig {
    pub(crate) engine: Engine,
    pub(crate) events: Vec<Event>,
    pushed: u64,
}

impl Rig {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            engine: Engine::new(config).expect("a relay"),
            events: Vec::new(),
            pushed: 0,
        }
    }

    /// One sampling instant: each stream's sample, if it comes.
    pub(crate) fn step(&mut self, samples: &[Option<Sample>]) {
        for (stream, sample) in samples.iter().enumerate() {
            if let Some(sample) = sample {
                self.engine.push(stream, sample);
            }
        }
        self.pushed += 1;
        if self.pushed.is_multiple_of(4) {
            self.task();
        }
    }

    fn task(&mut self) {
        let up_to = self.pushed.saturating_sub(self.engine.wait());
        let decision = self.engine.task(up_to);
        self.events.extend_from_slice(decision.events);
    }

    pub(crate) fn times(&self, subject: Subject, is_wanted: impl Fn(Change) -> bool) -> Vec<u64> {
        let found = self
            .events
            .iter()
            .filter(|event| event.subject == subject && is_wanted(event.change));
        found.map(|event| event.at).collect()
    }

    pub(crate) fn operates(&self, subject: Subject) -> Vec<u64> {
        self.times(subject, |change| matches!(change, Change::Operate(_)))
    }

    pub(crate) fn starts(&self, subject: Subject) -> Vec<u64> {
        self.times(subject, |change| matches!(change, Change::Start(..)))
    }

    /// Nothing started, operated or tripped.
    pub(crate) fn assert_quiet(&self, what: &str) {
        let acts = |event: &&Event| {
            let is_stream = matches!(event.subject, Subject::Stream(_));
            !is_stream && matches!(event.change, Change::Start(..) | Change::Operate(_) | Change::Backtrip)
        };
        assert_eq!(self.events.iter().find(acts), None, "{what}");
    }
}
