//! What a load does.

use std::fmt;
use std::path::PathBuf;

/// What messages go over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Stream sockets.
    Sockets,
    /// Pipes.
    Pipes,
}

/// What a load does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadKind {
    /// Pairs of a sending and a receiving thread: system calls, wake-ups and context switches. Both threads of a pair share
    /// a CPU; the pairs take turns over the CPUs.
    Scheduler {
        /// Pairs of threads.
        pairs: usize,
        /// Octets of each message; hackbench sends 100.
        message_bytes: usize,
        /// What the messages go over.
        over: Over,
    },
    /// Groups of threads as hackbench has them: in each, `fds` senders write to each of `fds` receivers in turn. The threads
    /// take turns over the CPUs.
    Hackbench {
        /// Groups.
        groups: usize,
        /// Senders of a group, and as many receivers.
        fds: usize,
        /// Octets of each message.
        message_bytes: usize,
        /// What the messages go over.
        over: Over,
    },
    /// Threads that write and copy a buffer from end to end; they take turns over the CPUs.
    Memory {
        /// Octets of each thread's buffer: more than the last-level cache, or it never reaches memory.
        bytes_per_thread: u64,
        /// Threads.
        threads: usize,
    },
    /// Threads that walk through a buffer in an order no prefetcher foresees, and write as they go.
    Cache {
        /// Octets of each thread's buffer: about the cache that is to be thrashed.
        bytes: u64,
        /// Threads.
        threads: usize,
    },
    /// Threads that sleep for moments: timer interrupts.
    Timers {
        /// Time between two timers of a thread.
        interval_ns: u64,
        /// Threads.
        threads: usize,
    },
    /// Threads that send frames over a veth pair of their own: network softirqs.
    Packets {
        /// Octets of a frame, without frame check sequence.
        frame_bytes: usize,
        /// Threads.
        threads: usize,
    },
    /// A thread that writes a file without a name, and has every piece put on the disk.
    Disk {
        /// Where the file is.
        directory: PathBuf,
        /// Octets of the file.
        bytes: u64,
    },
    /// An external program and its arguments, split at blanks outside quotes; no shell sees it.
    Command {
        /// Such as `stress-ng --cpu 1`.
        line: String,
    },
}

impl LoadKind {
    /// What its work is counted in.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Scheduler { .. } | Self::Hackbench { .. } => "messages",
            Self::Memory { .. } | Self::Disk { .. } => "octets",
            Self::Cache { .. } => "cache lines",
            Self::Timers { .. } => "timers",
            Self::Packets { .. } => "frames",
            Self::Command { .. } => "ms of CPU time",
        }
    }
}

impl fmt::Display for LoadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduler {
                pairs,
                message_bytes,
                over,
            } => write!(
                f,
                "scheduler load: {pairs} pairs, messages of {message_bytes} octets over {over}"
            ),
            Self::Hackbench {
                groups,
                fds,
                message_bytes,
                over,
            } => write!(
                f,
                "hackbench load: {groups} groups of {fds} senders and {fds} receivers, messages of {message_bytes} octets \
                 over {over}"
            ),
            Self::Memory {
                bytes_per_thread,
                threads,
            } => write!(f, "memory load: {threads} threads, {bytes_per_thread} octets each"),
            Self::Cache { bytes, threads } => write!(f, "cache load: {threads} threads, {bytes} octets each"),
            Self::Timers { interval_ns, threads } => {
                let interval = units::format_ns(*interval_ns as f64);
                write!(f, "timer load: {threads} threads, one timer every {interval} each")
            }
            Self::Packets { frame_bytes, threads } => {
                write!(
                    f,
                    "packet load: {threads} threads, frames of {frame_bytes} octets over veth"
                )
            }
            Self::Disk { directory, bytes } => {
                write!(
                    f,
                    "disk load: {bytes} octets in {}, synced every 256 KiB",
                    directory.display()
                )
            }
            Self::Command { line } => write!(f, "load command {line}"),
        }
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sockets => "sockets",
            Self::Pipes => "pipes",
        })
    }
}
