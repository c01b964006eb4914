//! The rules on short sequences: (ms, stNum, sqNum, timeAllowedtoLive).

use super::{Rules, SHORTEST_INTERVAL_NS};
use crate::goose::{Counts, Heard, Numbers, Oddity, Outcome};
use crate::order::OrderPlace;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::{prop_assert, prop_assert_eq, proptest};

type Sent = (f64, u32, u32, u32);

fn run(messages: &[Sent]) -> (Vec<Outcome>, Rules) {
    let mut rules = Rules::default();
    let outcomes = messages.iter().map(|&(ms, st_num, sq_num, tal_ms)| {
        let message = Numbers { st_num, sq_num, tal_ms };
        rules.accept(message, at(ms)).0
    });
    let outcomes = outcomes.collect();
    (outcomes, rules)
}

fn at(ms: f64) -> Heard {
    Heard::at(Some((ms * 1e6) as i64))
}

fn lost(mut rules: Rules) -> u64 {
    rules.finish(Heard::default());
    rules.lost()
}

const NEXT: Outcome = Outcome::Repetition(OrderPlace::Next);

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
    assert_eq!(outcomes[2], Outcome::Repetition(OrderPlace::Late));
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
    assert_eq!(outcomes[1], Outcome::Repetition(OrderPlace::Duplicate));
    assert_eq!((rules.duplicates(), lost(rules)), (1, 0));
    let (outcomes, rules) = run(&[(0.0, 2, 0, 8), (8.0, 2, 2, 16), (8.2, 2, 1, 8)]);
    assert_eq!(
        outcomes[1..],
        [OrderPlace::Gap(1), OrderPlace::Late].map(Outcome::Repetition)
    );
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
        let overdue = rules.finish(at(f64::from(end_ms)));
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

#[test]
fn one_from_before_the_highest_sq_num_may_come_late() {
    let high = u32::MAX - 1;
    let (outcomes, rules) = run(&[
        (0.0, 3, high, 2000),
        (1.0, 3, 1, 2000),
        (1.1, 3, u32::MAX, 2000),
        (2.0, 3, 2, 2000),
    ]);
    let expected = [OrderPlace::Gap(1), OrderPlace::Late, OrderPlace::Next].map(Outcome::Repetition);
    assert_eq!(outcomes[1..], expected);
    assert_eq!((rules.late(), lost(rules)), (1, 0));
}

#[test]
fn a_publisher_that_goes_on_from_zero_is_followed_and_found_out() {
    let high = u32::MAX - 2;
    let numbers = [high, high + 1, u32::MAX, 0, 1, 2];
    let follow = |left_out: &[u32], again: &[u32]| {
        let mut rules = Rules::default();
        let mut odd = 0;
        let kept = numbers.iter().filter(|number| !left_out.contains(number)).chain(again);
        for (second, sq_num) in kept.enumerate() {
            let message = Numbers {
                st_num: 5,
                sq_num: *sq_num,
                tal_ms: 2_000,
            };
            rules.accept(message, at(1_000.0 * second as f64));
            odd += u64::from(rules.oddity() == Some(Oddity::ToZero));
        }
        let counts = rules.counts();
        assert_eq!((counts.restarts, counts.old, counts.expired), (0, 0, 0), "{left_out:?}");
        (odd, rules.duplicates(), rules.late(), lost(rules))
    };
    assert_eq!(follow(&[], &[]), (1, 0, 0, 0));
    assert_eq!(follow(&[u32::MAX], &[]), (1, 0, 0, 1));
    assert_eq!(follow(&[1], &[]), (1, 0, 0, 1));
    assert_eq!(follow(&[u32::MAX], &[u32::MAX]), (1, 0, 1, 0), "it comes late");
    assert_eq!(follow(&[], &[0]), (1, 1, 0, 0), "it comes again");
    // If message 0 is lost, the broken rule cannot be detected.
    assert_eq!(follow(&[0], &[]), (0, 0, 0, 0));
}

#[test]
fn a_state_that_goes_on_near_the_wrap_is_in_doubt() {
    let end = u32::MAX - 1;
    for (last, next, then) in [(end, u32::MAX, 1), (900_000, 900_001, 900_002)] {
        let mut rules = Rules::default();
        let messages = [(0.0, 5, last), (300.0, 6, next), (600.0, 6, then)];
        let odd = messages.map(|(ms, st_num, sq_num)| {
            let message = Numbers {
                st_num,
                sq_num,
                tal_ms: 1_000,
            };
            rules.accept(message, at(ms));
            rules.oddity()
        });
        assert_eq!(odd, [None, Some(Oddity::NotReset), None]);
        assert_eq!((rules.counts.not_reset, lost(rules)), (1, 0));
    }
    // The numbers are close enough that all of them could have been lost, so they count as lost.
    let (_, rules) = run(&[(0.0, 5, 6, 1_000), (300.0, 6, 7, 1_000)]);
    assert_eq!((rules.counts.not_reset, lost(rules)), (0, 7));
}

