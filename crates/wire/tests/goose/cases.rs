//! Histories with a name.

use crate::{OTHER, at, give, is_clean, message};
use wire::goose::{Expectation, Message, Outcome, Settings, Supervisor, Verdict};

const MS: i64 = 1_000_000;

fn supervisor() -> Supervisor {
    Supervisor::new(Settings::default(), Expectation::default())
}

/// Gives the messages (ms, message) one after the other; returns the outcome of each one that was not refused.
fn outcomes(supervisor: &mut Supervisor, messages: &[(i64, Message)]) -> Vec<Outcome> {
    let given = messages.iter().map(|(ms, message)| give(supervisor, message, ms * MS));
    let outcome = |verdict| match verdict {
        Verdict::Judged { outcome, .. } => Some(outcome),
        Verdict::Refused { .. } => None,
    };
    given.filter_map(outcome).collect()
}

#[test]
fn the_same_state_from_its_beginning_with_a_later_time_is_a_restart() {
    // Like a GE F650: heartbeats every 10 s, and 7 s after one of them, sqNum 1 of the same stNum.
    let mut supervisor = supervisor();
    let of = |sq_num, t_ms, tal| Message {
        time_allowed_to_live: tal,
        ..message(1, sq_num, t_ms, 0)
    };
    let before = [10, 11, 12].map(|n| (i64::from(n - 10) * 10_000, of(n, 0, 40_000)));
    let after = [1, 2, 3, 4].map(|n| (27_000 + i64::from(n) * 20, of(n, 27_000, 1_000)));
    let found = outcomes(&mut supervisor, &[&before[..], &after[..]].concat());
    assert_eq!(found[3], Outcome::Restart);
    supervisor.finish(at(27_100 * MS));
    let counts = supervisor.counts();
    assert_eq!((counts.restarts, counts.expired, supervisor.rules().lost()), (1, 0, 0));
    assert_eq!((supervisor.rules().late(), supervisor.rules().duplicates()), (0, 0));
    assert!(supervisor.is_in_doubt());
}

#[test]
fn a_restart_that_goes_on_with_the_very_next_number_is_seen_by_the_one_after() {
    let mut supervisor = supervisor();
    outcomes(
        &mut supervisor,
        &[(0, message(1, 0, 0, 0)), (500, message(1, 1, 500, 0))],
    );
    assert_eq!(supervisor.counts().restarts, 0, "it may stamp each message");
    outcomes(&mut supervisor, &[(504, message(1, 2, 500, 0))]);
    assert_eq!(supervisor.counts().restarts, 1);
}

#[test]
fn a_publisher_that_stamps_each_message_is_clean() {
    let mut supervisor = supervisor();
    let messages: Vec<(i64, Message)> = (0..20).map(|n| (n * 500, message(1, n as u32, n * 500, 0))).collect();
    outcomes(&mut supervisor, &messages);
    supervisor.finish(at(9_600 * MS));
    assert!(is_clean(&supervisor), "{:?}", supervisor.counts());
}

#[test]
fn a_second_publisher_one_state_ahead_takes_nothing_over_and_loses_nothing() {
    for source in [OTHER, message(1, 1, 0, 0).src] {
        let mut supervisor = supervisor();
        for n in 0..10_i64 {
            let own = message(4, n as u32, 0, 0);
            let foreign = Message {
                src: source,
                ..message(5, n as u32, 1, 1)
            };
            outcomes(&mut supervisor, &[(n * 100, own), (n * 100 + 50, foreign)]);
        }
        supervisor.finish(at(1_000 * MS));
        assert_eq!(
            (supervisor.rules().lost(), supervisor.counts().expired),
            (0, 0),
            "{source}"
        );
        assert!(supervisor.is_in_doubt(), "{source}");
        let is_taken = supervisor.rules().last().is_some_and(|last| last.st_num == 5);
        assert_eq!(is_taken, source != OTHER, "its address shows it immediately");
    }
}

#[test]
fn other_contents_under_a_number_that_was_seen_contradict() {
    let mut supervisor = supervisor();
    let found = outcomes(
        &mut supervisor,
        &[
            (0, message(4, 1, 0, 0)),
            (100, message(4, 2, 0, 0)),
            (101, message(4, 2, 0, 0)),
            (102, message(4, 2, 0, 1)),
        ],
    );
    assert_eq!(found[3], Outcome::Conflicting);
    assert_eq!(
        (supervisor.rules().duplicates(), supervisor.counts().conflicting),
        (1, 1)
    );
    assert!(supervisor.is_in_doubt());
}

