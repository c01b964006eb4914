//! Arbitrary input: no function panics, none operates on NaN, and no output contradicts itself.

mod common;

use common::balanced;
use proptest::prelude::*;
use protection::admittance::{OperationMode, Psde, PsdeSettings};
use protection::breaker::{Position, Rbrf, RbrfSettings};
use protection::differential::{Pdif, PdifSettings};
use protection::distance::{Pdis, PdisSettings};
use protection::frequency::{FrequencyLimit, FrequencyProtection, FrequencySettings};
use protection::measure::{Channel, Channels, Frequency, Measured, ORDERS, Reference, Tracker, TrackerSettings};
use protection::overcurrent::{Pioc, PiocSettings, Ptoc, PtocSettings};
use protection::power::{Mmxu, MmxuSettings, Msqi};
use protection::trip::{Ptrc, PtrcSettings};
use protection::voltage::{Ptov, PtovSettings, Ptuv, PtuvSettings};
use protection::{Complex, Function, Inputs, Phases, Rated, Source};

/// One of each, in every variant that has code of its own.
fn functions(rated: &Rated) -> Vec<Box<dyn Function>> {
    let ptoc = |text: &str| -> Box<dyn Function> {
        Box::new(Ptoc::new(toml::from_str::<PtocSettings>(text).unwrap(), rated).unwrap())
    };
    let pdis = |text: &str| -> Box<dyn Function> {
        Box::new(Pdis::new(toml::from_str::<PdisSettings>(text).unwrap(), rated).unwrap())
    };
    let mut functions: Vec<Box<dyn Function>> = vec![
        Box::new(Pioc::new(PiocSettings::default(), rated).unwrap()),
        ptoc("delay-ms = 0"),
        ptoc("curve = \"iec-normal-inverse\""),
        ptoc("curve = \"ieee-extremely-inverse\"\nreset = \"inverse\"\nminimum-ms = 0"),
        ptoc("quantity = \"residual\"\npickup = 0.1"),
        ptoc("quantity = \"negative-sequence\""),
        ptoc("delay-ms = 0\n[direction.phase]\npolarising = \"positive-sequence\"\nundecided = \"release\""),
        ptoc("quantity = \"phase-sum\"\ndelay-ms = 0\n[direction.earth]\nresidual-voltage = \"sum\""),
        ptoc("quantity = \"residual\"\ndelay-ms = 0\n[direction.earth]\nearthing = \"isolated\""),
        pdis(""),
        pdis("[shape.mho]\npolarising = \"own-voltage\""),
        pdis(
            "[load]\nresistance-ohm = 5\nangle-deg = 30\n[shape.quadrilateral]\nphase-resistance-ohm = 2\n\
             earth-resistance-ohm = 2\nbelow-deg = 15\nbeyond-deg = 115",
        ),
        Box::new(Pdif::new(PdifSettings::default(), rated).unwrap()),
        Box::new(
            Pdif::new(
                toml::from_str("[object.transformer]\nvector-group = \"Dyn11\"").unwrap(),
                rated,
            )
            .unwrap(),
        ),
        Box::new(Psde::new(PsdeSettings::default(), rated).unwrap()),
    ];
    for operation in [OperationMode::Intermittent, OperationMode::Alarming] {
        let settings = PsdeSettings {
            operation,
            harmonics: false,
            ..PsdeSettings::default()
        };
        functions.push(Box::new(Psde::new(settings, rated).unwrap()));
    }
    for limit in [
        FrequencyLimit::Under(49.0),
        FrequencyLimit::Over(51.0),
        FrequencyLimit::Rising(1.0),
        FrequencyLimit::Falling(1.0),
    ] {
        let settings = FrequencySettings {
            limit,
            ..FrequencySettings::default()
        };
        functions.push(Box::new(FrequencyProtection::new(settings, rated).unwrap()));
    }
    for quantity in ["phase-to-earth", "phase-to-phase", "positive-sequence"] {
        for curve in ["definite-time", "a", "b"] {
            let text = format!("quantity = \"{quantity}\"\ncurve = \"{curve}\"\ndelay-ms = 0");
            functions.push(Box::new(
                Ptuv::new(toml::from_str::<PtuvSettings>(&text).unwrap(), rated).unwrap(),
            ));
            functions.push(Box::new(
                Ptov::new(toml::from_str::<PtovSettings>(&text).unwrap(), rated).unwrap(),
            ));
        }
    }
    functions
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -3e4f64..3e4,
        1 => prop::sample::select(vec![
            0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 1e-300, 1e160,
        ]),
    ]
}

fn phasor() -> impl Strategy<Value = Complex> {
    (number(), number()).prop_map(|(re, im)| Complex::new(re, im))
}

