//! The effect on functions of streams that are lost, bad, contradicted or not synchronised.

mod common;

use common::{Rig, balanced, eight, rated};
use protection::differential::{Pdif, PdifSettings};
use protection::measure::Synch;
use protection::measure::{BaySettings, Blocks, Channels};
use protection::overcurrent::{Pioc, PiocSettings};
use protection::supervision::{Lsvs, SampleState, SampleSupervision};
use protection::{Function, Inputs, Rated};

fn lsvs(settings: SampleSupervision) -> Lsvs {
    Lsvs::new(settings, &Rated::default()).expect("settings")
}

fn feed(lsvs: &mut Lsvs, from: u64, to: u64, lost: &[u64]) -> Vec<(SampleState, Blocks)> {
    (from..to)
        .map(|at| {
            if lost.contains(&at) {
                lsvs.lost(at);
            } else {
                lsvs.received(at, Synch::GLOBAL, false, false);
            }
            (lsvs.status().state, lsvs.status().blocks)
        })
        .collect()
}

/// One is held, two warn, three block for one window after the last.
#[test]
fn lost_samples_hold_warn_block() {
    let mut stream = lsvs(SampleSupervision::default());
    let found = feed(&mut stream, 0, 400, &[100, 150, 151, 200, 201, 202]);
    assert_eq!(found[99], (SampleState::Good, Blocks::NONE));
    assert_eq!(found[100], (SampleState::Hold, Blocks::NONE));
    assert_eq!(found[101], (SampleState::Good, Blocks::NONE));
    assert_eq!(found[151], (SampleState::Warning, Blocks::NONE));
    assert_eq!(found[201], (SampleState::Warning, Blocks::NONE));
    assert!(
        found[202..=283]
            .iter()
            .all(|each| *each == (SampleState::Alarm, Blocks::LOST))
    );
    assert_eq!(found[284], (SampleState::Good, Blocks::NONE));
    let status = stream.status();
    assert_eq!((status.received, status.lost, status.most_per_cycle), (394, 6, 3));
}

/// Losses that never are in a row, but many in a cycle, block too; counts are those of the cycle.
#[test]
fn losses_are_counted_by_cycle() {
    let mut stream = lsvs(SampleSupervision::default());
    let lost: Vec<u64> = (0..6).map(|each| 160 + 2 * each).collect();
    let found = feed(&mut stream, 0, 241, &lost);
    assert_eq!(found[168], (SampleState::Hold, Blocks::NONE));
    assert_eq!(found[170], (SampleState::Alarm, Blocks::LOST));
    assert_eq!(
        (stream.status().lost_last_cycle, stream.status().lost_this_cycle),
        (6, 0)
    );
}

#[test]
fn a_silent_stream_is_inactive() {
    let mut stream = lsvs(SampleSupervision::default());
    stream.lost(0);
    assert_eq!(
        (stream.status().state, stream.status().blocks),
        (SampleState::Never, Blocks::LOST)
    );
    let found = feed(&mut stream, 1, 1000, &(500..900).collect::<Vec<_>>());
    assert_eq!(found[577].0, SampleState::Alarm);
    assert_eq!(found[578].0, SampleState::Inactive);
    assert_eq!(found[899], (SampleState::Alarm, Blocks::LOST));
    assert!(stream.status().active);
}

/// Two publishers under one svID: blocked while they contradict each other, and for a second after.
#[test]
fn contradictions_block() {
    let mut stream = lsvs(SampleSupervision::default());
    feed(&mut stream, 0, 100, &[]);
    stream.received(100, Synch::GLOBAL, false, true);
    let found = feed(&mut stream, 101, 5000, &[]);
    assert!(found[..4000].iter().all(|(_, blocks)| *blocks == Blocks::CONFLICT));
    assert_eq!(found[4000].1, Blocks::NONE);
    assert_eq!(stream.status().conflicting, 1);
}

#[test]
fn changes_of_synchronisation_are_counted() {
    let mut stream = lsvs(SampleSupervision::default());
    for (at, value) in [2, 2, 0, 0, 2].into_iter().enumerate() {
        stream.received(at as u64, Synch { value, clock: 0 }, false, false);
    }
    assert_eq!(stream.status().synch_changes, 2);
}

