//! What came of merging, and the events that say it.

use super::pairing::{Found, MOST_RUNS, Records};
use super::tally::Tally;
use super::{Merge, MergeError, own};
use std::collections::HashMap;
use store::model::{Event, EventKind, SeriesId};
use store::{Batch, RunWriter};
use units::format_ns;

/// Frames of one crossing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Crossing {
    /// Frames that were found in both runs.
    pub paired: u64,
    /// Records that may be of either of two frames, and were not paired.
    pub doubtful: u64,
    /// Frames of the later run that the earlier one should have recorded, and did not.
    pub strange: u64,
}

/// What came of merging.
#[derive(Debug, Clone)]
pub struct Merged {
    /// Frames in the merged recording: each once, with the stamps of every run that has it.
    pub frames: u64,
    /// Frames that every run has.
    pub whole: u64,
    /// Frames that reached a run before the one before had them by more than the clocks may be apart.
    pub contradicted: u64,
    /// From each run to the next.
    pub crossings: Vec<Crossing>,
    /// How far a difference of two runs' stamps may be off, in ns; `None` where no relation was stated.
    pub apart_ns: Option<u64>,
    pub(super) relation: String,
    pub(super) earliest_ns: i64,
    pub(super) points: Vec<String>,
    /// Series that were made: from run, to run, stream.
    pub(super) series: Vec<(SeriesId, usize, usize, u16)>,
    of_streams: HashMap<(usize, u16), Crossing>,
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
                "{}; the stamps are known to {}",
                merge.relation.text(),
                format_ns(stamps_ns as f64)
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
            series: Vec::new(),
            of_streams: HashMap::new(),
            runs: merge.sources.len(),
        }
    }

    pub(super) fn take<T>(&mut self, found: Found, records: &Records<'_, T>) {
        self.frames += u64::from(found == Found::Whole);
        let whole = found == Found::Whole && records[..self.runs.min(MOST_RUNS)].iter().all(Option::is_some);
        self.whole += u64::from(whole);
    }

    pub(super) fn note_tally(&mut self, (from, to, stream): (usize, usize, u16), tally: &Tally) {
        if to != from + 1 || (self.runs == 2 && self.of_streams.contains_key(&(from, stream))) {
            return;
        }
        let crossing = Crossing {
            paired: tally.paired,
            doubtful: tally.doubtful,
            strange: tally.strange,
        };
        let sum = &mut self.crossings[from];
        sum.paired += crossing.paired;
        sum.doubtful += crossing.doubtful;
        sum.strange += crossing.strange;
        self.of_streams.insert((from, stream), crossing);
    }
}

/// Writes what is to be known beside the series.
pub(super) fn say(merge: &Merge, merged: &Merged, run: &mut RunWriter) -> Result<(), MergeError> {
    let labels: Vec<&str> = merge.sources.iter().map(|source| source.label.as_str()).collect();
    let contradiction = (merged.contradicted > 0).then(|| {
        format!(
            "the stated relation of the clocks is contradicted: {} frames reached a run up to {} before the one before handed them over",
            merged.contradicted,
            format_ns(merged.earliest_ns.unsigned_abs() as f64)
        )
    });
    let mut events = own::clock_words(merge, contradiction)?;
    let mut say = |kind: EventKind, series: Option<SeriesId>, text: String| {
        events.push(Event {
            at_ns: 0,
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
        let text = "the relation of the clocks was not stated (--clock): there are no durations between the runs; for finding the same \
                    frame, their wall clocks were taken to agree within half a second";
        say(EventKind::Note, None, text.to_owned());
    }
    for (series, from, to, stream) in &merged.series {
        let Some(crossing) = merged.of_streams.get(&(*from, *stream)).filter(|_| to == &(from + 1)) else {
            continue;
        };
        let name = &merge.streams.known[usize::from(*stream)].name;
        if crossing.doubtful > 0 {
            let text = format!(
                "{name}: {} records may be of either of two frames (came twice, or beside a restart): not paired",
                crossing.doubtful
            );
            say(EventKind::Incomplete, Some(*series), text);
        }
        if crossing.strange > 0 {
            let text = format!(
                "{name}: {} frames in {} are not in {}, which recorded then",
                crossing.strange, labels[*to], labels[*from]
            );
            // Of a stream that comes another way, nothing is missing.
            let kind = if crossing.paired > 0 {
                EventKind::Incomplete
            } else {
                EventKind::Note
            };
            say(kind, Some(*series), text);
        }
    }
    Ok(run.write(&Batch {
        events,
        ..Batch::default()
    })?)
}
