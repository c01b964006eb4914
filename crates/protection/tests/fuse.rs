//! Fuses of voltage transformers: blown ones block the functions that use the voltages, and faults, loads and dead lines do not.

mod common;
mod line;

use common::{Rig, balanced, eight, rated};
use line::{Circuit, LineFault, Network};
use protection::distance::{Pdis, PdisSettings};
use protection::measure::{BaySettings, Blocks, Channels, Measured};
use protection::supervision::{FuseSettings, FuseSupervision, Fuses};
use protection::{Complex, Function, Inputs, Phases, Rated};

const RATE: f64 = 4000.0;

/// Begin of what happens, in samples.
const BEGINS: u64 = 800;

fn base() -> Rated {
    rated(RATE, 50.0)
}

fn healthy_v() -> f64 {
    base().phase_voltage_v()
}

fn supervision(rated: &Rated) -> FuseSupervision {
    FuseSupervision::new(FuseSettings::default(), rated).expect("settings")
}

/// The states of each task, with its sample.
fn states(until: u64, mut samples: impl FnMut(u64) -> [f64; 8]) -> Vec<(u64, Fuses, Measured)> {
    let rated = base();
    let mut rig = Rig::new(rated, &BaySettings::default(), true);
    let mut fuse = supervision(&rated);
    let mut found = Vec::new();
    for n in 0..until {
        let set = *rig.push(samples(n));
        if n % 4 == 3 {
            found.push((n, fuse.step(&set), set));
        }
    }
    found
}

fn sample(n: u64, current: [Complex; 3], voltage: [Complex; 3]) -> [f64; 8] {
    eight(current, voltage, 50.0, RATE, n)
}

/// 500 A, and with `share` of it in addition as negative sequence.
fn load(share: f64) -> [Complex; 3] {
    let plus = balanced(500.0, -25.0);
    let minus = [0.0, 120.0, -120.0].map(|turn| Complex::degrees(500.0 * share, 40.0 + turn));
    std::array::from_fn(|phase| plus[phase] + minus[phase])
}

fn without(blown: Phases) -> [Complex; 3] {
    let voltage = balanced(healthy_v(), 0.0);
    std::array::from_fn(|phase| {
        if blown.contains(Phases::EACH[phase]) {
            Complex::ZERO
        } else {
            voltage[phase]
        }
    })
}

fn sets() -> Vec<Phases> {
    (1..8).map(Phases::of_bits).collect()
}

/// One, two or three fuses, balanced and unbalanced load: suspected before the voltage has fallen far, blown after a cycle, and well again with the
/// voltages.
#[test]
fn blown_fuses_block() {
    for share in [0.0, 0.3] {
        for blown in sets() {
            let found = states(4000, |n| {
                let is_blown = (BEGINS..2400).contains(&n);
                sample(n, load(share), without(if is_blown { blown } else { Phases::NONE }))
            });
            let what = format!("{blown}, {share} of negative sequence");
            let first = found.iter().find(|(_, fuses, _)| fuses.block()).expect(&what).0;
            assert!((BEGINS..=BEGINS + 32).contains(&first), "{what}: blocks at {first}");
            let named = found.iter().find(|(_, fuses, _)| fuses.blown.any()).expect(&what);
            assert_eq!(named.1.blown, blown, "{what}");
            assert!(named.0 <= first + 84, "{what}: blown at {}", named.0);
            let holds = |from: u64, to: u64| found.iter().filter(move |(n, ..)| (from..to).contains(n));
            assert!(
                holds(first, 2400).all(|(_, fuses, _)| fuses.block()),
                "{what}: to the end"
            );
            assert!(
                holds(2700, 4000).all(|(_, fuses, _)| !fuses.block()),
                "{what}: well again"
            );
        }
    }
}

/// A zone reaches a load whose voltage is gone: it operates without the supervision, and not with it.
#[test]
fn a_zone_does_not_trip_by_a_fuse() {
    let rated = base();
    for blown in sets() {
        let mut trips = [false; 2];
        for (number, trips) in trips.iter_mut().enumerate() {
            let settings = PdisSettings {
                reach_ohm: 4.0,
                ..PdisSettings::default()
            };
            let mut zone = Pdis::new(settings, &rated).expect("settings");
            for (_, fuses, mut set) in states(1600, |n| {
                sample(n, load(0.0), without(if n < BEGINS { Phases::NONE } else { blown }))
            }) {
                set.health.voltages = Blocks::FUSE.when(number == 1 && fuses.block());
                let output = zone.step(&Inputs::of(&[set]));
                *trips |= output.operated.any();
                assert!(
                    !output.blocked.any() || output.blocked == Blocks::FUSE || set.at < 200,
                    "{output:?}"
                );
            }
        }
        assert!(!trips[1], "{blown}: trips with the supervision");
        // One voltage alone makes no zone of this reach operate in every case; all three do.
        assert!(
            trips[0] || blown != Phases::ABC,
            "{blown}: the zone must be able to trip"
        );
    }
}

