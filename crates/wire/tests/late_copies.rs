//! Copies, frames with many samples, and silences: one of them must not distort the counts of another.

use testing::histories::{Deed, play};
use wire::sequence::{Contents, Sample, Sequence, What};

/// A sample by its place in the stream of `rate`, with contents that repeat after `repeats_after` samples.
fn sample(place: u32, rate: u32, at_ns: i64, repeats_after: u32) -> Sample {
    Sample {
        contents: Contents::new(1 + place % repeats_after),
        at_ns: Some(at_ns),
        ..Sample::from((place % rate) as u16)
    }
}

/// True if the finding was reported, at the latest at the end.
fn told(sequence: &mut Sequence, what: What) -> bool {
    std::iter::from_fn(|| sequence.take_finding()).any(|finding| finding.what == what)
}

#[test]
fn a_copy_beside_what_was_held_back_takes_no_loss_back() {
    let (rate, period_ns) = (100, 10_000_000);
    let mut sequence = Sequence::new(rate).comparing();
    let released = 300..=405;
    for place in (0..700).filter(|place| *place != 150) {
        let due = if released.contains(&place) { 405 } else { place };
        sequence.accept(sample(place, rate, i64::from(due) * period_ns, 997));
        if place == 312 {
            sequence.accept(sample(298, rate, i64::from(due) * period_ns, 997));
        }
    }
    sequence.end(Some(7_000_000_000));
    assert!(told(&mut sequence, What::Held));
    assert_eq!(sequence.counters().lost, 1);
}

#[test]
fn a_frame_that_ends_a_silence_is_no_copy_of_a_second_before() {
    let (rate, asdus, period_ns) = (4_000, 16, 250_000);
    let mut sequence = Sequence::new(rate).comparing();
    let lost = 6_000..6_992;
    for place in (0..12_000).filter(|place| !lost.contains(place)) {
        // The contents are the same in each second.
        let frame = place / asdus + 1;
        sequence.accept(sample(place, rate, i64::from(frame * asdus) * period_ns, 80));
    }
    assert_eq!(sequence.counters().lost, 992);
}

#[test]
fn samples_of_the_turn_before_contradict_nothing_while_the_rate_is_unknown() {
    let (rate, period_ns) = (1_000, 1_000_000);
    let mut sequence = Sequence::learning().comparing();
    for place in 0..1_500 {
        let at_ns = i64::from(place) * period_ns;
        sequence.accept(sample(place, rate, at_ns, 99_991));
        if let Some(before) = place.checked_sub(100) {
            sequence.accept(sample(before, rate, at_ns, 99_991));
        }
    }
    sequence.end(Some(1_500_000_000));
    assert_eq!((sequence.counters().conflicting, sequence.counters().lost), (0, 0));
}

#[test]
fn somebody_else_between_frames_that_are_stamped_alike_is_told() {
    let rate = 4_000;
    for sequence in [Sequence::learning(), Sequence::new(rate)] {
        let mut sequence = sequence.comparing();
        let deeds = [
            (0.128_407_5, Deed::HoldUp(471)),
            (0.144_335_9, Deed::Intrude(5, 17, false)),
        ];
        let (stream, end_ns) = play(rate, 0, 8_000, &deeds);
        for sent in &stream {
            sequence.accept(Sample {
                contents: Contents::new(sent.contents),
                at_ns: Some(sent.at_ns),
                ..Sample::from(sent.count)
            });
        }
        sequence.end(Some(end_ns));
        let mut findings = std::iter::from_fn(|| sequence.take_finding());
        assert!(findings.any(|finding| finding.what.is_doubt()));
    }
}

#[test]
fn two_copies_behind_the_end_are_no_loss_of_a_stream_of_unknown_rate() {
    let (rate, asdus, period_ns) = (2_400, 6, 1_000_000_000 / 2_400);
    let mut sequence = Sequence::learning().comparing();
    let mut frame = |first: u32, at_ns: i64| {
        for place in first..first + asdus {
            // The contents never change.
            sequence.accept(sample(place, rate, at_ns, 1));
        }
    };
    let end_ns = 1_200_000_000;
    for first in (0..2_880).step_by(6) {
        frame(first, i64::from(first + asdus) * period_ns);
    }
    frame(738, end_ns + 7_600_000);
    frame(2_298, end_ns + 157_500_000);
    sequence.end(Some(end_ns + 157_500_000));
    assert_eq!(sequence.counters().lost, 0);
    assert!(told(&mut sequence, What::Restart), "a doubt");
}
