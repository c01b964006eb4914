//! Gaps, other CPUs, and properties that hold for any events.

use super::{BARE, CHAINED, OWN, US, VIRTUAL, cpu, gap, idle, join, own, question, switch, thread, timer};
use crate::around::Around;
use crate::event::{Event, Left, Vector, What};
use crate::explain::explain;
use crate::flight::tests::any_event;
use crate::snapshot::Snapshot;
use model::{Cause, Extent, Part, Question, QuestionKind};
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use units::Monotonic;

#[test]
fn one_cpu_or_all_of_them() {
    let events = join(&[vec![(-50, idle())], timer(4_000), vec![(4_008, switch(own()))]]);
    let question = question(QuestionKind::WakeUp, 4_009);
    let extent = |other: &[(i64, What)]| explain(&cpu(1, &events), &[cpu(0, other)], &question, &VIRTUAL).extent;
    let expired = |at: i64, due: i64| (at, What::TimerEntry { due_ns: Some(due * US) });
    assert_eq!(extent(&[]), Extent::Unknown, "it had nothing to do");
    assert_eq!(extent(&[expired(4_010, 500)]), Extent::AllCpus);
    assert_eq!(extent(&[expired(505, 500)]), Extent::OneCpu);
    let spread: Vec<(i64, What)> = (0..8).map(|n| (n * 500, What::IdleExit)).collect();
    assert_eq!(extent(&spread), Extent::OneCpu);
    assert_eq!(
        explain(&cpu(1, &events), &[], &question, &VIRTUAL).extent,
        Extent::Unknown
    );
}

#[test]
fn gaps_of_a_spinning_thread() {
    let interrupt = [
        (-50, switch(own())),
        (2, What::VectorEntry(Vector::LocalTimer)),
        (9, What::VectorExit(Vector::LocalTimer)),
        (10, What::SoftirqEntry(1)),
        (14, What::SoftirqExit(1)),
    ];
    let explanation = gap(&interrupt, 16, &VIRTUAL);
    assert_eq!(
        (explanation.cause, explanation.unexplained_ns),
        (Cause::Interrupt, 5_000)
    );
    assert!(explanation.stages.is_empty());

    let silent = [(-50, switch(own()))];
    assert_eq!(gap(&silent, 900, &VIRTUAL).cause, Cause::Hypervisor);
    assert_eq!(gap(&silent, 900, &BARE).cause, Cause::Unexplained);
    assert_eq!(gap(&silent, 900, &Around { smis: Some(3), ..BARE }).cause, Cause::Smi);
    assert_eq!(gap(&[], 900, &VIRTUAL).cause, Cause::Hypervisor);

    let pre_empted = |priority, could_run| {
        let other = What::Switch {
            next: thread("other", 5, priority),
            left: if could_run { Left::CouldRun } else { Left::Waits },
            left_with: None,
            previous: CHAINED,
        };
        gap(
            &[(-50, switch(own())), (5, other), (60_000, switch(own()))],
            60_001,
            &BARE,
        )
        .cause
    };
    assert_eq!(pre_empted(9, true), Cause::Thread);
    assert_eq!(pre_empted(120, true), Cause::Throttled);
    assert_eq!(pre_empted(120, false), Cause::Thread, "it gave the CPU away itself");
}

proptest! {
    #[test]
    fn parts_add_up_whatever_the_events(
        mut events in proptest::collection::vec(any_event(), 0..60),
        instants in proptest::collection::vec(-1_000_000_i64..300_000, 60),
        latency in 0_i64..200_000,
        complete in any::<bool>(),
        steal in proptest::option::of(0_u64..20_000_000),
        smis in proptest::option::of(0_u64..3),
        is_virtual in any::<Option<bool>>(),
        throttled_ns in proptest::option::of(0_u64..20_000_000),
        kind in proptest::sample::select(vec![QuestionKind::WakeUp, QuestionKind::Gap, QuestionKind::Hop, QuestionKind::Frame]),
    ) {
        for (event, at) in events.iter_mut().zip(instants) {
            event.at = Monotonic::from_ns(at);
            event.cpu %= 2;
            if let What::Switch { next, .. } | What::Waking(next) = &mut event.what {
                next.pid = next.pid % 3 + 98;
            }
        }
        events.sort_by_key(|event| event.at);
        let (from, to) = (Monotonic::from_ns(-1_000_000), Monotonic::from_ns(250_000));
        let of = |cpu: u32| {
            let events: Vec<Event> = events.iter().filter(|event| event.cpu == cpu).copied().collect();
            Snapshot::of(cpu, from, to, &events, complete)
        };
        let question = Question {
            cpu: 1,
            thread: OWN,
            from: Monotonic::from_ns(0),
            to: Monotonic::from_ns(latency),
            kind,
        };
        let around = Around {
            is_virtual,
            span_ns: 1,
            steal_ns: steal,
            smis,
            throttled_ns,
        };
        let explanation = explain(&of(1), &[of(0)], &question, &around);
        let sum = |parts: &[Part]| parts.iter().map(|part| part.ns).sum::<u64>();
        prop_assert_eq!(sum(&explanation.occupants) + explanation.unexplained_ns, question.ns());
        if kind == QuestionKind::WakeUp {
            prop_assert_eq!(sum(&explanation.stages), question.ns());
        }
        prop_assert!(explanation.occupants.is_sorted_by(|a, b| a.ns >= b.ns));
        prop_assert!(!explanation.text.is_empty());
    }
}
