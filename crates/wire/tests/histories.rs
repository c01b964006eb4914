//! For any history of a stream: if the rules report nothing, the stream was complete. Random histories are passed to a
//! sequence, and its counts are compared with the record of what was done.

use proptest::prelude::{ProptestConfig, any, prop, prop_oneof};
use proptest::strategy::Strategy;
use proptest::test_runner::RngSeed;
use proptest::{prop_assert, prop_assert_eq, prop_assume, proptest};
use testing::histories::{Deed, Form, Sent, deeds, ends_early, is_whole, play};
use wire::sequence::{Contents, Sample, Sequence};

const RATE: u32 = 4_000;

/// The conclusions of the rules.
struct Said {
    lost: u64,
    too_late: u64,
    conflicting: u64,
    doubts: Vec<String>,
}

fn supervise(sequence: Sequence, stream: &[Sent], stamped: bool, end_ns: i64) -> Said {
    supervise_as(sequence, stream, stamped, end_ns, false)
}

/// The conclusions about a stream that comes beside others, or alone.
fn supervise_as(mut sequence: Sequence, stream: &[Sent], stamped: bool, end_ns: i64, is_alone: bool) -> Said {
    let mut doubts = Vec::new();
    let mut tell = |sequence: &mut Sequence| {
        while let Some(finding) = sequence.take_finding() {
            if finding.what.is_doubt() {
                doubts.push(finding.to_string());
            }
        }
    };
    for sent in stream {
        sequence.accept(Sample {
            smp_cnt: sent.count,
            contents: Contents::new(sent.contents),
            at_ns: stamped.then_some(sent.at_ns),
            alone: is_alone,
        });
        tell(&mut sequence);
    }
    sequence.end(stamped.then_some(end_ns));
    tell(&mut sequence);
    Said {
        lost: sequence.counters().lost,
        too_late: sequence.counters().too_late,
        conflicting: sequence.counters().conflicting,
        doubts,
    }
}

/// A sequence that learns the rate, or one that is given it.
fn sequence(learns: bool) -> Sequence {
    match learns {
        true => Sequence::learning().comparing(),
        false => Sequence::new(RATE).comparing(),
    }
}

/// Samples from before, between and after two losses, held up by two turns: those between the losses may belong to
/// either turn, and the first one overtook the others.
#[test]
fn samples_between_two_losses_that_come_two_turns_late_are_told() {
    let deeds = [
        (0.207_884, Deed::Lose(3_337)),
        (0.119_011, Deed::Lose(4_443)),
        (0.760_055, Deed::Lose(3_276)),
        (0.143_866, Deed::HoldUp(222)),
    ];
    let (stream, end_ns) = play(RATE, 0, 48_000, &deeds);
    let said = supervise(sequence(false), &stream, true, end_ns);
    assert_eq!((said.lost, said.too_late, said.doubts.len()), (11_056, 0, 1));
}

/// No other stream shows whether the clock was set meanwhile. A count near the last one may be a step of the clock, or a loss of about a turn: each
/// loss is counted to the sample, or left open, and never counted otherwise.
#[test]
fn a_lone_stream_that_loses_about_a_turn_is_counted_right_or_not_at_all() {
    for lost in RATE - 40..=RATE + 40 {
        let (stream, end_ns) = play(RATE, 100, 4 * RATE, &[(0.4, Deed::Lose(lost))]);
        assert_eq!(stream.len() as u32, 4 * RATE - lost);
        let said = supervise_as(sequence(false), &stream, true, end_ns, true);
        let found = (said.lost, said.conflicting, said.too_late);
        match said.doubts.is_empty() {
            true => assert_eq!(found, (u64::from(lost), 0, 0)),
            // The counts beyond a turn are lost in any case.
            false => assert_eq!(
                found,
                (u64::from((lost + 1).saturating_sub(RATE + 1)), 0, 0),
                "{lost}: {:?}",
                said.doubts
            ),
        }
    }
}

