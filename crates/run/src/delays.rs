//! Real-time threads of this program that were ready to run but did not run.

use std::fs;
use units::{Monotonic, Ns};

/// Shortest wait of a thread for its CPU, in total since the last look, that is reported. The kernel takes the CPU away from
/// spinning real-time threads for some 50 ms of each second (`sched_rt_runtime_us`; from Linux 6.12 on a deadline server for
/// ordinary threads), without a message in its log.
const NOTABLE_NS: u64 = 10_000_000;

/// Shortest average wait that is reported. Threads of this program that share a CPU make each other wait for as long as they spin
/// ahead, which is tens of microseconds.
const LONG_WAIT_NS: u64 = 1_000_000;

/// Smallest share of its CPU that a throttled thread uses or waits for, in percent. The kernel throttles at 95 % of a second, and a
/// look may begin or end within a second.
const SPINS_PERCENT: u64 = 85;

/// Shortest time of each second that the kernel takes away when it throttles: the runtime of the fair server
/// (kernel/sched/deadline.c).
const FAIR_NS: u64 = 50_000_000;

const SECOND_NS: u64 = 1_000_000_000;

/// Run time, waiting time and turns of a thread on its CPU up to an instant (`/proc/PID/schedstat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turns {
    pub(crate) at: Monotonic,
    ran_ns: u64,
    waited_ns: u64,
    times: u64,
}

/// A wait that is long enough to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delay {
    pub(crate) since: Monotonic,
    took_ns: u64,
    ran_ns: u64,
    waited_ns: u64,
}

impl Turns {
    /// Reads the turns of the calling thread.
    pub(crate) fn own() -> Option<Self> {
        Self::read("/proc/thread-self")
    }

    /// Reads the turns of a thread of this process.
    pub(crate) fn of(thread: i32) -> Option<Self> {
        Self::read(&format!("/proc/self/task/{thread}"))
    }

    fn read(folder: &str) -> Option<Self> {
        Self::parse(
            sys::clock::monotonic(),
            &fs::read_to_string(format!("{folder}/schedstat")).ok()?,
        )
    }

    fn parse(at: Monotonic, schedstat: &str) -> Option<Self> {
        let mut words = schedstat.split_ascii_whitespace().map(str::parse);
        Some(Self {
            at,
            ran_ns: words.next()?.ok()?,
            waited_ns: words.next()?.ok()?,
            times: words.next()?.ok()?,
        })
    }

    /// The wait since `before`, if threads of this program that share a CPU do not explain it. A thread that wakes thousands of
    /// times between two looks and waits long only once is not noticed: its average wait is short.
    pub(crate) fn delay_since(self, before: Self) -> Option<Delay> {
        let waited_ns = self.waited_ns.checked_sub(before.waited_ns)?;
        let mean_ns = waited_ns.checked_div(self.times.checked_sub(before.times)?)?;
        // The kernel counts a wait once it is over, so it may have begun before the look before.
        let took_ns = u64::try_from(self.at - before.at).unwrap_or(0).max(waited_ns);
        let ago_ns = i64::try_from(took_ns).unwrap_or(i64::MAX);
        (waited_ns >= NOTABLE_NS && mean_ns >= LONG_WAIT_NS).then(|| Delay {
            since: Monotonic::from_ns(self.at.as_ns().saturating_sub(ago_ns)),
            took_ns,
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns,
        })
    }
}

impl Delay {
    /// True if the kernel throttled the thread. Throttling affects threads that never leave their CPU, and takes a small part of
    /// the time. In all other cases the thread waited for one of higher priority.
    pub(crate) fn is_throttling(self) -> bool {
        let of_cpu_ns = self.ran_ns.saturating_add(self.waited_ns);
        let is_spinning = of_cpu_ns.saturating_mul(100) / self.took_ns.max(1) >= SPINS_PERCENT;
        // A look may begin and end within a period, and a pause is a little longer than necessary.
        let periods_percent = self.took_ns.saturating_mul(120) / SECOND_NS + 120;
        is_spinning && self.waited_ns <= taken_ns().saturating_mul(periods_percent) / 100
    }

    /// Description of the delay of the thread `name`; `is_shared` if another program's thread has the same CPU.
    pub(crate) fn text(self, name: &str, is_shared: bool) -> String {
        let [waited, took] = [self.waited_ns, self.took_ns].map(Ns);
        let percent = self.ran_ns.saturating_mul(100) / self.took_ns.max(1);
        let why = match self.is_throttling() {
            true if is_shared => {
                "throttled by the kernel, or held up by the other thread that has this CPU (second-measurement)"
            }
            true => {
                "throttled by the kernel, which keeps a part of each second from real-time threads that never sleep \
                 (kernel.sched_rt_runtime_us, or the fair server)"
            }
            false => {
                "held up by a thread of higher priority; throttling affects only threads that never sleep, for a small part of the time"
            }
        };
        format!("{name}: ready to run, it waited {waited} of {took} for its CPU, and ran for {percent} %: {why}")
    }
}

/// Time of each second that throttling takes from real-time threads, in ns.
fn taken_ns() -> u64 {
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/kernel/sched_rt_{name}_us")).ok();
    let us = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let rest = us("period").zip(us("runtime")).and_then(|(period, runtime)| {
        let rest_us = period.checked_sub(runtime)?;
        rest_us.saturating_mul(SECOND_NS).checked_div(period)
    });
    rest.unwrap_or(0).max(FAIR_NS)
}

