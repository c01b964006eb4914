//! Combines the recordings of several runs: for example a host's and a guest's, which recorded the same frames at different points.
//!
//! Frames are matched by stream, count and time, never by position (`pairing`). A difference between two runs' stamps is only a duration if their
//! clocks are related: the relation is stated by the user, checked if possible, and enters the verdict as an uncertainty. All this is done in one
//! pass over the recordings, in constant memory.

#![forbid(unsafe_code)]

mod clocks;
mod make;
mod own;
mod pairing;
mod phase;
mod restarts;
mod source;
mod streams;
mod summary;
mod tally;
#[cfg(test)]
mod tests;
mod ways;

pub use clocks::Relation;
pub use summary::Merged;

use make::Maker;
use model::RunState;
use model::fact::HOST_NAME;
use recording::{MAX_POINTS, SegmentError};
use run::Thresholds;
use source::Source;
use std::path::PathBuf;
use store::{RunWriter, StoreError};
use streams::Streams;
use units::Realtime;

/// A run, and the prefix of its points.
#[derive(Debug, Clone)]
pub struct Input {
    /// The run file.
    pub path: PathBuf,
    /// `host` renames its point `nic` to `host.nic`.
    pub label: Option<String>,
    /// How far its clock was found to be ahead, in ns, of the clock that the merged run is on; 0 if it was not measured, or if that is stated as a
    /// [`Relation`].
    pub ahead_ns: i64,
}

