//! The rules on one direction, without taps.

use super::line::{Line, Out};
use super::{Direction, Fault, Frames, LineCounts, Pick, Rule, RuleError};
use units::Monotonic;
use wire::ether::Mac;
use wire::test_frame::{ETHER_TYPE, Kind, TestFrame};

const WAY: Direction = Direction::ToDevice;

#[derive(Default)]
struct Far(Vec<Vec<u8>>);

impl Out for Far {
    fn send(&mut self, frame: &[u8]) -> bool {
        self.0.push(frame.to_vec());
        true
    }
}

fn frame(sequence: u64) -> Vec<u8> {
    let frame = TestFrame {
        kind: Kind::Probe,
        flags: 0,
        session: 7,
        sequence,
        sent_ns: 0,
    };
    frame.encode(Mac([2; 6]), Mac([4; 6]), None, 60)
}

fn every(n: u64, fault: Fault) -> Rule {
    Rule::every(WAY, ETHER_TYPE, n, fault)
}

/// Sends `frames` frames, one a millisecond, and then lets time pass; the numbers that come out, and the counts.
fn run(rules: &[Rule], frames: u64, seed: u64) -> (Vec<u64>, LineCounts) {
    let (mut line, mut far) = (Line::new(WAY, rules, seed), Far::default());
    let at = |ms: u64| Monotonic::from_ns(ms as i64 * 1_000_000);
    for sequence in 0..frames {
        line.take(&frame(sequence), at(sequence), &mut far);
    }
    while let Some(due) = line.next_due() {
        line.release(due, &mut far);
    }
    let numbers = far.0.iter().filter_map(|frame| super::number::of(frame)).collect();
    let counts = line.counts().clone();
    assert_eq!(
        counts.came + counts.doubled,
        counts.passed + counts.dropped + counts.refused + counts.held
    );
    (numbers, counts)
}

#[test]
fn each_fault_does_what_it_says_and_is_counted() {
    let cases: [(Fault, &[u64]); 4] = [
        (Fault::Drop, &[0, 1, 3, 4, 6]),
        (Fault::Duplicate, &[0, 1, 2, 2, 3, 4, 5, 5, 6]),
        (Fault::Reorder, &[0, 1, 3, 2, 4, 6, 5]),
        (Fault::Delay { ns: 1_500_000 }, &[0, 1, 3, 2, 4, 6, 5]),
    ];
    for (fault, expected) in cases {
        let (numbers, counts) = run(&[every(3, fault)], 7, 1);
        assert_eq!(numbers, expected, "{fault:?}");
        assert_eq!((counts.rules[0].looked_at, counts.rules[0].done), (7, 2), "{fault:?}");
        let overtaken = u64::from(matches!(fault, Fault::Reorder | Fault::Delay { .. })) * 2;
        assert_eq!(counts.overtaken, overtaken, "{fault:?}");
    }
}

#[test]
fn a_corrupted_frame_differs_in_the_bits_asked_for() {
    let (mut line, mut far) = (
        Line::new(WAY, &[every(2, Fault::Corrupt { at: 20, flip: 0x81 })], 1),
        Far::default(),
    );
    for sequence in 0..2 {
        line.take(&frame(sequence), Monotonic::from_ns(0), &mut far);
    }
    assert_eq!(far.0[0], frame(0));
    let mut spoilt = frame(1);
    spoilt[20] ^= 0x81;
    assert_eq!(far.0[1], spoilt);
    let beyond = Fault::Corrupt { at: 60, flip: 1 };
    let (_, counts) = run(&[every(1, beyond)], 5, 1);
    assert_eq!(
        (counts.rules[0].done, counts.passed),
        (0, 5),
        "a frame of 60 octets has no 61st"
    );
}

