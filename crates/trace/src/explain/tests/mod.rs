//! Planted event histories, and the explanations expected for them.

mod frames;
mod held;
mod others;

use super::explain;
use crate::around::Around;
use crate::event::{Event, Left, Name, Thread, Vector, What};
use crate::snapshot::Snapshot;
use model::{Cause, Explanation, Part, Question, QuestionKind};
use units::Monotonic;

const US: i64 = 1_000;
/// The measuring thread.
const OWN: i32 = 99;
const BARE: Around = Around {
    is_virtual: Some(false),
    span_ns: 40_000_000,
    steal_ns: None,
    smis: Some(0),
    throttled_ns: None,
};
const VIRTUAL: Around = Around {
    is_virtual: Some(true),
    span_ns: 40_000_000,
    steal_ns: Some(0),
    smis: None,
    throttled_ns: None,
};

fn thread(name: &str, pid: i32, priority: i16) -> Thread {
    Thread {
        pid,
        priority,
        name: Name::from(name),
    }
}

fn own() -> Thread {
    thread("wakeup/1", OWN, 19)
}

/// Placeholder for the thread of the switch before.
const CHAINED: u16 = u16::MAX;

fn switch(next: Thread) -> What {
    What::Switch {
        next,
        left: Left::CouldRun,
        left_with: None,
        previous: CHAINED,
    }
}

fn idle() -> What {
    What::Switch {
        next: thread("swapper/1", 0, 120),
        left: Left::Waits,
        left_with: None,
        previous: CHAINED,
    }
}

/// The timer interrupt at this instant (us) that wakes the thread.
fn timer(at: i64) -> Vec<(i64, What)> {
    vec![
        (at, What::VectorEntry(Vector::LocalTimer)),
        (at + 1, What::TimerEntry { due_ns: Some(0) }),
        (at + 2, What::Waking(own())),
        (at + 3, What::TimerExit),
        (at + 4, What::VectorExit(Vector::LocalTimer)),
    ]
}

/// A CPU's events, at instants in us after the due instant.
fn cpu(number: u32, events: &[(i64, What)]) -> Snapshot {
    let mut running = 0;
    let chained = |(at, what): &(i64, What)| {
        let mut what = *what;
        if let What::Switch { next, previous, .. } = &mut what {
            if *previous == CHAINED {
                *previous = running;
            }
            running = next.tag();
        }
        Event {
            at: Monotonic::from_ns(at * US),
            cpu: number,
            what,
        }
    };
    let events: Vec<Event> = events.iter().map(chained).collect();
    let (from, to) = (Monotonic::from_ns(-1_000 * US), Monotonic::from_ns(100_000 * US));
    Snapshot::of(number, from, to, &events, true)
}

fn question(kind: QuestionKind, latency_us: i64) -> Question {
    Question {
        cpu: 1,
        thread: OWN,
        from: Monotonic::from_ns(0),
        to: Monotonic::from_ns(latency_us * US),
        kind,
    }
}

fn wake(events: &[(i64, What)], latency_us: i64, around: &Around) -> Explanation {
    let question = question(QuestionKind::WakeUp, latency_us);
    checked(explain(&cpu(1, events), &[], &question, around), latency_us)
}

fn gap(events: &[(i64, What)], length_us: i64, around: &Around) -> Explanation {
    let question = question(QuestionKind::Gap, length_us);
    checked(explain(&cpu(1, events), &[], &question, around), length_us)
}

fn checked(explanation: Explanation, latency_us: i64) -> Explanation {
    let ns = u64::try_from(latency_us * US).expect("positive");
    let sum = |parts: &[Part]| parts.iter().map(|part| part.ns).sum::<u64>();
    assert_eq!(sum(&explanation.occupants) + explanation.unexplained_ns, ns);
    if !explanation.stages.is_empty() {
        assert_eq!(sum(&explanation.stages), ns);
    }
    explanation
}

fn part(what: &str, us: i64) -> Part {
    Part {
        what: what.to_owned(),
        ns: u64::try_from(us * US).expect("positive"),
    }
}

fn join(parts: &[Vec<(i64, What)>; 3]) -> Vec<(i64, What)> {
    parts.concat()
}

#[test]
fn a_thread_of_higher_priority() {
    let blocker = thread("blocker", 77, 9);
    let events = join(&[vec![(-50, switch(blocker))], timer(2), vec![(3_000, switch(own()))]]);
    let explanation = wake(&events, 3_001, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Thread);
    assert_eq!(
        explanation.stages,
        [
            part("timer interrupt", 3),
            part("wake-up", 1),
            part("switch-in", 2_996),
            part("return to user space", 1),
        ]
    );
    assert_eq!(
        explanation.occupants,
        [
            part("thread blocker (pid 77, real-time priority 90)", 2_994),
            part("interrupt local timer", 4),
            part("thread wakeup/1 (pid 99, real-time priority 80)", 1),
        ]
    );
    assert_eq!(explanation.unexplained_ns, 2_000);
    assert_eq!(
        explanation.text,
        "thread blocker (pid 77, real-time priority 90) had the CPU for 2.99 ms of 3.00 ms"
    );
}