/// Reasons why runs cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A run without a recording.
    #[error("{0}: it has no readable recording: record with trace --record or subscribe --record")]
    NoRecording(String),
    /// A run that is already a merged one.
    #[error("{0}: it is a merged run: merge its original runs, all at once (up to {most})", most = pairing::MOST_RUNS)]
    Merged(String),
    /// Too few or too many runs.
    #[error("{0} runs: a merge takes 2 to 4")]
    Runs(usize),
    /// Two runs with the same name.
    #[error("two runs are called {0}: give each a name of its own (--label)")]
    Label(String),
    /// More points than a recording can have.
    #[error("{0} points in all: there is room for {MAX_POINTS} (trace with --point at fewer)")]
    Points(usize),
    /// More streams than a recording can have.
    #[error("more than 4096 streams in all")]
    Streams,
    /// The stated relation of the clocks is not possible.
    #[error("--clock: {0}")]
    Clock(units::Refusal),
    /// A segment that contradicts itself.
    #[error("{0}: a segment of its recording: {1}")]
    Segment(String, SegmentError),
    /// Error of the merged recording.
    #[error("cannot pack the merged recording: {0}")]
    Pack(#[from] SegmentError),
    /// Error of a run file.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs that can be merged.
#[derive(Debug)]
pub struct Merge {
    sources: Vec<Source>,
    streams: Streams,
    relation: Relation,
    /// The corrections that convert each run's stamps to the first run's clock, in ns.
    shifts_ns: Vec<i64>,
    started_ns: i64,
    ends_ns: i64,
    thresholds: Thresholds,
    /// True to write what is between the runs alone.
    is_between_only: bool,
}

impl Merge {
    /// Opens the runs, in the order in which the frames pass them, and checks their compatibility.
    ///
    /// # Errors
    /// The runs lack required data, or their clocks cannot have the stated relation.
    pub fn open(inputs: &[Input], relation: Relation) -> Result<Self, MergeError> {
        if !(2..=pairing::MOST_RUNS).contains(&inputs.len()) {
            return Err(MergeError::Runs(inputs.len()));
        }
        let mut sources = Vec::new();
        for input in inputs {
            sources.push(Source::open(&input.path, input.label.clone().unwrap_or_default())?);
        }
        name(&mut sources)?;
        let points: usize = sources.iter().map(|source| source.points.len()).sum();
        if points > MAX_POINTS {
            return Err(MergeError::Points(points));
        }
        clocks::check(relation, &sources).map_err(MergeError::Clock)?;
        let mut streams = Streams::default();
        for source in &sources {
            let added = streams.add_run(&source.label, &source.streams);
            added.ok_or(MergeError::Streams)?;
        }
        let shift = |(run, input): (usize, &Input)| relation.shift_ns(run).saturating_add(input.ahead_ns);
        let shifts_ns: Vec<i64> = inputs.iter().enumerate().map(shift).collect();
        let starts = sources.iter().zip(&shifts_ns);
        let since = |source: &Source, shift: &i64| source.info().started.as_ns().saturating_sub(*shift);
        let starts = starts.map(|(source, shift)| (since(source, shift), source.run.duration_ns()));
        let started_ns = starts.clone().map(|(start, _)| start).min().unwrap_or(0);
        let end = |(start, length): (i64, u64)| start.saturating_add(i64::try_from(length).unwrap_or(i64::MAX));
        Ok(Self {
            ends_ns: starts.map(end).max().unwrap_or(started_ns),
            streams,
            relation,
            shifts_ns,
            started_ns,
            sources,
            thresholds: Thresholds::default(),
            is_between_only: false,
        })
    }

    /// The same without what each run knows by itself: its hops, its inventory, and events that put nothing in doubt between the runs. For a
    /// run that has all this already.
    #[must_use]
    pub fn between_only(self) -> Self {
        Self {
            is_between_only: true,
            ..self
        }
    }

    /// Sets the thresholds, by series name, above which samples of new series are stored. Copied series keep their own thresholds.
    pub fn with_thresholds(self, thresholds: Thresholds) -> Self {
        Self { thresholds, ..self }
    }

    /// Start of the earliest run, on the first run's clock.
    pub fn started(&self) -> Realtime {
        Realtime::from_ns(self.started_ns)
    }

    /// Time from the first start to the last end, in ns.
    pub fn duration_ns(&self) -> u64 {
        u64::try_from(self.ends_ns.saturating_sub(self.started_ns)).unwrap_or(0)
    }

    /// Length of the first run's windows.
    pub fn window_ns(&self) -> u64 {
        self.sources[0].info().window_ns
    }

    /// The state "interrupted" if one of the runs was interrupted.
    pub fn state(&self) -> RunState {
        let interrupted = self
            .sources
            .iter()
            .any(|source| source.state() == RunState::Interrupted);
        if interrupted {
            RunState::Interrupted
        } else {
            RunState::Complete
        }
    }

    /// Writes the merged run without its end.
    ///
    /// # Errors
    /// A recording cannot be read, or the run cannot be written.
    pub fn write(&self, run: &mut RunWriter) -> Result<Merged, MergeError> {
        own::facts(self, run)?;
        let own = own::series(self, run)?;
        own::events(self, &own, run)?;
        let mut maker = Maker::new(self, &own);
        maker.read_all(run)?;
        let merged = maker.finish(run)?;
        summary::say(self, &merged, run)?;
        Ok(merged)
    }

    /// Converts a time of a run's own wall clock to ns since the merged run's start.
    fn since_start(&self, run: usize, at_ns: i64) -> u64 {
        self.since(at_ns.saturating_sub(self.shifts_ns[run]))
    }

    /// Converts a time of the first run's clock to ns since the merged run's start.
    fn since(&self, at_ns: i64) -> u64 {
        u64::try_from(at_ns.saturating_sub(self.started_ns)).unwrap_or(0)
    }

    /// Name in the merged run of a run's point.
    fn point(&self, run: usize, point: usize) -> String {
        let source = &self.sources[run];
        format!("{}.{}", source.label, source.points[point])
    }
}

/// Names each unnamed run after its host, or if hosts are equal, after its command.
fn name(sources: &mut [Source]) -> Result<(), MergeError> {
    let hosts: Vec<Option<String>> = sources.iter().map(host_name).collect();
    let are_distinct = |names: &[Option<String>]| {
        (0..names.len()).all(|index| names[index].is_some() && !names[..index].contains(&names[index]))
    };
    let commands: Vec<Option<String>> = sources
        .iter()
        .map(|source| Some(source.info().command.clone()))
        .collect();
    for (index, source) in sources
        .iter_mut()
        .enumerate()
        .filter(|(_, source)| source.label.is_empty())
    {
        let name = match (are_distinct(&hosts), are_distinct(&commands)) {
            (true, _) => hosts[index].clone(),
            (false, true) => commands[index].clone(),
            (false, false) => None,
        };
        source.label = name.unwrap_or_else(|| format!("run{}", index + 1));
    }
    for (index, source) in sources.iter().enumerate() {
        if sources[..index].iter().any(|other| other.label == source.label) {
            return Err(MergeError::Label(source.label.clone()));
        }
    }
    Ok(())
}

/// The host's name in a form that can be part of a series name.
fn host_name(source: &Source) -> Option<String> {
    let text = HOST_NAME.of(&source.facts)?;
    let word = |c: char| {
        if c.is_ascii_alphanumeric() || "-_".contains(c) {
            c
        } else {
            '-'
        }
    };
    let name: String = text.split('.').next()?.chars().map(word).collect();
    // The replaced text separates two points.
    Some(name.replace("-to-", "_to_")).filter(|name| !name.is_empty())
}
