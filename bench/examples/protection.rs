//! Run time of a 1 ms protection task over many streams: `cargo run --release -p triptime-bench --example protection -- [STREAMS] [SECONDS]`.
//!
//! Every stream has 4800 samples a second at 60 Hz with eight channels, and a function set like that of the published
//! virtual protection and control application: overcurrent of phases, residual and negative sequence, directional, under- and
//! overvoltage, frequency, three distance zones, multi-frequency admittance, breaker failure, measurement; every two streams
//! share a differential function. Once a second all streams have a fault of 100 ms at once.
//!
//! Targets on one core if nothing else runs, with 30 streams: median at most 60 us, 99.99 % at most 200 us.

#![allow(clippy::print_stdout, reason = "it is what it is for")]

use std::f64::consts::{SQRT_2, TAU};
use std::time::Instant;

use protection::admittance::{Psde, PsdeSettings};
use protection::breaker::{Position, Rbrf, RbrfSettings};
use protection::differential::{Pdif, PdifSettings};
use protection::direction::{EarthDirectionSettings, EarthMode, PhaseDirectionSettings};
use protection::distance::{Pdis, PdisSettings};
use protection::frequency::{FrequencyLimit, FrequencyProtection, FrequencySettings};
use protection::measure::Synch;
use protection::measure::{Bay, BaySettings, Channels, Measured, ORDERS, Reference, Tracker, TrackerSettings};
use protection::overcurrent::{CurrentQuantity, Curve, Pioc, PiocSettings, Ptoc, PtocDirection, PtocSettings};
use protection::power::{Mmxu, MmxuSettings};
use protection::supervision::{Lsvs, SampleSupervision};
use protection::trip::{Ptrc, PtrcSettings};
use protection::voltage::{Ptov, PtovSettings, Ptuv, PtuvSettings, VoltageQuantity};
use protection::{Complex, Function, Inputs, Phases, Rated, SettingError, Source};

/// Samples of one second.
const RATE: usize = 4800;

struct Stream {
    bay: Bay,
    supervision: Lsvs,
    functions: Vec<Box<dyn Function>>,
    trip: Ptrc,
    breaker: Rbrf,
    power: Mmxu,
}

fn functions(set: usize, rated: &Rated) -> Result<Vec<Box<dyn Function>>, SettingError> {
    let source = Source::of(set);
    let ptoc = |quantity, pickup, curve, direction| {
        let settings = PtocSettings {
            source,
            quantity,
            pickup,
            curve,
            direction,
            ..PtocSettings::default()
        };
        Ptoc::new(settings, rated)
    };
    let frequency = |limit| {
        FrequencyProtection::new(
            FrequencySettings {
                source,
                limit,
                ..FrequencySettings::default()
            },
            rated,
        )
    };
    let zone = |zone, reach_ohm, delay| {
        let settings = PdisSettings {
            source,
            zone,
            reach_ohm,
            phase_delay_ms: delay,
            earth_delay_ms: delay,
            ..PdisSettings::default()
        };
        Pdis::new(settings, rated)
    };
    let earth = EarthDirectionSettings {
        earthing: EarthMode::Isolated,
        ..EarthDirectionSettings::default()
    };
    let residual_voltage = PtovSettings {
        source,
        quantity: VoltageQuantity::Residual,
        pickup: 0.3,
        ..PtovSettings::default()
    };
    let inverse = Curve::IecNormalInverse;
    Ok(vec![
        Box::new(Pioc::new(
            PiocSettings {
                source,
                ..PiocSettings::default()
            },
            rated,
        )?),
        Box::new(ptoc(CurrentQuantity::Phases, 1.2, inverse, PtocDirection::None)?),
        Box::new(ptoc(CurrentQuantity::Residual, 0.2, inverse, PtocDirection::None)?),
        Box::new(ptoc(
            CurrentQuantity::NegativeSequence,
            0.2,
            inverse,
            PtocDirection::None,
        )?),
        Box::new(ptoc(
            CurrentQuantity::Phases,
            2.0,
            Curve::DefiniteTime,
            PtocDirection::Phase(PhaseDirectionSettings::default()),
        )?),
        Box::new(ptoc(
            CurrentQuantity::Residual,
            0.05,
            Curve::DefiniteTime,
            PtocDirection::Earth(earth),
        )?),
        Box::new(Ptuv::new(
            PtuvSettings {
                source,
                ..PtuvSettings::default()
            },
            rated,
        )?),
        Box::new(Ptov::new(
            PtovSettings {
                source,
                ..PtovSettings::default()
            },
            rated,
        )?),
        Box::new(Ptov::new(residual_voltage, rated)?),
        Box::new(frequency(FrequencyLimit::Under(58.5))?),
        Box::new(frequency(FrequencyLimit::Over(61.5))?),
        Box::new(frequency(FrequencyLimit::Falling(1.0))?),
        Box::new(zone(1, 3.2, 0.0)?),
        Box::new(zone(2, 4.8, 300.0)?),
        Box::new(zone(3, 8.0, 800.0)?),
        Box::new(Psde::new(
            PsdeSettings {
                source,
                ..PsdeSettings::default()
            },
            rated,
        )?),
    ])
}