#[test]
fn a_thread_of_lower_priority_that_could_not_be_pre_empted() {
    let normal = thread("kworker/1:0", 7, 120);
    let events = join(&[vec![(-50, switch(normal))], timer(2), vec![(500, switch(own()))]]);
    let explanation = wake(&events, 501, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Thread);
    assert!(explanation.text.ends_with("the kernel could not pre-empt it there"));
}

#[test]
fn a_thread_that_changed_its_own_priority_is_taken_at_the_higher_one() {
    // Ordinary when it got the CPU and real-time when it left it, and the reverse.
    for (came_with, left_with) in [(120, 9), (9, 120)] {
        let back = What::Switch {
            next: own(),
            left: Left::Waits,
            left_with: Some(left_with),
            previous: CHAINED,
        };
        let raised = thread("raised", 7, came_with);
        let events = join(&[vec![(-50, switch(raised))], timer(2), vec![(500, back)]]);
        let explanation = wake(&events, 501, &VIRTUAL);
        assert_eq!(explanation.cause, Cause::Thread);
        let wanted = "thread raised (pid 7, real-time priority 90) had the CPU for 494 µs of 501 µs";
        assert_eq!(explanation.text, wanted);
    }
}

#[test]
fn an_interrupt_and_a_softirq() {
    let interrupt = What::InterruptEntry {
        number: 24,
        name: "eth0".into(),
    };
    let before = vec![
        (-50, idle()),
        (-5, interrupt),
        (200, What::InterruptExit { number: 24 }),
    ];
    let explanation = wake(&join(&[before, timer(202), vec![(209, switch(own()))]]), 210, &BARE);
    assert_eq!(explanation.cause, Cause::Interrupt);
    assert_eq!(explanation.occupants[0], part("interrupt 24 eth0", 200));
    assert_eq!(explanation.text, "interrupt 24 eth0 had the CPU for 200 µs of 210 µs");

    let softirq = vec![
        (8, What::SoftirqEntry(3)),
        (300, What::SoftirqExit(3)),
        (303, switch(own())),
    ];
    let explanation = wake(&join(&[vec![(-50, idle())], timer(2), softirq]), 304, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Softirq);
    assert_eq!(explanation.occupants[0], part("softirq NET_RX", 292));
    assert!(
        explanation
            .text
            .contains("292 µs of it without an event: in a virtual machine")
    );
}

#[test]
fn a_silent_idle_cpu_is_the_host_in_a_virtual_machine_and_a_slow_exit_on_bare_metal() {
    let events = join(&[vec![(-50, idle())], timer(4_000), vec![(4_008, switch(own()))]]);
    let explanation = wake(&events, 4_009, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Hypervisor);
    assert_eq!(explanation.unexplained_ns, 4_000_000);
    assert!(
        explanation
            .text
            .starts_with("CPU 1 recorded nothing for 4.00 ms while the timer was due")
    );
    assert_eq!(wake(&events, 4_009, &BARE).cause, Cause::IdleExit);
    assert_eq!(wake(&events, 4_009, &Around::default()).cause, Cause::IdleExit);
}

#[test]
fn counters_that_moved_vouch_for_what_took_the_time() {
    let events = join(&[vec![(-50, idle())], timer(4_000), vec![(4_008, switch(own()))]]);
    let stolen = Around {
        steal_ns: Some(10_000_000),
        ..VIRTUAL
    };
    let explanation = wake(&events, 4_009, &stolen);
    assert_eq!(explanation.cause, Cause::Hypervisor);
    assert_eq!(explanation.occupants[0], part("hypervisor (steal time)", 4_000));
    assert_eq!(explanation.unexplained_ns, 0);
    let managed = Around { smis: Some(1), ..BARE };
    let explanation = wake(&events, 4_009, &managed);
    assert_eq!(explanation.cause, Cause::Smi);
    assert_eq!(explanation.occupants[0], part("system management interrupt", 4_000));
    assert!(explanation.around[0].starts_with("1 system management interrupts"));
}

#[test]
fn interrupts_off_can_be_told_from_the_host_only_when_the_cpu_recorded_something() {
    let hog = thread("hog", 5, 120);
    let silent = join(&[vec![(-50, switch(hog))], timer(400), vec![(408, switch(own()))]]);
    let bare = wake(&silent, 409, &BARE);
    assert_eq!((bare.cause, bare.unexplained_ns), (Cause::InterruptsOff, 0));
    assert_eq!(
        bare.text,
        "thread hog (pid 5, priority 120) ran while the timer interrupt was 400 µs late: interrupts were off"
    );
    let guest = wake(&silent, 409, &VIRTUAL);
    assert_eq!((guest.cause, guest.unexplained_ns), (Cause::Hypervisor, 400_000));
    assert!(
        guest
            .text
            .contains("or thread hog (pid 5, priority 120) had interrupts off")
    );

    let at_work: Vec<(i64, What)> = (1..8).map(|n| (n * 50, What::Waking(thread("x", 6, 50)))).collect();
    let busy = join(&[
        vec![(-50, switch(hog))],
        at_work,
        join(&[timer(400), vec![(408, switch(own()))], vec![]]),
    ]);
    let guest = wake(&busy, 409, &VIRTUAL);
    assert_eq!((guest.cause, guest.unexplained_ns), (Cause::InterruptsOff, 0));
    assert!(
        guest
            .text
            .ends_with("or the hypervisor delivered the timer interrupt late")
    );
}

