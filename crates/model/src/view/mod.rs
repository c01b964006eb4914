//! A run as plain data: everything that the report shows. It is read once, so that judging and drawing need no file.

#[cfg(test)]
mod tests;

use crate::action::Action;
use crate::along::Along;
use crate::change::{Change, ChangeWatch};
use crate::counters::{Counter, Counters};
use crate::event::{Event, EventKind};
use crate::explanation::CauseTotal;
use crate::fact::Fact;
use crate::figures::Figures;
use crate::kind::{self, Kind, Samples};
use crate::reading::Reading;
use crate::rows::Rows;
use crate::run::{RunInfo, RunState};
use crate::series::{SeriesId, SeriesSpec};
use crate::setting;
use crate::shot::Shot;
use crate::spike::Spike;
use crate::window::WindowRow;
use stats::{Histogram, Scheduled, Summary};
use std::path::PathBuf;

/// A run.
#[derive(Debug, Clone)]
pub struct RunView {
    /// The facts known when it started.
    pub info: RunInfo,
    /// How it ended.
    pub state: RunState,
    /// Its length in ns; for an interrupted run, the end of its last window.
    pub duration_ns: u64,
    /// The run file.
    pub file: PathBuf,
    /// Its series, in the order they were measured.
    pub series: Vec<SeriesView>,
    /// Events during the measurement, in order of time.
    pub events: Rows<Event>,
    /// The shots of a test set, in order of time.
    pub shots: Vec<Shot>,
    /// The tasks and receive latencies of relays along each of them.
    pub along: Vec<Along>,
    /// Executions of a plan's actions and of their undos, in order of time.
    pub actions: Vec<Action>,
    /// Readings in other units than ns, in order of time.
    pub readings: Vec<Reading>,
    /// Changes of the machine during the run, in order of time.
    pub changes: Vec<Change>,
    /// The watches for changes: empty if nothing was watched.
    pub watches: Vec<ChangeWatch>,
    /// The inventory.
    pub facts: Vec<Fact>,
    /// Facts that were different when they were read again at the end of the run.
    pub last_facts: Vec<Fact>,
    /// Counters that its file is too old to have: they are unknown, not 0.
    pub lacks: Vec<Counter>,
    /// For a run that was never closed and whose log is missing: a note that windows may be missing, in words.
    pub lacks_log: Option<String>,
}

/// A series with all its measurements.
#[derive(Debug, Clone)]
pub struct SeriesView {
    /// Its number in the run.
    pub id: SeriesId,
    /// Name, kind and settings.
    pub spec: SeriesSpec,
    /// Counts of the samples that were due.
    pub counters: Counters,
    /// Sum of all samples.
    pub sum_ns: i128,
    /// Smallest sample, exact.
    pub min_ns: Option<i64>,
    /// Largest sample, exact.
    pub max_ns: Option<i64>,
    /// Samples over the threshold that were counted but not kept one by one.
    pub spikes_dropped: u64,
    /// Histogram of all samples.
    pub histogram: Histogram,
    /// Its windows, in order of time.
    pub windows: Rows<WindowRow>,
    /// The worst samples, worst first.
    pub spikes: Rows<Spike>,
    /// Number of spikes in the run file; if there are many, `spikes` leaves out the least.
    pub spikes_kept: u64,
    /// Causes of explained samples, the most expensive first. Empty where no flight recorder ran.
    pub causes: Vec<CauseTotal>,
}

/// Name of the view of the measured samples.
pub const MEASURED: &str = "measured";

/// Name of the view over scheduled activations.
pub const SCHEDULED: &str = "scheduled";

/// Command of a run that was imported from another tool's file: its `missed` counts only the periods that its histogram proves, and
/// its sum is a bound.
pub const IMPORTED: &str = "import";

/// Command of a run that was merged from several.
const MERGED: &str = "merge";

impl RunView {
    /// True if it was merged from several runs: the points of its hops are then preceded by the name of their run.
    pub fn is_merged(&self) -> bool {
        self.info.command == MERGED
    }

    /// Events that affect a series: its own, those of the whole run, and losses on the socket that its frames come from.
    pub fn events_of(&self, series: &SeriesView) -> impl Iterator<Item = &Event> {
        let id = series.id;
        let socket = series.setting(setting::SOCKET).and_then(|name| self.series_named(name));
        let socket = socket.map(|socket| socket.id);
        self.events.iter().filter(move |event| {
            let of_socket = || socket == event.series && is_of_a_socket(event.kind);
            event.series.is_none_or(|only| only == id || of_socket())
        })
    }

    /// The series with this name.
    pub fn series_named(&self, name: &str) -> Option<&SeriesView> {
        self.series.iter().find(|series| series.spec.name == name)
    }
}

/// True if an event of one series of a socket concerns all of them.
fn is_of_a_socket(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::SocketDrop | EventKind::NicDrop | EventKind::Incomplete | EventKind::StreamDoubt
    )
}

