//! A type test without a network: plays the shots of `triptime trip --type-test` through the engine in simulated time.
//!
//! Each shot starts a new relay, and has the steady state until the relay has settled, and then the fault. The same relay and the
//! same seed give the same outcome. The additional times of a relay on a host (frames, wake-up, GOOSE) are not included.
//! A ramp watches the start of the functions, and its reset.

use crate::config::{CHANNELS, Config};
use crate::engine::{Engine, Sample};
use crate::error::ReplayError;
use crate::events::{Change, Event, Subject};
use model::{Outcome, Shot};
use waveform::sample::Sampling;
use waveform::scenario::{self, Expect};
use waveform::type_test::{Search, ShotPlace, TestShot, TypeTest};
use wire::quality::SvQuality;

/// Length of the steady state before each fault, in ns: by then the memory of a voltage and every measurement have settled.
const SETTLE_NS: u64 = 400_000_000;

/// Time for which the relay is watched after the fault, in ns.
const AFTER_NS: u64 = 100_000_000;

/// Bytes of a member: its value and its quality.
const MEMBER: usize = 8;

/// Value of the unit of a member, in A or V: as in 9-2LE and IEC 61869-9.
const CURRENT_A: f64 = 0.001;
const VOLTAGE_V: f64 = 0.01;

/// The state of a relay that a test watches.
enum Watched {
    /// The first trip.
    Trip,
    /// The start of any of these functions.
    Start(Vec<usize>),
}

/// Samples of a task at which the watched state was first set, and at which it was next reset.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    set: Option<u64>,
    reset: Option<u64>,
}

/// Plays all shots of a test through the first trip of a relay, with all samples in its first stream, those of a far side in its second. `at_ns` of a shot counts
/// from the start of the shot. The time of a trip is that of the task's last sample, without additions.
///
/// # Errors
/// The relay has no trip, or no function of the name that a ramp asks for, or its stream cannot represent a signal.
pub fn type_test(config: &Config, test: &TypeTest, seed: u64) -> Result<Vec<Shot>, ReplayError> {
    let Some(stream) = config.streams.first().filter(|_| !config.trips.is_empty()) else {
        return Err(ReplayError::Nothing(
            "the relay has no stream, or no trip, for a test".into(),
        ));
    };
    let sampling = Sampling::new(stream.spec.rate);
    if config.streams.len() < test.reference().wave.sides() {
        return Err(ReplayError::Nothing(
            "the test has two sides, and the relay one stream: give it a function of two sides".into(),
        ));
    }
    let watched = Watched::of(config, test)?;
    if let Some(search) = test.search() {
        return searched((config, &watched), &sampling, test, search);
    }
    let places = test.places(seed);
    let shots = (1..)
        .zip(places)
        .map(|(number, place)| one((config, &watched), &sampling, test, number, place));
    shots.collect()
}

/// Plays a search, whose shots follow from the outcomes before them.
fn searched(
    (config, watched): (&Config, &Watched),
    sampling: &Sampling,
    test: &TypeTest,
    mut search: Search,
) -> Result<Vec<Shot>, ReplayError> {
    let mut shots = Vec::new();
    while let Some(place) = search.shot() {
        let shot = one((config, watched), sampling, test, shots.len() as u64 + 1, place)?;
        search.take(shot.edge_tripped());
        shots.push(shot);
    }
    Ok(shots)
}

impl Watched {
    fn of(config: &Config, test: &TypeTest) -> Result<Self, ReplayError> {
        if !test.is_ramp() {
            return Ok(Self::Trip);
        }
        let Some(name) = test.ramp_function() else {
            let functions = config.trips.first().map(|trip| trip.functions.clone());
            return Ok(Self::Start(functions.unwrap_or_default()));
        };
        let found = config.functions.iter().position(|function| function.name == name);
        found.map(|number| Self::Start(vec![number])).ok_or_else(|| {
            let names: Vec<&str> = config.functions.iter().map(|function| function.name.as_str()).collect();
            ReplayError::Nothing(format!(
                "the relay has no function \"{name}\", which the test watches: its functions are {}",
                names.join(", ")
            ))
        })
    }

    /// Takes a change, with the functions that are started; returns the state, if the change concerns it.
    fn take(&self, event: &Event, started: &mut Vec<usize>) -> Option<bool> {
        match (self, event.subject, event.change) {
            (Self::Trip, Subject::Trip(0), Change::Operate(_)) => Some(true),
            (Self::Trip, Subject::Trip(0), Change::Reset) => Some(false),
            (Self::Start(functions), Subject::Function(number), change) if functions.contains(&number) => {
                match change {
                    Change::Start(..) if !started.contains(&number) => started.push(number),
                    Change::Reset => started.retain(|other| *other != number),
                    _ => {}
                }
                Some(!started.is_empty())
            }
            _ => None,
        }
    }
}