#[test]
fn far_back_in_one_state_is_old_while_live_and_a_restart_after() {
    let (outcomes, rules) = run(&[(0.0, 1, 100, 2000), (10.0, 1, 3, 2000), (20.0, 1, 101, 2000)]);
    assert_eq!(
        outcomes[1..],
        [Outcome::Old, NEXT],
        "a second publisher of the same name"
    );
    assert_eq!((rules.counts.old, lost(rules)), (1, 0));
    for again in [1, 99] {
        let (outcomes, rules) = run(&[(0.0, 1, 99, 100), (1.0, 1, 100, 100), (200.0, 1, again, 100)]);
        assert_eq!(outcomes[2], Outcome::Restart);
        assert_eq!((rules.counts.restarts, lost(rules)), (1, 0));
    }
}

#[test]
fn a_jump_that_the_time_does_not_explain_is_no_loss() {
    // In the 4 ms after the last message, at most 16 and 40 messages can be missing.
    for (sq_num, lost_then) in [(66, 55), (67, 56), (68, 0), (u32::MAX, 0)] {
        let (outcomes, rules) = run(&[(0.0, 3, 10, 1000), (4.0, 3, sq_num, 1000), (8.0, 3, sq_num, 1000)]);
        let expected = match lost_then {
            0 => Outcome::Restart,
            missing => Outcome::Repetition(OrderPlace::Gap(missing)),
        };
        assert_eq!(outcomes[1], expected, "{sq_num}");
        assert_eq!(
            outcomes[2],
            Outcome::Repetition(OrderPlace::Duplicate),
            "it goes on from there"
        );
        let restarts = u64::from(lost_then == 0);
        assert_eq!((rules.gaps(), rules.counts.restarts), (1 - restarts, restarts));
        assert_eq!(lost(rules), lost_then);
    }
    // In an hour, all of them may have been sent and lost.
    let (_, rules) = run(&[(0.0, 3, 10, 1000), (3.6e6, 3, 3_000_000, 1000)]);
    assert_eq!(lost(rules), 3_000_000 - 11);
    // Without time stamps, only the numbers decide.
    let mut rules = Rules::default();
    for sq_num in [10, 1_000_000] {
        let message = Numbers {
            st_num: 3,
            sq_num,
            tal_ms: 1000,
        };
        rules.accept(message, Heard::default());
    }
    assert_eq!(lost(rules), 1_000_000 - 11);
}

#[test]
fn states_that_the_time_does_not_explain_are_not_missed() {
    let (outcomes, rules) = run(&[(0.0, 3, 10, 1000), (4.0, u32::MAX - 7, 0, 1000)]);
    assert_eq!(outcomes[1], Outcome::Restart);
    assert_eq!(
        (rules.counts.missed_states, rules.counts.states, lost(rules)),
        (0, 0, 0)
    );
    // A publisher that continues sqNum across states.
    let (outcomes, rules) = run(&[
        (0.0, 3, 900_000, 1000),
        (4.0, 4, 900_001, 1000),
        (8.0, 4, 900_003, 1000),
    ]);
    assert_eq!(outcomes[1], Outcome::NewState(0));
    assert_eq!((rules.counts.begun_late, lost(rules)), (1, 1));
    // stNum after its highest value, but much further than 4 ms allow: the message is old.
    let (outcomes, rules) = run(&[(0.0, u32::MAX, 3, 2000), (4.0, 60_000, 0, 2000)]);
    assert_eq!((outcomes[1], lost(rules)), (Outcome::Old, 0));
}

#[test]
fn a_factor_tolerates_silence() {
    let silent = |factor: f64, ms: f64| {
        let mut rules = Rules::new(factor);
        rules.accept(
            Numbers {
                st_num: 1,
                sq_num: 1,
                tal_ms: 100,
            },
            at(0.0),
        );
        rules.expire(at(ms)).is_some()
    };
    assert!(silent(1.0, 100.1) && !silent(1.0, 100.0));
    assert!(silent(2.0, 200.1) && !silent(2.0, 199.0));
    assert!(silent(0.5, 50.1) && silent(f64::NAN, 100.1) && silent(-1.0, 100.1));
}

