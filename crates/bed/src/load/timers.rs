//! Threads that arm short timers: timer interrupts.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use units::CpuList;

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, check_count, check_range, given, threads_text};
use super::request::LoadRequestError;
use super::settings::{Settings, duration_text};
use super::workers::{Turn, Workers, placed};

/// Threads that each wait for a periodic high-resolution timer: an interrupt and a wake-up per expiration.
///
/// A thread that does not keep up loses expirations rather than interrupting later: these periods are counted as missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimerLoad {
    /// Period of each timer, in ns: 1 us to 100 ms.
    pub interval_ns: u64,
    /// Threads with a timer each, which take turns over the CPUs; `None`: one per CPU.
    pub threads: Option<usize>,
}

/// Some 50,000 interrupts a second.
const INTERVAL_NS: u64 = 20_000;
const LEAST_NS: u64 = 1_000;
/// A thread must not wait longer, to end in time with the load.
const MOST_NS: u64 = 100_000_000;

impl Default for TimerLoad {
    /// A timer of 20 us per CPU.
    fn default() -> Self {
        Self {
            interval_ns: INTERVAL_NS,
            threads: None,
        }
    }
}

impl TimerLoad {
    pub(super) const NAME: &str = "timers";

    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        Ok(Self {
            interval_ns: settings.duration("interval")?.unwrap_or(INTERVAL_NS),
            threads: settings.count("threads")?,
        })
    }
}

impl ThreadLoad for TimerLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        std::iter::once(("interval", duration_text(self.interval_ns)))
            .chain(given("threads", self.threads))
            .collect()
    }

    fn check(&self) -> Result<(), AmountError> {
        check_count(Self::NAME, "threads", self.threads.unwrap_or(1))?;
        check_range(
            Self::NAME,
            "interval",
            self.interval_ns,
            LEAST_NS..=MOST_NS,
            duration_text,
        )
    }

    fn describe(&self) -> String {
        let threads = threads_text(self.threads);
        format!("{threads}, a timer of {} each", duration_text(self.interval_ns))
    }

    fn unit(&self) -> &'static str {
        "expirations"
    }

    fn extra_unit(&self) -> Option<&'static str> {
        Some("periods missed")
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let interval_ns = self.interval_ns;
        let mut workers = Workers::new(Self::NAME);
        for cpu in placed(self.threads, cpus) {
            let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).map_err(|errno| {
                LoadError::System {
                    load: format!("{} load", Self::NAME),
                    operation: "make a timer",
                    why: errno.to_string(),
                }
            })?;
            workers.spawn(cpu, move |turn| {
                expire(&timer, interval_ns, turn).map_err(|errno| format!("timer: {errno}"))
            })?;
        }
        Ok(workers)
    }
}

/// Arms the timer here, so that it expires on this CPU, and waits for it again and again.
fn expire(timer: &OwnedFd, interval_ns: u64, turn: &Turn) -> Result<(), Errno> {
    let interval = Timespec {
        tv_sec: 0,
        tv_nsec: i64::try_from(interval_ns).unwrap_or(i64::MAX),
    };
    let period = Itimerspec {
        it_interval: interval,
        it_value: interval,
    };
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &period)?;
    let mut periods = [0; 8];
    while turn.goes_on() {
        match rustix::io::read(timer, &mut periods) {
            // The kernel arms the timer anew when it is read: each read is one interrupt, however many periods passed.
            Ok(_) => {
                turn.did(1);
                turn.did_extra(u64::from_ne_bytes(periods).saturating_sub(1));
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
