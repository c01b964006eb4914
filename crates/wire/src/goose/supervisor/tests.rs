//! Whole messages passed to the supervisor: refusals, changes, and the ten sequences of the reference vectors.

use super::{Expectation, REFUSALS, Refusal, Settings, Simulation, Supervisor, Verdict};
use crate::ether::{EthernetView, Mac};
use crate::goose::{Frame, Heard, Message, Oddity, Outcome, Value};
use crate::order::OrderPlace;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::{prop_assert, prop_assert_eq, proptest};

fn message() -> Message {
    Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        gocb_ref: b"IED1LD0/LLN0$GO$gcbTrip".to_vec(),
        dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
        ..Message::default()
    }
}

fn numbered(st_num: u32, sq_num: u32) -> Message {
    Message {
        st_num,
        sq_num,
        ..message()
    }
}

fn at(ms: f64) -> Heard {
    Heard::at(Some((ms * 1e6) as i64))
}

fn give(supervisor: &mut Supervisor, message: &Message, ms: f64) -> Verdict {
    let octets = message.encode().unwrap();
    let ethernet = EthernetView::parse(&octets).unwrap();
    supervisor.accept(&Frame::parse(&ethernet).unwrap(), at(ms))
}

fn with(settings: Settings) -> Supervisor {
    Supervisor::new(settings, Expectation::default())
}

fn refused(verdict: Verdict) -> Option<(Refusal, bool)> {
    match verdict {
        Verdict::Refused { refusal, is_new } => Some((refusal, is_new)),
        Verdict::Judged { .. } => None,
    }
}

fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Judged { outcome, .. } => outcome,
        Verdict::Refused { refusal, .. } => panic!("refused: {refusal:?}"),
    }
}

/// (ms, stNum, sqNum, timeAllowedtoLive) of each message, and the expected outcomes; then the numbers of missed states
/// and lost messages.
type Case = (&'static [(f64, u32, u32, u32)], &'static [Outcome], u64, u64);

const NEXT: Outcome = Outcome::Repetition(OrderPlace::Next);

/// The subscriber sequences of the reference vectors, except the one about the clock.
const CASES: [Case; 9] = [
    (
        &[
            (0.0, 1, 1, 2000),
            (1000.0, 1, 2, 2000),
            (1500.0, 2, 0, 8),
            (1504.0, 2, 1, 8),
            (1508.0, 2, 2, 16),
        ],
        &[Outcome::First, NEXT, Outcome::NewState(0), NEXT, NEXT],
        0,
        0,
    ),
    (
        &[(0.0, 1, 5, 2000), (500.0, 2, 1, 8), (504.0, 2, 2, 16)],
        &[Outcome::First, Outcome::NewState(0), NEXT],
        0,
        1,
    ),
    (
        &[(0.0, 5, 9, 2000), (700.0, 7, 0, 8)],
        &[Outcome::First, Outcome::NewState(1)],
        1,
        1,
    ),
    (
        &[(0.0, 2, 0, 8), (0.05, 2, 0, 8), (4.0, 2, 1, 8)],
        &[Outcome::First, Outcome::Repetition(OrderPlace::Duplicate), NEXT],
        0,
        0,
    ),
    (
        &[(0.0, 2, 0, 8), (8.0, 2, 2, 16), (8.2, 2, 1, 8)],
        &[
            Outcome::First,
            Outcome::Repetition(OrderPlace::Gap(1)),
            Outcome::Repetition(OrderPlace::Late),
        ],
        0,
        0,
    ),
    (
        &[(0.0, 9, 3, 2000), (100.0, 8, 40, 2000)],
        &[Outcome::First, Outcome::Old],
        0,
        0,
    ),
    (
        &[(0.0, 50, 7, 2000), (2500.0, 1, 1, 8)],
        &[Outcome::First, Outcome::Restart],
        0,
        0,
    ),
    (
        &[(0.0, u32::MAX, 3, 2000), (500.0, 1, 0, 8)],
        &[Outcome::First, Outcome::NewState(0)],
        0,
        0,
    ),
    (
        &[(0.0, 3, u32::MAX, 2000), (1000.0, 3, 1, 2000)],
        &[Outcome::First, NEXT],
        0,
        0,
    ),
];

