//! The event list of the page, grouped by kind.

use crate::html::charts::is_trouble;
use crate::text::count;
use model::{Event, EventKind, RunView, SeriesId};
use units::format_ns;

/// Events of one kind that the page lists one by one; the others are in the run file.
const LISTED_OF_A_KIND: usize = 100;

pub(crate) struct EventsPart {
    pub(crate) kinds: Vec<KindRow>,
    pub(crate) rows: Vec<EventRow>,
    /// How many are not listed.
    pub(crate) left_out: usize,
}

/// All events of one kind.
pub(crate) struct KindRow {
    pub(crate) kind: &'static str,
    pub(crate) trouble: bool,
    pub(crate) many: String,
    /// When the first was, and the last.
    pub(crate) at: String,
    /// Text of the first one.
    pub(crate) text: String,
}

pub(crate) struct EventRow {
    pub(crate) at: String,
    pub(crate) kind: &'static str,
    pub(crate) series: String,
    pub(crate) text: String,
    pub(crate) trouble: bool,
}

impl EventsPart {
    pub(super) fn of(run: &RunView) -> Self {
        let mut kinds: Vec<(EventKind, Vec<&Event>)> = Vec::new();
        for event in &run.events {
            match kinds.iter_mut().find(|(kind, _)| *kind == event.kind) {
                Some((_, events)) => events.push(event),
                None => kinds.push((event.kind, vec![event])),
            }
        }
        kinds.sort_by_key(|(kind, _)| !is_trouble(*kind));
        let mut listed: Vec<&Event> = kinds
            .iter()
            .flat_map(|(_, events)| events.iter().take(LISTED_OF_A_KIND).copied())
            .collect();
        listed.sort_by_key(|event| event.at_ns);
        Self {
            left_out: run.events.len() - listed.len(),
            kinds: kinds
                .iter()
                .filter_map(|(kind, events)| kind_row(*kind, events))
                .collect(),
            rows: listed.into_iter().map(|event| row(run, event)).collect(),
        }
    }
}

fn kind_row(kind: EventKind, events: &[&Event]) -> Option<KindRow> {
    let (first, last) = (events.first()?, events.last()?);
    let at = |event: &Event| format_ns(event.at_ns as f64);
    Some(KindRow {
        kind: kind.word(),
        trouble: is_trouble(kind),
        many: count(events.len() as u64),
        at: match events.len() {
            1 => at(first),
            _ => format!("{} to {}", at(first), at(last)),
        },
        text: first.text.clone(),
    })
}

fn row(run: &RunView, event: &Event) -> EventRow {
    let name = |id: SeriesId| {
        let series = run.series.iter().find(|series| series.id == id);
        series.map(|series| series.spec.name.clone())
    };
    EventRow {
        at: format_ns(event.at_ns as f64),
        kind: event.kind.word(),
        series: event.series.and_then(name).unwrap_or_else(|| "all".to_owned()),
        text: event.text.clone(),
        trouble: is_trouble(event.kind),
    }
}

#[cfg(test)]
mod tests {
    use super::{EventsPart, LISTED_OF_A_KIND};
    use model::{Event, EventKind};
    use testing::synthetic;

    #[test]
    fn kinds_are_counted_whole_and_listed_as_far_as_there_is_room() {
        let mut run = synthetic::run(Vec::new());
        let event = |at_ns: u64, kind: EventKind| Event {
            at_ns,
            since_ns: None,
            kind,
            series: None,
            text: format!("at {at_ns}"),
        };
        run.events = (0..150).map(|at| event(at, EventKind::Relay)).collect();
        run.events.push(event(200, EventKind::Steal));
        let part = EventsPart::of(&run);
        let kinds: Vec<(&str, &str, &str)> = part
            .kinds
            .iter()
            .map(|row| (row.kind, row.many.as_str(), row.at.as_str()))
            .collect();
        assert_eq!(kinds, [("steal", "1", "200 ns"), ("relay", "150", "0 ns to 149 ns")]);
        assert_eq!((part.rows.len(), part.left_out), (LISTED_OF_A_KIND + 1, 50));
        assert_eq!(part.rows.last().map(|row| row.kind), Some("steal"));
    }
}
