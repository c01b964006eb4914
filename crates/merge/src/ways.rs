//! The paths between points: inside runs that did not count hops themselves, from each run to the next, and across all runs.

use super::make::{Maker, Stamps};
use super::own::{Lost, Own};
use super::pairing::{Found, MOST_RUNS, Records, Seen, WITHIN_NS};
use super::summary::Between;
use super::tally::{Outcome, Tally};
use super::{Merge, MergeError};
use model::{Counter, SeriesClock, SeriesSpec, hop::HopName, setting};
use run::ReadSeries;
use store::RunWriter;

/// Longest travel time of a frame: a frame that is missing within this time before the end of a recording is not lost.
const UNDER_WAY_NS: i64 = 100_000_000;

/// The kind of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WayKind {
    /// Within a run.
    Own,
    /// From a run's last point to the first of the next.
    Crossing,
    /// From the first run's first point to the last run's last, if that is more than one crossing.
    Whole,
}

/// From one point of the merged recording to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) kind: WayKind,
    pub(super) from_run: usize,
    pub(super) to_run: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Maker<'_> {
    /// Counts a frame on a path, if the frame reached its start.
    pub(super) fn count(
        &mut self,
        index: usize,
        found: Found,
        records: &Records<'_, Stamps>,
        (stream, count, since_ns): (u16, u16, u64),
        run: &mut RunWriter,
    ) -> Result<(), MergeError> {
        let way = self.ways[index];
        let (before, after) = (records[way.from_run], records[way.to_run]);
        if before.is_none() && after.is_none() {
            return Ok(());
        }
        if !self.tallies[index].contains_key(&stream) {
            let tally = self.tally(way, stream, since_ns, run)?;
            self.tallies[index].insert(stream, tally);
        }
        let from = before.and_then(|seen| seen.data.at(way.from));
        let to = after.and_then(|seen| seen.data.at(way.to));
        let outcome = match (found, from, to) {
            (Found::Again, ..) => None,
            (Found::Doubtful, ..) => before.map(|_| Outcome::Unknown),
            (Found::Whole, Some(from), Some(to)) => Some(self.took(way, to.saturating_sub(from))),
            (Found::Whole, Some(from), None) => self.absent(way, stream, from, records),
            // It was not recorded at the end of the earlier run's path, but reached the later run.
            (Found::Whole, None, Some(_)) => before.map(|_| Outcome::Passed),
            (Found::Whole, None, None) => None,
        };
        let is_strange = found == Found::Whole
            && before.is_none()
            && after.is_some_and(|after| self.must_be_known(way.from_run, after));
        let hidden = hides_a_loss(
            found,
            after,
            self.bases[way.to_run],
            self.merge.sources[way.to_run].points.len(),
        );
        let hidden_before = hides_a_loss(
            found,
            before,
            self.bases[way.from_run],
            self.merge.sources[way.from_run].points.len(),
        );
        let at_ns = to.or(from).map_or(0, |at| self.merge.since(at));
        let Some(tally) = self.tallies[index].get_mut(&stream) else {
            return Ok(());
        };
        if let Some(outcome) = outcome {
            tally.count(outcome, at_ns, count);
        }
        if way.kind != WayKind::Own {
            tally.recorded(hidden_before, hidden);
        }
        tally.strange += u64::from(is_strange);
        tally.doubtful += u64::from(found == Found::Doubtful);
        if found == Found::Again && after.is_some() {
            tally.again();
        }
        Ok(())
    }

    fn took(&mut self, way: Way, ns: i64) -> Outcome {
        if way.kind == WayKind::Own {
            return Outcome::Took(ns);
        }
        match self.merged.apart_ns {
            None => Outcome::Passed,
            Some(apart_ns) => {
                if way.kind == WayKind::Crossing && ns < 0 && ns.unsigned_abs() > apart_ns {
                    self.merged.contradicted += 1;
                    self.merged.earliest_ns = self.merged.earliest_ns.min(ns);
                }
                Outcome::Took(ns)
            }
        }
    }

    /// The outcome of a frame that was at the start of a path at `from_ns` and has no stamp at its end.
    fn absent(&self, way: Way, stream: u16, from_ns: i64, records: &Records<'_, Stamps>) -> Option<Outcome> {
        if records[way.to_run].is_some() {
            // The later run recorded it at another point.
            return Some(match way.to == self.bases[way.to_run] {
                true => Outcome::Passed,
                false => Outcome::Lost,
            });
        }
        if records[way.to_run + 1..].iter().any(Option::is_some) {
            return Some(Outcome::Unknown);
        }
        let (from, to) = self.covers(way.to_run);
        if from_ns < from || from_ns > to.saturating_sub(UNDER_WAY_NS) {
            return None;
        }
        let is_hidden = self.in_hole(way.to_run, from_ns) || self.is_alike(way.to_run, stream);
        Some(match is_hidden {
            true => Outcome::Unknown,
            false => Outcome::Lost,
        })
    }

    /// True if a run must have recorded a frame that a later one recorded.
    fn must_be_known(&self, run: usize, later: &Seen<Stamps>) -> bool {
        let (from, to) = self.covers(run);
        (from.saturating_add(UNDER_WAY_NS)..=to).contains(&later.at_ns)
            && !self.in_hole(run, later.at_ns)
            && !self.is_alike(run, later.stream)
    }

    /// True if a run may have a stream's frames under another stream's name.
    fn is_alike(&self, run: usize, stream: u16) -> bool {
        self.merge.streams.hiding(run, stream).next().is_some()
    }

    /// Start and end of the time in which a run recorded every frame, on the first run's clock.
    fn covers(&self, run: usize) -> (i64, i64) {
        let (from, to) = self.merge.sources[run].covers_ns;
        let shift_ns = self.merge.shifts_ns[run];
        let apart_ns = self.apart_ns();
        let on_first = |ns: i64| ns.saturating_sub(shift_ns);
        (
            on_first(from).saturating_add(apart_ns),
            on_first(to).saturating_sub(apart_ns),
        )
    }

    /// Largest possible difference of two runs' clocks; if nothing was stated, the time in which frames are matched.
    fn apart_ns(&self) -> i64 {
        let stated = self.merged.apart_ns.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX));
        stated.unwrap_or(WITHIN_NS)
    }

    fn in_hole(&self, run: usize, at_ns: i64) -> bool {
        let shift_ns = self.merge.shifts_ns[run];
        let around_ns = self.apart_ns().saturating_add(UNDER_WAY_NS);
        let mut holes = self.merge.sources[run].holes.iter();
        holes.any(|(from, to)| {
            let from = from.saturating_sub(shift_ns).saturating_sub(around_ns);
            let to = to.saturating_sub(shift_ns).saturating_add(around_ns);
            (from..=to).contains(&at_ns)
        })
    }

    /// Losses of a run between its first two points while another run recorded.
    fn lost_first(&self, run: usize, stream: u16, during: usize) -> Vec<Lost> {
        let (from, to) = self.covers(during);
        let (from_ns, to_ns) = (self.merge.since(from), self.merge.since(to));
        let lost = self.own.lost_first.get(&(run, stream)).into_iter().flatten();
        lost.copied()
            .filter(|lost| lost.to_ns > from_ns && lost.from_ns < to_ns)
            .collect()
    }

    /// A new series.
    pub(super) fn tally(
        &mut self,
        way: Way,
        stream: u16,
        since_ns: u64,
        run: &mut RunWriter,
    ) -> Result<Tally, MergeError> {
        let merge = self.merge;
        let (from, to) = (&self.merged.points[way.from], &self.merged.points[way.to]);
        let name = &merge.streams.known[usize::from(stream)].name;
        let is_own = way.kind == WayKind::Own;
        let what = match is_own {
            true => format!("{from} -> {to}, one by one as recorded"),
            false => format!("{from} -> {to}: stamps of two runs, frames paired by stream, smpCnt and time"),
        };
        let mut settings = Vec::new();
        if !is_own {
            let apart = self
                .merged
                .apart_ns
                .map_or_else(|| setting::NOT_STATED.to_owned(), |ns| ns.to_string());
            settings.push((setting::CLOCK_RELATION.to_owned(), self.merged.relation.clone()));
            settings.push((setting::CLOCK_UNCERTAINTY_NS.to_owned(), apart));
        }
        let spec = SeriesSpec {
            clock: SeriesClock::Realtime,
            settings,
            ..HopName { from, to, stream: name }.series(what)
        };
        // Frames are matched regardless of their order.
        let spec = spec.not_counting(&[Counter::Reordered]);
        let start_ns = since_ns.max(self.window_end_ns - merge.window_ns().max(1));
        let open = ReadSeries::open(run, spec, &merge.thresholds, start_ns)?;
        if !is_own {
            self.merged.between.push(Between::new(open.series(), way, stream));
        }
        let (mut later, mut before) = (Vec::new(), Vec::new());
        match way.kind {
            WayKind::Own => {}
            WayKind::Crossing => later = self.lost_first(way.to_run, stream, way.from_run),
            WayKind::Whole => before = self.lost_first(way.from_run, stream, way.from_run),
        }
        Ok(Tally::new(open, later, before))
    }
}

