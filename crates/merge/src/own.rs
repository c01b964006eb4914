//! Data that is copied from each run: its hop counts, its inventory, and its events.

use super::clocks::{Relation, words};
use super::{Merge, MergeError};
use model::{Event, EventKind, Fact, RunState, SeriesId, SeriesSpec, hop::HopName};
use std::collections::HashMap;
use store::{Batch, RunWriter};

/// Inventory group for the facts of merging.
pub(super) const GROUP: &str = "merge";

/// Series copied from the runs.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// New series by run and old number.
    series: HashMap<(usize, SeriesId), SeriesId>,
    /// Losses between the first two points, by run and stream: there is no record of these frames.
    pub(super) lost_first: HashMap<(usize, u16), Vec<Lost>>,
}

/// Frames that were lost in a window of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lost {
    /// Start of the window, in ns since the merged run's start.
    pub(super) from_ns: u64,
    /// Its end.
    pub(super) to_ns: u64,
    /// Number of frames.
    pub(super) frames: u64,
}

impl Own {
    /// True if a run has its own hops.
    pub(super) fn has(&self, run: usize) -> bool {
        self.series.keys().any(|(of, _)| *of == run)
    }
}

/// Writes the facts of merging, and every run's inventory under its name.
pub(super) fn facts(merge: &Merge, run: &mut RunWriter) -> Result<(), MergeError> {
    let fact = |name: String, value: String, source: &str| Fact {
        group: GROUP.to_owned(),
        name,
        value: Ok(value),
        source: source.to_owned(),
    };
    let mut facts = vec![fact("clocks".to_owned(), merge.relation.text(), "--clock")];
    for source in &merge.sources {
        let info = source.info();
        let text = format!(
            "{} ({}), {} samples, at {}",
            info.id,
            info.command,
            source.samples,
            source.points.join(", ")
        );
        facts.push(fact(
            format!("run {}", source.label),
            text,
            &source.run.path().display().to_string(),
        ));
    }
    let with_inventory = merge.sources.iter().filter(|_| !merge.is_between_only);
    for source in with_inventory {
        facts.extend(source.facts.iter().map(|fact| Fact {
            group: format!("{}: {}", source.label, fact.group),
            ..fact.clone()
        }));
    }
    Ok(run.add_facts(&facts)?)
}

/// Copies every run's hops.
pub(super) fn series(merge: &Merge, run: &mut RunWriter) -> Result<Own, MergeError> {
    let mut own = Own::default();
    for index in 0..merge.sources.len() {
        for (id, spec) in merge.sources[index].run.series()? {
            if let Some(hop) = hop_of(merge, index, &spec.name) {
                take_over(merge, index, (id, &spec), &hop, &mut own, run)?;
            }
        }
    }
    Ok(own)
}

/// A hop of a run: its points, and the stream's name in the run.
struct Hop<'a> {
    from: usize,
    to: usize,
    stream: &'a str,
}

fn hop_of<'a>(merge: &Merge, run: usize, name: &'a str) -> Option<Hop<'a>> {
    let points = &merge.sources[run].points;
    let pairs = (0..points.len()).flat_map(|to| (0..to).map(move |from| (from, to)));
    pairs.into_iter().find_map(|(from, to)| {
        let before = HopName {
            from: &points[from],
            to: &points[to],
            stream: "",
        };
        let stream = name.strip_prefix(before.to_string().as_str())?;
        Some(Hop { from, to, stream })
    })
}

/// The index of the stream of a run's series, from the series' name: the part after the family, or after the points of a hop.
pub(super) fn stream_of(merge: &Merge, run: usize, series: &str) -> Option<u16> {
    let of_hop = hop_of(merge, run, series).map(|hop| hop.stream);
    let name = of_hop.or_else(|| series.split_once('/').map(|(_, name)| name))?;
    let known = merge.sources[run].streams.iter().find(|info| info.name == name)?;
    merge.streams.place(run, known.number)
}

fn take_over(
    merge: &Merge,
    index: usize,
    (id, spec): (SeriesId, &SeriesSpec),
    hop: &Hop<'_>,
    own: &mut Own,
    run: &mut RunWriter,
) -> Result<(), MergeError> {
    let source = &merge.sources[index];
    let known = source.streams.iter().find(|info| info.name == hop.stream);
    let place = known.and_then(|info| merge.streams.place(index, info.number));
    let stream = place.map_or(hop.stream, |place| &merge.streams.known[usize::from(place)].name);
    let rows = source.run.windows(id)?;
    let shift_ns = merge.since_start(index, source.info().started.as_ns());
    if let Some(place) = place.filter(|_| (hop.from, hop.to) == (0, 1)) {
        let lost = rows.iter().filter(|row| row.counters.lost > 0).map(|row| Lost {
            from_ns: row.start_ns.saturating_add(shift_ns),
            to_ns: row.end_ns.saturating_add(shift_ns),
            frames: row.counters.lost,
        });
        own.lost_first.insert((index, place), lost.collect());
    }
    if merge.is_between_only {
        return Ok(());
    }
    let (from, to) = (merge.point(index, hop.from), merge.point(index, hop.to));
    let name = HopName {
        from: &from,
        to: &to,
        stream,
    }
    .to_string();
    let mut settings = vec![("run".to_owned(), source.label.clone())];
    settings.extend(spec.settings.iter().cloned());
    let new = run.add_series(&SeriesSpec {
        name,
        settings,
        ..spec.clone()
    })?;
    own.series.insert((index, id), new);
    let shift_ns = i64::try_from(shift_ns).unwrap_or(i64::MAX);
    Ok(run.write(&run::copy(&source.run, id, &rows, new, shift_ns)?)?)
}