#[test]
fn a_thread_that_was_ready_while_a_lower_one_was_chosen_was_throttled() {
    let fair = vec![
        (10, switch(thread("blocker", 77, 9))),
        (20, switch(thread("make", 5, 120))),
        (50_020, switch(own())),
    ];
    let explanation = wake(&join(&[vec![(-50, idle())], timer(2), fair]), 50_021, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Throttled);
    assert!(explanation.text.contains("ran make (pid 5, priority 120) instead"));
}

#[test]
fn the_ordinary_way_is_the_ordinary_way() {
    let events = join(&[vec![(-50, idle())], timer(8), vec![(16, switch(own()))]]);
    let explanation = wake(&events, 17, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Path);
    assert_eq!(
        explanation.occupants,
        [
            part("interrupt local timer", 4),
            part("leaving idle", 4),
            part("thread wakeup/1 (pid 99, real-time priority 80)", 1),
        ]
    );
    assert_eq!(explanation.unexplained_ns, 8_000);
}

#[test]
fn pre_empted_after_it_was_switched_in() {
    let after = vec![
        (9, switch(own())),
        (10, switch(thread("migration/1", 18, 0))),
        (900, switch(own())),
    ];
    let explanation = wake(&join(&[vec![(-50, idle())], timer(2), after]), 901, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Thread);
    assert_eq!(explanation.stages[3], part("return to user space", 892));
    assert_eq!(
        explanation.occupants[0],
        part("thread migration/1 (pid 18, real-time priority 99)", 890)
    );
}

#[test]
fn a_thread_that_waits_again_is_no_work_of_others() {
    let after = vec![
        (9, switch(own())),
        (10, idle()),
        (880, What::Waking(own())),
        (900, switch(own())),
    ];
    let explanation = wake(&join(&[vec![(-50, idle())], timer(2), after]), 901, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Path);
    assert_eq!(explanation.occupants[0], part("the thread itself, waiting again", 890));
    assert!(
        explanation
            .text
            .starts_with("the thread itself waited again for 890 µs")
    );
}

#[test]
fn a_wake_up_from_another_cpus_timer() {
    let here = cpu(1, &[(-50, idle()), (700, switch(own()))]);
    let there = cpu(0, &timer(5));
    let question = question(QuestionKind::WakeUp, 701);
    let explanation = checked(explain(&here, &[there], &question, &VIRTUAL), 701);
    assert_eq!(explanation.stages[0], part("timer interrupt", 6));
    assert_eq!(explanation.stages[2], part("switch-in", 693));
    assert_eq!(explanation.cause, Cause::Hypervisor);
}

#[test]
fn what_the_ring_no_longer_holds_is_not_guessed() {
    let mut events = cpu(1, &join(&[vec![], timer(4_000), vec![(4_008, switch(own()))]]));
    events.complete = false;
    let question = question(QuestionKind::WakeUp, 4_009);
    let explanation = checked(explain(&events, &[], &question, &VIRTUAL), 4_009);
    assert_eq!(explanation.cause, Cause::Unexplained);
    assert!(explanation.text.contains("no longer held"));
    let empty = wake(&[(-50, idle())], 4_009, &VIRTUAL);
    assert_eq!(empty.cause, Cause::Unexplained);
    assert_eq!(
        empty.text,
        "the events of CPU 1 do not show how thread 99 was woken; the last thread seen to get the CPU before that was \
         swapper/1 (pid 0, priority 120)"
    );
}

#[test]
fn what_was_not_recorded_is_blamed_on_nobody() {
    let from_another = What::Switch {
        next: own(),
        left: Left::CouldRun,
        left_with: None,
        previous: 5,
    };
    let secret = thread("secret", 75, 110);
    let events = join(&[vec![(-50, switch(secret))], timer(2), vec![(3_000, from_another)]]);
    let explanation = wake(&events, 3_001, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Unexplained);
    assert_eq!(explanation.unexplained_ns, 2_996_000);
    assert_eq!(
        explanation.text,
        "the kernel did not record every switch on CPU 1: it is not known what had it for 3.00 ms of 3.00 ms; the last thread seen to get the CPU before that was secret (pid 75, priority 110)"
    );
    assert_eq!(gap(&events, 3_001, &BARE).cause, Cause::Unexplained);
}