prop_compose! {
    fn measured()(
        current in prop::array::uniform3(phasor()),
        voltage in prop::array::uniform3(phasor()),
        residual in prop::array::uniform2(phasor()),
        harmonics in prop::collection::vec((0usize..6, 0usize..8, phasor()), 0..12),
        rms in prop::array::uniform8(number()),
        hz in (any::<bool>(), number(), number(), 0u32..20),
        orders in any::<u8>(),
        derived in any::<bool>(),
        step in prop_oneof![Just(0u64), 1u64..100, Just(u64::MAX / 2)],
    ) -> (u64, Measured) {
        let mut set = Measured::of(0, current, voltage);
        set.residual_current = residual[0];
        set.residual_voltage = residual[1];
        for (row, channel, phasor) in harmonics {
            set.harmonics[row][channel] = phasor;
        }
        set.orders = orders & 0x3f;
        set.rms = rms;
        set.half_cycle_current = derived.then_some(current);
        let (known, hz, slope, cycles) = hz;
        set.frequency = known.then_some(Frequency { hz, hz_per_s: Some(slope), cycle_hz: hz, cycles });
        (step, set)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(sets in prop::collection::vec((measured(), measured()), 1..12)) {
        let rated = Rated::default();
        let mut functions = functions(&rated);
        let mut breaker = Rbrf::new(RbrfSettings::default(), &rated).unwrap();
        let mut trip = Ptrc::new(PtrcSettings::default(), &rated).unwrap();
        let mut power = Mmxu::new(MmxuSettings::default(), &rated).unwrap();
        let mut reference = Reference::new(&rated, 0);
        let mut tracker = Tracker::new(TrackerSettings::default(), &rated, rated.phase_voltage_v()).unwrap();
        let mut at = 0u64;
        for ((step, mut one), (_, mut other)) in sets {
            at = at.saturating_add(step);
            (one.at, other.at) = (at, at);
            for set in [&mut one, &mut other] {
                set.health.synch.value = 2;
            }
            let pair = [one, other];
            let inputs = Inputs::of(&pair);
            let is_bad = |phasors: &[Complex]| phasors.iter().any(|each| !each.is_finite());
            let bad_current = is_bad(&one.current) || is_bad(&other.current);
            let bad_loops = is_bad(&one.current) || is_bad(&one.voltage);
            let mut operated = Phases::NONE;
            for function in &mut functions {
                let output = function.step(&inputs);
                prop_assert!(output.started.contains(output.operated), "{}: {:?}", function.node(), output);
                prop_assert!(!output.blocked.any() || !output.started.any(), "{}: {:?}", function.node(), output);
                let bad = match function.node().class {
                    "PDIS" => bad_loops,
                    "PDIF" => bad_current,
                    _ => false,
                };
                prop_assert!(!(bad && output.operated.any()), "{}: {:?}", function.node(), output);
                operated |= output.operated;
            }
            let tripped = trip.step(at, operated, operated);
            breaker.step(&inputs, tripped.trip, Position::Closed);
            let _ = power.step(&inputs);
            let _ = Msqi::of(&inputs, Source::default());
            tracker.step(at, one.voltage_sequence.positive, true, &mut reference);
            prop_assert!((44.0..=56.0).contains(&reference.frequency_hz()));
        }
    }

    /// Any samples at all, through the whole chain.
    #[test]
    fn any_samples_are_survived(samples in prop::collection::vec(prop::array::uniform8(number()), 1..400), gap in 0u64..500) {
        let mut rig = common::Rig::new(Rated::default(), &protection::measure::BaySettings {
            harmonics: ORDERS[1..].to_vec(),
            ..Default::default()
        }, true);
        let mut functions = functions(&rig.rated);
        for (n, sample) in samples.into_iter().enumerate() {
            if n == 100 {
                for _ in 0..gap {
                    rig.reference.advance();
                }
            }
            let set = *rig.push(sample);
            prop_assert!(set.harmonics.iter().flatten().all(|each| each.is_finite()));
            prop_assert!(rig.bay.half_cycle(&rig.reference).iter().all(|each| each.is_finite()));
            for function in &mut functions {
                function.step(&Inputs::of(&[set, set]));
            }
        }
    }
}

/// A healthy feeder, for ten seconds with everything: nothing starts but what is set to.
#[test]
fn health_starts_nothing() {
    let rated = Rated::default();
    let mut functions = functions(&rated);
    let mut set = Measured::of(0, balanced(800.0, -25.0), balanced(rated.phase_voltage_v(), 0.0));
    for order in ORDERS {
        set.set_phasor(Channel::IN, order, Complex::ZERO);
    }
    set.rms[Channel::IN as usize] = 0.0;
    set.health.synch.value = 2;
    for task in 0..10_000u64 {
        set.at = 4 * task;
        set.frequency = Some(Frequency {
            hz: 50.01,
            hz_per_s: Some(0.01),
            cycle_hz: 50.01,
            cycles: task as u32 / 20,
        });
        let mut remote = set;
        remote.current = set.current.map(|each| -each);
        for function in &mut functions {
            if function.node().ansi == "87T" {
                continue;
            }
            let output = function.step(&Inputs::of(&[set, remote]));
            assert!(
                !output.started.any() && !output.blocked.any(),
                "{}: {output:?}",
                function.node()
            );
        }
    }
    assert_eq!(set.health.bad, Channels::NONE);
}
