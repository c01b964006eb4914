//! Frames that a thread waited for.

use super::{BARE, OWN, VIRTUAL, checked, cpu, idle, own, part, question, switch, thread};
use crate::around::Around;
use crate::event::{Event, Left, What};
use crate::explain::{explain, explain_far_end};
use model::{Cause, Explanation, QuestionKind};
use units::Monotonic;

fn frame(events: &[(i64, What)], latency_us: i64, around: &Around) -> Explanation {
    let question = question(QuestionKind::Frame, latency_us);
    checked(explain(&cpu(1, events), &[], &question, around), latency_us)
}

#[test]
fn a_frame_that_nothing_here_kept_was_under_way() {
    for events in [
        vec![(-50, switch(own()))],
        vec![
            (-50, idle()),
            (2_980, What::SoftirqEntry(3)),
            (2_985, What::Waking(own())),
            (2_990, What::SoftirqExit(3)),
            (2_995, switch(own())),
        ],
    ] {
        let explanation = frame(&events, 3_000, &BARE);
        assert_eq!(explanation.cause, Cause::Path, "{explanation:?}");
        assert!(explanation.stages.is_empty());
        assert!(
            explanation
                .text
                .starts_with("nothing on CPU 1 kept the frame from its thread for"),
            "{}",
            explanation.text
        );
        assert_eq!(explanation.occupants[0].what, "under way, not held up on this CPU");
    }
}

#[test]
fn who_kept_the_thread_off_its_cpu_is_named() {
    let blocker = thread("blocker", 77, 4);
    let spinning = [(-50, switch(own())), (10, switch(blocker)), (2_900, switch(own()))];
    let explanation = frame(&spinning, 3_000, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Thread);
    assert_eq!(
        explanation.occupants[0],
        part("thread blocker (pid 77, real-time priority 95)", 2_890)
    );
    // A thread that sleeps until the frame comes is not woken while the blocker keeps the interrupt thread off the CPU.
    let sleeping = [
        (-50, idle()),
        (10, switch(blocker)),
        (2_890, What::Waking(own())),
        (2_900, switch(own())),
    ];
    assert_eq!(frame(&sleeping, 3_000, &VIRTUAL).cause, Cause::Thread);
    // A thread of lower priority did not delay it before it was woken.
    let make = thread("make", 5, 120);
    let passing = [
        (-50, idle()),
        (10, switch(make)),
        (2_980, What::Waking(own())),
        (2_985, switch(own())),
    ];
    assert_eq!(frame(&passing, 3_000, &BARE).cause, Cause::Path);
    let kept = [
        (-50, idle()),
        (10, switch(make)),
        (100, What::Waking(own())),
        (2_985, switch(own())),
    ];
    assert_eq!(frame(&kept, 3_000, &BARE).cause, Cause::Thread);
}

#[test]
fn a_round_trip_is_held_up_at_the_far_end_of_this_machine() {
    let (far, blocker) = (thread("reflector", 55, 9), thread("blocker", 77, 4));
    let here = cpu(
        1,
        &[
            (-50, switch(own())),
            (5, idle()),
            (2_990, What::Waking(own())),
            (2_995, switch(own())),
        ],
    );
    let question = question(QuestionKind::Frame, 3_000);
    assert_eq!(explain(&here, &[], &question, &BARE).cause, Cause::Path);
    // The frame wakes it from the CPU that sent it, or it spins and is pre-empted.
    let there = [
        vec![(-50, switch(blocker)), (2_900, switch(far)), (2_950, idle())],
        vec![(-50, switch(far)), (10, switch(blocker)), (2_900, switch(far))],
    ];
    for (events, wakes) in there.into_iter().zip([true, false]) {
        let mut near = here.clone();
        if wakes {
            let waking = Event {
                at: Monotonic::from_ns(4_000),
                cpu: 1,
                what: What::Waking(far),
            };
            near.events.insert(1, waking);
            near.events.sort_by_key(|event| event.at);
        }
        let cpus = [near, cpu(3, &events)];
        let found = explain_far_end(&cpus, &question, &BARE).expect("the blocker");
        assert_eq!(found.cause, Cause::Thread);
        let named = "at the far end, on CPU 3: thread blocker (pid 77, real-time priority 95) had the CPU for ";
        assert!(found.text.starts_with(named), "{}", found.text);
    }
    let quiet = [here, cpu(3, &[(-50, switch(far)), (10, idle()), (2_990, switch(far))])];
    assert_eq!(explain_far_end(&quiet, &question, &BARE), None);
}

#[test]
fn a_softirq_and_a_stopped_thread() {
    let softirq = [
        (-50, switch(own())),
        (10, What::SoftirqEntry(3)),
        (2_900, What::SoftirqExit(3)),
    ];
    assert_eq!(frame(&softirq, 3_000, &BARE).cause, Cause::Softirq);
    let stopped = What::Switch {
        next: thread("swapper/1", 0, 120),
        left: Left::Stopped,
        left_with: None,
        previous: super::CHAINED,
    };
    let stopped = [
        (-50, switch(own())),
        (10, stopped),
        (2_900, What::Waking(own())),
        (2_905, switch(own())),
    ];
    assert_eq!(frame(&stopped, 3_000, &BARE).cause, Cause::Stopped);
}

#[test]
fn a_silent_cpu_is_the_host_only_when_its_counter_moved() {
    let silent = [(-50, switch(own()))];
    let waits = frame(&silent, 3_000, &VIRTUAL);
    assert_eq!(waits.cause, Cause::Path);
    assert!(
        waits.text.ends_with("the host may have run something else then"),
        "{}",
        waits.text
    );
    let stolen = Around {
        steal_ns: Some(10_000_000),
        ..VIRTUAL
    };
    let explanation = frame(&silent, 3_000, &stolen);
    assert_eq!(explanation.cause, Cause::Hypervisor);
    assert_eq!(explanation.unexplained_ns, 0);
}

#[test]
fn a_thread_that_was_on_another_cpu_is_not_guessed_at() {
    let events = [(-50, idle()), (10, switch(thread("make", 5, 120))), (2_900, idle())];
    let explanation = frame(&events, 3_000, &BARE);
    assert_eq!(explanation.cause, Cause::Unexplained);
    assert_eq!(
        explanation.text,
        format!("thread {OWN} did not run on CPU 1 meanwhile: it is not pinned to one, and came from another")
    );
}
