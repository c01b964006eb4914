//! The buffer that a listener of an AVB stream needs, in the result document.

use crate::pacing::Buffer;
use model::SeriesView;
use serde::Serialize;

/// Durations in ns.
#[derive(Debug, Clone, Serialize)]
pub(super) struct BufferEntry {
    at_least: u64,
    frames: u64,
    interval: u64,
    text: String,
}

impl BufferEntry {
    /// Of a series; `None` where it is not of an AVB stream, or not known.
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
