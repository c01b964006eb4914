//! What to do next: a setting to look at for each cause that was seen, or a run that would say more.

use super::findings;
use super::limits::{Row, State};
use super::why::{all_held, frames_left_out};
use crate::Report;
use model::Cause;

/// Lines that are shown.
const MOST: usize = 3;

/// What keeps a thread away, behind its name.
const OFF_THE_CPUS: &str = "off the judged CPUs: isolcpus=, nohz_full=, or cpuset partitions.";

/// What to do, the most useful first.
pub(super) fn next(report: &Report, rows: &[Row]) -> Vec<String> {
    let held = all_held(rows);
    let is_measured_here = report.run.facts.iter().any(|fact| fact.group == "kernel");
    let mut next = Vec::new();
    if held.is_mostly_untold() && is_measured_here {
        next.push(remedy(Cause::Unexplained, ""));
    }
    next.extend(findings::for_causes(report, &held));
    for holder in &held.by {
        let remedy = remedy(holder.cause, &holder.name);
        // One thread stands for all: what keeps it away keeps the others away.
        if next.len() >= MOST {
            break;
        }
        let is_said = |said: &String| *said == remedy || holder.cause == Cause::Thread && said.ends_with(OFF_THE_CPUS);
        if !next.iter().any(is_said) {
            next.push(remedy);
        }
    }
    let of_state = of_state(report, rows);
    next.truncate(MOST - usize::from(of_state.is_some()));
    next.extend(of_state.map(str::to_owned));
    next
}

/// What mends a cause of this name. `docs/guide/host-failed.md` has a row for each, with the settings in full.
fn remedy(cause: Cause, name: &str) -> String {
    let text = match cause {
        Cause::Thread => return format!("Keep {name} {OFF_THE_CPUS}"),
        Cause::Interrupt => "Move interrupts off the judged CPUs: smp_affinity of /proc/irq, irqaffinity=, irqbalance.",
        Cause::Softirq => "Move packet work off the judged CPUs: affinity of the NIC's interrupts, RPS, threaded NAPI.",
        Cause::Hypervisor => "On the host of this VM: give each vCPU a CPU of its own (pinned, isolated, FIFO).",
        Cause::Smi => "In the BIOS: a low-latency profile, no legacy USB. triptime noise counts what is left.",
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

/// What the verdict itself asks for.
fn of_state(report: &Report, rows: &[Row]) -> Option<&'static str> {
    let has = |state: State| rows.iter().any(|row| row.state == state);
    if frames_left_out(report).0 > 0 && has(State::Undecided) {
        return Some("Give the test set a CPU of its own, or a machine of its own, and measure again.");
    }
    if has(State::Exceeded) || has(State::Undecided) {
        return None;
    }
    Some(match has(State::NotMeasured) {
        true => "triptime qualify substation: measures what this run left open.",
        false => "triptime qualify substation --duration 24h: the same, as sure as a day can be.",
    })
}
