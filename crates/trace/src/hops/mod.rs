//! Times sampled values between observation points inside one kernel, with eBPF programs.
//!
//! A point is a place (interface and network namespace) and a kind of event there. The programs recognise a frame by its stream
//! (MAC addresses, APPID, svID) and its first smpCnt, time it from point to point, and count the durations in histograms in the
//! kernel. User space reads those at intervals, and gets single durations only if they are long. A frame that cannot be paired for
//! certain is counted and never measured: one that came twice, one that was not seen at the first point, or one that is older than
//! half a second.
//!
//! Needs exactly `CAP_BPF` and `CAP_PERFMON`, and a kernel with BTF.

mod counted;
mod engine;
mod layout;
mod load;
mod maps;
mod reading;
#[cfg(test)]
mod tests;

pub use engine::{Counting, HopCost, HopTracer};
pub use layout::{bucket_bounds, bucket_of};
pub use reading::{Distribution, Duration, HopCounts, Progress, Reading, StreamInfo, Troubles};

/// Largest number of points of one tracer.
pub const MOST_POINTS: usize = layout::POINTS;

/// Age in ns from which a frame at a later point is not paired.
pub const EXPIRY_NS: u64 = layout::EXPIRY_NS;

/// Time without a frame at the first point after which a stream counts as silent, in ns.
pub const SILENCE_NS: u64 = layout::SILENCE_NS;

/// Number of buckets of a histogram.
pub const BUCKETS: usize = layout::BUCKETS;

/// Kinds of events of a frame at a point. Each is a tracepoint of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointKind {
    /// `netif_receive_skb`: the kernel's network code takes the frame from the interface.
    Receive,
    /// `net_dev_start_xmit`: the frame is given to the interface's driver. For a tap, that is its queue to the reader.
    Transmit,
    /// `netif_rx`: the frame is put into a CPU's queue, as by a veth pair.
    Queue,
    /// `napi_gro_receive_entry`: the driver delivers the frame, in the NIC's own interrupt work.
    Offload,
    /// `consume_skb`: the frame has been used up: copied to the reader of the tap, or into the ring of a packet socket.
    Consume,
    /// `skb_copy_datagram_iovec`: a thread reads the frame from its socket, or from the tap.
    Read,
}

impl PointKind {
    /// Every kind, in the order of its number.
    pub const ALL: [Self; 6] = [
        Self::Receive,
        Self::Transmit,
        Self::Queue,
        Self::Offload,
        Self::Consume,
        Self::Read,
    ];

    /// Events at which an application has the frame: read from its socket, or in its ring.
    pub const APPLICATION: [Self; 2] = [Self::Read, Self::Consume];

    /// True if frames reach such a point only if a program reads them: frames before the first read one are not lost.
    pub fn is_reader(self) -> bool {
        matches!(self, Self::Consume | Self::Read)
    }

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Receive => "rx",
            Self::Transmit => "tx",
            Self::Queue => "queue",
            Self::Offload => "gro",
            Self::Consume => "done",
            Self::Read => "read",
        }
    }

    /// The kernel's tracepoint.
    pub fn tracepoint(self) -> &'static str {
        match self {
            Self::Receive => "netif_receive_skb",
            Self::Transmit => "net_dev_start_xmit",
            Self::Queue => "netif_rx",
            Self::Offload => "napi_gro_receive_entry",
            Self::Consume => "consume_skb",
            Self::Read => "skb_copy_datagram_iovec",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::Receive => "on_receive",
            Self::Transmit => "on_transmit",
            Self::Queue => "on_queue",
            Self::Offload => "on_offload",
            Self::Consume => "on_consume",
            Self::Read => "on_read",
        }
    }
}

/// A place where something happens to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// The interface's number in its network namespace.
    pub ifindex: u32,
    /// The namespace's inode number, as `stat` shows it for `/proc/PID/ns/net`.
    pub netns: u32,
    /// The kind of event.
    pub kind: PointKind,
}

/// A point: the first of its hooks that a frame comes to counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Its name, as in the names of series.
    pub name: String,
    /// The places of the point.
    pub hooks: Vec<Hook>,
    /// Number of the point before it. 0 for the first point, as is its own number.
    pub parent: usize,
}

/// Options of tracing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HopOptions {
    /// The points, beginning with the first; 2 to [`MOST_POINTS`].
    pub points: Vec<Point>,
    /// Largest number of streams that are distinguished.
    pub max_streams: u32,
    /// Durations above this are counted as over, in ns.
    pub threshold_ns: Option<u64>,
    /// True to report every duration, not only long ones.
    pub tell_all: bool,
    /// True if the NIC's stamp is the instant at the first point. Frames are seen there by the kernel, and the NIC's clock must be
    /// known: [`HopTracer::set_nic_clock`].
    pub first_by_nic: bool,
}

/// A series of durations: of one stream at one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HopSeries {
    /// Number of the stream.
    pub stream: u32,
    /// Number of the point at which the durations end.
    pub point: usize,
    /// True if they begin at the first point, and not at the one before.
    pub total: bool,
}

impl HopSeries {
    fn number(self) -> u32 {
        let point = u32::try_from(self.point).unwrap_or(0);
        2 * (self.stream * layout::POINTS as u32 + point) + u32::from(self.total)
    }

    fn of(number: u32) -> Self {
        let key = number / 2;
        Self {
            stream: key / layout::POINTS as u32,
            point: (key % layout::POINTS as u32) as usize,
            total: number % 2 == 1,
        }
    }
}
