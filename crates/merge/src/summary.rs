//! The result of merging, and the events that report it.

use super::pairing::{Found, MOST_RUNS, Records};
use super::tally::Tally;
use super::ways::{Way, WayKind};
use super::{Merge, MergeError, own};
use model::{Doubtful, Event, EventKind, SeriesId};
use store::{Batch, RunWriter};
use units::Ns;

/// Counts of frames between two consecutive runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Crossing {
    /// Frames that were found in both runs.
    pub paired: u64,
    /// Records that match two frames, and were not paired.
    pub doubtful: u64,
    /// Frames of the later run that are missing in the earlier one, which was recording.
    pub strange: u64,
}

/// A series between two runs.
#[derive(Debug, Clone)]
pub(super) struct Between {
    series: SeriesId,
    from: usize,
    to: usize,
    stream: u16,
    is_crossing: bool,
    found: Crossing,
}

impl Between {
    pub(super) fn new(series: SeriesId, way: Way, stream: u16) -> Self {
        Self {
            series,
            from: way.from_run,
            to: way.to_run,
            stream,
            is_crossing: way.kind == WayKind::Crossing,
            found: Crossing::default(),
        }
    }

    fn is_between(&self, run: usize) -> bool {
        self.from <= run && run <= self.to
    }
}

/// The result of merging.
#[derive(Debug, Clone)]
pub struct Merged {
    /// Frames in the merged recording: each once, with the stamps of every run that has it.
    pub frames: u64,
    /// Frames that every run has.
    pub whole: u64,
    /// Frames whose time in a run is before that in the previous run by more than the clocks may differ.
    pub contradicted: u64,
    /// Counts from each run to the next.
    pub crossings: Vec<Crossing>,
    /// Uncertainty of a difference of two runs' stamps, in ns; `None` if no relation was stated.
    pub apart_ns: Option<u64>,
    pub(super) relation: String,
    pub(super) earliest_ns: i64,
    pub(super) points: Vec<String>,
    pub(super) between: Vec<Between>,
    runs: usize,
}

impl Merged {
    pub(super) fn new(merge: &Merge, points: &[String]) -> Self {
        let mut of_stamps: Vec<u64> = merge.sources.iter().map(|source| source.uncertainty_ns).collect();
        of_stamps.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
        let stamps_ns: u64 = of_stamps.iter().take(2).sum();
        let relation = match (merge.relation.apart_ns(), stamps_ns) {
            (None, _) | (_, 0) => merge.relation.text(),
            _ => format!(
                "{}; the stamps have an uncertainty of {}",
                merge.relation.text(),
                Ns(stamps_ns)
            ),
        };
        Self {
            frames: 0,
            whole: 0,
            contradicted: 0,
            crossings: vec![Crossing::default(); merge.sources.len() - 1],
            apart_ns: merge.relation.apart_ns().map(|ns| ns.saturating_add(stamps_ns)),
            relation,
            earliest_ns: 0,
            points: points.to_vec(),
            between: Vec::new(),
            runs: merge.sources.len(),
        }
    }

    pub(super) fn take<T>(&mut self, found: Found, records: &Records<'_, T>) {
        self.frames += u64::from(found == Found::Whole);
        let whole = found == Found::Whole && records[..self.runs.min(MOST_RUNS)].iter().all(Option::is_some);
        self.whole += u64::from(whole);
    }

    /// Adds the result of a series.
    pub(super) fn note_tally(&mut self, tally: &Tally) {
        let Some(between) = self.between.iter_mut().find(|between| between.series == tally.series) else {
            return;
        };
        between.found = Crossing {
            paired: tally.paired,
            doubtful: tally.doubtful,
            strange: tally.strange,
        };
        if between.is_crossing {
            let sum = &mut self.crossings[between.from];
            sum.paired += tally.paired;
            sum.doubtful += tally.doubtful;
            sum.strange += tally.strange;
        }
    }
}

/// Writes the notes of the merge.
pub(super) fn say(merge: &Merge, merged: &Merged, run: &mut RunWriter) -> Result<(), MergeError> {
    let labels: Vec<&str> = merge.sources.iter().map(|source| source.label.as_str()).collect();
    let contradiction = (merged.contradicted > 0).then(|| {
        format!(
            "the stamps contradict the stated relation of the clocks: {} frames reached a run up to {} before the \
             previous run handed them over",
            merged.contradicted,
            Ns(merged.earliest_ns.unsigned_abs())
        )
    });
    let mut events = own::clock_words(merge, contradiction)?;
    let mut say = |kind: EventKind, series: Option<SeriesId>, text: String| {
        events.push(Event {
            at_ns: 0,
            since_ns: None,
            kind,
            series,
            text,
        });
    };
    let text = format!(
        "merged {}: {} frames, {} of them in every run; clocks: {}",
        labels.join(", "),
        merged.frames,
        merged.whole,
        merged.relation
    );
    say(EventKind::Note, None, text);
    if merged.apart_ns.is_none() {
        let text = "the relation of the clocks was not stated (--clock): there are no durations between the runs; to \
                    find the same frame, their wall clocks were assumed to agree within half a second";
        say(EventKind::Note, None, text.to_owned());
    }
    for between in &merged.between {
        missing(merge, between, &mut |kind, text| say(kind, Some(between.series), text));
    }
    for index in 0..merge.sources.len() {
        for (at_ns, text) in own::blind(merge, index)? {
            let of_run = merged.between.iter().filter(|between| between.is_between(index));
            events.extend(of_run.map(|between| Event {
                at_ns,
                since_ns: None,
                kind: EventKind::Incomplete,
                series: Some(between.series),
                text: text.clone(),
            }));
        }
    }
    events.extend(of_streams(merge, merged)?);
    events.extend(of_publishers(merge, merged)?);
    Ok(run.write(&Batch {
        events,
        ..Batch::default()
    })?)
}