impl SeriesView {
    /// The value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.spec.setting(name)
    }

    /// Its kind; `None` where this version does not know it.
    pub fn kind(&self) -> Option<&'static Kind> {
        self.spec.kind
    }

    /// Number of spikes in the run file that are not in `spikes`.
    pub fn spikes_not_read(&self) -> u64 {
        self.spikes_kept.saturating_sub(self.spikes.len() as u64)
    }

    /// True if the series is of this kind.
    pub fn is(&self, kind: &Kind) -> bool {
        self.spec.kind == Some(kind)
    }

    /// True if reports list this counter for the series: it is counted, or not 0. Watched time is reported in words instead.
    pub fn lists(&self, counter: Counter) -> bool {
        let is_counted = match counter {
            Counter::WatchedNs => return false,
            Counter::Overflow => self.spec.threshold_ns.is_some(),
            _ => self.spec.counts(counter),
        };
        is_counted || self.counters.get(counter) > 0
    }

    /// The nature of its samples; `None` where that is not known.
    pub fn samples(&self) -> Option<Samples> {
        self.spec.kind.map(|kind| kind.samples)
    }

    /// True if its samples are frames given to an interface.
    pub fn sends_frames(&self) -> bool {
        self.samples() == Some(Samples::Sent)
    }

    /// True if its samples are received frames, or if its kind is not known: then they may be.
    pub fn receives_frames(&self) -> bool {
        self.samples().is_none_or(Samples::are_received)
    }

    /// True if its samples are frames of a stream that a sender of the same run may have sent.
    pub fn is_of_a_stream(&self) -> bool {
        self.samples().is_some_and(Samples::are_of_a_stream)
    }

    /// The name of its kind; for an unknown kind, the first part of the series' own name.
    pub fn family(&self) -> &str {
        self.spec.family()
    }

    /// Mean of the samples in ns, exact up to the division. `None` without samples.
    pub fn mean_ns(&self) -> Option<f64> {
        let n = self.histogram.count();
        (n > 0).then(|| self.sum_ns as f64 / n as f64)
    }

    /// Extremes and mean as counted, and quantiles from the histogram of the measured samples.
    pub fn figures(&self) -> Figures {
        let quantiles = Summary::of(&self.histogram);
        let figures = Figures {
            min: self.min_ns,
            mean: self.mean_ns(),
            max: self.max_ns,
            ..Figures::from(&quantiles)
        };
        figures.below(self.max_ns)
    }

    /// How long the series was measured, in ns: for gaps, the time watched for them; for other series, the sum of its windows, but
    /// no longer than its samples were due, because windows begin before the first sample and end after the last.
    pub fn exposure_ns(&self) -> u64 {
        if self.counters.watched_ns > 0 {
            return self.counters.watched_ns;
        }
        let windows = self
            .windows
            .iter()
            .map(|window| window.end_ns.saturating_sub(window.start_ns));
        let due_ns = self.spec.interval_ns.filter(|interval| *interval > 0.0);
        let due_ns = due_ns.map_or(u64::MAX, |interval| (interval * self.counters.expected as f64) as u64);
        windows.sum::<u64>().min(due_ns)
    }

    /// The series over *scheduled* activations, if periods were skipped: adds as many samples as were missed, derived from the
    /// samples long enough to have skipped them ([`Histogram::scheduled`]).
    pub fn scheduled(&self) -> Option<Scheduled> {
        (self.counters.missed > 0).then(|| self.histogram.scheduled(self.cycle_ns(), self.counters.missed))
    }

    /// The figures over scheduled activations, if periods were skipped.
    pub fn scheduled_figures(&self) -> Option<Figures> {
        let figures = Figures::from(&self.scheduled()?.summary(self.sum_ns));
        Some(figures.below(figures.max.and(self.max_ns)))
    }

    /// Name of the view by which quantiles and mean are judged: `scheduled` if periods were skipped, else `measured`.
    pub fn judged_view(&self) -> &'static str {
        if self.counters.missed > 0 { SCHEDULED } else { MEASURED }
    }

    /// Time between two wake-ups of the thread, in ns: a publisher sends the frames of all its streams at each.
    pub fn cycle_ns(&self) -> Option<f64> {
        let streams = self.setting("streams").filter(|_| self.is(&kind::PUBLISH));
        let at_once = streams.map_or(1.0, |streams| streams.parse().unwrap_or(1.0));
        self.spec.interval_ns.map(|interval| interval * at_once)
    }

    /// Number of samples that are only known to be no larger than the largest: an imported file of cyclictest has them in no
    /// bucket. The histogram holds them as the largest.
    pub fn only_bounded(&self) -> u64 {
        match self.setting(setting::TOOL) == Some(setting::CYCLICTEST) {
            true => self.counters.clipped,
            false => 0,
        }
    }

    /// Resolution of its stamps in ns, for a capture; 0 if unknown.
    pub fn stamp_step_ns(&self) -> u64 {
        let step = self.setting(setting::STAMP_STEP_NS);
        step.and_then(|step| step.parse().ok()).unwrap_or(0)
    }

    /// The nominal time between samples in whole ns, at least 1.
    pub fn interval_ns(&self) -> Option<u64> {
        let interval = self.spec.interval_ns?;
        (interval >= 1.0).then_some(interval as u64)
    }

    /// Samples that were due and that no other counter contains.
    pub fn unaccounted(&self) -> u64 {
        let c = &self.counters;
        c.expected.saturating_sub(c.received + c.lost + c.missed)
    }
}
