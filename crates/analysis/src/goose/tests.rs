//! The rules on short sequences: (ms, stNum, sqNum, timeAllowedtoLive).

use super::{Message, Outcome, Rules};
use crate::order::Place;

type Sent = (f64, u32, u32, u32);

fn run(messages: &[Sent]) -> (Vec<Outcome>, Rules) {
    let mut rules = Rules::default();
    let outcomes = messages.iter().map(|&(ms, st_num, sq_num, tal_ms)| {
        let message = Message { st_num, sq_num, tal_ms };
        rules.accept(message, Some((ms * 1e6) as i64)).0
    });
    let outcomes = outcomes.collect();
    (outcomes, rules)
}

fn lost(mut rules: Rules) -> u64 {
    rules.finish(None);
    rules.lost()
}

const NEXT: Outcome = Outcome::Repetition(Place::Next);

#[test]
fn a_state_change_and_its_repetitions() {
    let (outcomes, rules) = run(&[
        (0.0, 1, 1, 2000),
        (1000.0, 1, 2, 2000),
        (1500.0, 2, 0, 8),
        (1504.0, 2, 1, 8),
        (1508.0, 2, 2, 16),
    ]);
    assert_eq!(outcomes, [Outcome::First, NEXT, Outcome::NewState(0), NEXT, NEXT]);
    assert_eq!((rules.counts.states, rules.counts.repetitions), (1, 3));
    assert_eq!((rules.counts.expired, lost(rules)), (0, 0));
}

#[test]
fn the_first_of_a_burst_is_lost_and_may_come_late() {
    let burst: [Sent; 3] = [(0.0, 1, 5, 2000), (500.0, 2, 2, 8), (504.0, 2, 3, 16)];
    let (outcomes, rules) = run(&burst);
    assert_eq!(outcomes, [Outcome::First, Outcome::NewState(0), NEXT]);
    assert_eq!((rules.counts.begun_late, lost(rules)), (1, 2), "sqNum 0 and 1");
    let (outcomes, rules) = run(&[burst[0], burst[1], (501.0, 2, 0, 8), burst[2]]);
    assert_eq!(outcomes[2], Outcome::Repetition(Place::Late));
    assert_eq!((rules.late(), lost(rules)), (1, 1), "sqNum 1");
}

#[test]
fn a_missed_state_is_a_lost_message() {
    let (outcomes, rules) = run(&[(0.0, 5, 9, 2000), (700.0, 7, 0, 8)]);
    assert_eq!(outcomes[1], Outcome::NewState(1));
    assert_eq!((rules.counts.missed_states, lost(rules)), (1, 1));
}

#[test]
fn duplicates_and_late_repetitions_are_not_lost() {
    let (outcomes, rules) = run(&[(0.0, 2, 0, 8), (0.05, 2, 0, 8), (4.0, 2, 1, 8)]);
    assert_eq!(outcomes[1], Outcome::Repetition(Place::Duplicate));
    assert_eq!((rules.duplicates(), lost(rules)), (1, 0));
    let (outcomes, rules) = run(&[(0.0, 2, 0, 8), (8.0, 2, 2, 16), (8.2, 2, 1, 8)]);
    assert_eq!(outcomes[1..], [Place::Gap(1), Place::Late].map(Outcome::Repetition));
    assert_eq!((rules.late(), lost(rules)), (1, 0));
}

#[test]
fn a_lower_state_is_old_while_live_and_a_restart_after() {
    let (outcomes, rules) = run(&[(0.0, 9, 3, 2000), (100.0, 8, 40, 2000), (200.0, 9, 4, 2000)]);
    assert_eq!(outcomes[1..], [Outcome::Old, NEXT]);
    assert_eq!((rules.late(), lost(rules)), (1, 0));
    let (outcomes, rules) = run(&[(0.0, 50, 7, 2000), (2500.0, 1, 1, 8), (2504.0, 1, 2, 8)]);
    assert_eq!(outcomes[1..], [Outcome::Restart, NEXT]);
    assert_eq!((rules.counts.restarts, rules.counts.expired, lost(rules)), (1, 1, 0));
}

#[test]
fn silence_beyond_its_allowance_expires_once() {
    let one: [Sent; 1] = [(0.0, 3, 4, 100)];
    for (end_ms, expired) in [(99, 0), (100, 0), (101, 1)] {
        let (_, mut rules) = run(&one);
        let overdue = rules.finish(Some(end_ms * 1_000_000));
        assert_eq!(
            (rules.counts.expired, overdue.is_some()),
            (expired, expired == 1),
            "{end_ms} ms"
        );
    }
    let (_, rules) = run(&[one[0], (150.0, 3, 5, 100), (260.0, 3, 6, 100), (300.0, 3, 7, 100)]);
    assert_eq!(rules.counts.expired, 2);
    let (_, rules) = run(&[(0.0, 1, 0, 0), (9e6, 1, 1, 0)]);
    assert_eq!(
        (rules.counts.expired, rules.counts.without_life),
        (0, 2),
        "0 is not judged"
    );
}

#[test]
fn a_duplicate_or_an_old_message_keeps_no_stream_alive() {
    let (_, rules) = run(&[
        (0.0, 5, 1, 100),
        (90.0, 5, 1, 100),
        (91.0, 4, 9, 100),
        (110.0, 5, 2, 100),
    ]);
    assert_eq!(rules.counts.expired, 1);
}

#[test]
fn numbers_go_from_the_highest_to_one() {
    let (outcomes, rules) = run(&[(0.0, u32::MAX, 3, 2000), (500.0, 1, 0, 8)]);
    assert_eq!(outcomes[1], Outcome::NewState(0));
    assert_eq!(lost(rules), 0);
    let (outcomes, rules) = run(&[(0.0, 3, u32::MAX, 2000), (1000.0, 3, 1, 2000), (2000.0, 3, 2, 2000)]);
    assert_eq!(outcomes[1..], [NEXT, NEXT]);
    assert_eq!(lost(rules), 0);
    let (outcomes, _) = run(&[(0.0, u32::MAX, 3, 2000), (500.0, 2, 0, 8)]);
    assert_eq!(outcomes[1], Outcome::NewState(1));
}
