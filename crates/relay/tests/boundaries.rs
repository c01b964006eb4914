//! Functions at their settings, through the whole engine: inside, outside, and close to the boundary.

mod common;

use common::{Rig, Wave, earth_fault, load, one};
use protection::measure::Blocks;
use protection::supervision::FuseSettings;
use protection::{Complex, Phases};
use relay::events::{Change, Subject};

const FAULT: u64 = 4000;

/// First start and first operation of the only function, in ms after a fault that stays.
fn after_fault(settings: &str, during: common::Phasors, until: u64) -> (Option<f64>, Option<f64>) {
    let wave = Wave {
        during,
        fault: FAULT..u64::MAX,
        ..Wave::default()
    };
    let mut rig = Rig::new(&one(settings));
    rig.feed(&wave, FAULT);
    rig.assert_quiet("load");
    rig.feed(&wave, until);
    let function = Subject::Function(0);
    let first = |times: Vec<u64>| times.first().map(|at| (*at as f64 - FAULT as f64) / 4.0);
    let (started, operated) = (first(rig.starts(function)), first(rig.operates(function)));
    assert_eq!(
        rig.operates(Subject::Trip(0)).first(),
        rig.operates(function).first(),
        "a trip follows at once"
    );
    (started, operated)
}

fn current(amperes: f64) -> common::Phasors {
    earth_fault(Complex::degrees(amperes, -75.0), 11_547.0)
}

#[test]
fn instantaneous_overcurrent() {
    let settings = "pioc = { pickup = 5 }";
    for amperes in [5050.0, 5500.0, 20_000.0] {
        let (_, operated) = after_fault(settings, current(amperes), 6000);
        let operated = operated.expect("a trip");
        // At the boundary: a full cycle, and two tasks.
        assert!((1.0..=24.0).contains(&operated), "{amperes} A: {operated} ms");
    }
    // A step without its DC component overreaches by up to 4 % while the window fills.
    for amperes in [0.0, 4000.0, 4800.0] {
        assert_eq!(
            after_fault(settings, current(amperes), 8000),
            (None, None),
            "{amperes} A"
        );
    }
}

#[test]
fn inverse_time_overcurrent() {
    let settings = "ptoc = { pickup = 1.2, curve = 'iec-normal-inverse', time-multiplier = 0.1 }";
    // IEC 60255-151, curve A at TMS 0.1: 1.002903 s at twice the setting, 0.427972 s at five times.
    for (amperes, seconds) in [(2400.0, 1.002_903), (6000.0, 0.427_972)] {
        let (started, operated) = after_fault(settings, current(amperes), 10_000);
        let (started, operated) = (started.expect("a start"), operated.expect("a trip"));
        assert!((1.0..=20.0).contains(&started), "{amperes} A: start after {started} ms");
        let late = operated / 1000.0 - seconds;
        assert!((0.0..=0.025).contains(&late), "{amperes} A: {operated} ms");
    }
    assert_eq!(after_fault(settings, current(1188.0), 20_000), (None, None));
    let (started, operated) = after_fault(settings, current(1212.0), 10_000);
    assert!(started.is_some() && operated.is_none(), "70 s at the boundary");
}

/// A fault at `share` of the reach of 3.2 ohm, along the line.
fn impedance(share: f64) -> common::Phasors {
    let k0 = Complex::degrees(0.67, -7.5);
    let current = Complex::degrees(2000.0, -75.0);
    let [_, b, c, ..] = load();
    let residual = current + b + c;
    let volt = Complex::degrees(3.2 * share, 75.0) * (current + k0 * residual);
    let mut during = load();
    // All phasors are rotated so that the voltage of phase A keeps its angle.
    let turn = Complex::polar(1.0, -volt.arg());
    during[0] = current * turn;
    during[1] = b * turn;
    during[2] = c * turn;
    during[3] = volt * turn;
    during
}

#[test]
fn distance() {
    let settings = "pdis = { reach-ohm = 3.2, line-deg = 75, k0 = 0.67, k0-deg = -7.5 }";
    for share in [0.1, 0.5, 0.9, 0.98] {
        let (_, operated) = after_fault(settings, impedance(share), 8000);
        let operated = operated.unwrap_or_else(|| panic!("no trip at {share} of the reach"));
        assert!((4.0..=30.0).contains(&operated), "{share}: {operated} ms");
    }
    for share in [1.05, 1.2, 2.0] {
        assert_eq!(
            after_fault(settings, impedance(share), 8000).1,
            None,
            "{share} of the reach"
        );
    }
}

#[test]
fn a_trip_that_no_breaker_follows_trips_the_neighbours() {
    let mut config = one("pioc = { pickup = 5 }");
    let breaker = "retrip-ms = 50\nbacktrip-ms = 120";
    config.trips[0].breaker_failure = Some(toml::from_str(breaker).expect("settings"));
    let wave = Wave {
        fault: FAULT..u64::MAX,
        ..Wave::default()
    };
    let mut rig = Rig::new(&config);
    rig.feed(&wave, 6000);
    let trip = rig.operates(Subject::Trip(0))[0];
    let retrip = rig.operates(Subject::Breaker(0))[0];
    let backtrip = rig.times(Subject::Breaker(0), |change| change == Change::Backtrip)[0];
    assert!((200..=204).contains(&(retrip - trip)), "{trip} {retrip}");
    assert!((480..=484).contains(&(backtrip - trip)), "{trip} {backtrip}");
    // A breaker that opens ends the fault.
    let mut open = wave.clone();
    open.fault = FAULT..FAULT + 300;
    open.load = [Complex::ZERO; 6];
    let mut rig = Rig::new(&config);
    rig.feed(
        &Wave {
            fault: FAULT..FAULT + 300,
            load: load(),
            ..wave
        },
        FAULT + 300,
    );
    rig.feed(&open, 6000);
    assert_eq!(rig.operates(Subject::Trip(0)).len(), 1);
    assert_eq!(
        rig.starts(Subject::Breaker(0)).len(),
        1,
        "what is left in a window starts it no second time"
    );
    assert!(
        rig.times(Subject::Breaker(0), |change| change == Change::Backtrip)
            .is_empty()
    );
}

/// A blown fuse in phase A under load: undervoltage operates without the supervision; with it, it is blocked, and the relay says which fuse.
#[test]
fn a_blown_fuse_is_no_undervoltage() {
    let mut during = load();
    during[3] = Complex::ZERO;
    let wave = Wave {
        during,
        fault: FAULT..u64::MAX,
        ..Wave::default()
    };
    for is_supervised in [false, true] {
        let mut config = one("ptuv = { delay-ms = 60 }");
        config.streams[0].fuse = is_supervised.then(FuseSettings::default);
        let mut rig = Rig::new(&config);
        rig.feed(&wave, 6000);
        let (function, fuse) = (Subject::Function(0), Subject::Fuse(0));
        assert_eq!(rig.operates(function).is_empty(), is_supervised);
        let blocked = |change| change == Change::Blocked(Blocks::FUSE);
        assert_eq!(!rig.times(function, blocked).is_empty(), is_supervised);
        let named = |change| change == Change::Operate(Phases::A);
        assert_eq!(!rig.times(fuse, named).is_empty(), is_supervised);
    }
}
