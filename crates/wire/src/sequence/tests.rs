use super::{Sample, SampleStep, Sequence, WINDOW, What};

fn after(rate: u32, counts: impl IntoIterator<Item = u16>) -> Sequence {
    let mut sequence = Sequence::new(rate);
    for count in counts {
        sequence.accept(count);
    }
    sequence
}

#[test]
fn a_late_sample_takes_back_one_lost_only_once() {
    let sequence = after(4800, [10, 13, 11, 11, 12, 12, 14]);
    let counters = sequence.counters();
    assert_eq!((counters.lost, counters.gaps), (0, 1));
    assert_eq!((counters.out_of_order, counters.duplicates), (2, 2));
}

#[test]
fn a_sample_from_before_the_start_was_never_lost() {
    let counters = *after(4800, [10, 9, 11]).counters();
    assert_eq!((counters.lost, counters.out_of_order, counters.duplicates), (0, 1, 0));
}

#[test]
fn the_window_ends_sixteen_counts_back() {
    let run = |late| {
        let mut sequence = Sequence::new(4800);
        sequence.accept(100);
        for count in 102..=120 {
            sequence.accept(count);
        }
        let step = sequence.accept(late);
        (step, sequence.counters().lost)
    };
    assert_eq!(run(104), (SampleStep::Duplicate, 1));
    assert_eq!(run(101), (SampleStep::TooLate, 1), "stays lost");
}

#[test]
fn a_sample_that_comes_much_too_late_moves_nothing() {
    for rate in [4_000, 4_800, 14_400] {
        for behind in 17..1_900 {
            let mut sequence = Sequence::new(rate);
            let count = |index: u32| ((index + rate - 100) % rate) as u16;
            for index in (0..=behind).filter(|&index| index != 1) {
                sequence.accept(count(index));
            }
            if behind > 17 {
                assert_eq!(sequence.accept(count(1)), SampleStep::TooLate, "{behind} counts late");
            }
            assert_eq!(sequence.accept(count(behind + 1)), SampleStep::Next);
            let counters = sequence.counters();
            assert_eq!((counters.lost, counters.restarts), (1, 0), "{behind} counts late");
        }
    }
}

#[test]
fn many_samples_too_late_in_a_row_are_a_restart_after_all() {
    let mut sequence = after(4_000, (0..1).chain(1_900..1_950));
    let steps: Vec<SampleStep> = (100..1_200).map(|count| sequence.accept(count)).collect();
    assert_eq!(steps.iter().position(|step| *step == SampleStep::Restart), Some(1_000));
    assert_eq!(steps[1_001..], [SampleStep::Next; 99]);
    assert_eq!((sequence.counters().lost, sequence.counters().too_late), (1_899, 1_000));
}

/// A sample that arrived at `at_ns`.
fn timed(count: u32, at_ns: i64) -> Sample {
    Sample {
        at_ns: Some(at_ns),
        ..Sample::from(count as u16)
    }
}

/// When sample `index` of `rate` a second is due.
fn due_ns(index: u32, rate: u32) -> i64 {
    i64::from(index) * 1_000_000_000 / i64::from(rate)
}

/// The findings, as a command prints them.
fn found(sequence: &mut Sequence) -> Vec<What> {
    std::iter::from_fn(|| sequence.take_finding())
        .map(|finding| finding.what)
        .collect()
}

#[test]
fn a_silence_is_lost_to_the_sample_however_long_it_was() {
    for rate in [400, 4_000, 4_800, 14_400, 15_360] {
        for silent_ms in (260..4_000).step_by(77) {
            let skipped = rate * silent_ms / 1_000;
            let mut sequence = Sequence::new(rate);
            for index in rate - 20..rate {
                sequence.accept(timed(index, due_ns(index, rate)));
            }
            let next = rate + skipped;
            for held_up_ms in [-40, 0, 90] {
                let mut sequence = sequence.clone();
                let step = sequence.accept(timed(next % rate, due_ns(next, rate) + held_up_ms * 1_000_000));
                assert_eq!(step, SampleStep::Gap(skipped), "{silent_ms} ms at {rate}/s");
                // The next samples could take whole turns back.
                sequence.end(None);
                assert_eq!(sequence.counters().lost, u64::from(skipped));
                assert_eq!(found(&mut sequence), [What::Interrupted]);
            }
            // The counter is elsewhere: another publisher, or the same one with another phase.
            let elsewhere = next + rate * 2 / 5;
            if (2 * rate - elsewhere % rate) % rate <= WINDOW {
                continue;
            }
            sequence.accept(timed(elsewhere % rate, due_ns(next, rate)));
            assert_eq!(sequence.counters().lost, 0, "{silent_ms} ms at {rate}/s");
            sequence.end(None);
            assert!(
                found(&mut sequence).iter().any(|what| what.is_doubt()),
                "{silent_ms} ms at {rate}/s"
            );
        }
    }
}

#[test]
fn a_stream_of_one_sample_a_second_is_never_silent() {
    let mut sequence = Sequence::new(1);
    for second in 0..5 {
        let step = if second == 0 {
            SampleStep::First
        } else {
            SampleStep::Next
        };
        assert_eq!(sequence.accept(timed(0, due_ns(second, 1))), step);
    }
    assert_eq!(sequence.accept(timed(0, due_ns(7, 1))), SampleStep::Gap(2));
}