#[test]
fn values_that_change_without_a_state_are_a_doubt() {
    let mut supervisor = supervisor();
    outcomes(&mut supervisor, &[(0, message(4, 1, 0, 0)), (100, message(4, 2, 0, 1))]);
    assert_eq!(supervisor.counts().altered, 1);
    assert!(supervisor.is_in_doubt());
}

#[test]
fn a_take_over_after_an_expiry_counts_no_loss_and_is_a_doubt() {
    let mut supervisor = supervisor();
    let other = Message {
        src: OTHER,
        ..message(9, 3, 2_500, 1)
    };
    let found = outcomes(&mut supervisor, &[(0, message(4, 1, 0, 0)), (2_500, other)]);
    assert_eq!(found[1], Outcome::Restart);
    assert_eq!((supervisor.rules().lost(), supervisor.counts().expired), (0, 1));
    assert!(supervisor.is_in_doubt());
}

#[test]
fn no_time_to_live_is_a_doubt_and_so_is_a_single_message() {
    let dead = |tal| Message {
        time_allowed_to_live: tal,
        ..message(1, 1, 0, 0)
    };
    let mut without = supervisor();
    outcomes(&mut without, &[(0, dead(0)), (10, Message { sq_num: 2, ..dead(0) })]);
    without.finish(at(60_000 * MS));
    assert!(without.is_in_doubt());
    let mut single = supervisor();
    outcomes(&mut single, &[(0, dead(2_000))]);
    single.finish(at(1_000 * MS));
    assert!(single.is_in_doubt() && single.counts().expired == 0);
    let mut expired = supervisor();
    outcomes(&mut expired, &[(0, dead(2_000))]);
    expired.finish(at(3_000 * MS));
    assert_eq!(expired.counts().expired, 1);
}

#[test]
fn heartbeats_that_end_are_a_doubt_before_they_expire() {
    for (silence_ms, is_silent) in [(1_400, false), (2_400, false), (2_600, true)] {
        let mut supervisor = supervisor();
        let heartbeat = |n: i64| Message {
            time_allowed_to_live: 10_000,
            ..message(1, n as u32, 0, 0)
        };
        let messages: Vec<(i64, Message)> = (1..8).map(|n| (n * 1_000, heartbeat(n))).collect();
        outcomes(&mut supervisor, &messages);
        supervisor.finish(at((7_000 + silence_ms) * MS));
        assert_eq!(supervisor.counts().expired, 0);
        assert_eq!(supervisor.is_in_doubt(), is_silent, "{silence_ms} ms");
    }
}

#[test]
fn what_a_message_that_was_overtaken_leaves_out_is_lost() {
    let mut supervisor = supervisor();
    let found = outcomes(
        &mut supervisor,
        &[
            (0, message(4, 1, 0, 0)),
            (100, message(5, 0, 100, 1)),
            (101, message(4, 4, 0, 0)),
        ],
    );
    assert_eq!(found[2], Outcome::HeldUp(2));
    assert_eq!((supervisor.rules().lost(), supervisor.rules().gaps()), (2, 1));
    // These are more messages than can have been sent in that time, so they belong to another publisher.
    let found = outcomes(
        &mut supervisor,
        &[(200, message(6, 0, 200, 0)), (201, message(5, 4_000_000, 100, 1))],
    );
    assert_eq!(found[1], Outcome::Old);
    assert_eq!(supervisor.rules().lost(), 2);
}

#[test]
fn a_message_that_the_next_state_overtook_is_late_once() {
    let mut supervisor = supervisor();
    let found = outcomes(
        &mut supervisor,
        &[
            (0, message(4, 1, 0, 0)),
            (100, message(5, 0, 100, 1)),
            (101, message(4, 2, 0, 0)),
            (102, message(4, 3, 0, 0)),
        ],
    );
    assert_eq!(found[2..], [Outcome::HeldUp(0), Outcome::Old]);
    assert_eq!((supervisor.rules().late(), supervisor.counts().held_up), (2, 1));
}
