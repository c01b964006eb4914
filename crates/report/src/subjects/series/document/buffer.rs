//! The buffer that a listener of an AVB stream needs, in the result document.

use crate::pacing::Buffer;
use model::SeriesView;
use serde::Serialize;

/// The buffer, with durations in ns.
#[derive(Debug, Clone, Serialize)]
pub(super) struct BufferEntry {
    at_least: u64,
    frames: u64,
    interval: u64,
    text: String,
}

impl BufferEntry {
    /// The buffer of a series; `None` if the series is not an AVB stream, or the buffer is not known.
    pub(super) fn of(series: &SeriesView) -> Option<Self> {
        let buffer = Buffer::of(series)?;
        Some(Self {
            at_least: buffer.time_ns,
            frames: buffer.frames,
            interval: buffer.interval_ns,
            text: buffer.text(),
        })
    }
}
