use super::{Sequence, Step};

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
    assert_eq!(run(104), (Step::Duplicate, 1));
    assert_eq!(run(101), (Step::Restart, 1));
}

#[test]
fn late_across_the_wrap() {
    let mut sequence = after(4000, [3998, 1]);
    assert_eq!(sequence.counters().lost, 2);
    assert_eq!(sequence.accept(3999), Step::OutOfOrder);
    assert_eq!(sequence.accept(0), Step::OutOfOrder);
    assert_eq!(sequence.accept(2), Step::Next);
    assert_eq!(sequence.counters().lost, 0);
}

#[test]
fn just_below_half_a_second_is_a_loss_and_half_is_a_restart() {
    assert_eq!(Sequence::accept(&mut after(4000, [0]), 1999), Step::Gap(1998));
    assert_eq!(Sequence::accept(&mut after(4000, [0]), 2000), Step::Restart);
}

#[test]
fn a_gap_longer_than_the_window_is_lost_for_good() {
    let mut sequence = after(4800, [0, 100]);
    assert_eq!(sequence.counters().lost, 99);
    assert_eq!(sequence.accept(90), Step::OutOfOrder);
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
    assert_eq!(sequence.accept(0), Step::Next);
    assert_eq!(sequence.rate(), Some(1000));
}

#[test]
fn extreme_rates_do_not_overflow() {
    for rate in [0, 1, 2, 3, 16, 65_536, u32::MAX] {
        let sequence = after(rate, [0, 1, 0, 65_535, 65_535, 3, 40_000, 0]);
        assert_eq!(sequence.counters().asdus, 8);
    }
}
