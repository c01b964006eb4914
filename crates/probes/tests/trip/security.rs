//! Disturbances of the samples, for which no relay may trip.

use super::common::Pair;
use super::relay::RelayKind;
use super::wire::{self, Seen, Wire};
use super::{can_run, few, heard_of, over, tested};
use probes::trip::{Security, TripConfig};

/// The second publisher is left out, since the small relay accepts its samples.
const CASES: [Security; 10] = [
    Security::Lost,
    Security::Duplicated,
    Security::Reordered,
    Security::Unsynchronised,
    Security::Corrupted,
    Security::Invalid,
    Security::Simulated,
    Security::Late,
    Security::StormOfSv,
    Security::StormOfGoose,
];

fn secured(kind: RelayKind, cases: &[Security]) -> Vec<(u64, u64)> {
    let config = TripConfig {
        relays: vec![heard_of(&kind, None)],
        controls: Vec::new(),
        security: cases.to_vec(),
        ..few(1, &["overcurrent"])
    };
    let (recorded, ended) = tested(&config, &[kind]);
    ended.expect("it ends well");
    let counted = |case: &Security| {
        let counters = recorded.counters(&format!("security/samples/{case}"));
        (counters.received, counters.unwanted)
    };
    cases.iter().map(counted).collect()
}

#[test]
fn a_careful_relay_trips_for_no_disturbance_of_the_samples_and_a_trusting_one_does() {
    if !can_run("a_careful_relay_trips_for_no_disturbance_of_the_samples_and_a_trusting_one_does") {
        return;
    }
    let careful = secured(RelayKind::default(), &CASES);
    assert!(careful.iter().all(|(_, unwanted)| *unwanted == 0), "{careful:?}");
    assert!(careful.iter().any(|(received, _)| *received > 0), "{careful:?}");
    let trusting = RelayKind {
        trusts: true,
        ..RelayKind::default()
    };
    let cases = [
        Security::Invalid,
        Security::Simulated,
        Security::SecondPublisher,
        Security::Corrupted,
    ];
    let unwanted: Vec<u64> = secured(trusting, &cases)
        .into_iter()
        .map(|(_, unwanted)| unwanted)
        .collect();
    assert_eq!(unwanted, [1, 1, 1, 0], "corrupted frames cannot be read by any");
}

/// The small relay trips for a single sample over its threshold; it looks at phase a, in which one of three such samples is.
#[test]
fn flaws_of_good_quality_are_sent_and_a_relay_without_a_filter_trips_for_a_single_sample() {
    if !can_run("flaws_of_good_quality_are_sent_and_a_relay_without_a_filter_trips_for_a_single_sample") {
        return;
    }
    let kind = RelayKind::default();
    let cases = [
        Security::SingleSample,
        Security::StuckCurrent,
        Security::StuckVoltage,
        Security::SwappedPhases,
        Security::ReversedPolarity,
        Security::WrongRatio,
    ];
    let config = TripConfig {
        relays: vec![heard_of(&kind, None)],
        controls: Vec::new(),
        security: cases.to_vec(),
        ..few(3, &["overcurrent"])
    };
    let (recorded, ended) = tested(&config, &[kind]);
    ended.expect("it ends well");
    let unwanted = cases.map(|case| recorded.counters(&format!("security/samples/{case}")).unwanted);
    assert!(unwanted[0] > 0, "{unwanted:?}");
    assert_eq!(unwanted[1..], [0; 5], "the load is far below its threshold");
}

#[test]
fn late_frames_and_storms_go_over_the_wire() {
    if !can_run("late_frames_and_storms_go_over_the_wire") {
        return;
    }
    let config = TripConfig {
        relays: vec![heard_of(&RelayKind::default(), None)],
        controls: Vec::new(),
        security: vec![Security::Late, Security::StormOfSv, Security::StormOfGoose],
        ..few(1, &["overcurrent"])
    };
    let pair = Pair::build();
    let wire = Wire::watch(pair.port_b(&wire::options()));
    let (_, ended, _relays) = over(&pair, &config, &[RelayKind::default()]);
    ended.expect("it ends well");
    let seen = wire.seen();
    let of = |name: &str| seen.iter().filter(|frame| frame.name == name).collect::<Vec<&Seen>>();
    let foreign = [of("MU0X").len(), of("STORMLD0/LLN0$GO$gcb").len()];
    // Ten after each of 960 frames, minus those left out if the test set was held up.
    assert!(
        foreign.iter().all(|count| (1_000..=9_600).contains(count)),
        "{foreign:?}"
    );
    // Delayed frames are not fewer: each follows the other, delayed by the same time.
    let is_late = |pair: &[&Seen]| {
        let follows = pair[1].smp_cnt == (pair[0].smp_cnt + 1) % 4_800;
        follows && pair[1].at - pair[0].at > 3_500_000
    };
    assert!(of("MU01").windows(2).any(is_late), "{} frames", seen.len());
}
