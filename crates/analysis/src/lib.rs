//! The streams of a capture, frame by frame, in bounded memory: sampled values, GOOSE, AVTP and the test frames of this
//! program.
//!
//! Give every frame to [`Analysis::frame`], in the order of the file. For each stream it keeps the time between consecutive
//! frames (by the stamps of the capture), the worst gaps with their frame numbers, the frames that were lost, repeated or late by its counter, and
//! bursts; the copies of a redundant network (PRP, HSR) are discarded and accounted for per LAN; for GOOSE also states, and silence beyond timeAllowedtoLive. Windows of capture time and events go to a [`Sink`] at once; the totals are
//! in the [`Summary`] at the end.
//!
//! Memory: two histograms (about 210 KiB each) and bounded lists for every stream, and at most [`Config::max_streams`]
//! streams. Frames of further streams are counted.
#![forbid(unsafe_code)]

mod analysis;
mod arrival;
mod avtp;
mod bursts;
mod gaps;
mod goose;
mod lans;
mod losses;
mod numbered;
mod resolution;
mod shaping;
mod sink;
mod spacing;
mod stream;
mod summary;
mod sv;
mod table;

pub use analysis::{Analysis, Config};
pub use bursts::BurstCounts;
pub use gaps::Gap;
pub use goose::GooseCounts;
pub use lans::{LanSummary, RedundancySummary, RedundantSource, Unproven};
pub use losses::Loss;
pub use shaping::{Credit, Leads, Shaping, SrClass};
pub use sink::{Event, EventKind, Sink, Window};
pub use summary::{Detail, FirstMalformed, RoutedCounts, StreamSummary, Summary};

#[cfg(test)]
mod tests;
