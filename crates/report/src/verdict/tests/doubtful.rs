//! Everything that puts a figure in doubt, case by case.

use super::{clean, event, only, the_check};
use crate::limits::Quantity;
use crate::verdict::Verdict;
use model::{EventKind, RunState, RunView, SeriesClock};

/// A change to a clean run, the expected text of the doubt, and the quantities that it does not affect.
type Case = (&'static str, fn(&mut RunView), &'static str, &'static [Quantity]);

const DOUBTFUL: &[Case] = &[
    (
        "lost",
        |run| {
            only(run).counters.expected += 12;
            only(run).counters.lost = 12;
        },
        "12 samples of 100 012 lost",
        &[Quantity::Missed],
    ),
    (
        "unaccounted",
        |run| only(run).counters.expected += 7,
        "7 of 100 007 due are neither",
        &[],
    ),
    (
        "clipped",
        |run| only(run).counters.clipped = 1,
        "1 sample outside the histogram's range",
        &[Quantity::Lost, Quantity::Missed, Quantity::Late],
    ),
    (
        "overrun",
        |run| only(run).counters.overrun = 3,
        "3 records lost between",
        &[],
    ),
    (
        "interrupted",
        |run| run.state = RunState::Interrupted,
        "ended early, after 10.0 s",
        &[],
    ),
    (
        "throttled",
        |run| run.events.push(event(EventKind::RtThrottled)),
        "rt-throttled at 3.00 s: what happened",
        &[],
    ),
    (
        "page faults",
        |run| run.events.push(event(EventKind::PageFaults)),
        "page-faults at",
        &[Quantity::Lost],
    ),
    (
        "migration",
        |run| run.events.push(event(EventKind::Migration)),
        "migration at",
        &[Quantity::Lost],
    ),
    (
        "changed",
        |run| run.events.push(event(EventKind::ThreadChanged)),
        "thread-changed at",
        &[Quantity::Lost],
    ),
    (
        "recorder",
        |run| run.events.push(event(EventKind::RecorderOverrun)),
        "recorder-overrun at",
        &[],
    ),
    (
        "socket",
        |run| run.events.push(event(EventKind::SocketDrop)),
        "socket-drop at",
        &[],
    ),
    (
        "clock step",
        |run| {
            only(run).spec.clock = SeriesClock::Realtime;
            run.events.push(event(EventKind::ClockStep));
        },
        "clock-step at",
        &[Quantity::Lost, Quantity::Missed],
    ),
    (
        "unexplained skipped periods",
        |run| {
            only(run).counters.expected += 4;
            only(run).counters.missed = 4;
        },
        "4 periods skipped",
        &[Quantity::Lost],
    ),
];

#[test]
fn every_doubtful_condition_turns_a_pass_into_inconclusive() {
    let all = [
        (Quantity::Max, 120_000),
        (Quantity::Mean, 120_000),
        (Quantity::P999, 120_000),
    ];
    let counts = [(Quantity::Late, 10), (Quantity::Lost, 50), (Quantity::Missed, 50)];
    for (name, change, words, leaves) in DOUBTFUL {
        for (quantity, allowed) in all.into_iter().chain(counts) {
            let mut run = clean();
            assert_eq!(
                the_check(&run, quantity, allowed).verdict,
                Verdict::Pass,
                "{quantity:?}"
            );
            change(&mut run);
            let check = the_check(&run, quantity, allowed);
            if leaves.contains(&quantity) || is_itself(name, quantity) {
                assert_eq!(
                    (check.verdict, check.why.as_str()),
                    (Verdict::Pass, ""),
                    "{name} {quantity:?}"
                );
            } else {
                assert_eq!(check.verdict, Verdict::Inconclusive, "{name} {quantity:?}");
                assert!(check.why.contains(words), "{name} {quantity:?}: {}", check.why);
            }
        }
    }
}

/// A limit on the changed count itself judges it, and is not in doubt.
fn is_itself(name: &str, quantity: Quantity) -> bool {
    matches!(
        (name, quantity),
        ("lost", Quantity::Lost) | ("unexplained skipped periods", Quantity::Missed)
    )
}

#[test]
fn a_fail_stays_a_fail_and_lists_the_doubts_too() {
    for (name, change, words, _) in DOUBTFUL {
        let mut run = clean();
        change(&mut run);
        let check = the_check(&run, Quantity::Max, 50_000);
        assert!(check.why.contains(words), "{name}: {}", check.why);
        let wanted = if matches!(*name, "clock step" | "changed") {
            Verdict::Inconclusive
        } else {
            Verdict::Fail
        };
        assert_eq!(check.verdict, wanted, "{name}: {}", check.why);
    }
}