/// Two bursts that were held in one place, and each was overtaken: nothing is lost.
#[test]
fn two_bursts_in_one_place_are_a_doubt_and_lose_nothing() {
    for deeds in [
        [
            (0.091_682, Deed::Overtake(396, 9)),
            (0.054_413_6, Deed::Overtake(588, 9)),
        ],
        [
            (0.712_607, Deed::Overtake(27, 6)),
            (0.681_296_8, Deed::Overtake(497, 5)),
        ],
    ] {
        let (stream, end_ns) = play(RATE, 0, 16_000, &deeds);
        let said = supervise(sequence(false), &stream, true, end_ns);
        assert_eq!((said.lost, said.conflicting), (0, 0), "{deeds:?}");
        assert!(!said.doubts.is_empty(), "{deeds:?}");
    }
}

/// A sample comes late, after one that overtakes the burst behind it.
#[test]
fn a_late_sample_before_an_overtaken_burst_is_not_lost() {
    for deeds in [
        [(0.634_279_53, Deed::Overtake(17, 1)), (0.633_730_11, Deed::Swap(9))],
        [(0.147_383, Deed::Swap(2)), (0.147_517_5, Deed::Overtake(21, 10))],
        [(0.147_383, Deed::Swap(2)), (0.147_517_5, Deed::Overtake(300, 10))],
    ] {
        let (stream, end_ns) = play(RATE, 0, 16_000, &deeds);
        let said = supervise(sequence(false), &stream, true, end_ns);
        let whole = (said.lost, said.conflicting, said.too_late, said.doubts);
        assert_eq!(whole, (0, 0, 0, vec![]), "{deeds:?}");
    }
}

/// The first sample of a second overtakes the end of the one before, and no earlier wrap has shown the rate.
#[test]
fn the_wrap_that_overtakes_before_the_rate_is_known_is_a_doubt() {
    let deeds = [(0.058_567_8, Deed::HoldUp(304)), (0.075_276_2, Deed::Overtake(60, 1))];
    let (stream, end_ns) = play(RATE, 2_736, 16_000, &deeds);
    let said = supervise(sequence(true), &stream, true, end_ns);
    assert_eq!(
        (said.lost, said.conflicting, said.doubts.len()),
        (0, 0, 1),
        "{:?}",
        said.doubts
    );
}

/// A second publisher whose last frame comes twice: the copy does not show that the stream sends the same.
#[test]
fn a_copy_of_a_second_publishers_own_frame_proves_nothing() {
    let deeds = [
        (0.240_621, Deed::Intrude(76, 201, false)),
        (0.256_953_95, Deed::Double(1, 1)),
    ];
    for learns in [false, true] {
        let (stream, end_ns) = play(RATE, 0, 8_000, &deeds);
        let last = stream.iter().filter(|sent| sent.place.is_none() && sent.count == 2_200);
        assert_eq!(last.count(), 2, "the copy is of the second publisher's last frame");
        let said = supervise(sequence(learns), &stream, true, end_ns);
        assert!(!said.doubts.is_empty() || said.conflicting > 0);
    }
}