#[test]
fn the_sequences_of_the_vectors() {
    for (number, (messages, outcomes, missed_states, lost)) in CASES.into_iter().enumerate() {
        let mut supervisor = with(Settings::default());
        let found: Vec<Outcome> = messages
            .iter()
            .map(|&(ms, st_num, sq_num, time_allowed_to_live)| {
                let message = Message {
                    time_allowed_to_live,
                    ..numbered(st_num, sq_num)
                };
                outcome(give(&mut supervisor, &message, ms))
            })
            .collect();
        assert_eq!(found, outcomes, "case {number}");
        supervisor.finish(Heard::default());
        let found = (supervisor.counts().missed_states, supervisor.rules().lost());
        assert_eq!(found, (missed_states, lost), "case {number}");
    }
}

#[test]
fn the_sequence_that_expires() {
    let mut supervisor = with(Settings::default());
    let message = Message {
        time_allowed_to_live: 100,
        ..numbered(3, 4)
    };
    give(&mut supervisor, &message, 0.0);
    assert_eq!(supervisor.expire(at(99.0)), None);
    assert!(supervisor.is_usable());
    assert_eq!(supervisor.expire(at(101.0)), Some(1_000_000));
    assert!(!supervisor.is_usable());
}

#[test]
fn only_the_first_message_of_a_state_times_the_change() {
    let mut supervisor = with(Settings::default());
    let events: Vec<bool> = [(1, 5), (2, 0), (2, 1), (3, 1), (4, 0)]
        .into_iter()
        .map(|(st_num, sq_num)| give(&mut supervisor, &numbered(st_num, sq_num), 0.0).is_event(sq_num))
        .collect();
    assert_eq!(events, [false, true, false, false, true]);
}

fn simulated(st_num: u32, sq_num: u32) -> Message {
    Message {
        simulate: true,
        simulation: true,
        ..numbered(st_num, sq_num)
    }
}

#[test]
fn simulated_messages_are_refused_while_sim_is_off() {
    let mut supervisor = with(Settings {
        simulation: Simulation::Off,
        ..Settings::default()
    });
    give(&mut supervisor, &numbered(4, 1), 0.0);
    let found =
        [simulated(9, 0), numbered(4, 2), simulated(9, 1)].map(|message| refused(give(&mut supervisor, &message, 1.0)));
    assert_eq!(
        found,
        [
            Some((Refusal::Simulated, true)),
            None,
            Some((Refusal::Simulated, false))
        ]
    );
    assert_eq!(supervisor.rules().last().map(|last| last.st_num), Some(4));
}

#[test]
fn the_first_simulated_message_ends_the_real_ones_while_sim_is_on() {
    let mut supervisor = with(Settings {
        simulation: Simulation::On,
        ..Settings::default()
    });
    let test_set = Message {
        src: Mac([2, 0, 0, 0, 0, 9]),
        ..simulated(9, 0)
    };
    assert_eq!(outcome(give(&mut supervisor, &numbered(4, 1), 0.0)), Outcome::First);
    assert_eq!(outcome(give(&mut supervisor, &numbered(4, 2), 1.0)), NEXT);
    assert_eq!(outcome(give(&mut supervisor, &test_set, 2.0)), Outcome::Restart);
    assert_eq!(
        refused(give(&mut supervisor, &numbered(4, 3), 3.0)),
        Some((Refusal::Real, true))
    );
    assert_eq!(
        refused(give(&mut supervisor, &numbered(4, 4), 4.0)),
        Some((Refusal::Real, false))
    );
}

