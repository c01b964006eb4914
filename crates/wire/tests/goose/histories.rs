//! Random histories: every loss, silence, restart and second publisher must be reported.

use crate::publisher::{Fate, Fault, History, NextMessage};
use crate::{at, give, is_clean};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::{prop_assert, proptest};
use wire::goose::{Expectation, Settings, Supervisor};

/// The supervisor after a whole history.
fn supervised(history: &History, tal_factor: f64) -> Supervisor {
    let settings = Settings {
        tal_factor,
        ..Settings::default()
    };
    let mut supervisor = Supervisor::new(settings, Expectation::default());
    for came in &history.came {
        // A look at the clock just before a message changes nothing except when an expiry is reported.
        supervisor.expire(at(came.at_ns));
        give(&mut supervisor, &came.message, came.at_ns);
    }
    supervisor.finish(at(history.end_ns() + 1_000_000));
    supervisor
}

fn steps(fate: impl Strategy<Value = Fate>) -> impl Strategy<Value = Vec<(NextMessage, Fate)>> {
    let step = prop_oneof![8 => Just(NextMessage::Repeat), 1 => Just(NextMessage::Change)];
    let whole = (Just((NextMessage::Repeat, Fate::Arrives)), vec((step, fate), 8..40));
    whole.prop_map(|(first, rest)| std::iter::once(first).chain(rest).collect())
}

/// stNum and sqNum of a publisher that has just started, or of one whose sqNum is about to wrap.
fn numbers() -> impl Strategy<Value = [u32; 2]> {
    prop_oneof![2 => Just([1, 1]), 1 => (u32::MAX - 12..=u32::MAX).prop_map(|sq_num| [5, sq_num])]
}

/// Also numbers of a publisher whose stNum is about to wrap.
fn any_numbers() -> impl Strategy<Value = [u32; 2]> {
    let high = (u32::MAX - 3..=u32::MAX, u32::MAX - 12..=u32::MAX).prop_map(|(st_num, sq_num)| [st_num, sq_num]);
    prop_oneof![1 => numbers(), 1 => high]
}

fn any_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        20 => Just(Fate::Arrives),
        1 => Just(Fate::Lost),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Swapped),
    ]
}

fn harmless_fate() -> impl Strategy<Value = Fate> {
    prop_oneof![8 => Just(Fate::Arrives), 1 => Just(Fate::Twice), 1 => Just(Fate::Swapped)]
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let silence = (1..3_000_i64).prop_map(|beyond_ms| Fault::Silence { beyond_ms });
    let restart = (0..3_000_i64, 0..2_u32).prop_map(|(after_ms, sq_num)| Fault::Restart { after_ms, sq_num });
    let numbers = (-2..4_i32, 0..30_u32, -2_000..2_000_i64, 1..5_u32);
    let foreign = (any::<bool>(), numbers, any::<bool>()).prop_map(|(same_source, numbers, simulated)| {
        let (ahead, sq_num, t_ms, count) = numbers;
        Fault::Foreign {
            same_source,
            ahead,
            sq_num,
            t_ms,
            count,
            simulated,
        }
    });
    prop_oneof![1 => Just(Fault::None), 1 => silence, 2 => restart, 4 => foreign]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_went_wrong_is_never_passed_over(
        begin in numbers(),
        steps in steps(any_fate()),
        fault in any_fault(),
        at in 0..12_usize,
    ) {
        let history = History::of(begin, &steps, fault, at);
        let supervisor = supervised(&history, 1.0);
        let wrong = [history.has_lost(), history.has_expired(), history.has_restarted(), history.has_foreign()];
        if wrong.contains(&true) {
            prop_assert!(
                !is_clean(&supervisor),
                "lost, expired, restarted, foreign: {wrong:?}; {:?}\n{:#?}",
                supervisor.counts(),
                history.came.iter().map(|came| (came.at_ns, came.message.st_num, came.message.sq_num)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_publisher_without_fault_is_clean(begin in any_numbers(), steps in steps(harmless_fate())) {
        // A whole state overtaken by the next one counts as a state that did not arrive in time.
        let in_order = |(step, fate)| (step, if step == NextMessage::Change { Fate::Arrives } else { fate });
        let steps: Vec<_> = steps.into_iter().map(in_order).collect();
        // An overtaken message makes the time between accepted messages longer than one interval.
        let history = History::of(begin, &steps, Fault::None, 0);
        let supervisor = supervised(&history, 8.0);
        prop_assert!(is_clean(&supervisor), "lost {}; {:?}", supervisor.rules().lost(), supervisor.counts());
    }
}
