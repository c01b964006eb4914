//! Kernel threads that ran on the judged CPUs during a measurement: no control group can keep them away.

use crate::partition::in_short;
use host::ThreadStat;
use model::Fact;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use units::CpuList;

/// All visible kernel threads by number.
#[derive(Debug, Clone, Default)]
pub struct KernelThreads(BTreeMap<u32, Seen>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    name: String,
    /// The CPU it last ran on.
    cpu: u32,
    /// True if it can run on that CPU only.
    is_bound: bool,
    /// Number of context switches away from it.
    switches: u64,
}

impl KernelThreads {
    /// The present kernel threads; empty in a container, where they are invisible.
    pub fn look() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        Self(numbers.filter_map(|number| Some((number, seen(number)?))).collect())
    }

    /// The kernel threads that ran since `before`, for each of these CPUs: number and names, bound and not bound. Empty if no kernel thread is
    /// visible.
    pub fn since(&self, before: &Self, cpus: &CpuList) -> Vec<Fact> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let fact = |name: String, value: String| Fact {
            group: model::fact::KERNEL_THREADS.to_owned(),
            name,
            value: Ok(value),
            source: "/proc/PID/stat, /proc/PID/status, sched_getaffinity(2), before and after".to_owned(),
        };
        let has_run = |number: &u32, seen: &Seen| {
            let earlier = before.0.get(number).filter(|earlier| earlier.name == seen.name);
            earlier.is_none_or(|earlier| earlier.switches != seen.switches)
        };
        let of = |cpu: u32, is_bound: bool| -> BTreeSet<String> {
            let ran = self.0.iter().filter(|(number, seen)| has_run(number, seen));
            let here = ran.filter(|(_, seen)| (seen.cpu, seen.is_bound) == (cpu, is_bound));
            here.map(|(_, seen)| seen.name.clone()).collect()
        };
        let mut facts = Vec::new();
        for cpu in cpus.iter() {
            for (is_bound, word) in [(true, model::fact::BOUND), (false, model::fact::UNBOUND)] {
                facts.push(fact(format!("{word} cpu {cpu}"), in_short(&of(cpu, is_bound))));
            }
        }
        facts
    }
}

fn seen(number: u32) -> Option<Seen> {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    let stat = ThreadStat::parse(&stat).filter(|stat| stat.is_kernel)?;
    let status = fs::read_to_string(format!("/proc/{number}/status")).ok()?;
    Some(Seen {
        name: stat.name,
        cpu: stat.cpu?,
        is_bound: sys::thread::affinity_of(number).is_ok_and(|cpus| cpus.len() == 1),
        switches: switches(&status),
    })
}

/// Voluntary and involuntary switches.
fn switches(status: &str) -> u64 {
    let of = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.ends_with("ctxt_switches")
            .then(|| value.trim().parse::<u64>().ok())?
    };
    status.lines().filter_map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::{KernelThreads, Seen, switches};

    fn one(name: &str, cpu: u32, is_bound: bool, switches: u64) -> Seen {
        Seen {
            name: name.to_owned(),
            cpu,
            is_bound,
            switches,
        }
    }

    #[test]
    fn those_that_ran_are_told_by_their_cpu() {
        let before = KernelThreads([(3, one("ksoftirqd/1", 1, true, 7)), (4, one("rcu", 1, false, 7))].into());
        let after = KernelThreads(
            [
                (3, one("ksoftirqd/1", 1, true, 9)),
                (4, one("rcu", 1, false, 7)),
                (5, one("kworker/u8:2", 1, false, 1)),
                (6, one("kworker/0:1", 0, true, 1)),
            ]
            .into(),
        );
        let facts = after.since(&before, &"1".parse().expect("a list"));
        let said: Vec<String> = facts
            .iter()
            .map(|fact| format!("{}: {}", fact.name, fact.value.as_deref().expect("known")))
            .collect();
        assert_eq!(
            said,
            [
                "bound to cpu 1: 1: ksoftirqd/1",
                "not bound, last on cpu 1: 1: kworker/u8:2"
            ]
        );
        assert!(
            KernelThreads::default()
                .since(&before, &"1".parse().expect("a list"))
                .is_empty()
        );
    }

    #[test]
    fn both_kinds_of_switches_count() {
        assert_eq!(
            switches("Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n"),
            7
        );
    }
}