#[test]
fn a_sample_that_comes_far_too_late_costs_no_more_than_itself() {
    for behind in [17, 100, 1_900] {
        let sent = || (3_000..7_000_u16).map(|count| count % 4_800);
        let late = 5_000 % 4_800;
        let mut sequence = Sequence::new(4_800);
        for (place, count) in sent().enumerate() {
            if count != late {
                sequence.accept(count);
            }
            if place == 2_000 + behind {
                assert_eq!(sequence.accept(late), SampleStep::TooLate);
            }
        }
        let counters = sequence.counters();
        assert_eq!(
            (counters.lost, counters.restarts, counters.too_late),
            (1, 0, 1),
            "{behind}"
        );
    }
}

#[test]
fn a_copy_that_comes_far_too_late_is_no_restart_either() {
    let counts = (0..200).chain([100]).chain(200..300);
    let counters = *after(4800, counts).counters();
    assert_eq!((counters.lost, counters.restarts, counters.too_late), (0, 0, 1));
}

#[test]
fn every_sample_is_counted_as_one_thing() {
    // A copy that comes far too late and is itself duplicated, before the stream continues.
    let counts = (0..200).chain([100, 100, 99, 100]).chain(200..300);
    let counters = *after(4800, counts).counters();
    assert_eq!((counters.lost, counters.restarts), (0, 0));
    assert_eq!(
        (counters.too_late, counters.duplicates, counters.out_of_order),
        (2, 2, 0)
    );
}

#[test]
fn all_samples_of_a_frame_may_come_far_too_late() {
    let counts = (0..100).chain(108..200).chain(100..108).chain(200..300);
    let counters = *after(4800, counts).counters();
    assert_eq!((counters.lost, counters.restarts, counters.too_late), (8, 0, 8));
}

#[test]
fn the_distance_between_two_that_come_far_too_late_is_no_loss() {
    let counts = (0..300)
        .filter(|count| ![100, 110].contains(count))
        .chain([100, 110])
        .chain(300..400);
    let counters = *after(4800, counts).counters();
    assert_eq!((counters.lost, counters.restarts, counters.too_late), (2, 0, 2));
}

#[test]
fn a_restart_stays_one_when_the_stream_goes_on_from_there() {
    for jump in [2_400_u16, 2_401, 4_000, 4_783] {
        let counts = (0..100).chain((0..200).map(|count| (99 + jump + count) % 4_800));
        let counters = *after(4800, counts).counters();
        assert_eq!(
            (counters.lost, counters.restarts, counters.too_late),
            (0, 1, 0),
            "{jump}"
        );
    }
}

#[test]
fn late_across_the_wrap() {
    let mut sequence = after(4000, [3998, 1]);
    assert_eq!(sequence.counters().lost, 2);
    assert_eq!(sequence.accept(3999), SampleStep::OutOfOrder);
    assert_eq!(sequence.accept(0), SampleStep::OutOfOrder);
    assert_eq!(sequence.accept(2), SampleStep::Next);
    assert_eq!(sequence.counters().lost, 0);
}

#[test]
fn just_below_half_a_second_is_a_loss_and_half_is_a_restart() {
    assert_eq!(Sequence::accept(&mut after(4000, [0]), 1999), SampleStep::Gap(1998));
    assert_eq!(Sequence::accept(&mut after(4000, [0]), 2000), SampleStep::Restart);
}

#[test]
fn a_gap_longer_than_the_window_is_lost_for_good() {
    let mut sequence = after(4800, [0, 100]);
    assert_eq!(sequence.counters().lost, 99);
    assert_eq!(sequence.accept(90), SampleStep::OutOfOrder);
    assert_eq!(sequence.counters().lost, 98);
}

#[test]
fn the_rate_of_a_known_profile_is_learned_at_the_first_wrap() {
    let mut sequence = Sequence::learning();
    for count in (3000..4000).chain([1, 2]) {
        sequence.accept(count);
    }
    assert_eq!(sequence.rate(), Some(4000));
    assert_eq!((sequence.counters().lost, sequence.counters().restarts), (1, 0));
}

#[test]
fn another_rate_is_learned_when_two_wraps_agree() {
    let mut sequence = Sequence::learning();
    for count in (0..1000).chain(0..1000) {
        sequence.accept(count);
    }
    assert_eq!(sequence.rate(), None);
    assert_eq!(sequence.accept(0), SampleStep::Next);
    assert_eq!(sequence.rate(), Some(1000));
}

#[test]
fn extreme_rates_do_not_overflow() {
    for rate in [0, 1, 2, 3, 16, 65_536, u32::MAX] {
        let sequence = after(rate, [0, 1, 0, 65_535, 65_535, 3, 40_000, 0]);
        assert_eq!(sequence.counters().asdus, 8);
    }
}

