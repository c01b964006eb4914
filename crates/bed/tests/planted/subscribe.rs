//! Sampled values whose frames the wire loses, doubles, holds back and corrupts.

use crate::bench::{Counted, Recorded, bed, can_run};
use crate::samples::{RATE, SERIES, assert_counted, by_the_journal, numbers, rule, subscribe};
use bed::fault::{Direction, Fault, Which};
use model::Counters;

/// The EtherType; the tag of the savPdu, without which a frame is malformed.
const ETHER_TYPE_AT: usize = 13;
const SAV_PDU_AT: usize = 22;

/// 4000 samples over the wrap with one fault; the rule's counts are what is counted.
fn check_alone(which: Which, fault: Fault, expected: impl Fn(u64, u64) -> Counted) -> Recorded {
    let (bed, journal) = bed(vec![rule(which, fault)], Vec::new(), 1);
    let recorded = subscribe(&bed, &journal, 2_000, 4_000);
    let done = bed.wire().counts(Direction::ToDevice).rules[0];
    assert!(done.injected > 20, "{done:?}");
    let expected = Counted {
        sent: 4_000,
        ..expected(done.injected, done.overtaken)
    };
    assert_counted(&recorded, expected);
    assert_eq!(by_the_journal(&journal), expected);
    bed.end_wire().expect("the wire held");
    recorded
}

fn lost(lost: u64, _: u64) -> Counted {
    Counted {
        lost,
        ..Counted::default()
    }
}

fn malformed(recorded: &Recorded) -> Option<String> {
    let events = recorded.events();
    let event = events.into_iter().find(|event| event.text.contains("malformed"));
    event.map(|event| event.text)
}

#[test]
fn dropped_samples_are_lost() {
    if let Some(_clock) = can_run("dropped_samples_are_lost") {
        let recorded = check_alone(Which::Every(37), Fault::Drop, lost);
        assert_eq!(malformed(&recorded), None);
    }
}

#[test]
fn doubled_samples_are_duplicates() {
    if let Some(_clock) = can_run("doubled_samples_are_duplicates") {
        check_alone(Which::Chance(30_000), Fault::Duplicate, |duplicate, _| Counted {
            duplicate,
            ..Counted::default()
        });
    }
}

#[test]
fn samples_that_come_later_than_their_successors_are_reordered() {
    let Some(_clock) = can_run("samples_that_come_later_than_their_successors_are_reordered") else {
        return;
    };
    for by in [1, 2, 15, 16] {
        let places = numbers((10..3_900).step_by(41));
        check_alone(places, Fault::HoldBack(by), |injected, overtaken| {
            assert_eq!(injected, overtaken);
            Counted {
                reordered: overtaken,
                ..Counted::default()
            }
        });
    }
}

#[test]
fn samples_that_come_more_than_the_window_late_are_lost_and_no_restart() {
    let Some(_clock) = can_run("samples_that_come_more_than_the_window_late_are_lost_and_no_restart") else {
        return;
    };
    for by in [17, 33, 150] {
        let places = numbers((10..3_700).step_by(41));
        let (bed, journal) = bed(vec![rule(places, Fault::HoldBack(by))], Vec::new(), 1);
        let recorded = subscribe(&bed, &journal, 2_000, 4_000);
        let late = bed.wire().counts(Direction::ToDevice).rules[0].injected;
        let found = recorded.counters(SERIES[2]);
        let expected = Counters {
            expected: 4_000,
            received: 4_000 - late,
            lost: late,
            clipped: found.clipped,
            ..Counters::default()
        };
        assert_eq!(found, expected, "by {by}");
        let text = format!(
            "MU01: {late} samples came more than 16 counts late, without a restart: the missing ones still count as lost"
        );
        assert!(recorded.events().iter().any(|event| event.text == text), "by {by}");
    }
}

#[test]
fn samples_of_another_type_are_lost_and_broken_ones_are_malformed_too() {
    let Some(_clock) = can_run("samples_of_another_type_are_lost_and_broken_ones_are_malformed_too") else {
        return;
    };
    let corrupt = |offset| Fault::Corrupt { offset, bits: 0x04 };
    let recorded = check_alone(numbers((10..3_900).step_by(50)), corrupt(ETHER_TYPE_AT), lost);
    assert_eq!(malformed(&recorded), None);
    let recorded = check_alone(numbers((10..3_900).step_by(50)), corrupt(SAV_PDU_AT), lost);
    let said = malformed(&recorded).expect("it is said");
    assert!(said.starts_with("78 malformed SV frames;"), "{said}");
}

#[test]
fn faults_exactly_around_the_wrap() {
    let Some(_clock) = can_run("faults_exactly_around_the_wrap") else {
        return;
    };
    // smpCnt 4799 is the frame number 100, and 0 is number 101.
    let faults = [
        Fault::Drop,
        Fault::Duplicate,
        Fault::HoldBack(1),
        Fault::HoldBack(3),
        Fault::Corrupt {
            offset: SAV_PDU_AT,
            bits: 1,
        },
    ];
    for fault in faults {
        for places in [
            vec![99],
            vec![100],
            vec![101],
            vec![102],
            vec![100, 101],
            (96..106).collect(),
        ] {
            let count = places.len() as u64;
            let (bed, journal) = bed(vec![rule(numbers(places.clone()), fault)], Vec::new(), 1);
            let recorded = subscribe(&bed, &journal, RATE - 100, 200);
            let mut expected = Counted {
                sent: 200,
                ..Counted::default()
            };
            *match fault {
                Fault::Drop | Fault::Corrupt { .. } => &mut expected.lost,
                Fault::Duplicate => &mut expected.duplicate,
                Fault::HoldBack(_) | Fault::Delay(_) => &mut expected.reordered,
            } = count;
            assert_eq!(by_the_journal(&journal), expected, "{fault:?} at {places:?}");
            assert_counted(&recorded, expected);
        }
    }
}

#[test]
fn faults_together_over_the_wrap() {
    let Some(_clock) = can_run("faults_together_over_the_wrap") else {
        return;
    };
    for seed in 1..=5 {
        let rules = vec![
            rule(Which::Chance(30_000), Fault::Drop),
            rule(Which::Chance(30_000), Fault::Duplicate),
            rule(numbers((10..3_900).step_by(23)), Fault::HoldBack(1)),
            rule(numbers((11..3_900).step_by(61)), Fault::HoldBack(5)),
            rule(
                Which::Every(97),
                Fault::Corrupt {
                    offset: SAV_PDU_AT,
                    bits: 0x10,
                },
            ),
        ];
        let (bed, journal) = bed(rules, Vec::new(), seed);
        let recorded = subscribe(&bed, &journal, 3_000, 4_000);
        let rules = bed.wire().counts(Direction::ToDevice).rules;
        let expected = Counted {
            sent: 4_000,
            lost: rules[0].injected + rules[4].injected,
            duplicate: rules[1].injected,
            reordered: rules[2].overtaken + rules[3].overtaken,
        };
        assert!(rules.iter().all(|rule| rule.injected > 20), "{rules:?}");
        assert_eq!(by_the_journal(&journal), expected, "seed {seed}");
        assert_counted(&recorded, expected);
        let said = malformed(&recorded).expect("it is said");
        let count = rules[4].injected;
        assert!(said.starts_with(&format!("{count} malformed SV frames;")), "{said}");
    }
}