#[test]
fn only_functions_with_voltages_are_blocked() {
    let mut set = Measured::of(0, balanced(500.0, 0.0), balanced(healthy_v(), 0.0));
    set.health.voltages = Blocks::FUSE;
    assert_eq!(
        set.health.blocks(Channels::PHASE_CURRENTS | Channels::RESIDUAL_CURRENT),
        Blocks::NONE
    );
    assert_eq!(set.health.blocks(Channels::PHASE_VOLTAGES), Blocks::FUSE);
    assert_eq!(set.health.blocks(Channels::RESIDUAL_VOLTAGE), Blocks::FUSE);
}

/// Loads that are unbalanced, become so, come and go, and lines that die with or without load: no fuse.
#[test]
fn loads_and_dead_lines_are_no_fuse() {
    let dead = [Complex::ZERO; 3];
    let well = without(Phases::NONE);
    type State = ([Complex; 3], [Complex; 3]);
    let sag = well.map(|each| each * 0.9);
    let cases: [(&str, State, State); 7] = [
        ("unbalanced", (load(0.4), well), (load(0.4), well)),
        ("becomes unbalanced", (load(0.0), well), (load(0.4), sag)),
        (
            "single-phase load comes",
            (load(0.0), well),
            ([load(0.0)[0] * 2.0, load(0.0)[1], load(0.0)[2]], well),
        ),
        ("opens under load", (load(0.0), well), (dead, dead)),
        ("opens without load", (dead, well), (dead, dead)),
        ("is energised", (dead, dead), (load(0.0), well)),
        ("sags by a tenth", (load(0.0), well), (load(0.0), sag)),
    ];
    for (what, before, after) in cases {
        let found = states(3000, |n| {
            let (current, voltage) = if n < BEGINS { before } else { after };
            sample(n, current, voltage)
        });
        assert!(found.iter().all(|(_, fuses, _)| !fuses.block()), "{what}");
    }
}

/// A fuse that was blown at the start shows after 5 s, and an unbalanced load does not.
#[test]
fn a_standing_failure_is_found() {
    let found = states(24_000, |n| sample(n, load(0.0), without(Phases::B)));
    let first = found.iter().find(|(_, fuses, _)| fuses.block()).expect("blown");
    assert_eq!(first.1.blown, Phases::B);
    assert!((20_000..20_400).contains(&first.0), "{}", first.0);
    let found = states(24_000, |n| sample(n, load(0.4), without(Phases::B)));
    assert!(found.iter().all(|(_, fuses, _)| !fuses.block()), "the load hides it");
}

/// A sag of all three phases to 0.6 Uph under a load of 0.2 In: a resistance follows its voltage and is not even suspected; a load of constant current
/// blocks for a cycle at most.
#[test]
fn a_sag_under_light_load_is_no_fuse() {
    let well = without(Phases::NONE);
    for (what, after, most) in [("resistive", 120.0, 0), ("constant", 200.0, 20)] {
        let found = states(3000, |n| match n {
            BEGINS..2000 => sample(n, balanced(after, 0.0), well.map(|each| each * 0.6)),
            _ => sample(n, balanced(200.0, 0.0), well),
        });
        assert!(found.iter().all(|(_, fuses, _)| !fuses.blown.any()), "{what}");
        let blocked = found.iter().filter(|(_, fuses, _)| fuses.block()).count();
        assert!(blocked <= most, "{what}: blocked for {blocked} ms");
    }
}

/// A fault of one, two or three phases while a fuse counts as blown lifts the block as long as it lasts, in the first ten seconds; a load that doubles
/// does not, nor does a line that opens.
#[test]
fn a_fault_after_a_fuse_lifts_the_block() {
    let faulted = |phases: Phases| -> [Complex; 3] {
        std::array::from_fn(|phase| load(0.3)[phase] * if phases.contains(Phases::EACH[phase]) { 6.0 } else { 1.0 })
    };
    let run = |from: u64, current: [Complex; 3]| {
        let found = states(from + 1600, |n| {
            let current = if (from..from + 800).contains(&n) {
                current
            } else {
                load(0.3)
            };
            sample(n, current, without(if n < BEGINS { Phases::NONE } else { Phases::A }))
        });
        let blocks = move |at: u64| found.iter().find(|(n, ..)| *n >= at).expect("a task").1.block();
        assert!(blocks(from - 8), "blown before");
        assert!(blocks(from + 1000), "blocked again after it");
        blocks(from + 120) || blocks(from + 600)
    };
    for phases in [Phases::A, Phases::B | Phases::C, Phases::ABC] {
        assert!(!run(4000, faulted(phases)), "{phases}: the fault must lift the block");
    }
    assert!(run(4000, load(0.3).map(|each| each * 1.5)), "a load that rises");
    assert!(run(4000, [Complex::ZERO; 3]), "a line that opens");
    assert!(run(48_000, faulted(Phases::ABC)), "after ten seconds it stays blocked");
}

