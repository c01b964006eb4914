//! Contents of a capture, known at its end.

use crate::bursts::BurstCounts;
use crate::gaps::Gap;
use crate::goose::GooseCounts;
use crate::lans::RedundancySummary;
use crate::losses::Loss;
use crate::shaping::{Leads, Shaping};
use model::StreamId;
use model::Tally;
use std::collections::BTreeMap;
use wire::ether::Hidden;

/// The first frame that broke a rule of its protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstMalformed {
    /// Number of the frame.
    pub frame: u64,
    /// The first rule it broke.
    pub why: String,
}

/// Datagrams of R-GOOSE and R-SV, by their protection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoutedCounts {
    /// Without a signature.
    pub unsigned: u64,
    /// With a signature, which is not checked: without a key, or with a key that was not given.
    pub signed: u64,
    /// With the right signature.
    pub right: u64,
    /// With a wrong signature, so not used.
    pub wrong: u64,
    /// Without a signature, or with a key that was not given, though keys were; so not used.
    pub refused: u64,
    /// Encrypted, and so not read.
    pub encrypted: u64,
}

/// A whole capture.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Frames of layer 2 with the extension of IEC 62351-6 that Reserved1 announces, which is not checked.
    pub extended: u64,
    /// Frames of the capture.
    pub frames: u64,
    /// Earliest stamp, ns since 1970 UTC.
    pub first_ns: Option<i64>,
    /// Latest stamp.
    pub last_ns: Option<i64>,
    /// Frames whose stamp is earlier than that of the frame before, of any stream.
    pub stamps_back: u64,
    /// Frames without a stamp.
    pub unstamped: u64,
    /// Frames that are not Ethernet, which are not examined.
    pub not_ethernet: u64,
    /// Frames of other protocols.
    pub other: u64,
    /// Frames with sampled values or GOOSE after a header that is not read, by that header.
    pub hidden: BTreeMap<Hidden, u64>,
    /// Datagrams of R-GOOSE and R-SV, whose messages are followed like frames.
    pub routed: RoutedCounts,
    /// Frames of a followed protocol that break one of its rules.
    pub malformed: u64,
    /// The first of them.
    pub first_malformed: Option<FirstMalformed>,
    /// Frames of a followed protocol that cannot be read because the capture has only their beginning.
    pub cut: u64,
    /// Frames of streams beyond [`crate::Config::max_streams`].
    pub unplaced: u64,
    /// The streams, in the order of appearance.
    pub streams: Vec<StreamSummary>,
    /// The LANs of a redundant network, if the capture shows one or names its ports.
    pub redundancy: Option<RedundancySummary>,
}

/// A stream of the capture.
#[derive(Debug, Clone)]
pub struct StreamSummary {
    /// Identity of the stream.
    pub identity: StreamId,
    /// Its unique name.
    pub label: String,
    /// Number of frames.
    pub frames: u64,
    /// Number of samples: ASDUs, or frames if the protocol has no ASDUs.
    pub samples: u64,
    /// Number of its first frame.
    pub first_frame: u64,
    /// Number of its last frame.
    pub last_frame: u64,
    /// Stamp of its first frame, ns since 1970 UTC.
    pub first_ns: Option<i64>,
    /// Stamp of its last frame.
    pub last_ns: Option<i64>,
    /// Spacings and counters.
    pub tally: Tally,
    /// Its longest gaps, longest first, at most 100.
    pub worst: Vec<Gap>,
    /// Places at which samples are missing, in order, at most 1000.
    pub losses: Vec<Loss>,
    /// Median of the spacings in ns, if bursts were judged by it.
    pub nominal_ns: Option<i64>,
    /// Bursts.
    pub bursts: BurstCounts,
    /// Frames whose stamp is earlier than that of the frame before in this stream.
    pub stamps_back: u64,
    /// Frames without a stamp.
    pub unstamped: u64,
    /// The coarsest power of ten, in ns, of which all its stamps are whole multiples: they may have been cut to it.
    pub stamp_step_ns: u64,
    /// Number of events that were not passed on, because there were too many.
    pub events_unlisted: u64,
    /// Conformance to a credit-based shaper, of an AVTP stream with the priority of an SR class.
    pub shaping: Option<Shaping>,
    /// The time by which each of its frames came before its interval, where the rate of the talker's port is known. Over the threshold: further than
    /// the credit of a shaper on that port allows.
    pub leads: Option<Leads>,
    /// Details of its protocol.
    pub detail: Detail,
}

/// Details of a stream's protocol beyond spacing and losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Sampled values.
    SampledValues {
        /// Samples a second, as given or as shown by the wrap of smpCnt.
        rate: Option<u32>,
        /// Largest number of ASDUs in a frame.
        asdus: usize,
        /// Lowest smpCnt.
        lowest: u16,
        /// Highest smpCnt.
        highest: u16,
        /// Number of places at which at least one sample was missing.
        gaps: u64,
        /// Jumps of smpCnt that the time does not explain.
        restarts: u64,
        /// Samples with a smpCnt beyond the rate.
        out_of_range: u64,
        /// Samples that came so late that they had already been counted, as lost or as received.
        too_late: u64,
    },
    /// GOOSE.
    Goose {
        /// Counts of its messages.
        counts: GooseCounts,
        /// Number of places at which sqNum shows at least one missing message.
        gaps: u64,
    },
    /// AVTP and test frames.
    Counted {
        /// Number of places at which at least one frame was missing.
        gaps: u64,
        /// Number of restarts of the counter.
        restarts: u64,
        /// Frames that came so late that they had already been counted, as lost or as received.
        too_late: u64,
    },
}

impl StreamSummary {
    /// Frames a second between its first and its last frame, by the stamps.
    pub fn frames_per_second(&self) -> Option<f64> {
        let span = self.last_ns?.checked_sub(self.first_ns?)?;
        (span > 0 && self.frames > 1).then(|| (self.frames - 1) as f64 * 1e9 / span as f64)
    }
}
