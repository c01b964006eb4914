//! Scheduling policies: writes, reads and applies them.

use super::{cpus, policy_refusal};
use crate::error::{SysError, last_errno};
use std::fmt;
use std::str::FromStr;
use units::parse_ns;

/// A scheduling policy (sched(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The normal policy, nice 0.
    Other,
    /// Real-time: runs until it waits; priority 1 (lowest) to 99.
    Fifo(u8),
    /// Real-time: takes turns with threads of its priority; priority 1 (lowest) to 99.
    RoundRobin(u8),
    /// A budget of `runtime_ns` before `deadline_ns` in every `period_ns`.
    Deadline {
        /// CPU time per period, in ns.
        runtime_ns: u64,
        /// Deadline from the start of the period, in ns.
        deadline_ns: u64,
        /// Length of a period in ns.
        period_ns: u64,
    },
}

/// The highest real-time priority that needs no capability: `RLIMIT_RTPRIO` (getrlimit(2)); 0 if every priority needs one.
pub fn free_priority() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Rtprio);
    limit.current.unwrap_or(u64::MAX)
}

/// Shortest runtime in ns: the kernel refuses shorter ones (`DL_SCALE`, kernel/sched/deadline.c).
const LEAST_RUNTIME_NS: u64 = 1024;

/// Why a text is not a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The form is unknown.
    #[error(
        "\"{0}\" is not a scheduling policy: write other, fifo:80, rr:50 or deadline:RUNTIME/DEADLINE/PERIOD (deadline:200us/1ms/1ms)"
    )]
    Form(String),
    /// The priority is outside the kernel's range.
    #[error("\"{0}\": the priority is a number from 1 (lowest) to 99")]
    Priority(String),
    /// A duration is invalid.
    #[error("\"{0}\": {1}")]
    Duration(String, units::DurationError),
    /// The durations contradict each other.
    #[error("\"{0}\": runtime must be at least 1024ns, at most the deadline, and the deadline at most the period")]
    Order(String),
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let text = text.trim();
        match text.split_once(':') {
            None if text == "other" => Ok(Self::Other),
            // A plain number means FIFO, as in cyclictest.
            None if text.starts_with(|c: char| c.is_ascii_digit()) => Ok(Self::Fifo(parse_priority(text, text)?)),
            Some(("fifo", priority)) => Ok(Self::Fifo(parse_priority(text, priority)?)),
            Some(("rr", priority)) => Ok(Self::RoundRobin(parse_priority(text, priority)?)),
            Some(("deadline", budget)) => parse_deadline(text, budget),
            _ => Err(PolicyError::Form(text.to_owned())),
        }
    }
}

fn parse_priority(text: &str, priority: &str) -> Result<u8, PolicyError> {
    match priority.parse() {
        Ok(priority @ 1..=99) => Ok(priority),
        _ => Err(PolicyError::Priority(text.to_owned())),
    }
}

fn parse_deadline(text: &str, budget: &str) -> Result<Policy, PolicyError> {
    let part = |part: &str| parse_ns(part).map_err(|error| PolicyError::Duration(text.to_owned(), error));
    let parts: Vec<&str> = budget.split('/').collect();
    let [runtime, deadline, period] = parts[..] else {
        return Err(PolicyError::Form(text.to_owned()));
    };
    let (runtime_ns, deadline_ns, period_ns) = (part(runtime)?, part(deadline)?, part(period)?);
    if runtime_ns < LEAST_RUNTIME_NS || runtime_ns > deadline_ns || deadline_ns > period_ns {
        return Err(PolicyError::Order(text.to_owned()));
    }
    Ok(Policy::Deadline {
        runtime_ns,
        deadline_ns,
        period_ns,
    })
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Other => f.write_str("other"),
            Self::Fifo(priority) => write!(f, "fifo:{priority}"),
            Self::RoundRobin(priority) => write!(f, "rr:{priority}"),
            Self::Deadline {
                runtime_ns,
                deadline_ns,
                period_ns,
            } => {
                write!(
                    f,
                    "deadline:{}/{}/{}",
                    exact(runtime_ns),
                    exact(deadline_ns),
                    exact(period_ns)
                )
            }
        }
    }
}