/// True if the kernel counts how long threads wait.
pub fn are_delays_counted() -> bool {
    fs::metadata("/proc/self/schedstat").is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Delay, Turns};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};
    use sys::thread::{Policy, RtThread};
    use units::Monotonic;

    fn at(ns: i64, text: &str) -> Turns {
        Turns::parse(Monotonic::from_ns(ns), text).expect("a line of schedstat")
    }

    #[test]
    fn many_short_waits_are_not_a_long_one() {
        let before = at(0, "5 1000000 10\n");
        let waited = |text| at(1_000_000_000, text).delay_since(before).map(|delay| delay.waited_ns);
        assert_eq!(waited("9 241000000 4010"), None, "60 us each");
        assert_eq!(waited("9 51000000 11"), Some(50_000_000));
        assert_eq!(waited("9 41000000 17"), Some(40_000_000), "one of them long");
        assert_eq!(waited("9 6000000 11"), None, "5 ms");
        assert_eq!(before.delay_since(before), None);
        let longer = at(1_000_000_000, "9 1201000000 12")
            .delay_since(before)
            .expect("a delay");
        assert_eq!(longer.took_ns, 1_200_000_000, "it began before the look before");
        assert_eq!(longer.since, Monotonic::from_ns(-200_000_000));
        assert_eq!(Turns::parse(Monotonic::from_ns(0), "5 x"), None);
    }

    #[test]
    fn throttling_is_told_from_a_thread_of_higher_priority() {
        let delay = |ran_ms: u64, waited_ms: u64, took_ms: u64| Delay {
            since: Monotonic::from_ns(0),
            took_ns: took_ms * 1_000_000,
            ran_ns: ran_ms * 1_000_000,
            waited_ns: waited_ms * 1_000_000,
        };
        for throttled in [delay(950, 50, 1_000), delay(900, 100, 1_010), delay(3_400, 200, 3_650)] {
            assert!(throttled.is_throttling(), "{throttled:?}");
            assert!(
                throttled
                    .text("noise", false)
                    .contains("throttled by the kernel, which")
            );
            assert!(throttled.text("noise", true).contains("or held up by the other thread"));
        }
        // The thread sleeps most of the time, or it spins and waits far longer than throttling takes.
        for held_up in [
            delay(30, 40, 1_000),
            delay(600, 400, 1_000),
            delay(0, 900, 1_000),
            delay(3_100, 322, 3_650),
        ] {
            assert!(!held_up.is_throttling(), "{held_up:?}");
            assert!(
                held_up
                    .text("trip-listen", false)
                    .contains("held up by a thread of higher priority")
            );
        }
    }

    /// The delay of a spinning thread with policy `own` on the same CPU as one with policy `other`, read after a long wait.
    fn delay_beside(cpu: u32, own: Policy, other: Policy, burst: Duration) -> Result<Option<Delay>, sys::SysError> {
        let spin = |policy| RtThread {
            policy,
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        let is_over = AtomicBool::new(false);
        let is_there = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let entered = spin(other).enter();
                is_there.store(true, Ordering::Relaxed);
                while entered.is_ok() && !is_over.load(Ordering::Relaxed) {
                    let begin = Instant::now();
                    while begin.elapsed() < burst {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(burst);
                }
            });
            let watched = scope.spawn(|| {
                // Otherwise it would keep the other thread, which starts as an ordinary one, from getting its priority.
                while !is_there.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                spin(own).enter()?;
                let mut before = Turns::own();
                let begin = Instant::now();
                let mut found = None;
                // If the hypervisor takes as much as the kernel leaves to others, the thread never runs enough of a second to be
                // throttled.
                while found.is_none() && begin.elapsed() < Duration::from_secs(60) {
                    let look = Instant::now();
                    while look.elapsed() < Duration::from_secs(1) {
                        std::hint::spin_loop();
                    }
                    let now = Turns::own();
                    found = now.zip(before).and_then(|(now, before)| now.delay_since(before));
                    before = now;
                }
                Ok(found)
            });
            let found = watched.join().expect("no panic");
            is_over.store(true, Ordering::Relaxed);
            found
        })
    }

    #[test]
    fn a_spinning_thread_that_the_kernel_throttles_is_told_and_one_that_is_pre_empted_apart() {
        const NAME: &str = "a_spinning_thread_that_the_kernel_throttles_is_told_and_one_that_is_pre_empted_apart";
        let cpu = sys::thread::allowed_cpus().first().expect("a CPU");
        let pre_empted = delay_beside(cpu, Policy::Fifo(1), Policy::Fifo(2), Duration::from_millis(40));
        let found = match pre_empted {
            Err(error) => return testing::skip(NAME, &error.to_string()),
            Ok(found) => found.expect("half of its time"),
        };
        assert!(!found.is_throttling(), "{}", found.text("it", false));
        let runtime = fs_runtime();
        if runtime.trim() == "-1" {
            return testing::skip(NAME, "the kernel's real-time throttling is off");
        }
        let throttled = delay_beside(cpu, Policy::Fifo(1), Policy::Other, Duration::from_secs(1));
        let found = throttled.expect("as before").expect("5 % of its time");
        assert!(found.is_throttling(), "{}", found.text("it", false));
    }

    fn fs_runtime() -> String {
        std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or_default()
    }
}
