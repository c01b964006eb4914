//! The shapers of AVTP streams in a capture: series of the run, where the rate of the talkers' port is known.

use super::lans::OfCapture;
use analysis::{Leads, StreamSummary, Summary};
use model::{Event, EventKind, SeriesClock, SeriesSpec, kind, setting};
use store::{Batch, RunWriter, StoreError};

/// Writes a series for each judged stream, over the time from its first frame to its last.
pub(super) fn write(summary: &Summary, capture: &OfCapture<'_>, writer: &mut RunWriter) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    let first_ns = summary.first_ns.unwrap_or(0);
    for stream in &summary.streams {
        let Some(leads) = &stream.leads else { continue };
        let series = writer.add_series(&spec(stream, leads, capture))?;
        let at = |stamp: Option<i64>| stamp.map_or(0, |ns| ns.saturating_sub(first_ns).unsigned_abs());
        let (start_ns, end_ns) = (at(stream.first_ns), at(stream.last_ns));
        let window = leads.tally.window(series, start_ns, end_ns.max(start_ns + 1));
        batch.windows.push(window);
        if leads.is_doubtful {
            let text = format!(
                "{}: stamps are missing or go back, so frames before their interval may be unseen",
                stream.label
            );
            batch.events.push(Event {
                at_ns: end_ns,
                since_ns: None,
                kind: EventKind::StreamDoubt,
                series: Some(series),
                text,
            });
        }
    }
    writer.write(&batch)
}

fn spec(stream: &StreamSummary, leads: &Leads, capture: &OfCapture<'_>) -> SeriesSpec {
    let what = "time by which a frame of an SR class came before its class measurement interval";
    let step_ns = stream.stamp_step_ns.max(capture.stamps.unit_ns);
    let mut settings = vec![
        ("capture".to_owned(), capture.name.to_owned()),
        (setting::STAMP_STEP_NS.to_owned(), step_ns.to_string()),
    ];
    if let Some(made_by) = &capture.stamps.made_by {
        settings.push((setting::STAMPED_BY.to_owned(), made_by.clone()));
    }
    SeriesSpec {
        clock: SeriesClock::Realtime,
        threshold_ns: Some(leads.most_ns),
        settings,
        ..SeriesSpec::of(&kind::CREDIT, &stream.label, what)
    }
}