/// True if a frame's record lacks its second point, so that the frame is among those that the run lost between its first two points.
fn hides_a_loss(found: Found, after: Option<&Seen<Stamps>>, base: usize, points: usize) -> bool {
    found == Found::Whole
        && points > 2
        && after.is_some_and(|seen| seen.data.at(base).is_some() && seen.data.at(base + 1).is_none())
}

/// The paths to count: between neighbouring points of runs without own hops, from each run to the next, and from the first point to the last.
pub(super) fn ways(merge: &Merge, own: &Own, bases: &[usize], points: usize) -> Vec<Way> {
    let runs = merge.sources.len();
    let last_point = |run: usize| bases.get(run + 1).map_or(points, |next| *next) - 1;
    let way = |kind: WayKind, (from_run, from): (usize, usize), (to_run, to): (usize, usize)| Way {
        kind,
        from_run,
        to_run,
        from,
        to,
    };
    let mut ways = Vec::new();
    for run in 0..runs {
        if !own.has(run) && !merge.is_between_only {
            let points = bases[run]..last_point(run);
            ways.extend(points.map(|from| way(WayKind::Own, (run, from), (run, from + 1))));
        }
        if run + 1 < runs {
            ways.push(way(
                WayKind::Crossing,
                (run, last_point(run)),
                (run + 1, bases[run + 1]),
            ));
        }
    }
    // Two runs of one point each have only one crossing.
    if points > 2 {
        ways.push(way(WayKind::Whole, (0, 0), (runs - 1, last_point(runs - 1))));
    }
    assert!(runs <= MOST_RUNS, "checked when they were opened");
    ways
}
