//! Survey of one stream of a recording.

use super::histogram::LogHistogram;
use super::sequence::{Counts, Seen};
use crate::block::Block;
use crate::stream::StreamInfo;

/// Time between frames at one point.
#[derive(Debug, Clone, Default)]
pub struct PacingSurvey {
    /// The times in ns. Below 0 if the point's clock went back.
    pub spacing: LogHistogram,
    last_ns: Option<i64>,
}

/// One stream.
#[derive(Debug, Clone)]
pub struct StreamSurvey {
    /// Identity of the stream.
    pub info: StreamInfo,
    /// Counts of its samples.
    pub counts: Counts,
    /// Its latency on each way of the survey.
    pub latencies: Vec<LogHistogram>,
    /// Its pacing at each point.
    pub pacing: Vec<PacingSurvey>,
    seen: Seen,
}

impl StreamSurvey {
    pub(super) fn new(info: StreamInfo, points: usize, ways: usize) -> Self {
        Self {
            info,
            counts: Counts::default(),
            latencies: vec![LogHistogram::default(); ways],
            pacing: vec![PacingSurvey::default(); points],
            seen: Seen::default(),
        }
    }

    /// Takes the numbers of a record; returns how many of them came for the first time.
    #[inline]
    pub(super) fn number(&mut self, first: u64, samples: u16, is_restart: bool) -> u16 {
        let mut fresh = 0;
        for offset in 0..u64::from(samples) {
            let number = first.wrapping_add(offset);
            fresh += u16::from(self.seen.take(number, is_restart && offset == 0, &mut self.counts));
        }
        fresh
    }

    #[inline]
    pub(super) fn pace(&mut self, point: usize, stamp: i64) {
        if stamp == Block::NO_STAMP {
            return;
        }
        let pacing = &mut self.pacing[point];
        if let Some(last_ns) = pacing.last_ns {
            pacing.spacing.record_n(stamp.saturating_sub(last_ns), 1);
        }
        pacing.last_ns = Some(stamp);
    }
}
