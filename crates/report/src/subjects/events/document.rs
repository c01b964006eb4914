//! Events during the measurement, in the result document.

use crate::document::seconds;
use crate::text::rfc3339;
use model::{Event, Rows, RunView, SeriesId};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use units::Realtime;

/// The events of a run. Entries are made one at a time while writing: a relay causes hundreds of thousands in a week.
#[derive(Debug, Clone)]
pub(super) struct Events {
    started: Realtime,
    names: BTreeMap<SeriesId, String>,
    events: Rows<Event>,
}

#[derive(Debug, Serialize)]
struct EventEntry<'a> {
    at: String,
    kind: &'static str,
    text: &'a str,
    series: Option<&'a str>,
    at_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_s: Option<f64>,
}

impl Events {
    pub(super) fn of(run: &RunView) -> Self {
        let names = run.series.iter().map(|series| (series.id, series.spec.name.clone()));
        Self {
            started: run.info.started,
            names: names.collect(),
            events: run.events.clone(),
        }
    }

    fn entry<'a>(&'a self, event: &'a Event) -> EventEntry<'a> {
        let since_ns = i64::try_from(event.at_ns).unwrap_or(i64::MAX);
        let name = event.series.and_then(|id| self.names.get(&id));
        EventEntry {
            at: rfc3339(Realtime::from_ns(self.started.as_ns().saturating_add(since_ns))),
            kind: event.kind.word(),
            text: &event.text,
            series: name.map(String::as_str),
            at_s: seconds(event.at_ns),
            since_s: event.since_ns.map(seconds),
        }
    }
}

impl Serialize for Events {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.events.iter().map(|event| self.entry(event)))
    }
}