/// The same histories in each run, or with `PROPTEST_CASES=300000` as many new ones.
fn config() -> ProptestConfig {
    let usual = ProptestConfig {
        failure_persistence: None,
        max_global_rejects: 1_000_000,
        ..ProptestConfig::default()
    };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => usual,
        None => ProptestConfig {
            cases: 1_500,
            rng_seed: RngSeed::Fixed(35),
            ..usual
        },
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_passes_was_whole(first in 0_u32..4_000, seconds in 2_u32..6, deeds in deeds(RATE), learns in any::<bool>()) {
        let (mut stream, end_ns) = play(RATE, first, seconds * RATE, &deeds);
        // A sequence gets no broken frames: a copy may be broken although the sample itself arrived.
        stream.retain(|sent| sent.form == Form::Whole);
        let said = supervise(sequence(learns), &stream, true, end_ns);
        prop_assume!(!ends_early(&stream, RATE, end_ns));
        let passes = said.lost == 0 && said.conflicting == 0 && said.doubts.is_empty();
        let is_whole = is_whole(&stream, seconds * RATE, &deeds);
        prop_assert!(!passes || is_whole, "{deeds:?} passes");
    }

    #[test]
    fn without_stamps_what_passes_had_no_hole_that_a_counter_shows(
        first in 0_u32..4_000,
        place in 0.02_f64..0.85,
        lost in 1_u32..1_900,
        learns in any::<bool>(),
    ) {
        let (stream, end_ns) = play(RATE, first, 16_000, &[(place, Deed::Lose(lost))]);
        let said = supervise(sequence(learns), &stream, false, end_ns);
        prop_assert!(said.lost > 0 || !said.doubts.is_empty(), "{lost} lost at {place} pass");
    }

    #[test]
    fn losses_are_counted_to_the_sample(
        first in 0_u32..4_000,
        losses in prop::collection::vec((0.02_f64..0.85, 1_u32..9_000), 1..4),
        held in prop::option::of((0.02_f64..0.85, 1_u32..400)),
        learns in any::<bool>(),
    ) {
        let mut deeds: Vec<(f64, Deed)> = losses.iter().map(|(place, lost)| (*place, Deed::Lose(*lost))).collect();
        let samples = 48_000;
        let (cut, _) = play(RATE, first, samples, &deeds);
        deeds.extend(held.map(|(place, count)| (place, Deed::HoldUp(count))));
        let (stream, end_ns) = play(RATE, first, samples, &deeds);
        prop_assume!(!ends_early(&stream, RATE, end_ns));
        let missing = u64::from(samples) - cut.len() as u64;
        let said = supervise(sequence(learns), &stream, true, end_ns);
        // Samples that arrived too late stay lost, and are also reported separately.
        let told = (missing..=missing + said.too_late).contains(&said.lost) || !said.doubts.is_empty();
        prop_assert!(told, "{} of {missing} lost samples reported: {deeds:?}", said.lost);
        if held.is_none() && !learns {
            prop_assert_eq!((said.lost, said.doubts), (missing, vec![]));
        }
    }

    #[test]
    fn what_is_whole_passes(
        first in 0_u32..4_000,
        deeds in prop::collection::vec((0.02_f64..0.85, prop_oneof![
            (1_u32..50, 0_u32..12).prop_map(|(count, later)| Deed::Double(count, later)),
            (1_u32..12).prop_map(Deed::Swap),
            (1_u32..800).prop_map(Deed::HoldUp),
            (1_u32..800, 1_u32..=16).prop_map(|(count, later)| Deed::Overtake(count, later)),
        ]), 0..3),
        learns in any::<bool>(),
    ) {
        let (stream, end_ns) = play(RATE, first, 16_000, &deeds);
        let said = supervise(sequence(learns), &stream, true, end_ns);
        let counts = |of: fn(&Deed) -> u32| -> u32 { deeds.iter().map(|(_, deed)| of(deed)).sum() };
        // One sample that two deeds delay is too late if more than 16 overtake it.
        let later = counts(|deed| match deed {
            Deed::Overtake(_, later) | Deed::Swap(later) => *later,
            _ => 0,
        });
        prop_assert!(said.conflicting == 0 && (said.lost == 0 || later > 16), "{} lost: {:?}", said.lost, deeds);
        // The samples that overtake others may be those that show the rate. Stamps that are late, too, make them look like copies, and of two bursts
        // the second may follow the first at once. A silence of a quarter of a second may be one in which the publisher stopped.
        let overtaken = counts(|deed| u32::from(matches!(deed, Deed::Overtake(..))));
        let held_up = counts(|deed| if let Deed::HoldUp(count) = deed { *count } else { 0 });
        let is_clear = match overtaken {
            0 => !learns || held_up < RATE / 4,
            1 => !learns && held_up == 0,
            _ => false,
        };
        prop_assert!(!is_clear || said.doubts.is_empty(), "{:?}: {:?}", deeds, said.doubts);
    }
}