/// Events of a series that is not copied (`spacing/MU01`) also put that stream's frames in doubt between the runs; those of an unknown stream put the
/// frames of all streams in doubt.
fn of_streams(merge: &Merge, merged: &Merged) -> Result<Vec<Event>, MergeError> {
    let mut events = Vec::new();
    for (index, source) in merge.sources.iter().enumerate() {
        let names = source.run.series()?;
        for event in source.run.events()? {
            let Some(id) = event.series.filter(|_| matters(event.kind)) else {
                continue;
            };
            let name = names.iter().find(|(known, _)| *known == id);
            let stream = name.and_then(|(_, spec)| own::stream_of(merge, index, &spec.name));
            let touched = merged.between.iter().filter(|between| {
                let is_its = stream.is_none_or(|stream| stream == between.stream);
                is_its && between.is_between(index)
            });
            events.extend(touched.map(|between| {
                Event {
                    at_ns: merge
                        .since_start(index, source.info().started.as_ns())
                        .saturating_add(event.at_ns),
                    since_ns: None,
                    kind: event.kind,
                    series: Some(between.series),
                    text: format!("{}: {}", source.label, event.text),
                }
            }));
        }
    }
    Ok(events)
}

/// Words of a publisher about its own clock (smpSynch) in one of the runs: a doubt about the stream's ways between the runs, for as long as it
/// said so. Each is a span, so that the word of another run cannot end it.
fn of_publishers(merge: &Merge, merged: &Merged) -> Result<Vec<Event>, MergeError> {
    let mut events: Vec<Event> = Vec::new();
    for (index, source) in merge.sources.iter().enumerate() {
        let start_ns = merge.since_start(index, source.info().started.as_ns());
        let told = source.run.events()?;
        for (id, spec) in source.run.series()? {
            let Some(stream) = own::stream_of(merge, index, &spec.name) else {
                continue;
            };
            let spans = Doubtful::by_words(told.iter().filter(|event| event.series == Some(id)));
            for span in spans {
                let to_ns = span.to_ns.unwrap_or(source.run.duration_ns());
                let touched = merged.between.iter();
                let touched = touched.filter(|between| between.stream == stream && between.is_between(index));
                for between in touched {
                    let event = Event {
                        at_ns: start_ns.saturating_add(to_ns),
                        since_ns: Some(start_ns.saturating_add(span.from_ns)),
                        kind: EventKind::ClockDoubt,
                        series: Some(between.series),
                        text: format!("{}: {}", source.label, span.why),
                    };
                    // Several series of a stream may say the same.
                    if !events.contains(&event) {
                        events.push(event);
                    }
                }
            }
        }
    }
    Ok(events)
}

/// True if an event of a stream in one run puts its frames in doubt between the runs.
fn matters(kind: EventKind) -> bool {
    matches!(kind, EventKind::Incomplete | EventKind::StreamDoubt)
}

/// Reports samples of a series between runs that may be lost.
fn missing(merge: &Merge, between: &Between, say: &mut dyn FnMut(EventKind, String)) {
    let name = &merge.streams.known[usize::from(between.stream)].name;
    let label = |run: usize| merge.sources[run].label.as_str();
    let Crossing {
        paired,
        doubtful,
        strange,
    } = between.found;
    if doubtful > 0 {
        let text = format!(
            "{name}: {doubtful} records fit either of two frames (came twice, or close to a restart or a step of a \
             clock): they are not paired"
        );
        say(EventKind::Incomplete, text);
    }
    if strange > 0 {
        let (to, from) = (label(between.to), label(between.from));
        let text = format!("{name}: {strange} frames in {to} are not in {from}, which was recording then");
        // A stream without any pair takes another path, so its frames are not missing.
        let kind = match paired > 0 {
            true => EventKind::Incomplete,
            false => EventKind::Note,
        };
        say(kind, text);
    }
    for run in [between.from, between.to] {
        for alike in merge.streams.hiding(run, between.stream) {
            say(EventKind::Incomplete, alike.text.clone());
        }
    }
}
