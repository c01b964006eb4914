//! Recordings keep every received sample with its stamps. This crate packs them, and says what a recording holds.
//!
//! A [`Record`] is what came in one frame of one stream: the first sample's number, how many samples, and an instant for each
//! observation point (kernel, application, …). A [`SegmentWriter`] packs many of them into one sealed segment: self-contained, with its
//! length, its format number and a checksum. A [`SegmentReader`] unpacks it, or says what is wrong with it. A [`Survey`]
//! takes unpacked segments one by one and holds what a report shows of any number of samples in constant memory.
//!
//! The octets are described in `docs/formats/recording.md`. Nanoseconds are kept exactly.

#![forbid(unsafe_code)]

mod block;
mod bytes;
mod column;
mod error;
mod numbering;
mod predict;
mod reader;
mod stream;
mod survey;
#[cfg(test)]
mod tests;
mod writer;

pub use block::{Block, Instants, MAX_POINTS, MAX_RECORDS, MAX_SAMPLES, Record, flag, instants};
pub use error::SegmentError;
pub use numbering::{NumberedStream, Numbering};
pub use reader::{Segment, SegmentReader};
pub use stream::{MAX_STREAMS, StreamInfo};
pub use survey::{
    BAND_PIXELS, Band, Counts, LatencySurvey, LogHistogram, PacingSurvey, StreamSurvey, Survey, WORST_LISTED, Worst,
};
pub use writer::{FORMAT, SegmentWriter};