fn stream(set: usize, rated: &Rated) -> Result<Stream, SettingError> {
    let measuring = BaySettings {
        harmonics: ORDERS[1..].to_vec(),
        ..BaySettings::default()
    };
    let source = Source::of(set);
    let mut functions = functions(set, rated)?;
    if set % 2 == 1 {
        let sides = [set - 1, set];
        functions.push(Box::new(Pdif::new(
            PdifSettings {
                sides,
                ..PdifSettings::default()
            },
            rated,
        )?));
    }
    Ok(Stream {
        bay: Bay::new(&measuring, rated)?,
        supervision: Lsvs::new(SampleSupervision::default(), rated)?,
        functions,
        trip: Ptrc::new(PtrcSettings::default(), rated)?,
        breaker: Rbrf::new(
            RbrfSettings {
                source,
                ..RbrfSettings::default()
            },
            rated,
        )?,
        power: Mmxu::new(
            MmxuSettings {
                source,
                ..MmxuSettings::default()
            },
            rated,
        )?,
    })
}

/// One second: load, and a fault of 100 ms in phase A to earth. At the far end of a line (`sign` -1) the currents flow out of it.
fn second(rated: &Rated, sign: f64) -> Vec<[f64; 8]> {
    let value = |phasor: Complex, n: usize| {
        SQRT_2 * phasor.norm() * (TAU * (60 * n % RATE) as f64 / RATE as f64 + phasor.arg()).cos()
    };
    (0..RATE)
        .map(|n| {
            let fault = (2400..2880).contains(&n);
            let mut sample = [0.0; 8];
            for phase in 0..3 {
                let turn = -120.0 * phase as f64;
                let (current, voltage) = match (fault, phase) {
                    (true, 0) => (8000.0, 0.3),
                    _ => (400.0, 1.0),
                };
                let lag = if current > 1000.0 { -75.0 } else { -20.0 };
                sample[phase] = sign * value(Complex::degrees(current, turn + lag), n);
                sample[4 + phase] = value(Complex::degrees(voltage * rated.phase_voltage_v(), turn), n);
            }
            sample[3] = sample[0] + sample[1] + sample[2];
            sample[7] = sample[4] + sample[5] + sample[6];
            sample
        })
        .collect()
}

/// Time of each task in ns over `seconds`, and the number of tasks with a trip.
fn run(count: usize, seconds: usize) -> Result<(Vec<u64>, u64), SettingError> {
    let rated = Rated {
        frequency_hz: 60.0,
        samples_per_second: RATE as f64,
        ..Rated::default()
    };
    let ends = [second(&rated, 1.0), second(&rated, -1.0)];
    let mut reference = Reference::new(&rated, 0);
    let mut tracker = Tracker::new(TrackerSettings::default(), &rated, rated.phase_voltage_v())?;
    let mut streams = (0..count)
        .map(|set| stream(set, &rated))
        .collect::<Result<Vec<_>, _>>()?;
    let mut sets = vec![Measured::default(); count];
    let mut taken = Vec::with_capacity(seconds * 1000);
    let (mut first, mut trips) = (0u64, 0u64);
    for task in 0..seconds * 1000 {
        let next = ((task + 1) * RATE / 1000) as u64;
        let begun = Instant::now();
        for _ in first..next {
            reference.advance();
        }
        for (index, (stream, set)) in streams.iter_mut().zip(&mut sets).enumerate() {
            let samples = &ends[index % 2];
            for at in first..next {
                stream.supervision.received(at, Synch::GLOBAL, false, false);
                stream
                    .bay
                    .push(&reference, at, &samples[at as usize % RATE], Channels::NONE);
            }
            stream.bay.measure(&reference, set);
            stream.supervision.apply(set);
            if stream.breaker.is_started() {
                set.half_cycle_current = Some(stream.bay.half_cycle(&reference));
            }
            set.frequency = tracker.frequency();
        }
        if let Some(set) = sets.first() {
            tracker.step(
                set.at,
                set.voltage_sequence.positive,
                !set.health.stream.any(),
                &mut reference,
            );
        }
        let inputs = Inputs::of(&sets);
        for stream in &mut streams {
            let (mut started, mut operated) = (Phases::NONE, Phases::NONE);
            for function in &mut stream.functions {
                let output = function.step(&inputs);
                started |= output.started;
                operated |= output.operated;
            }
            let tripped = stream.trip.step(next, started, operated);
            stream.breaker.step(&inputs, tripped.trip, Position::Closed);
            let _ = stream.power.step(&inputs);
            trips += u64::from(tripped.trip.any());
        }
        taken.push(begun.elapsed().as_nanos() as u64);
        first = next;
    }
    Ok((taken, trips))
}

fn main() -> Result<(), SettingError> {
    let mut arguments = std::env::args().skip(1).map(|each| each.parse().unwrap_or(1));
    let wanted = arguments.next();
    let seconds = arguments.next().unwrap_or(10);
    println!("streams  tasks   median us  99 % us  99.99 % us  max us  trips");
    let counts = wanted.map_or_else(|| vec![1, 30, 100, 200, 400, 600], |count| vec![count]);
    for count in counts {
        let (mut taken, trips) = run(count, seconds)?;
        taken.sort_unstable();
        let quantile = |share: f64| {
            let rank = (share * taken.len() as f64).ceil() as usize;
            taken[rank.clamp(1, taken.len()) - 1] as f64 / 1000.0
        };
        println!(
            "{count:7}  {:5}  {:10.1}  {:7.1}  {:10.1}  {:6.1}  {trips}",
            taken.len(),
            quantile(0.5),
            quantile(0.99),
            quantile(0.9999),
            quantile(1.0)
        );
    }
    Ok(())
}
