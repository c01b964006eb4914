//! Lines as Linux 6.18 prints them (recorded with `cat per_cpu/cpu1/trace`, numbers shortened), and hostile names.

use super::parse;
use crate::event::{Left, Name, Thread, Vector, What};

fn thread(name: &str, pid: i32, priority: i16) -> Thread {
    Thread {
        pid,
        priority,
        name: Name::from(name),
    }
}

fn one(line: &str) -> Option<(i64, What)> {
    let parsed = parse(1, line);
    assert!(parsed.events.len() <= 1);
    parsed.events.first().map(|event| (event.at.as_ns(), event.what))
}

#[test]
fn every_event_is_read() {
    let head = "          <idle>-0       [001] d.h2.  5461.000123: ";
    for (text, wanted) in [
        (
            "sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=wakeup/1 next_pid=99 next_prio=9",
            What::Switch {
                next: thread("wakeup/1", 99, 9),
                left: Left::CouldRun,
                left_with: Some(120),
                previous: 0,
            },
        ),
        (
            "sched_switch: prev_comm=a prev_pid=32777 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120",
            What::Switch {
                next: thread("swapper/1", 0, 120),
                left: Left::Waits,
                left_with: Some(120),
                previous: 9,
            },
        ),
        (
            "sched_switch: prev_comm=a prev_pid=9 prev_prio=120 prev_state=D+ ==> next_comm=b next_pid=1 next_prio=-1",
            What::Switch {
                next: thread("b", 1, -1),
                left: Left::CouldRun,
                left_with: Some(120),
                previous: 9,
            },
        ),
        (
            "sched_waking: comm=wakeup/1 pid=99 prio=9 target_cpu=001",
            What::Waking(thread("wakeup/1", 99, 9)),
        ),
        (
            "irq_handler_entry: irq=36 name=virtio1-req.0",
            What::InterruptEntry {
                number: 36,
                name: Name::from("virtio1-req.0"),
            },
        ),
        (
            "irq_handler_exit: irq=36 ret=handled",
            What::InterruptExit { number: 36 },
        ),
        ("softirq_entry: vec=1 [action=TIMER]", What::SoftirqEntry(1)),
        ("softirq_exit: vec=9 [action=RCU]", What::SoftirqExit(9)),
        ("local_timer_entry: vector=236", What::VectorEntry(Vector::LocalTimer)),
        (
            "call_function_single_exit: vector=251",
            What::VectorExit(Vector::CallFunctionSingle),
        ),
        (
            "call_function_entry: vector=252",
            What::VectorEntry(Vector::CallFunction),
        ),
        (
            "hrtimer_expire_entry: hrtimer=00000000f7e8 function=hrtimer_wakeup now=5461000120000",
            What::TimerEntry { due_ns: None },
        ),
        ("hrtimer_expire_exit: hrtimer=00000000f7e8", What::TimerExit),
        (
            "nmi_handler: perf_event_nmi_handler() delta_ns: 1234 handled: 1",
            What::Nmi { lasted_ns: 1234 },
        ),
        ("cpu_idle: state=1 cpu_id=1", What::IdleEntry(1)),
        ("cpu_idle: state=4294967295 cpu_id=1", What::IdleExit),
    ] {
        assert_eq!(
            one(&format!("{head}{text}")),
            Some((5_461_000_123_000, wanted)),
            "{text}"
        );
    }
}

#[test]
fn names_that_look_like_the_rest_of_a_line_do_not_confuse() {
    let line = " x [001] y: z: -77   [000] d..2.    12.000001: sched_switch: prev_comm= ==> next_comm= prev_pid=5 \
                prev_prio=1 prev_state=S ==> next_comm=a next_pid=7 next_pid=8 next_prio=120";
    let wanted = What::Switch {
        next: thread("a next_pid=7", 8, 120),
        left: Left::Waits,
        left_with: Some(1),
        previous: 5,
    };
    assert_eq!(one(line), Some((12_000_001_000, wanted)));
}

#[test]
fn what_is_not_an_event_is_passed_over() {
    for line in [
        "",
        "# tracer: nop",
        "CPU:1 [LOST 123 EVENTS]",
        "  a-1 [001] d..2.  12.000001: sys_enter: NR 1 (1, 2)",
        "  a-1 [001] d..2.  12.0001: cpu_idle: state=1 cpu_id=1",
        "  a-1 [001] d..2.  12.000001: irq_handler_entry: name=x",
        "  a-1 [001] d..2.  99999999999999.000001: cpu_idle: state=1 cpu_id=1",
    ] {
        assert_eq!(one(line), None, "{line}");
    }
}

#[test]
fn an_overwritten_buffer_is_told_from_a_whole_one() {
    let text = |counts: &str| format!("# tracer: nop\n#\n# entries-in-buffer/entries-written: {counts}   #P:2\n#\n");
    assert!(parse(0, &text("205/205")).whole);
    assert!(!parse(0, &text("205/9000")).whole);
    assert!(!parse(0, "").whole);
}

#[test]
fn lost_events_are_noticed() {
    let event = |at: &str| format!("  a-1 [001] d..2.  {at}: cpu_idle: state=1 cpu_id=1\n");
    let lost = |text: &str| {
        let parsed = parse(1, text);
        parsed.lost_before.iter().map(|at| at.as_ns()).collect::<Vec<_>>()
    };
    let (early, late) = (event("12.000001"), event("13.000001"));
    assert!(lost(&format!("{early}{late}")).is_empty());
    assert_eq!(
        lost(&format!("{early}CPU:1 [LOST 123 EVENTS]\n{late}")),
        [13_000_001_000]
    );
    assert_eq!(lost(&format!("{early}CPU:1 [LOST EVENTS]\n")), [i64::MAX]);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", tail in "[ -~]{0,80}") {
        let _ = parse(0, &text);
        let _ = parse(0, &format!(" a-1 [000] d.. 1.000000: sched_switch: {tail}"));
    }
}