#[test]
fn the_flag_alone_is_edition_1() {
    let flag_alone = Message {
        simulation: true,
        ..numbered(1, 2)
    };
    for edition_1 in [false, true] {
        let mut supervisor = with(Settings {
            edition_1,
            ..Settings::default()
        });
        let found = refused(give(&mut supervisor, &flag_alone, 0.0));
        assert_eq!(found, (!edition_1).then_some((Refusal::FlagWithoutBit, true)));
    }
}

#[test]
fn what_the_configuration_does_not_say_is_refused_once_a_transition() {
    let expectation = Expectation {
        conf_rev: Some(1),
        dat_set: Some(message().dat_set),
        go_id: Some(message().gocb_ref),
        entries: Some(1),
    };
    let wrong: [(Refusal, Message); 4] = [
        (
            Refusal::ConfRev,
            Message {
                conf_rev: 2,
                ..message()
            },
        ),
        (
            Refusal::DatSet,
            Message {
                dat_set: b"IED1LD0/LLN0$other".to_vec(),
                ..message()
            },
        ),
        (
            Refusal::GoId,
            Message {
                go_id: Some(b"other".to_vec()),
                ..message()
            },
        ),
        (
            Refusal::Entries,
            Message {
                all_data: Vec::new(),
                ..message()
            },
        ),
    ];
    for (refusal, wrong) in wrong {
        let mut supervisor = Supervisor::new(Settings::default(), expectation.clone());
        assert_eq!(outcome(give(&mut supervisor, &message(), 0.0)), Outcome::First);
        for round in 1..3 {
            assert_eq!(refused(give(&mut supervisor, &wrong, 1.0)), Some((refusal, true)));
            assert_eq!(refused(give(&mut supervisor, &wrong, 2.0)), Some((refusal, false)));
            assert!(!supervisor.is_usable());
            assert_eq!(outcome(give(&mut supervisor, &numbered(1, 1 + round), 3.0)), NEXT);
            assert!(supervisor.is_usable());
        }
        assert_eq!(supervisor.refused().of(refusal), 4);
        assert_eq!(supervisor.refused().total(), 4);
    }
}

#[test]
fn a_second_source_is_refused_until_the_first_has_expired() {
    let mut supervisor = with(Settings { ..Settings::default() });
    let other = |st_num, sq_num| Message {
        src: Mac([2, 0, 0, 0, 0, 2]),
        ..numbered(st_num, sq_num)
    };
    give(&mut supervisor, &numbered(1, 1), 0.0);
    assert_eq!(
        refused(give(&mut supervisor, &other(900_000, 7), 10.0)),
        Some((Refusal::SecondSource, true))
    );
    assert_eq!(outcome(give(&mut supervisor, &numbered(1, 2), 20.0)), NEXT);
    assert_eq!(
        refused(give(&mut supervisor, &other(900_000, 8), 30.0)),
        Some((Refusal::SecondSource, false))
    );
    assert_eq!(supervisor.rules().lost(), 0, "nothing of the other is counted as lost");
    let verdict = give(&mut supervisor, &other(1, 1), 2_100.0);
    let Verdict::Judged {
        outcome,
        overdue_ns,
        before: Some(before),
        ..
    } = verdict
    else {
        panic!("{verdict:?}");
    };
    assert_eq!((outcome, overdue_ns), (Outcome::Restart, Some(80_000_000)));
    assert_eq!(before.source, message().src);
}

