//! Our real-time threads that were ready to run and did not run.

use std::collections::BTreeMap;
use std::fs;
use units::format_ns;

/// What a thread has to have waited for its CPU since the last look. The kernel takes the CPU away from spinning real-time threads for
/// some 50 ms of each second (`sched_rt_runtime_us`; from Linux 6.12 on a deadline server for the others), without a word in its log.
const NOTABLE_NS: u64 = 10_000_000;

/// And on average each time: threads of ours that share a CPU make each other wait for as long as they spin ahead, tens of microseconds.
const LONG_WAIT_NS: u64 = 1_000_000;

/// Field `policy` of `/proc/PID/stat`, counted from the one behind the name (proc(5)).
const POLICY_FIELD: usize = 38;

/// Its values for real-time threads: `SCHED_FIFO`, `SCHED_RR`, `SCHED_DEADLINE` (linux/sched.h).
const REAL_TIME: [u32; 3] = [1, 2, 6];

/// What a thread has waited for a CPU, and how often it got one (`/proc/PID/schedstat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waited {
    ns: u64,
    times: u64,
}

/// How long this process's real-time threads have waited, by thread.
#[derive(Default)]
pub(super) struct Delays(BTreeMap<u32, Waited>);

impl Delays {
    /// Why they cannot be seen, where they cannot.
    pub(super) fn unseen() -> Option<&'static str> {
        let is_missing = fs::metadata("/proc/self/schedstat").is_err();
        is_missing.then_some(
            "no /proc/self/schedstat (kernel option CONFIG_SCHED_INFO): real-time throttling of our threads would go unseen",
        )
    }

    /// Tells of threads that since the last look have waited far longer than threads make each other wait. A thread that wakes
    /// thousands of times between two looks and waits long once among them goes unseen: its waits are short on average.
    pub(super) fn look(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        let Ok(threads) = fs::read_dir("/proc/self/task") else {
            return told;
        };
        for thread in threads.flatten() {
            let path = thread.path();
            let read = |name| fs::read_to_string(path.join(name)).unwrap_or_default();
            let id = thread.file_name().to_str().and_then(|name| name.parse().ok());
            let (Some(id), Some(now)) = (id, waited(&read("schedstat"))) else {
                continue;
            };
            if !is_real_time(&read("stat")) {
                continue;
            }
            let before = self.0.insert(id, now);
            if let Some(ns) = before.and_then(|before| held_up_ns(before, now)) {
                let (name, wait) = (read("comm"), format_ns(ns as f64));
                told.push(format!(
                    "{}: ready to run, it waited {wait} for its CPU: throttled by the kernel, or held up by a thread of higher priority",
                    name.trim_end()
                ));
            }
        }
        told
    }
}

fn waited(schedstat: &str) -> Option<Waited> {
    let mut words = schedstat.split_ascii_whitespace().skip(1).map(str::parse);
    Some(Waited {
        ns: words.next()?.ok()?,
        times: words.next()?.ok()?,
    })
}

/// What it has waited in between, if that is more than others of ours make it wait.
fn held_up_ns(before: Waited, now: Waited) -> Option<u64> {
    let ns = now.ns.checked_sub(before.ns)?;
    let mean_ns = ns.checked_div(now.times.checked_sub(before.times)?)?;
    (ns >= NOTABLE_NS && mean_ns >= LONG_WAIT_NS).then_some(ns)
}

fn is_real_time(stat: &str) -> bool {
    let behind_the_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let policy = behind_the_name.split_ascii_whitespace().nth(POLICY_FIELD);
    policy
        .and_then(|word| word.parse().ok())
        .is_some_and(|policy| REAL_TIME.contains(&policy))
}

#[cfg(test)]
mod tests;