#[test]
fn a_frame_meets_the_first_rule_that_chooses_it_and_every_rule_looks() {
    let rules = [every(2, Fault::Drop), every(3, Fault::Duplicate)];
    let (numbers, counts) = run(&rules, 6, 1);
    assert_eq!(numbers, [0, 2, 2, 4], "5 is dropped, not doubled");
    let done: Vec<(u64, u64)> = counts.rules.iter().map(|rule| (rule.looked_at, rule.done)).collect();
    assert_eq!(done, [(6, 3), (6, 1)]);
}

#[test]
fn a_frame_changes_places_with_the_next_one_that_goes_on() {
    let numbered = |numbers: &[u64], fault| Rule {
        pick: Pick::Numbers(numbers.to_vec()),
        ..every(1, fault)
    };
    let rules = [numbered(&[3], Fault::Drop), numbered(&[2, 6], Fault::Reorder)];
    let (numbers, counts) = run(&rules, 7, 1);
    assert_eq!(
        numbers,
        [0, 1, 4, 2, 5, 6],
        "6 found no partner and goes on after a while"
    );
    assert_eq!((counts.rules[1].done, counts.overtaken), (1, 1));
    let (numbers, counts) = run(&[numbered(&[1, 2], Fault::Reorder)], 5, 1);
    assert_eq!(numbers, [0, 3, 1, 2, 4], "a frame that waits itself overtakes none");
    assert_eq!((counts.rules[0].done, counts.overtaken), (2, 2));
}

#[test]
fn filters_spans_and_directions_choose_frames() {
    let tail = Rule {
        frames: Frames {
            ether_type: Some(ETHER_TYPE),
            octets: vec![(19, 1)],
            from: 4,
            to: Some(5),
        },
        ..every(1, Fault::Drop)
    };
    assert_eq!(run(std::slice::from_ref(&tail), 8, 1).0, [0, 1, 2, 5, 6, 7]);
    let second = Rule {
        pick: Pick::Every(2),
        ..tail.clone()
    };
    assert_eq!(run(&[second], 8, 1).0, [0, 1, 2, 3, 5, 6, 7], "counted from its first");
    let none = [
        Rule {
            direction: Direction::ToTestSet,
            ..tail.clone()
        },
        Rule {
            frames: Frames {
                ether_type: Some(0x88ba),
                ..Frames::default()
            },
            ..tail.clone()
        },
        Rule {
            frames: Frames {
                octets: vec![(19, 2)],
                ..Frames::default()
            },
            ..tail
        },
    ];
    assert_eq!(run(&none, 3, 1).0, [0, 1, 2]);
}

#[test]
fn chance_is_the_same_for_a_seed_and_about_what_it_should_be() {
    let rules = [
        Rule {
            pick: Pick::Chance(0.1),
            ..every(1, Fault::Drop)
        },
        Rule {
            pick: Pick::Chance(0.1),
            ..every(1, Fault::Duplicate)
        },
    ];
    let (first, counts) = run(&rules, 10_000, 42);
    assert_eq!(run(&rules, 10_000, 42).0, first);
    assert_ne!(run(&rules, 10_000, 43).0, first);
    // Ten standard deviations of 30 about 1000; the second rule gets what the first leaves.
    for done in [counts.rules[0].done, counts.rules[1].done + counts.rules[1].done / 9] {
        assert!((700..1_300).contains(&done), "{counts:?}");
    }
    let alone = run(&rules[1..], 10_000, 42).1;
    assert_eq!(alone.rules[0].looked_at, 10_000);
}

#[test]
fn rules_that_cannot_be_are_refused() {
    let chance = |chance| Rule {
        pick: Pick::Chance(chance),
        ..every(1, Fault::Drop)
    };
    assert_eq!(every(0, Fault::Drop).check(), Err(RuleError::EveryNone));
    assert_eq!(chance(1.5).check(), Err(RuleError::Chance("1.5".into())));
    assert!(chance(f64::NAN).check().is_err() && chance(1.0).check().is_ok());
    assert_eq!(
        every(1, Fault::Corrupt { at: 0, flip: 0 }).check(),
        Err(RuleError::FlipNone)
    );
}
