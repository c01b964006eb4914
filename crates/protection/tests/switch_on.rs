//! Switch-on-to-fault: a dead line that is energised on a fault.

mod common;

use common::{Rig, balanced, eight, rated};
use protection::measure::{BaySettings, Blocks};
use protection::overcurrent::{Psof, PsofSettings};
use protection::{Complex, Function, Inputs, Phases};

const RATE: f64 = 4000.0;

type State = ([Complex; 3], [Complex; 3]);

const DEAD: State = ([Complex::ZERO; 3], [Complex::ZERO; 3]);

fn well(current: f64) -> State {
    (balanced(current, -25.0), balanced(11_547.0, 0.0))
}

/// Currents of 6 kA in these phases, whose voltages are gone but for 10 V.
fn fault(phases: Phases) -> State {
    let (mut current, mut voltage) = well(0.0);
    for phase in 0..3 {
        if phases.contains(Phases::EACH[phase]) {
            current[phase] = balanced(6000.0, -80.0)[phase];
            voltage[phase] = balanced(10.0, 0.0)[phase];
        }
    }
    (current, voltage)
}

/// Phases, and ms after the last state began, of the first operation.
fn operates(states: &[(u64, State)]) -> Option<(Phases, f64)> {
    operates_past(states, 0..0)
}

/// The same, with the stream blocked during these samples.
fn operates_past(states: &[(u64, State)], blocked: std::ops::Range<u64>) -> Option<(Phases, f64)> {
    let rated = rated(RATE, 50.0);
    let mut rig = Rig::new(rated, &BaySettings::default(), true);
    let mut function = Psof::new(PsofSettings::default(), &rated).expect("settings");
    let (mut n, mut found) = (0, None);
    for (samples, (current, voltage)) in states {
        let begins = n;
        for _ in 0..*samples {
            let mut set = *rig.push(eight(*current, *voltage, 50.0, RATE, n));
            set.health.stream |= Blocks::LOST.when(blocked.contains(&n));
            n += 1;
            if n % 4 == 0 && found.is_none() {
                let output = function.step(&Inputs::of(&[set]));
                found = output
                    .operated
                    .any()
                    .then(|| (output.operated, (n - begins) as f64 * 1000.0 / RATE));
            }
        }
    }
    found
}

#[test]
fn a_line_energised_on_a_fault_trips() {
    for phases in [Phases::ABC, Phases::A, Phases::B | Phases::C] {
        let (found, ms) = operates(&[(1600, DEAD), (800, fault(phases))]).expect("a trip");
        assert_eq!(found, phases);
        assert!((25.0..=40.0).contains(&ms), "{ms}");
    }
}

#[test]
fn a_healthy_line_is_energised() {
    // Load above the setting, and inrush: high current at high voltage.
    for current in [0.0, 500.0, 3000.0] {
        assert_eq!(operates(&[(1600, DEAD), (4000, well(current))]), None, "{current} A");
    }
}

#[test]
fn it_is_ready_only_after_a_dead_line_and_for_its_time() {
    let faulted = fault(Phases::ABC);
    assert_eq!(
        operates(&[(1600, well(500.0)), (800, faulted)]),
        None,
        "a fault in service"
    );
    assert_eq!(operates(&[(500, DEAD), (800, faulted)]), None, "dead for too short");
    assert_eq!(
        operates(&[(1600, DEAD), (4800, well(500.0)), (800, faulted)]),
        None,
        "1.2 s later"
    );
    assert!(
        operates(&[(1600, DEAD), (2000, well(500.0)), (800, faulted)]).is_some(),
        "0.5 s later"
    );
}

#[test]
fn it_is_blocked_without_voltages() {
    let rated = rated(RATE, 50.0);
    let mut function = Psof::new(PsofSettings::default(), &rated).expect("settings");
    let mut set = protection::measure::Measured::of(0, DEAD.0, DEAD.1);
    set.health.voltages = Blocks::FUSE;
    assert_eq!(function.step(&Inputs::of(&[set])).blocked, Blocks::FUSE);
    let wrong = PsofSettings {
        delay_ms: 10.0,
        ..PsofSettings::default()
    };
    let error = Psof::new(wrong, &rated).expect_err("too short").to_string();
    assert_eq!(error, "PSOF: delay-ms is 10 ms; it must be 20 to 1000 ms");
}

/// Three samples lost at the instant of closing block for a cycle, and the function is ready after it; a longer block uses its time up.
#[test]
fn a_block_at_the_closing_does_not_disarm() {
    let faulted = fault(Phases::ABC);
    let states = [(1600, DEAD), (800, faulted)];
    let (phases, ms) = operates_past(&states, 1598..1684).expect("a trip after the block");
    assert_eq!(phases, Phases::ABC);
    assert!((46.0..=60.0).contains(&ms), "{ms}");
    let before = operates_past(&states, 1500..1586);
    assert!(before.is_some(), "a block on the dead line");
    let states = [(1600, DEAD), (6000, faulted)];
    assert_eq!(operates_past(&states, 1598..5700), None, "blocked for the whole time");
    assert_eq!(operates_past(&states, 0..1600), None, "never seen dead");
}