/// A stream of 4800 samples a second, in which sample `late` arrives `behind` samples late while the rate is not known
/// yet.
fn learning_with_one_late(late: u16, behind: u16, doubled: bool) -> Sequence {
    let mut sequence = Sequence::learning();
    for place in 0..12_000_u32 {
        let count = (place % 4_800) as u16;
        if place != u32::from(late) || doubled {
            sequence.accept(count);
        }
        if place == u32::from(late + behind) {
            sequence.accept(late);
        }
    }
    sequence
}

#[test]
fn a_sample_far_too_late_neither_hides_the_rate_nor_costs_others() {
    // After 3990 to 3999, a step back looks like the wrap of 4000 samples a second.
    for (late, behind) in [
        (100, 17),
        (100, 1_900),
        (3_900, 90),
        (3_899, 100),
        (4_700, 20),
        (20, 3_980),
    ] {
        for doubled in [false, true] {
            let sequence = learning_with_one_late(late, behind, doubled);
            let counters = sequence.counters();
            assert_eq!(sequence.rate(), Some(4_800), "{late} {behind}");
            assert_eq!(
                (
                    counters.lost,
                    counters.restarts,
                    counters.too_late,
                    counters.out_of_range
                ),
                (u64::from(!doubled), 0, 1, 0),
                "{late} {behind} {doubled}"
            );
            assert_eq!(sequence.certain_restarts(), 0);
        }
    }
}

#[test]
fn a_stray_from_before_the_rate_was_known_is_no_neighbour_of_one_since() {
    let mut sequence = Sequence::learning();
    let counts = (3900..3950).chain([7000]).chain(3950..4000);
    for count in counts.chain(0..100).chain([2000]).chain(100..200) {
        sequence.accept(count);
    }
    let counters = sequence.counters();
    assert_eq!(sequence.rate(), Some(4000));
    assert_eq!((counters.lost, counters.restarts, counters.too_late), (0, 0, 2));
}

#[test]
fn a_restart_is_certain_when_as_many_samples_follow_as_a_frame_has() {
    let mut sequence = after(4_800, 0..100);
    let certain: Vec<u64> = (3_000..3_020)
        .map(|count| {
            sequence.accept(count);
            sequence.certain_restarts()
        })
        .collect();
    assert_eq!((certain[15], certain[16..].to_vec()), (0, vec![1; 4]));
}

/// A stream declared with `said` frames a second that sends `sent` frames of `asdus` samples a second, over four
/// seconds.
fn checked(said: u32, sent: u32, asdus: u16, lost: impl Fn(u32) -> bool) -> Sequence {
    let mut sequence = Sequence::checking(said).of_frames(asdus);
    for place in (sent / 2..4 * sent).filter(|place| !lost(*place)) {
        sequence.accept((place % sent) as u16);
    }
    sequence
}

#[test]
fn another_rate_than_was_said_costs_nothing_that_came() {
    for sent in super::KNOWN_RATES {
        for said in [100, 1_000, 4_000, 4_800, 8_000, 14_400, 60_000] {
            let sequence = checked(said, sent, 1, |_| false);
            let counters = sequence.counters();
            assert_eq!(
                (sequence.rate(), counters.lost, counters.restarts, counters.duplicates),
                (Some(sent), 0, 0, 0),
                "{sent}/s, said to be {said}/s"
            );
            let beyond = u64::from(sent.saturating_sub(said.max(sent / 2)));
            assert_eq!(counters.out_of_range, beyond, "{sent}/s, said to be {said}/s");
        }
    }
}

#[test]
fn what_is_lost_around_the_wrap_that_shows_the_rate_is_counted() {
    for said in [4_000, 4_800, 14_400] {
        let sequence = checked(said, 4_800, 1, |place| (4_795..4_803).contains(&place));
        assert_eq!((sequence.rate(), sequence.counters().lost), (Some(4_800), 8), "{said}");
    }
}

#[test]
fn the_rate_of_frames_with_several_samples_is_found() {
    // F4800S2, F14400S6, F12800S8 of IEC 61869-9.
    for (sent, asdus) in [(2_400, 2), (2_400, 6), (1_600, 8)] {
        for said in [1_000, 2_000, 4_000, 4_800] {
            let sequence = checked(said, sent, asdus, |_| false);
            assert_eq!(sequence.rate(), Some(sent), "{said} {asdus}");
            assert_eq!(sequence.counters().lost, 0, "{said} {asdus}");
        }
    }
    // With one sample in each frame, the rate belongs to no profile.
    assert_eq!(checked(4_800, 2_400, 1, |_| false).rate(), Some(4_800));
}

#[test]
fn a_loss_that_looks_like_another_rate_does_so_until_the_next_wrap() {
    // Nothing arrives from 3995 to the end of the second.
    let sequence = checked(4_800, 4_800, 1, |place| (3_995..4_800).contains(&place));
    assert_eq!(sequence.rate(), Some(4_800));
    assert!(sequence.counters().out_of_range > 0, "reported as a doubt");
    // Once the wrap has shown the stated rate, nothing suggests another one.
    let later = checked(4_800, 4_800, 1, |place| (8_795..9_600).contains(&place));
    assert_eq!((later.counters().lost, later.counters().out_of_range), (805, 0));
}
