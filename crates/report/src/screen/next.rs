//! The next step: a setting to check for each observed cause, or a run that would give more information.

use super::findings::Findings;
use super::held::{Held, Holder};
use super::limits::{Row, State};
use super::lines::{INDENT, Size};
use super::why::{all_held, frames_left_out};
use crate::Report;
use crate::again::{Again, Order, Wider};
use crate::terminal::width;
use model::Cause;

/// Maximum number of steps shown.
const MOST: usize = 3;

/// The next steps, most useful first.
pub(super) fn next(report: &Report, rows: &[Row], size: Size) -> Vec<String> {
    let held = all_held(rows);
    let facts = || report.run.facts.iter();
    let is_measured_here = facts().any(|fact| fact.group == "kernel");
    let is_recorded =
        facts().any(|fact| fact.group == "flight recorder" && fact.name == "engine" && fact.value.is_ok());
    let mut next = Vec::new();
    if held.is_mostly_untold() && is_measured_here && !is_recorded {
        next.push(remedy(Cause::Unexplained, ""));
    }
    for text in of_causes(report, &held) {
        if !next.contains(&text) {
            next.push(text);
        }
    }
    let of_state = of_state(report, rows, size);
    next.truncate(MOST - usize::from(of_state.is_some()));
    next.extend(of_state);
    next
}

/// Remedies against the causes: one for each, heaviest cause first, followed by further remedies.
fn of_causes(report: &Report, held: &Held) -> Vec<String> {
    let findings = Findings::of(report);
    let mut holders: Vec<&Holder> = Vec::new();
    for holder in &held.by {
        // One thread represents all threads: a remedy against one also helps against the others.
        if !holders.iter().any(|known| known.cause == holder.cause) {
            holders.push(holder);
        }
    }
    let first = holders.iter().map(|holder| {
        let found = findings.curing(holder.cause).next();
        found.unwrap_or_else(|| remedy(holder.cause, &holder.name))
    });
    let rest = holders.iter().flat_map(|holder| findings.curing(holder.cause));
    first.chain(rest).collect()
}

/// The remedy against a cause with this name. `docs/guide/host-failed.md` has a row for each, with the settings in
/// full.
fn remedy(cause: Cause, name: &str) -> String {
    let text = match cause {
        Cause::Thread => {
            return format!("Keep {name} off the judged CPUs: isolcpus=, or cpuset partitions.");
        }
        Cause::Interrupt => "Move interrupts off the judged CPUs: smp_affinity of /proc/irq, irqaffinity=, irqbalance.",
        Cause::Softirq => "Move packet work off the judged CPUs: affinity of the NIC's interrupts, RPS, threaded NAPI.",
        Cause::Hypervisor => "On the host of this VM: give each vCPU a CPU of its own (pinned, isolated, FIFO).",
        Cause::Smi => "In the BIOS: a low-latency profile, no legacy USB. triptime noise counts the remaining gaps.",
        Cause::Throttled => "Lift the limit for this thread: sched_rt_runtime_us, cpu.max of its control group.",
        Cause::Stopped => "Find who stops the thread (freezer, debugger, job control), and measure again.",
        Cause::IdleExit => "Keep the judged CPUs awake: pm_qos_resume_latency_us, or C-states in the firmware.",
        Cause::InterruptsOff => {
            "Find who switches interrupts off: the flights of the worst samples name what ran before."
        }
        Cause::Path => "Shorten the way: PREEMPT_RT, the governor performance, fewer hops from port to thread.",
        Cause::Unexplained => "Measure with the flight recorder (CAP_BPF, CAP_PERFMON), or on fewer CPUs.",
    };
    text.to_owned()
}

/// The step that follows from the verdict itself.
fn of_state(report: &Report, rows: &[Row], size: Size) -> Option<String> {
    let has = |state: State| rows.iter().any(|row| row.state == state);
    if frames_left_out(report).0 > 0 && has(State::Undecided) {
        return Some("Give the test set a CPU of its own, or a machine of its own, and measure again.".to_owned());
    }
    if has(State::Exceeded) || has(State::Undecided) {
        return None;
    }
    let Again { longer, wider } = &report.again;
    let is_open = |row: &&Row| row.state == State::NotMeasured;
    let measures = |wider: &&Wider| {
        let mut open = rows.iter().filter(is_open);
        open.any(|row| {
            row.series
                .split('/')
                .next()
                .is_some_and(|kind| wider.kinds.contains(&kind))
        })
    };
    let wider = wider.as_ref().filter(measures).map(|wider| &wider.order);
    let longer = longer.as_ref().filter(|_| has(State::Within));
    wider.or(longer).map(|wanted| order(wanted, size))
}

/// A truncated command would be useless: if it does not fit, its short form is shown.
fn order(order: &Order, size: Size) -> String {
    let command = match width(&order.command) <= size.columns - INDENT {
        true => &order.command,
        false => &order.short,
    };
    format!("{command}: {}.", order.what)
}
