//! Events during the measurement, for a terminal.

use crate::Report;
use crate::terminal::{Align, Paint, TextTable, section};
use crate::text::plural;
use model::EventKind;
use units::Ns;

/// Maximum number of events listed.
const EVENTS_LISTED: usize = 20;

/// One line for each event, in order.
pub(super) fn events(report: &Report, paint: &Paint) -> String {
    let mut table = TextTable::new(&[("at", Align::Right), ("event", Align::Left), ("", Align::Left)]);
    let shown = |kind: EventKind| !matches!(kind, EventKind::StepStarted | EventKind::StepStopped);
    let mut all: Vec<_> = report.run.events.iter().filter(|event| shown(event.kind)).collect();
    // An event that affects several series is listed once.
    all.dedup_by(|next, one| (next.kind, &next.text) == (one.kind, &one.text) && next.series != one.series);
    for event in all.iter().take(EVENTS_LISTED) {
        table.row(vec![
            Ns(event.at_ns).to_string(),
            event.kind.word().to_owned(),
            event.text.clone(),
        ]);
    }
    if all.len() > EVENTS_LISTED {
        table.note(&format!(
            "and {} more",
            plural((all.len() - EVENTS_LISTED) as u64, "event")
        ));
    }
    section(paint, "Events", &table)
}
