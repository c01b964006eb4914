//! Waves, relays, and helpers to run them.
#![allow(dead_code, reason = "each test program uses its part")]

use protection::Complex;
use relay::config::{Config, parse};
use relay::events::{Change, Event, Subject};
use relay::{Engine, Sample};
use std::f64::consts::{SQRT_2, TAU};
use std::ops::Range;
use wire::quality::SvQuality;

pub(crate) const RATE: u64 = 4000;

/// Phasors of the phases: currents in A, voltages in V.
pub(crate) type Phasors = [Complex; 6];

/// 50 Hz at 4000 samples a second: load, and a fault between two samples.
#[derive(Debug, Clone)]
pub(crate) struct Wave {
    pub(crate) load: Phasors,
    pub(crate) during: Phasors,
    pub(crate) fault: Range<u64>,
}

/// Load of 300 A at 20 kV.
pub(crate) fn load() -> Phasors {
    std::array::from_fn(|channel| {
        let turn = -120.0 * (channel % 3) as f64;
        match channel {
            0..3 => Complex::degrees(300.0, turn - 20.0),
            _ => Complex::degrees(11_547.0, turn),
        }
    })
}

/// Phase A to earth: its current in A and degrees, its voltage in V.
pub(crate) fn earth_fault(current: Complex, volt: f64) -> Phasors {
    let mut during = load();
    during[0] = current;
    during[3] = Complex::degrees(volt, 0.0);
    during
}

impl Default for Wave {
    /// A fault of 8 kA that never begins.
    fn default() -> Self {
        Self {
            load: load(),
            during: earth_fault(Complex::degrees(8000.0, -75.0), 2000.0),
            fault: u64::MAX..u64::MAX,
        }
    }
}

impl Wave {
    /// The eight channels at sample `n`.
    pub(crate) fn at(&self, n: u64) -> [f64; 8] {
        let phasors = if self.fault.contains(&n) {
            &self.during
        } else {
            &self.load
        };
        let [ia, ib, ic, ua, ub, uc] = phasors.map(|phasor| instant(phasor, n));
        [ia, ib, ic, ia + ib + ic, ua, ub, uc, ua + ub + uc]
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

/// An engine that is fed sample by sample, with a task each millisecond, and its events.
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

    /// One sampling instant: the sample of each stream, if it comes.
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

    /// Feeds only stream 0, up to sample `until`.
    pub(crate) fn feed(&mut self, wave: &Wave, until: u64) {
        while self.pushed < until {
            let next = sample(wave, self.pushed);
            self.step(&[Some(next)]);
        }
    }

    /// Checks that nothing started, operated or tripped.
    pub(crate) fn assert_quiet(&self, what: &str) {
        let acts = |event: &&Event| {
            let is_stream = matches!(event.subject, Subject::Stream(_));
            !is_stream && matches!(event.change, Change::Start(..) | Change::Operate(_) | Change::Backtrip)
        };
        assert_eq!(self.events.iter().find(acts), None, "{what}");
    }
}