/// A duration in the largest unit without a fraction, so that it is read back as the same number.
fn exact(ns: u64) -> String {
    for (unit_ns, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if ns > 0 && ns.is_multiple_of(unit_ns) {
            return format!("{}{unit}", ns / unit_ns);
        }
    }
    format!("{ns}ns")
}

/// Applies `policy` to the calling thread.
pub(super) fn apply(policy: Policy) -> Result<(), SysError> {
    let done = match policy {
        Policy::Other => set_scheduler(libc::SCHED_OTHER, 0),
        Policy::Fifo(priority) => set_scheduler(libc::SCHED_FIFO, priority),
        Policy::RoundRobin(priority) => set_scheduler(libc::SCHED_RR, priority),
        Policy::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        } => set_deadline(runtime_ns, deadline_ns, period_ns),
    };
    match done {
        0 => Ok(()),
        _ => Err(policy_refusal::explain(policy, last_errno(), cpus::current_affinity)),
    }
}

fn set_scheduler(policy: i32, priority: u8) -> libc::c_long {
    let parameter = libc::sched_param {
        sched_priority: priority.into(),
    };
    // SAFETY: the pointer is to a sched_param that outlives the call; 0 means the calling thread.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) }.into()
}

/// The C library has no wrapper for sched_setattr(2).
fn set_deadline(runtime_ns: u64, deadline_ns: u64, period_ns: u64) -> libc::c_long {
    set_attributes(
        0,
        &libc::sched_attr {
            sched_policy: libc::SCHED_DEADLINE as u32,
            sched_runtime: runtime_ns,
            sched_deadline: deadline_ns,
            sched_period: period_ns,
            ..NO_ATTRIBUTES
        },
    )
}

/// The normal policy at nice 0.
pub(super) const NO_ATTRIBUTES: libc::sched_attr = libc::sched_attr {
    size: size_of::<libc::sched_attr>() as u32,
    sched_policy: 0,
    sched_flags: 0,
    sched_nice: 0,
    sched_priority: 0,
    sched_runtime: 0,
    sched_deadline: 0,
    sched_period: 0,
};

/// sched_setattr(2) for a thread; 0 is the calling thread.
pub(super) fn set_attributes(number: i32, attributes: &libc::sched_attr) -> libc::c_long {
    let attributes = libc::sched_attr {
        size: NO_ATTRIBUTES.size,
        ..*attributes
    };
    // SAFETY: the pointer is to a sched_attr whose `size` field is its length; no flags.
    unsafe { libc::syscall(libc::SYS_sched_setattr, number, &raw const attributes, 0) }
}

#[cfg(test)]
mod tests {
    use super::{Policy, PolicyError};

    #[test]
    fn every_form_reads_and_shows_the_same() {
        let deadline = Policy::Deadline {
            runtime_ns: 200_000,
            deadline_ns: 999_999,
            period_ns: 1_000_000,
        };
        for (text, policy) in [
            ("other", Policy::Other),
            ("fifo:80", Policy::Fifo(80)),
            ("rr:1", Policy::RoundRobin(1)),
            ("deadline:200us/999999ns/1ms", deadline),
        ] {
            assert_eq!(text.parse(), Ok(policy));
            assert_eq!(policy.to_string(), text);
        }
        assert_eq!("80".parse(), Ok(Policy::Fifo(80)));
        assert_eq!("100".parse::<Policy>(), Err(PolicyError::Priority("100".into())));
    }

    #[test]
    fn refuses_what_the_kernel_would() {
        let read = |text: &str| text.parse::<Policy>().expect_err(text);
        for text in [
            "",
            "fifo",
            "FIFO:80",
            "batch:1",
            "deadline:1ms",
            "deadline:1ms/1ms",
            "deadline:1ms/1ms/1ms/1ms",
        ] {
            assert!(matches!(read(text), PolicyError::Form(_)), "{text}");
        }
        for text in ["fifo:0", "fifo:100", "rr:", "rr:-1"] {
            assert!(matches!(read(text), PolicyError::Priority(_)), "{text}");
        }
        for text in [
            "deadline:2ms/1ms/1ms",
            "deadline:1ms/3ms/2ms",
            "deadline:1023ns/1ms/1ms",
        ] {
            assert!(matches!(read(text), PolicyError::Order(_)), "{text}");
        }
        assert!(matches!(read("deadline:x/1ms/1ms"), PolicyError::Duration(..)));
    }
}