/// Values that a side sent without synchronisation stay in its window for a cycle: until then it is compared with no other side.
#[test]
fn a_differential_function_waits_until_the_window_has_one_synchronisation() {
    let (settings, rated) = (BaySettings::default(), rated(4000.0, 50.0));
    let mut rigs = [0, 1].map(|_| Rig::new(rated, &settings, false));
    let mut streams = [0, 1].map(|_| lsvs(SampleSupervision::default()));
    let mut function = Pdif::new(
        PdifSettings {
            second_harmonic: 0.0,
            fifth_harmonic: 0.0,
            ..PdifSettings::default()
        },
        &rated,
    )
    .unwrap();
    for n in 0..1000u64 {
        let unsynchronised = (400..500).contains(&n);
        let sets = [0, 1].map(|side| {
            // A through current of 2 x rated; a clock that runs by itself shows it at another angle.
            let deg = if side == 0 { 0.0 } else { 180.0 } + if side == 1 && unsynchronised { 90.0 } else { 0.0 };
            let value = if side == 1 && unsynchronised { 0 } else { 2 };
            streams[side].received(n, Synch { value, clock: 0 }, false, false);
            let sample = eight(balanced(2000.0, deg), balanced(11_547.0, 0.0), 50.0, 4000.0, n);
            let mut set = *rigs[side].push(sample);
            streams[side].apply(&mut set);
            set
        });
        let output = function.step(&Inputs::of(&sets));
        assert!(!output.started.any(), "{n}: {output:?}");
        if n > 100 {
            let blocked = output.blocked.contains(Blocks::SYNCHRONISATION);
            assert_eq!(blocked, (400..=580).contains(&n), "{n}: {output:?}");
        }
    }
}

/// A function on a stream with losses: it decides through one lost sample, and is blocked after three until the window is whole
/// again; then it decides at once. No loss makes it operate.
#[test]
fn a_function_follows_its_stream() {
    for (lost, blocked) in [(0u64, false), (1, false), (2, false), (3, true), (30, true)] {
        let mut rig = Rig::new(rated(4000.0, 50.0), &BaySettings::default(), false);
        let mut stream = lsvs(SampleSupervision::default());
        let mut function = Pioc::new(
            PiocSettings {
                pickup: 1.1,
                ..PiocSettings::default()
            },
            &rig.rated,
        )
        .unwrap();
        let mut reasons = Blocks::NONE;
        for n in 0..1000u64 {
            let mut set = if (400..400 + lost).contains(&n) {
                stream.lost(n);
                *rig.lose()
            } else {
                stream.received(n, Synch::GLOBAL, false, false);
                *rig.push(eight(balanced(1000.0, 0.0), balanced(11_547.0, 0.0), 50.0, 4000.0, n))
            };
            stream.apply(&mut set);
            let output = function.step(&Inputs::of(&[set]));
            assert!(!output.operated.any(), "{lost} lost: {n}");
            if n > 100 {
                reasons |= output.blocked;
                assert_eq!(
                    output.blocked.any(),
                    blocked && (402..=400 + lost + 80).contains(&n),
                    "{lost} lost: {n}"
                );
            }
        }
        assert_eq!(reasons, Blocks::LOST.when(blocked));
    }
}

/// A bad quality blocks from its sample on until it has left the window.
#[test]
fn a_bad_sample_blocks_for_a_window() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &BaySettings::default(), false);
    let mut function = Pioc::new(PiocSettings::default(), &rig.rated).unwrap();
    for n in 0..400u64 {
        let samples = eight(balanced(1000.0, 0.0), balanced(11_547.0, 0.0), 50.0, 4000.0, n);
        let at = rig.reference.advance();
        rig.bay.push(
            &rig.reference,
            at,
            &samples,
            if n == 200 { Channels(2) } else { Channels::NONE },
        );
        rig.bay.measure(&rig.reference, &mut rig.set);
        let output = function.step(&Inputs::of(&[rig.set]));
        if n > 100 {
            assert_eq!(output.blocked == Blocks::QUALITY, (200..=281).contains(&n), "{n}");
        }
    }
}

#[test]
fn settings_outside_their_ranges_are_refused() {
    let of = |settings| Lsvs::new(settings, &Rated::default()).expect_err("refused").to_string();
    let default = SampleSupervision::default();
    assert_eq!(
        of(SampleSupervision { warning: 1, ..default }),
        "LSVS: warning is 1 samples; it must be 2 to 100 samples"
    );
    assert!(of(SampleSupervision { warning: 5, ..default }).contains("raise alarm"));
    assert!(
        of(SampleSupervision {
            conflict_hold_ms: -1.0,
            ..default
        })
        .contains("0 to 600000 ms")
    );
}