#[test]
fn a_look_at_the_clock_finds_the_expiry_once() {
    let mut rules = Rules::default();
    let message = |st_num, sq_num| Numbers {
        st_num,
        sq_num,
        tal_ms: 100,
    };
    let now = |ms: i64| Heard::at(Some(ms * 1_000_000));
    assert_eq!(rules.deadline_ns(), None);
    rules.accept(message(5, 1), now(1_000));
    assert_eq!(rules.deadline_ns(), Some(1_100_000_000));
    assert_eq!(rules.expire(now(1_100)), None, "the last moment");
    assert_eq!(rules.expire(now(1_101)), Some(1_000_000));
    assert_eq!(
        (rules.expire(now(1_200)), rules.deadline_ns(), rules.is_live()),
        (None, None, false)
    );
    let (outcome, overdue) = rules.accept(message(2, 1), now(1_300));
    assert_eq!((outcome, overdue), (Outcome::Restart, Some(200_000_000)));
    assert_eq!((rules.counts.expired, rules.is_live()), (1, true), "counted once");
}

/// Numbers close to each other, numbers near both ends, and random numbers.
fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![0..40_u32, u32::MAX - 20..=u32::MAX, any::<u32>()]
}

fn sent() -> impl Strategy<Value = (Numbers, Heard)> {
    let message = (numbers(), numbers(), prop_oneof![0..200_u32, any::<u32>()]);
    let instant = prop_oneof![(0..2_000_000_000_i64).prop_map(Some), any::<Option<i64>>()];
    (message, instant)
        .prop_map(|((st_num, sq_num, tal_ms), at_ns)| (Numbers { st_num, sq_num, tal_ms }, Heard::at(at_ns)))
}

proptest! {
    #[test]
    fn no_sequence_is_counted_twice_or_not_at_all(messages in vec(sent(), 0..60), factor in any::<f64>()) {
        let mut rules = Rules::new(factor);
        let (mut first, mut before) = (0, rules.counts());
        for (message, at) in messages.iter().copied() {
            rules.expire(at);
            let (outcome, _) = rules.accept(message, at);
            let now = rules.counts();
            first += u64::from(outcome == Outcome::First);
            let other = |counts: Counts| counts.old + counts.held_up + counts.conflicting;
            let all = |counts: Counts| counts.states + counts.repetitions + counts.restarts + other(counts);
            prop_assert_eq!(all(now) - all(before), u64::from(outcome != Outcome::First));
            prop_assert!(now.expired - before.expired <= 2);
            before = now;
        }
        prop_assert_eq!(first, u64::from(!messages.is_empty()));
        rules.finish(Heard::default());
        prop_assert!(rules.duplicates() <= rules.counts().repetitions);
        let counts = rules.counts();
        prop_assert!(rules.late() <= counts.repetitions + counts.old + counts.held_up);
    }

    #[test]
    fn no_more_is_lost_than_the_time_allows(
        messages in vec((numbers(), numbers(), 0..200_u32, 0..3_000_000_i64), 1..60),
    ) {
        let mut rules = Rules::default();
        let (mut now_ns, mut last_ns, mut most) = (0, 0, 0);
        for (st_num, sq_num, tal_ms, after_ns) in messages {
            now_ns += after_ns;
            let message = Numbers { st_num, sq_num, tal_ms };
            let (outcome, _) = rules.accept(message, Heard::at(Some(now_ns)));
            if outcome.is_taken() {
                most += 16 + (now_ns - last_ns).unsigned_abs() / SHORTEST_INTERVAL_NS;
                last_ns = now_ns;
            }
        }
        rules.finish(Heard::default());
        prop_assert!(rules.lost() <= most, "{} of {most}", rules.lost());
    }

    #[test]
    fn what_is_left_out_of_a_sound_sequence_is_lost(states in vec(1..40_u32, 1..12), keep in vec(any::<bool>(), 500)) {
        let sound = states.iter().zip(1_u32..).flat_map(|(count, st_num)| (0..*count).map(move |sq_num| (st_num, sq_num)));
        let sound: Vec<(u32, u32)> = sound.collect();
        // The last message of each state is kept: nobody can know what is missing after it.
        let is_last = |n: usize| sound.get(n + 1).is_none_or(|next| next.1 == 0);
        let mut rules = Rules::default();
        let mut left_out = 0;
        for (n, (st_num, sq_num)) in sound.iter().copied().enumerate() {
            if n == 0 || keep[n] || is_last(n) {
                rules.accept(Numbers { st_num, sq_num, tal_ms: 1_000 }, at(n as f64));
            } else {
                left_out += 1;
            }
        }
        rules.finish(Heard::default());
        prop_assert_eq!((rules.lost(), rules.duplicates(), rules.late()), (left_out, 0, 0));
        prop_assert_eq!(rules.counts().states, states.len() as u64 - 1);
    }
}
