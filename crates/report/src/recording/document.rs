//! The recording of every sample, in the result document.

use crate::text::rfc3339;
use ::recording::{LogHistogram, StreamSurvey, Survey};
use model::Figures;
use serde::Serialize;
use units::Realtime;

#[derive(Debug, Clone, Serialize)]
pub(super) struct RecordingEntry {
    points: Vec<String>,
    first: String,
    last: String,
    segments: u64,
    unreadable: u64,
    reasons: Vec<String>,
    received: u64,
    lost: u64,
    latencies: Vec<WayEntry>,
    streams: Vec<StreamEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct WayEntry {
    from: String,
    to: String,
    figures: HistogramEntry,
    histogram: Vec<(u64, u64, u64)>,
    worst: Vec<WorstEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct WorstEntry {
    value: i64,
    stream: String,
    sample: u64,
    #[serde(rename = "smpCnt")]
    smp_cnt: Option<u64>,
    at: String,
}

#[derive(Debug, Clone, Serialize)]
struct StreamEntry {
    name: String,
    rate: Option<u32>,
    received: u64,
    lost: u64,
    gaps: u64,
    longest_gap: u64,
    duplicate: u64,
    reordered: u64,
    too_late: u64,
    restarts: u64,
    out_of_range: u64,
    latencies: Vec<HistogramEntry>,
    pacing: Vec<HistogramEntry>,
}

/// The figures of a histogram.
#[derive(Debug, Clone, Serialize)]
struct HistogramEntry {
    count: u64,
    negative: u64,
    #[serde(flatten)]
    figures: Figures,
}

impl From<&LogHistogram> for HistogramEntry {
    fn from(histogram: &LogHistogram) -> Self {
        Self {
            count: histogram.count(),
            negative: histogram.negative(),
            figures: histogram.figures(),
        }
    }
}

impl RecordingEntry {
    pub(super) fn of(survey: &Survey) -> Self {
        let (first_ns, last_ns) = survey.span_ns;
        let ways = survey.latencies.iter().enumerate();
        Self {
            points: survey.points.clone(),
            first: rfc3339(Realtime::from_ns(first_ns)),
            last: rfc3339(Realtime::from_ns(last_ns)),
            segments: survey.segments,
            unreadable: survey.unreadable,
            reasons: survey.reasons.clone(),
            received: survey.received(),
            lost: survey.lost(),
            latencies: ways.map(|(index, _)| way(survey, index)).collect(),
            streams: survey.streams.iter().map(stream).collect(),
        }
    }
}

fn way(survey: &Survey, index: usize) -> WayEntry {
    let way = &survey.latencies[index];
    let histogram = survey.histogram(index);
    let worst = |worst: &recording::Worst| {
        let info = survey.streams.get(worst.stream).map(|stream| &stream.info);
        WorstEntry {
            value: worst.value_ns,
            stream: info.map(|info| info.name.clone()).unwrap_or_default(),
            sample: worst.number,
            smp_cnt: info.and_then(|info| info.smp_cnt(worst.number)),
            at: rfc3339(Realtime::from_ns(worst.at_ns)),
        }
    };
    WayEntry {
        from: survey.points[way.from].clone(),
        to: survey.points[way.to].clone(),
        figures: (&histogram).into(),
        histogram: histogram.buckets().collect(),
        worst: way.worst().into_iter().map(worst).collect(),
    }
}

fn stream(stream: &StreamSurvey) -> StreamEntry {
    let counts = stream.counts;
    StreamEntry {
        name: stream.info.name.clone(),
        rate: stream.info.rate,
        received: counts.received,
        lost: counts.lost,
        gaps: counts.gaps,
        longest_gap: counts.longest_gap,
        duplicate: counts.duplicate,
        reordered: counts.reordered,
        too_late: counts.too_late,
        restarts: counts.restarts,
        out_of_range: counts.out_of_range,
        latencies: stream.latencies.iter().map(HistogramEntry::from).collect(),
        pacing: stream.pacing.iter().map(|pacing| (&pacing.spacing).into()).collect(),
    }
}
