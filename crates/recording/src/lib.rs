//! Recordings keep every received sample with its stamps. This crate packs them, and summarises a recording.
//!
//! A [`Record`] describes one frame of one stream: the first sample's number, the count of samples, and an instant for each observation point
//! (kernel, application, …). A [`SegmentWriter`] packs many of them into one sealed segment: self-contained, with its length, its format number and a
//! checksum. A [`SegmentReader`] unpacks it, or returns its defect. A [`Survey`] takes unpacked segments one by one and keeps the figures of a report
//! for any number of samples in constant memory.
//!
//! `docs/formats/recording.md` describes the bytes. Nanoseconds are kept exactly.

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