fn one(
    (config, watched): (&Config, &Watched),
    sampling: &Sampling,
    test: &TypeTest,
    number: u64,
    place: ShotPlace,
) -> Result<Shot, ReplayError> {
    let asked = test.shot(place);
    let step_deg = 360.0 * asked.scenario.wave.frequency_hz() / f64::from(sampling.rate);
    let settled = SETTLE_NS * u64::from(sampling.rate) / 1_000_000_000;
    // A case without a wanted point begins at a different point each time.
    let least = settled + number * 7 % 96;
    let lead = least + asked.point.samples_until(phase_deg(least, step_deg), step_deg);
    let shot = asked.scenario.shot(sampling, lead, 0.0, number)?;
    let Seen { set: trip, reset } = played(config, watched, sampling, &shot)?;
    let ns = |sample: u64| sample as f64 / f64::from(sampling.rate) * 1e9;
    Ok(Shot {
        number,
        at_ns: ns(shot.fault) as u64,
        name: asked.scenario.name.clone(),
        watched_ns: None,
        uncertain_ns: None,
        point_deg: Some(asked.point.deg(phase_deg(shot.fault, step_deg))),
        outcome: outcome(&asked, trip, &shot),
        trip_ns: trip.map(|at| (ns(at) - ns(shot.fault)).round() as i64),
        reset_ns: reset.map(|at| (ns(at) - ns(shot.fault)).round() as i64),
        cell: Some(asked.cell),
    })
}

fn phase_deg(sample: u64, step_deg: f64) -> f64 {
    (sample as f64 * step_deg).rem_euclid(360.0)
}

fn outcome(asked: &TestShot, trip: Option<u64>, shot: &scenario::Shot) -> Outcome {
    match (asked.scenario.expect, trip) {
        (_, Some(at)) if at > shot.end => Outcome::Late,
        (Expect::NoTrip, Some(_)) => Outcome::False,
        (_, Some(at)) if at < shot.fault => Outcome::Early,
        (_, Some(_)) => Outcome::Tripped,
        (Expect::Trip { .. }, None) => Outcome::Failed,
        (_, None) => Outcome::Quiet,
    }
}

/// Last samples of the tasks in which the watched state was first set, and then reset; the reset only of a start.
fn played(config: &Config, watched: &Watched, sampling: &Sampling, shot: &scenario::Shot) -> Result<Seen, ReplayError> {
    let (mut seen, mut started) = (Seen::default(), Vec::new());
    let mut engine = Engine::new(config)?;
    let rate = u64::from(sampling.rate);
    let end = shot.end + AFTER_NS * rate / 1_000_000_000;
    let (mut pushed, mut tasks) = (0, 0_u64);
    while pushed < end {
        tasks += 1;
        let due = u128::from(tasks) * u128::from(config.task_ns) * u128::from(rate) / 1_000_000_000;
        let up_to = u64::try_from(due).unwrap_or(u64::MAX).min(end);
        for number in pushed..up_to {
            for side in 0..shot.wave.sides() {
                engine.push(side, &sample(shot, number, rate, side));
            }
        }
        pushed = up_to;
        let decided = engine.task(pushed);
        for event in decided.events {
            match watched.take(event, &mut started) {
                Some(true) => seen.set = seen.set.or(Some(event.at)),
                Some(false) if seen.set.is_some() => seen.reset = seen.reset.or(Some(event.at)),
                _ => {}
            }
        }
        let is_over = match watched {
            Watched::Trip => seen.set.is_some(),
            Watched::Start(_) => seen.reset.is_some(),
        };
        if is_over {
            break;
        }
    }
    Ok(seen)
}

fn sample(shot: &scenario::Shot, number: u64, rate: u64, side: usize) -> Sample {
    let octets = shot.table.seq_data(number);
    let octets = octets.get(MEMBER * CHANNELS.len() * side..).unwrap_or_default();
    let value = |channel: usize| {
        let scale = if channel < CHANNELS.len() / 2 {
            CURRENT_A
        } else {
            VOLTAGE_V
        };
        let member = octets.get(MEMBER * channel..).and_then(|rest| rest.first_chunk());
        member.map_or(f64::NAN, |octets| f64::from(i32::from_be_bytes(*octets)) * scale)
    };
    Sample {
        smp_cnt: (number % rate) as u16,
        values: std::array::from_fn(value),
        quality: [SvQuality::GOOD; 8],
        smp_synch: 2,
        simulated: false,
        conflicting: false,
    }
}
