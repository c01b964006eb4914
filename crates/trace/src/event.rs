//! Events that the recorder records.

use std::fmt;
use units::Monotonic;

/// Kernel priorities below this are real-time (`MAX_RT_PRIO`, include/linux/sched/prio.h).
pub const REALTIME_BELOW: i16 = 100;

/// An event on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// Instant of the event.
    pub at: Monotonic,
    /// CPU of the event.
    pub cpu: u32,
    /// Its kind.
    pub what: What,
}

/// Kinds of events, named after the kernel's tracepoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// `sched_switch`: this thread gets the CPU.
    Switch {
        /// The thread that has the CPU from now on; number 0 is the idle thread.
        next: Thread,
        /// State in which the previous thread left it.
        left: Left,
        /// Priority of the previous thread at that instant, which may have changed since it got the CPU; `None` if not recorded.
        left_with: Option<i16>,
        /// [`Thread::tag`] of the previous thread. If it differs from the thread of the last switch, switches are missing: a kernel
        /// may be built to exclude some threads from tracing.
        previous: u16,
    },
    /// `sched_waking`: this thread is being woken, by code on this CPU.
    Waking(Thread),
    /// `irq_handler_entry`.
    InterruptEntry {
        /// The interrupt's number, as in `/proc/interrupts`.
        number: u32,
        /// Name under which it was requested.
        name: Name,
    },
    /// `irq_handler_exit`.
    InterruptExit {
        /// The interrupt's number.
        number: u32,
    },
    /// `softirq_entry`, with its number.
    SoftirqEntry(u32),
    /// `softirq_exit`, with its number.
    SoftirqExit(u32),
    /// Entry of one of the processor's own interrupt vectors (x86 `irq_vectors`).
    VectorEntry(Vector),
    /// Exit of such a vector.
    VectorExit(Vector),
    /// `hrtimer_expire_entry`: the kernel begins to handle a timer.
    TimerEntry {
        /// When the timer was due, on the timer's own clock; `None` if the engine cannot see it.
        due_ns: Option<i64>,
    },
    /// `hrtimer_expire_exit`.
    TimerExit,
    /// `nmi_handler`: a non-maskable interrupt was handled.
    Nmi {
        /// Duration of its handler in ns, up to the event's instant.
        lasted_ns: u32,
    },
    /// `cpu_idle`: the CPU enters this idle state.
    IdleEntry(u32),
    /// `cpu_idle`: the CPU has left its idle state.
    IdleExit,
}

/// State in which a thread leaves its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Left {
    /// It could have continued: it was pre-empted.
    CouldRun,
    /// It began to wait.
    Waits,
    /// A signal, a debugger or a freezer stopped it.
    Stopped,
}

/// A thread as the scheduler's events show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// Its number (`gettid`); 0 is the idle thread of a CPU.
    pub pid: i32,
    /// The kernel's priority: -1 deadline, 0 to 99 real-time (99 minus the real-time priority), 100 to 139 normal.
    pub priority: i16,
    /// Its name.
    pub name: Name,
}

impl Thread {
    /// True for the idle thread.
    pub fn is_idle(&self) -> bool {
        self.pid == 0
    }

    /// The lower 15 bits of its number.
    pub fn tag(&self) -> u16 {
        tag_of(self.pid)
    }

    /// True if its policy is real-time or deadline.
    pub fn is_realtime(&self) -> bool {
        self.priority < REALTIME_BELOW
    }
}

/// The bits of a thread's number that a switch has room for.
pub(crate) const TAG_MASK: u32 = 0x7fff;

/// The lower 15 bits of a thread's number.
pub(crate) fn tag_of(pid: i32) -> u16 {
    (pid.cast_unsigned() & TAG_MASK) as u16
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, priority, name } = self;
        match priority {
            ..0 => write!(f, "{name} (pid {pid}, deadline)"),
            // Counted as in chrt and cyclictest: 99 is the highest.
            0..REALTIME_BELOW => write!(f, "{name} (pid {pid}, real-time priority {})", 99 - priority),
            _ => write!(f, "{name} (pid {pid}, priority {priority})"),
        }
    }
}

