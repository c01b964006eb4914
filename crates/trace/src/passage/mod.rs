//! Follows single sampled values through the kernel: at every tracepoint with the frame's `sk_buff` as an argument, and
//! at every such function if the kernel permits it.
//!
//! They are found in the kernel's description of its own types (BTF), for the kernel itself and for functions of its modules. A
//! frame is chosen when it comes to the interface that is looked at, and is known from then on by its content (stream and first
//! smpCnt) wherever it comes, also when it is cloned or copied; where the content cannot be read, by its `sk_buff`. Other frames
//! are let go in the kernel.
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

/// Options of following.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowOptions {
    /// Number of the interface at which frames are chosen.
    pub ifindex: u32,
    /// Inode number of its network namespace.
    pub netns: u32,
    /// Frames of each stream.
    pub per_stream: u32,
    /// Streams at the most.
    pub max_streams: u32,
    /// Only frames whose first smpCnt is this.
    pub smp_cnt: Option<u16>,
    /// Only frames of this svID.
    pub sv_id: Option<Vec<u8>>,
    /// Room for events that were not read yet, in octets; a power of two, and whole pages.
    pub ring_octets: u32,
}

/// Room for events unless another is asked for: some 32,000, as one frame makes a hundred where functions are listened to.
pub const RING_OCTETS: u32 = 1 << 22;

/// The tracepoints and functions that are listened to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listening {
    /// Tracepoints.
    pub tracepoints: Vec<String>,
    /// Tracepoints that take an `sk_buff` and are not listened to, each with why.
    pub left_out: Vec<(String, String)>,
    /// How many functions.
    pub functions: usize,
    /// Why not all functions that take an `sk_buff`.
    pub no_functions: Option<String>,
}

/// Counts of frames that came, and of those that could not be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowCounts {
    /// Frames of sampled values that came to the interface while frames were chosen. One that came again within half a second, as
    /// a duplicate, counts once.
    pub met: u64,
    /// Frames that are followed.
    pub chosen: u64,
    /// Streams that frames were chosen of.
    pub streams: u64,
    /// Frames that are not whole, where the interface receives them or hands them to its driver.
    pub malformed: u64,
    /// Frames of streams that there was no room for.
    pub no_room: u64,
    /// Events that there was no room for in the ring.
    pub lost_events: u64,
    /// `sk_buff`s of frames that are followed that there was no room for: where the frame itself could not be read they were not
    /// recognised.
    pub not_kept: u64,
    /// Events that the kernel did not show, as the program was at work on that CPU already.
    pub missed_runs: u64,
    /// Beginnings of functions that it did not show as it was at work on another there; `None`: this kernel does not tell (before
    /// Linux 6.7, or with functions one by one).
    pub missed_functions: Option<u64>,
}
