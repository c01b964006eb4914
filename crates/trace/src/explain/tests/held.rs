//! A thread that could not run although it was ready, or that was stopped.

use super::{BARE, CHAINED, VIRTUAL, gap, idle, join, switch, thread, wake};
use crate::around::Around;
use crate::event::{Left, Thread, What};
use model::{Cause, Part};

/// The measuring thread with an ordinary policy, which only quotas can stop.
fn fair() -> Thread {
    thread("wakeup/1", super::OWN, 120)
}

/// The timer interrupt that wakes the thread.
fn timer(at: i64) -> Vec<(i64, What)> {
    let of_fair = |(at, what)| match what {
        What::Waking(_) => (at, What::Waking(fair())),
        what => (at, what),
    };
    super::timer(at).into_iter().map(of_fair).collect()
}

/// The CPU switches to the idle thread from a thread that could have continued, or that was stopped.
fn idle_from(left: Left) -> What {
    What::Switch {
        next: thread("swapper/1", 0, 120),
        left,
        left_with: None,
        previous: CHAINED,
    }
}

fn held(text: &str) -> bool {
    text.starts_with("the kernel held the ready thread back for 50.0 ms")
}

const QUOTA: Around = Around {
    throttled_ns: Some(52_000_000),
    ..VIRTUAL
};

#[test]
fn a_quota_that_leaves_the_cpu_idle_is_not_the_host() {
    // Since Linux 6.18: on its way back to user space, after it was switched in.
    let late = vec![
        (9, switch(fair())),
        (10, idle_from(Left::CouldRun)),
        (50_010, switch(fair())),
    ];
    let explanation = wake(&join(&[vec![(-50, idle())], timer(2), late]), 50_011, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Throttled, "{}", explanation.text);
    assert!(
        held(&explanation.text) && explanation.text.contains("left the CPU idle"),
        "{}",
        explanation.text
    );
    assert!(
        explanation.text.contains("or core scheduling"),
        "no counter moved: {}",
        explanation.text
    );

    // Before: the scheduler runs, and the idle thread continues.
    let never = vec![(7, What::IdleEntry(1)), (50_002, switch(fair()))];
    let explanation = wake(&join(&[vec![(-50, idle())], timer(2), never]), 50_003, &QUOTA);
    assert_eq!(explanation.cause, Cause::Throttled, "{}", explanation.text);
    assert!(
        explanation.text.ends_with("(cpu.max, cpu.cfs_quota_us) was used up"),
        "{}",
        explanation.text
    );

    let spun = [
        (-50, switch(fair())),
        (5, idle_from(Left::CouldRun)),
        (50_005, switch(fair())),
    ];
    let explanation = gap(&spun, 50_006, &QUOTA);
    assert_eq!(
        (explanation.cause, explanation.unexplained_ns),
        (Cause::Throttled, 6_000)
    );
    assert!(
        explanation.around.iter().any(|line| line.contains("52.0 ms")),
        "{:?}",
        explanation.around
    );
}

#[test]
fn an_idle_cpu_whose_thread_waits_is_still_the_host() {
    let silent = vec![(50_008, switch(fair()))];
    let explanation = wake(&join(&[vec![(-50, idle())], timer(2), silent]), 50_009, &QUOTA);
    assert_eq!(
        explanation.cause,
        Cause::Hypervisor,
        "nothing shows that the scheduler ran: {}",
        explanation.text
    );
    let slept = [(-50, switch(fair())), (5, idle()), (50_005, switch(fair()))];
    assert_eq!(gap(&slept, 50_006, &QUOTA).cause, Cause::Hypervisor);
}

#[test]
fn other_fair_threads_get_what_the_quotas_counter_does_not_vouch_for() {
    let spun = [
        (-50, switch(fair())),
        (5, switch(thread("make", 5, 120))),
        (50_005, switch(fair())),
    ];
    let cause = |around: &Around| gap(&spun, 50_006, around).cause;
    assert_eq!(cause(&VIRTUAL), Cause::Thread);
    assert_eq!(cause(&QUOTA), Cause::Throttled);
    let less = Around {
        throttled_ns: Some(20_000_000),
        ..VIRTUAL
    };
    assert_eq!(cause(&less), Cause::Thread);
    let short = [
        (-50, switch(fair())),
        (5, switch(thread("make", 5, 120))),
        (3_005, switch(fair())),
    ];
    assert_eq!(gap(&short, 3_006, &QUOTA).cause, Cause::Thread, "an ordinary turn");
}

#[test]
fn a_stopped_thread_is_said_to_be_stopped() {
    let stop = |next: Thread| What::Switch {
        next,
        left: Left::Stopped,
        left_with: None,
        previous: CHAINED,
    };
    let other = thread("make", 5, 120);
    let spun = [
        (-50, switch(super::own())),
        (5, stop(other)),
        (20_000, idle()),
        (50_000, What::Waking(super::own())),
        (50_005, switch(super::own())),
    ];
    let explanation = gap(&spun, 50_006, &VIRTUAL);
    assert_eq!(explanation.cause, Cause::Stopped);
    assert_eq!(
        explanation.text,
        "the thread was stopped for 50.0 ms of 50.0 ms, by a signal, a debugger or a freezer"
    );
    let part = Part {
        what: "nobody: the thread was stopped".into(),
        ns: 50_000_000,
    };
    assert_eq!(explanation.occupants[0], part);

    // Stopped while it slept: the signal wakes it before its timer would, and another signal long after.
    let slept = [
        (-600, idle()),
        (-510, What::Waking(super::own())),
        (-505, switch(super::own())),
        (-500, stop(thread("swapper/1", 0, 120))),
        (30_000, What::Waking(super::own())),
        (30_005, switch(super::own())),
    ];
    let explanation = wake(&slept, 30_006, &BARE);
    assert_eq!(explanation.cause, Cause::Stopped, "{}", explanation.text);
}
