//! Follows single sampled values through the kernel: at every tracepoint with the frame's `sk_buff` as an argument, and at every
//! such function if the kernel permits it.
//!
//! Tracepoints and functions are found in the kernel's description of its own types (BTF): those of the kernel itself, and
//! functions of its modules. A frame is chosen when it comes to the given interface. From then on it is recognised by its content
//! (stream and first smpCnt) wherever it comes, even if it is cloned or copied; if the content cannot be read, by its `sk_buff`.
//! The programs ignore other frames inside the kernel.
//!
//! Tracepoints need exactly `CAP_BPF` and `CAP_PERFMON`, and a kernel with BTF.

mod btf;
mod engine;
mod event;
mod functions;
mod layout;
mod load;
mod passages;
mod select;
mod summary;

pub use engine::Follower;
pub use event::FollowedStream;
pub use passages::{Context, Origin, Passage, PassageStep, Reason, Skb, SkbEnd, What};
pub use summary::{StepSummary, summarize};

/// Options for following.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowOptions {
    /// Number of the interface at which frames are chosen.
    pub ifindex: u32,
    /// Inode number of its network namespace.
    pub netns: u32,
    /// Number of frames of each stream.
    pub per_stream: u32,
    /// Largest number of streams.
    pub max_streams: u32,
    /// Only frames with this first smpCnt.
    pub smp_cnt: Option<u16>,
    /// Only frames with this svID.
    pub sv_id: Option<Vec<u8>>,
    /// Bytes for events that have not been read yet; a power of two, and whole pages.
    pub ring_octets: u32,
}

/// Default bytes for events: room for some 32,000, since one frame makes a hundred if functions are included.
pub const RING_OCTETS: u32 = 1 << 22;

/// The tracepoints and functions in use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listening {
    /// Names of the tracepoints.
    pub tracepoints: Vec<String>,
    /// Tracepoints that take an `sk_buff` but are not used, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Number of functions.
    pub functions: usize,
    /// Why not all functions that take an `sk_buff` are used.
    pub no_functions: Option<String>,
}

/// Counts of frames that came, and of those that could not be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowCounts {
    /// Number of frames of sampled values that came to the interface while frames were chosen. A frame that came again within half
    /// a second, as a duplicate, counts once.
    pub met: u64,
    /// Number of followed frames.
    pub chosen: u64,
    /// Number of streams with chosen frames.
    pub streams: u64,
    /// Number of incomplete frames, where the interface receives them or passes them to its driver.
    pub malformed: u64,
    /// Number of frames of streams that there was no room for.
    pub no_room: u64,
    /// Number of events that there was no room for in the ring.
    pub lost_events: u64,
    /// Number of `sk_buff`s of followed frames that there was no room for: they were not recognised where the frame itself could
    /// not be read.
    pub not_kept: u64,
    /// Number of events that the kernel did not show because the program was already running on that CPU.
    pub missed_runs: u64,
    /// Number of function entries that the kernel did not show because it was handling another one on that CPU; `None` if this
    /// kernel does not report it (before Linux 6.7, or with functions one by one).
    pub missed_functions: Option<u64>,
}