/// Copies every run's events, except those of its watch over the clock.
pub(super) fn events(merge: &Merge, own: &Own, run: &mut RunWriter) -> Result<(), MergeError> {
    let mut events = Vec::new();
    for (index, source) in merge.sources.iter().enumerate() {
        let shift_ns = merge.since_start(index, source.info().started.as_ns());
        for event in source.run.events()?.into_iter().filter(|event| !event.is_clock_word()) {
            let series = event.series.map(|id| own.series.get(&(index, id)).copied());
            let (series, kind) = match series {
                // The event belongs to a series that is not in the merged run.
                Some(None) => (None, EventKind::Note),
                Some(known) => (known, event.kind),
                None => (None, event.kind),
            };
            if merge.is_between_only && !kind.touches_samples() {
                continue;
            }
            events.push(Event {
                at_ns: event.at_ns.saturating_add(shift_ns),
                since_ns: event.since_ns.map(|ns| ns.saturating_add(shift_ns)),
                kind,
                series,
                text: format!("{}: {}", source.label, event.text),
            });
        }
        events.extend(state(merge, index));
        if !source.holes.is_empty() {
            let text = format!(
                "{}: {} segments of its recording cannot be read, and their frames are not in the merged one: {}",
                source.label,
                source.holes.len(),
                source.reasons.join("; ")
            );
            events.push(note(0, EventKind::Incomplete, text));
        }
    }
    events.sort_by_key(|event| event.at_ns);
    Ok(run.write(&Batch {
        events,
        ..Batch::default()
    })?)
}

fn state(merge: &Merge, index: usize) -> Option<Event> {
    let source = &merge.sources[index];
    (source.state() == RunState::Interrupted).then(|| {
        let start_ns = merge.since_start(index, source.info().started.as_ns());
        note(
            start_ns.saturating_add(source.run.duration_ns()),
            EventKind::Note,
            format!("{}: the run was ended early", source.label),
        )
    })
}

/// Kinds of events after which a frame of a run may be missing in its recording or not be found by its stamps, and their meaning.
const BLIND: [(EventKind, &str); 3] = [
    (
        EventKind::RecorderOverrun,
        "frames are not in its recording, and are not lost",
    ),
    (
        EventKind::SocketDrop,
        "its own socket dropped frames, which may be those that are missing",
    ),
    (EventKind::ClockStep, "frames may not be found by their stamps then"),
];

/// Reasons why frames that a run received may be missing in its recording, or may not be found in it.
pub(super) fn blind(merge: &Merge, index: usize) -> Result<Vec<(u64, String)>, MergeError> {
    let source = &merge.sources[index];
    let shift_ns = merge.since_start(index, source.info().started.as_ns());
    let mut reasons = Vec::new();
    let events = source.run.events()?;
    for (kind, meaning) in BLIND {
        let is_of_recording = |event: &&Event| kind != EventKind::RecorderOverrun || event.series.is_none();
        let mut of_kind = events.iter().filter(|event| event.kind == kind).filter(is_of_recording);
        if let Some(first) = of_kind.next() {
            let more = match of_kind.count() {
                0 => String::new(),
                n => format!(", and {n} more"),
            };
            let text = format!("{}: {}{more}: {meaning}", source.label, first.text);
            reasons.push((first.at_ns.saturating_add(shift_ns), text));
        }
    }
    Ok(reasons)
}

/// The events of the runs' watches over their clocks, combined for the merged run.
pub(super) fn clock_words(merge: &Merge, contradiction: Option<String>) -> Result<Vec<Event>, MergeError> {
    let mut of_runs = Vec::new();
    if matches!(merge.relation, Relation::Ptp(_) | Relation::Offset(..)) {
        for (index, source) in merge.sources.iter().enumerate() {
            let shift_ns = merge.since_start(index, source.info().started.as_ns());
            let events = source.run.events()?.into_iter();
            let own = events
                .filter(|event| event.series.is_none() && (event.is_clock_word() || event.kind == EventKind::ClockStep))
                .map(|event| Event {
                    at_ns: event.at_ns.saturating_add(shift_ns),
                    since_ns: event.since_ns.map(|ns| ns.saturating_add(shift_ns)),
                    ..event
                });
            of_runs.push((source.label.clone(), own.collect()));
        }
    }
    Ok(words(merge.relation, of_runs, contradiction))
}

fn note(at_ns: u64, kind: EventKind, text: String) -> Event {
    Event {
        at_ns,
        since_ns: None,
        kind,
        series: None,
        text,
    }
}
