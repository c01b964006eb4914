//! Scenarios of the test set, played through a relay in simulated time.

use protection::Phases;
use relay::config::{Config, parse};
use relay::events::{Change, Subject};
use relay::{Engine, Sample};
use waveform::sample::Sampling;
use waveform::scenario::{Expect, Scenario, Shot, find};
use wire::quality::SvQuality;

const RATE: u64 = 4_800;

/// Number of instants at which a fault begins, spread over a cycle.
const INSTANTS: u64 = 20;

/// Steady state before the fault, and the time for which the relay is watched after it, in samples.
const SETTLE: u64 = 2_400;
const AFTER: u64 = 480;

/// A shot, and what the relay did.
#[derive(Debug)]
pub(crate) struct Outcome {
    expect: Expect,
    phases: Option<[bool; 3]>,
    /// Number of the instant in the cycle, for messages.
    #[allow(dead_code, reason = "shown by Debug")]
    instant: u64,
    /// The trip, in ns after the first faulted sample.
    trip_ns: Option<i64>,
    /// Phases of the first function at the end of the fault.
    tripped: [bool; 3],
    lasts_ns: i64,
}

impl Outcome {
    /// The reason why it is not what the scenario expects.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        match (self.expect, self.trip_ns) {
            (Expect::NoTrip, Some(_)) => Some("tripped"),
            (Expect::NoTrip, None) | (Expect::Either, _) => None,
            (Expect::Trip { .. }, None) => Some("no trip"),
            (Expect::Trip { within_ns, soonest_ns }, Some(ns)) => {
                let latest = within_ns.map_or(self.lasts_ns, |ns| ns.cast_signed());
                let soonest = soonest_ns.map_or(0, u64::cast_signed);
                match () {
                    () if ns < soonest => Some("too early"),
                    () if ns > latest => Some("too late"),
                    () if self.phases.is_some_and(|phases| phases != self.tripped) => Some("wrong phases"),
                    () => None,
                }
            }
        }
    }
}

/// A relay with one trip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Set {
    /// Rated current in A, and voltage from phase to phase in V.
    pub(crate) rated: [u32; 2],
    /// Further keys of its stream.
    pub(crate) stream: &'static str,
    /// Its functions: name and settings.
    pub(crate) functions: &'static [(&'static str, &'static str)],
    /// Settings of the breaker failure function, whose back-trip is then the trip that counts; empty without it.
    pub(crate) breaker: &'static str,
    /// Scenarios for which it is set.
    pub(crate) scenarios: &'static [&'static str],
}

impl Set {
    /// The same, with these functions, for these scenarios.
    pub(crate) const fn plays(
        self,
        functions: &'static [(&'static str, &'static str)],
        scenarios: &'static [&'static str],
    ) -> Self {
        Self {
            functions,
            scenarios,
            ..self
        }
    }

    /// The same, with these keys of its stream.
    pub(crate) const fn stream(self, stream: &'static str) -> Self {
        Self { stream, ..self }
    }

    /// The same, with this breaker failure function.
    pub(crate) const fn breaker(self, breaker: &'static str) -> Self {
        Self { breaker, ..self }
    }
}

fn relay(set: &Set) -> Config {
    let ([amps, volts], stream) = (set.rated, set.stream);
    let functions: String = set
        .functions
        .iter()
        .map(|(name, settings)| format!("[[function]]\nname = \"{name}\"\nsettings.{settings}\n"))
        .collect();
    let breaker = match set.breaker {
        "" => String::new(),
        settings => format!("breaker-failure.settings = {{ {settings} }}\n"),
    };
    let text = format!(
        "[relay]\nname = \"R\"\n[rated]\ncurrent-a = {amps}\nvoltage-v = {volts}\n[[stream]]\nname = \"bay1\"\n\
         sv = {{ svID = \"MU01\", profile = \"F4800S1I4U4\" }}\n{stream}\n{functions}[[trip]]\nname = \"Q0\"\n{breaker}"
    );
    parse(&text, "relay.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The scenario, at every instant of a cycle.
pub(crate) fn outcomes(set: &Set, name: &str) -> impl Iterator<Item = Outcome> {
    outcomes_of(set, found(name))
}

/// The built-in scenario of this name.
pub(crate) fn found(name: &str) -> Scenario {
    find(name, &Sampling::new(RATE as u32)).unwrap_or_else(|error| panic!("{error}"))
}

/// This scenario, at every instant of a cycle.
pub(crate) fn outcomes_of(set: &Set, scenario: Scenario) -> impl Iterator<Item = Outcome> {
    let (config, backtrip) = (relay(set), !set.breaker.is_empty());
    let sampling = Sampling::new(RATE as u32);
    (0..INSTANTS).map(move |instant| {
        // Instants that divide neither a cycle nor a task.
        let lead = SETTLE + instant * 96 / INSTANTS + 7 * instant;
        let shot = scenario.shot(&sampling, lead, 0.0, instant).expect("a shot");
        played(&config, backtrip, &scenario, &shot, instant)
    })
}

fn played(config: &Config, backtrip: bool, scenario: &Scenario, shot: &Shot, instant: u64) -> Outcome {
    let mut engine = Engine::new(config).expect("an engine");
    let (mut trip, mut tripped) = (None, Phases::NONE);
    let end = shot.end + AFTER;
    for from in (0..end).step_by(5) {
        for number in from..from + 5 {
            for side in 0..scenario.wave.sides() {
                engine.push(side, &sample(shot, number, side));
            }
        }
        for event in engine.task(from + 5).events {
            match (event.subject, event.change) {
                (Subject::Trip(0), Change::Operate(_)) if !backtrip => trip = trip.or(Some(event.at)),
                (Subject::Breaker(0), Change::Backtrip) if backtrip => trip = trip.or(Some(event.at)),
                (Subject::Function(_), Change::Operate(phases)) if event.at < shot.end => {
                    tripped = Phases::of_bits(tripped.bits() | phases.bits());
                }
                _ => {}
            }
        }
    }
    let ns = |samples: i64| samples * 1_000_000_000 / RATE.cast_signed();
    Outcome {
        expect: scenario.expect,
        phases: scenario.selection.phases,
        instant,
        trip_ns: trip.map(|at| ns(at.cast_signed() - shot.fault.cast_signed())),
        tripped: [Phases::A, Phases::B, Phases::C].map(|phase| tripped.contains(phase)),
        lasts_ns: ns((shot.end - shot.fault).cast_signed()),
    }
}

fn sample(shot: &Shot, number: u64, side: usize) -> Sample {
    let octets = &shot.table.seq_data(number)[64 * side..];
    let member = |channel: usize| octets[8 * channel..].first_chunk::<8>().expect("a member");
    let value = |channel: usize| {
        let [a, b, c, d, ..] = *member(channel);
        // 1 mA, 10 mV.
        f64::from(i32::from_be_bytes([a, b, c, d])) * if channel < 4 { 0.001 } else { 0.01 }
    };
    let quality = |channel: usize| {
        let [.., a, b, c, d] = *member(channel);
        SvQuality(u32::from_be_bytes([a, b, c, d]))
    };
    Sample {
        smp_cnt: (number % RATE) as u16,
        values: std::array::from_fn(value),
        quality: std::array::from_fn(quality),
        smp_synch: 2,
        simulated: false,
        conflicting: false,
    }
}