#[test]
fn a_dataset_that_changes_under_the_same_conf_rev_is_a_doubt() {
    let first = numbered(1, 1);
    let grown = |conf_rev: u32| Message {
        conf_rev,
        all_data: vec![Value::Boolean(false); 7],
        ..numbered(2, 0)
    };
    let renamed = Message {
        dat_set: b"another".to_vec(),
        ..numbered(2, 0)
    };
    for (second, is_doubt) in [
        (grown(first.conf_rev), true),
        (renamed, true),
        (grown(first.conf_rev + 1), false),
        (numbered(2, 0), false),
    ] {
        let mut supervisor = with(Settings::default());
        give(&mut supervisor, &first, 0.0);
        let Verdict::Judged { oddity, .. } = give(&mut supervisor, &second, 1.0) else {
            panic!("refused");
        };
        give(&mut supervisor, &Message { sq_num: 1, ..second }, 2.0);
        assert_eq!(oddity == Some(Oddity::Regrouped), is_doubt);
        assert_eq!(
            (supervisor.is_in_doubt(), supervisor.regrouped() == 1),
            (is_doubt, is_doubt)
        );
    }
}

#[test]
fn changes_are_told_with_what_was_before() {
    let mut supervisor = with(Settings::default());
    give(&mut supervisor, &numbered(1, 1), 0.0);
    let changed = Message {
        nds_com: true,
        conf_rev: 7,
        ..numbered(1, 2)
    };
    let Verdict::Judged {
        before: Some(before), ..
    } = give(&mut supervisor, &changed, 1.0)
    else {
        panic!("no change seen");
    };
    assert_eq!((before.nds_com, before.conf_rev), (false, 1));
    assert_eq!(before.dat_set(), message().dat_set);
    assert!(
        supervisor.rules().is_live() && !supervisor.is_usable(),
        "needs commissioning"
    );
    let Verdict::Judged { before, .. } = give(&mut supervisor, &Message { sq_num: 3, ..changed }, 2.0) else {
        panic!("refused");
    };
    assert_eq!(before, None);
}

fn any_message() -> impl Strategy<Value = (Message, f64)> {
    let numbers = (0..12_u32, 0..40_u32, 0..60_u32, 1..3_u32);
    let marks = (any::<bool>(), any::<bool>(), any::<bool>(), 1..3_u8);
    (numbers, marks, 0.0..1_000.0).prop_map(|((st_num, sq_num, time_allowed_to_live, conf_rev), marks, ms)| {
        let (simulation, simulate, nds_com, source) = marks;
        let message = Message {
            time_allowed_to_live,
            conf_rev,
            simulation,
            simulate: simulate && simulation,
            nds_com,
            src: Mac([2, 0, 0, 0, 0, source]),
            ..numbered(st_num, sq_num)
        };
        (message, ms)
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let simulation = proptest::sample::select(vec![Simulation::Both, Simulation::Off, Simulation::On]);
    (any::<f64>(), simulation, any::<bool>()).prop_map(|(tal_factor, simulation, edition_1)| Settings {
        tal_factor,
        simulation,
        edition_1,
    })
}

proptest! {
    #[test]
    fn every_message_is_one_thing(messages in vec(any_message(), 0..50), settings in settings(), strict in any::<bool>()) {
        let expectation = Expectation { conf_rev: strict.then_some(1), ..Expectation::default() };
        let mut supervisor = Supervisor::new(settings, expectation);
        let (mut first, mut again) = (0, 0);
        for (message, ms) in &messages {
            supervisor.expire(at(*ms));
            if let Verdict::Judged { outcome, oddity, .. } = give(&mut supervisor, message, *ms) {
                first += u64::from(outcome == Outcome::First);
                again += u64::from(oddity == Some(Oddity::BeganAgain));
            }
        }
        let counts = supervisor.counts();
        let other = counts.old + counts.held_up + counts.conflicting;
        let judged = first + counts.states + counts.repetitions + counts.restarts + other - again;
        prop_assert_eq!(supervisor.messages(), messages.len() as u64);
        prop_assert_eq!(judged + supervisor.refused().total(), messages.len() as u64);
        let refused: u64 = REFUSALS.into_iter().map(|refusal| supervisor.refused().of(refusal)).sum();
        prop_assert_eq!(refused, supervisor.refused().total());
        prop_assert!(first <= 1);
    }
}