/// A name of up to 16 bytes, as the kernel keeps it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Name([u8; 16]);

impl Name {
    /// Makes a name from the kernel's bytes; anything after a NUL is ignored.
    pub fn from_octets(octets: [u8; 16]) -> Self {
        let end = octets.iter().position(|octet| *octet == 0).unwrap_or(16);
        let mut kept = [0; 16];
        kept[..end].copy_from_slice(&octets[..end]);
        Self(kept)
    }

    /// The name's bytes, without padding.
    pub fn octets(&self) -> &[u8] {
        let end = self.0.iter().position(|octet| *octet == 0).unwrap_or(16);
        &self.0[..end]
    }
}

impl From<&str> for Name {
    /// Keeps the first 16 bytes.
    fn from(text: &str) -> Self {
        let mut octets = [0; 16];
        for (to, from) in octets.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        Self::from_octets(octets)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A thread may have any name, and this goes to a terminal.
        for character in String::from_utf8_lossy(self.octets()).chars() {
            let shown = if character.is_control() { '?' } else { character };
            write!(f, "{shown}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// The processor's own interrupt vectors that have tracepoints and occur in normal operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vector {
    /// The timer of this CPU.
    LocalTimer,
    /// Another CPU makes this one look for a thread to run.
    Reschedule,
    /// Another CPU makes every CPU run a function.
    CallFunction,
    /// Another CPU makes this one run a function.
    CallFunctionSingle,
    /// Deferred work from a place where it could not be done.
    IrqWork,
}

impl Vector {
    /// Every vector.
    pub const ALL: [Self; 5] = [
        Self::LocalTimer,
        Self::Reschedule,
        Self::CallFunction,
        Self::CallFunctionSingle,
        Self::IrqWork,
    ];

    /// Its number in recorded events and flights.
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::LocalTimer => 1,
            Self::Reschedule => 2,
            Self::CallFunction => 3,
            Self::CallFunctionSingle => 4,
            Self::IrqWork => 5,
        }
    }

    /// The vector with this number.
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|vector| vector.code() == code)
    }
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LocalTimer => "local timer",
            Self::Reschedule => "reschedule",
            Self::CallFunction => "call function on all CPUs",
            Self::CallFunctionSingle => "call function",
            Self::IrqWork => "irq work",
        })
    }
}

/// Names of the softirqs by number (include/linux/interrupt.h; the same since Linux 4.1).
const SOFTIRQS: [&str; 10] = [
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

/// The name of a softirq.
pub fn softirq_name(number: u32) -> &'static str {
    let found = usize::try_from(number).ok().and_then(|number| SOFTIRQS.get(number));
    found.copied().unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::{Name, Thread, Vector, softirq_name};

    #[test]
    fn a_thread_shows_its_priority_as_its_policy_counts_it() {
        let show = |priority| {
            let name = Name::from("kworker/1:2");
            Thread {
                pid: 77,
                priority,
                name,
            }
            .to_string()
        };
        assert_eq!(show(120), "kworker/1:2 (pid 77, priority 120)");
        assert_eq!(show(9), "kworker/1:2 (pid 77, real-time priority 90)");
        assert_eq!(show(-1), "kworker/1:2 (pid 77, deadline)");
    }

    #[test]
    fn names_end_at_the_first_nul_and_cannot_steer_a_terminal() {
        let name = Name::from_octets(*b"a\x1b[2J\0rest of it");
        assert_eq!(name.to_string(), "a?[2J");
        assert_eq!(name, Name::from("a\x1b[2J"));
        assert_eq!(Name::from("sixteen octets!!more").to_string(), "sixteen octets!!");
    }

    #[test]
    fn vectors_and_softirqs_have_their_names() {
        for vector in Vector::ALL {
            assert_eq!(Vector::from_code(vector.code()), Some(vector));
        }
        assert_eq!(Vector::from_code(0), None);
        assert_eq!(
            (softirq_name(3), softirq_name(9), softirq_name(10)),
            ("NET_RX", "RCU", "unknown")
        );
    }
}
