//! The event list of the page, grouped by kind.

use crate::Report;
use crate::html::charts::is_trouble;
use crate::text::count;
use askama::Template;
use model::{Event, EventKind, RunView, SeriesId};
use units::Ns;

/// Number of events of each kind that the page lists individually; the others are in the run file.
const LISTED_OF_A_KIND: usize = 100;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"<section id="events">
  <h2>Events</h2>
  {% if kinds.is_empty() %}<p class="dim">None recorded.</p>{% else %}
  <table class="figures events"><thead><tr><th>Event</th><th class="n">Times</th><th class="n">At</th><th>The first</th></tr></thead>
  <tbody>{% for row in kinds %}<tr><td><span class="kind{% if row.trouble %} trouble{% endif %}">{{ row.kind }}</span></td><td class="n">{{ row.many }}</td><td class="n">{{ row.at }}</td><td>{{ row.text }}</td></tr>{% endfor %}</tbody></table>
  <details class="counters"><summary>One by one{% if left_out > 0 %}, without {{ left_out }} more in the run file (the first hundred of each kind are listed){% endif %}</summary>
  <table class="figures"><thead><tr><th class="n">At</th><th>Event</th><th>Series</th><th>What</th></tr></thead>
  <tbody>{% for event in rows %}<tr><td class="n">{{ event.at }}</td><td><span class="kind{% if event.trouble %} trouble{% endif %}">{{ event.kind }}</span></td><td>{{ event.series }}</td><td>{{ event.text }}</td></tr>{% endfor %}</tbody></table></details>{% endif %}
</section>"##
)]
struct EventsPart {
    kinds: Vec<KindRow>,
    rows: Vec<EventRow>,
    /// Number of events that are not listed.
    left_out: usize,
}

/// All events of one kind.
struct KindRow {
    kind: &'static str,
    trouble: bool,
    many: String,
    /// Time of the first and of the last event.
    at: String,
    /// Text of the first event.
    text: String,
}

struct EventRow {
    at: String,
    kind: &'static str,
    series: String,
    text: String,
    trouble: bool,
}

/// The section of the page.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    EventsPart::of(&report.run).render()
}

impl EventsPart {
    fn of(run: &RunView) -> Self {
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
    let at = |event: &Event| Ns(event.at_ns).to_string();
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
        at: Ns(event.at_ns).to_string(),
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
