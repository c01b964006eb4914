//! A fault for which any relay that receives the stream trips. It shows that a relay that stayed quiet was able to trip.

use super::{Expect, Scenario, Selection, Wave};
use crate::synth::{Decay, Operating, State, Synth, symmetrical};
use wire::quality::SvQuality;

/// Multiple of the load current, and smallest current in A: above every instantaneous stage, even on a line without load.
const TIMES: f64 = 10.0;
const LEAST_A: f64 = 4_000.0;

/// Remaining share of the voltages, and lag of the currents: a close fault in the direction of the line.
const REMAINS: f64 = 0.3;
const LAG_DEG: f64 = 80.0;

/// Duration in ns: longer than a relay without a delay needs, shorter than the delay of delayed zones.
const LASTS_NS: u64 = 200_000_000;

/// Typical for a line of 110 kV.
const TIME_CONSTANT_NS: u64 = 45_000_000;

const NAME: &str = "ABC";

impl Scenario {
    /// A three-phase fault starting from the steady state of `wave`; for a record, whose phasors are unknown, from 20 kV and 400 A. Of two sides, the near
    /// one feeds it.
    #[must_use]
    pub fn plain_fault(wave: &Wave) -> Self {
        let wave = match wave {
            Wave::Sides(sides) => Wave::Sides(Box::new([begun(&sides[0], true), begun(&sides[1], false)])),
            one => begun(one, true),
        };
        Self {
            name: "plain fault".to_owned(),
            what: "Three-phase fault of 10 times the load current, voltages at 30 %".to_owned(),
            wave,
            fault: NAME.to_owned(),
            expect: Expect::Trip {
                within_ns: None,
                soonest_ns: None,
            },
            selection: Selection::default(),
            flaw: None,
            notes: Vec::new(),
        }
    }
}

/// The steady state of a wave, and then a state with or without the fault.
fn begun(wave: &Wave, has_fault: bool) -> Wave {
    let steady = steady(wave);
    let operating = match has_fault {
        true => faulted(&steady.nominal),
        false => steady.nominal.clone(),
    };
    let fault = State {
        duration_ns: Some(LASTS_NS),
        decay: has_fault.then_some(Decay {
            percent: 100.0,
            time_constant_ns: TIME_CONSTANT_NS,
        }),
        quality: SvQuality::GOOD,
        ..State::steady(NAME, operating)
    };
    Wave::Synth(Synth {
        states: vec![fault],
        clears: true,
        ..steady
    })
}

fn steady(wave: &Wave) -> Synth {
    match wave.steady() {
        Wave::Synth(synth) => synth,
        Wave::Simulated(simulated) => simulated.steady(),
        Wave::Record(replayed) => Synth {
            nominal: Operating {
                frequency_hz: replayed.frequency_hz(),
                ..Operating::default()
            },
            ..Synth::default()
        },
        Wave::Sides(sides) => steady(&sides[0]),
    }
}

fn faulted(steady: &Operating) -> Operating {
    let current_a = steady.currents_a.into_iter().fold(0.0, f64::max);
    Operating {
        frequency_hz: steady.frequency_hz,
        currents_a: [LEAST_A.max(TIMES * current_a); 3],
        current_angles_deg: symmetrical(steady.voltage_angles_deg[0] - LAG_DEG),
        voltages_v: steady.voltages_v.map(|voltage| REMAINS * voltage),
        voltage_angles_deg: steady.voltage_angles_deg,
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_A, NAME};
    use crate::sample::Sampling;
    use crate::scenario::{Scenario, Wave, find};
    use crate::synth::{Operating, Synth};

    #[test]
    fn it_begins_in_the_steady_state_of_any_scenario() {
        let sampling = Sampling::new(4_800);
        for name in ["load", "inrush", "fuse-failure", "zone1-outside"] {
            let scenario = find(name, &sampling).expect(name);
            let fault = Scenario::plain_fault(&scenario.wave);
            assert_eq!(fault.wave.steady(), scenario.wave.steady(), "{name}");
            let shot = fault.shot(&sampling, 480, 0.0, 1).expect(name);
            // Poles open within two cycles of the end.
            assert!(
                shot.fault == 480 && (480 + 960..480 + 1_152).contains(&shot.end),
                "{name}"
            );
        }
    }

    #[test]
    fn it_is_a_large_current_at_the_frequency_of_the_stream() {
        let synth = |currents_a: f64| Synth {
            nominal: Operating {
                frequency_hz: 60.0,
                currents_a: [currents_a; 3],
                ..Operating::default()
            },
            ..Synth::default()
        };
        for (load_a, fault_a) in [(0.0, LEAST_A), (1_000.0, 10_000.0)] {
            let fault = Scenario::plain_fault(&Wave::Synth(synth(load_a)));
            assert!(fault.wants_trip() && fault.fault == NAME);
            let Wave::Synth(Synth { states, .. }) = &fault.wave else {
                panic!("a record")
            };
            let state = &states[0].operating;
            assert_eq!((state.frequency_hz, state.currents_a[0]), (60.0, fault_a));
        }
    }
}
