//! A recording of every sample, prepared for output.

pub(crate) mod chart;

mod document;
mod page;
mod text;
use crate::Report;
use crate::section::{Fields, Section};
use crate::terminal::Paint;
use crate::text::{count, ns_or_dash, plural, rfc3339};
use ::recording::{LatencySurvey, Survey};
use model::Figures;
use std::io;
use units::{Realtime, SignedNs};

/// The section of the report.
pub(crate) struct RecordingSection;

impl Section for RecordingSection {
    fn text(&self, report: &Report, paint: &Paint) -> String {
        text::recording(report, paint)
    }

    fn html(&self, report: &Report) -> askama::Result<String> {
        page::html(report)
    }

    fn json(&self, report: &Report, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.some("recording", report.recording.as_ref().map(document::RecordingEntry::of))
    }
}

/// Maximum number of streams listed; the JSON document contains all of them.
const STREAMS_LISTED: usize = 32;

/// Headings of the table of paths: latency over all streams.
pub(crate) const WAY_HEADS: [&str; 10] = [
    "way", "samples", "min", "mean", "p50", "p99", "p99.9", "p99.99", "p99.999", "max",
];

/// Headings of the table of streams. In a recording of hops, samples without a record are not called lost: the hops
/// count losses.
pub(crate) fn stream_heads(survey: &Survey) -> [&'static str; 12] {
    [
        "stream",
        "received",
        if survey.is_of_hops() { "no record" } else { "lost" },
        "double",
        "late",
        "restarts",
        "p50",
        "p99.9",
        "max",
        "pacing min",
        "mean",
        "max",
    ]
}

/// Headings of the table of worst samples.
pub(crate) const WORST_HEADS: [&str; 5] = ["latency", "stream", "sample", "smpCnt", "at"];

/// Sentences on its contents and gaps.
pub(crate) fn sentences(survey: &Survey) -> Vec<String> {
    let (first_ns, last_ns) = survey.span_ns;
    let mut said = vec![format!(
        "{} samples of {} stream(s) in {}, at: {}; {}",
        count(survey.received()),
        count(survey.streams.len() as u64),
        SignedNs(last_ns.saturating_sub(first_ns)),
        survey.points.join(", "),
        missing(survey),
    )];
    if survey.unreadable > 0 {
        said.push(format!(
            "{} of {} segments cannot be read; their samples are shown as missing: {}",
            survey.unreadable,
            survey.unreadable + survey.segments + survey.foreign,
            survey.reasons.join("; ")
        ));
    }
    if survey.foreign > 0 {
        said.push(format!("{} segments of other points are not shown", survey.foreign));
    }
    let negative: u64 = (0..survey.latencies.len())
        .map(|way| survey.histogram(way).negative())
        .sum();
    if negative > 0 {
        said.push(format!(
            "{} latencies are below zero: the clocks of the points do not agree",
            count(negative)
        ));
    }
    said
}

/// Frames without a record. A frame has none if no later point timed it, whether it was lost or not measured, and also
/// if it never reached the first point. Only the hops count which of these happened.
fn missing(survey: &Survey) -> String {
    let lost = survey.lost();
    match (survey.is_of_hops(), survey.points.first()) {
        (true, Some(first)) if lost > 0 => format!(
            "{} without a record: they never came to {first}, or were lost or not measured after it; the hops count \
             those",
            plural(lost, "sample")
        ),
        (true, _) => "none without a record".to_owned(),
        (false, _) => format!("{} lost", count(lost)),
    }
}

/// Text such as `kernel -> application`.
pub(crate) fn way_name(survey: &Survey, way: &LatencySurvey) -> String {
    format!("{} -> {}", survey.points[way.from], survey.points[way.to])
}

/// One row for each path, over all streams.
pub(crate) fn way_rows(survey: &Survey) -> Vec<Vec<String>> {
    let row = |(index, way): (usize, &LatencySurvey)| {
        let histogram = survey.histogram(index);
        let mut cells = vec![way_name(survey, way), count(histogram.count())];
        cells.extend(all_figures(&histogram.figures()));
        cells
    };
    survey.latencies.iter().enumerate().map(row).collect()
}

fn all_figures(figures: &Figures) -> [String; 8] {
    let signed = |ns: Option<i64>| ns_or_dash(ns.map(|ns| ns as f64));
    let whole = |ns: Option<u64>| ns_or_dash(ns.map(|ns| ns as f64));
    [
        signed(figures.min),
        ns_or_dash(figures.mean),
        whole(figures.p50),
        whole(figures.p99),
        whole(figures.p999),
        whole(figures.p9999),
        whole(figures.p99999),
        signed(figures.max),
    ]
}

/// One row for each stream: first streams that lost samples, then those with the largest latency. Latency is that of
/// the longest path, pacing that at the first point. Also returns the number of streams without a row.
pub(crate) fn stream_rows(survey: &Survey) -> (Vec<Vec<String>>, usize) {
    let mut streams: Vec<_> = survey.streams.iter().collect();
    let largest =
        |stream: &::recording::StreamSurvey| stream.latencies.last().and_then(|latency| latency.figures().max);
    streams.sort_by_key(|stream| std::cmp::Reverse((stream.counts.lost, largest(stream))));
    let row = |stream: &::recording::StreamSurvey| {
        let counts = &stream.counts;
        let latency = stream
            .latencies
            .last()
            .map(|latency| latency.figures())
            .unwrap_or_default();
        let pacing = stream
            .pacing
            .first()
            .map(|pacing| pacing.spacing.figures())
            .unwrap_or_default();
        let numbers = [
            counts.received,
            counts.lost,
            counts.duplicate,
            counts.reordered + counts.too_late,
            counts.restarts,
        ];
        let times = [
            latency.p50.map(|ns| ns as f64),
            latency.p999.map(|ns| ns as f64),
            latency.max.map(|ns| ns as f64),
            pacing.min.map(|ns| ns as f64),
            pacing.mean,
            pacing.max.map(|ns| ns as f64),
        ];
        let mut cells = vec![stream.info.name.clone()];
        cells.extend(numbers.map(count));
        cells.extend(times.map(ns_or_dash));
        cells
    };
    let rows = streams.iter().take(STREAMS_LISTED).map(|stream| row(stream)).collect();
    (rows, streams.len().saturating_sub(STREAMS_LISTED))
}

/// The worst samples of a path.
pub(crate) fn worst_rows(survey: &Survey, way: &LatencySurvey, most: usize) -> Vec<Vec<String>> {
    let row = |worst: &recording::Worst| {
        let info = survey.streams.get(worst.stream).map(|stream| &stream.info);
        let smp_cnt = info.and_then(|info| info.smp_cnt(worst.number));
        vec![
            SignedNs(worst.value_ns).to_string(),
            info.map(|info| info.name.clone()).unwrap_or_default(),
            worst.number.to_string(),
            smp_cnt.map_or_else(|| "–".to_owned(), |count| count.to_string()),
            rfc3339(Realtime::from_ns(worst.at_ns)),
        ]
    };
    way.worst().into_iter().take(most).map(row).collect()
}