/// A dead line with a standing negative sequence, such as an induced one, is no blown fuse: energising it on a fault must not be blocked.
#[test]
fn a_dead_line_has_no_blown_fuse() {
    let induced = [0.0, 120.0, -120.0].map(|turn| Complex::degrees(0.3 * healthy_v(), turn));
    let found = states(24_000, |n| sample(n, [Complex::ZERO; 3], induced));
    assert!(found.iter().all(|(_, fuses, _)| !fuses.block()));
}

/// The fuses' block at the end if the stream is blocked during these samples, and the voltages of these phases are gone from `BEGINS` on.
fn blocks_past(blocked: std::ops::Range<u64>, blown: Phases) -> bool {
    let rated = base();
    let mut rig = Rig::new(rated, &BaySettings::default(), true);
    let mut fuse = supervision(&rated);
    let mut fuses = Fuses::default();
    for n in 0..blocked.end + 1600 {
        let mut set = *rig.push(sample(
            n,
            load(0.3),
            without(if n < BEGINS { Phases::NONE } else { blown }),
        ));
        if n % 4 == 3 {
            set.health.stream |= Blocks::LOST.when(blocked.contains(&n));
            fuses = fuse.step(&set);
        }
    }
    fuses.block()
}

/// A block that cuts a suspicion off, or hides the fall: the fuse is found. After more than two seconds nothing is known of before.
#[test]
fn a_block_hides_no_fuse() {
    for blown in sets() {
        for from in (760..900).step_by(4) {
            assert!(blocks_past(from..from + 4, blown), "{blown}, one task at {from}");
        }
        assert!(blocks_past(700..4700, blown), "{blown}, a second");
    }
    assert!(!blocks_past(700..8900, Phases::ABC), "blind, as the guide says");
    for from in (600..900).step_by(20) {
        assert!(!blocks_past(from..from + 400, Phases::NONE), "no fuse at {from}");
    }
}

/// Faults of all kinds: none counts as a blown fuse; a weak one may be suspected in its first milliseconds, before a zone would operate.
#[test]
fn faults_are_no_fuse() {
    let rated = Rated {
        current_a: 400.0,
        voltage_v: 110_000.0,
        ..base()
    };
    let (mut longest, mut runs) = (0, 0);
    for sir in [0.1, 1.0, 5.0, 20.0, 60.0] {
        for (name, kind) in LineFault::all() {
            for step in 0..4 {
                let source = Complex::degrees(10.0 * sir, 84.0);
                let volt = rated.phase_voltage_v();
                let load = Complex::degrees(volt / (0.05 * volt / source.norm()).min(200.0), 18.0);
                let mut circuit = Circuit::new(Network {
                    hz: 50.0,
                    rate: RATE,
                    source_v: volt,
                    angle_deg: 47.0 * f64::from(step),
                    source: [[source.re, source.im]; 2],
                    line: [[1.5, 6.0], [4.5, 18.0]],
                    load: [load.re, load.im],
                    far: None,
                    kind,
                    begins: 600.0,
                    clears: 1000.0,
                });
                let mut rig = Rig::new(rated, &BaySettings::default(), true);
                let mut fuse = supervision(&rated);
                let mut suspected = 0;
                let settings = PdisSettings {
                    reach_ohm: 10.0,
                    line_deg: 76.0,
                    k0: 0.6667,
                    k0_deg: 0.0,
                    least_current: 0.05,
                    ..PdisSettings::default()
                };
                let mut zones = [(); 2].map(|()| Pdis::new(settings, &rated).expect("settings"));
                let mut trips = [None; 2];
                for n in 0..1600u64 {
                    let mut set = *rig.push(circuit.next());
                    if n % 4 != 3 {
                        continue;
                    }
                    let fuses = fuse.step(&set);
                    for (number, zone) in zones.iter_mut().enumerate() {
                        set.health.voltages = Blocks::FUSE.when(number == 1 && fuses.block());
                        if zone.step(&Inputs::of(&[set])).operated.any() {
                            trips[number].get_or_insert(n);
                        }
                    }
                    assert!(!fuses.blown.any(), "{name}, SIR {sir}: {fuses:?} at {n}");
                    suspected += u32::from(fuses.suspected.any());
                }
                assert!(trips[0].is_some(), "{name}, SIR {sir}: the zone must see the fault");
                assert_eq!(trips[0], trips[1], "{name}, SIR {sir}: no later with the supervision");
                longest = longest.max(suspected);
                runs += 1;
            }
        }
    }
    assert!(runs == 200 && longest <= 7, "suspected for {longest} ms");
}
