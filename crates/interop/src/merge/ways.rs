//! What is counted between points: within runs that counted nothing themselves, from each run to the next, and over all.

use super::make::{Maker, Stamps};
use super::own::Own;
use super::pairing::{Found, MOST_RUNS, Records, Seen};
use super::tally::{Outcome, Tally};
use super::{Merge, MergeError};
use crate::logger::windows::Open;
use store::RunWriter;
use store::hop::HopName;
use store::model::{SeriesClock, SeriesSpec, setting};

/// A frame may be under way so long: within it before the end of a recording, one that is not there is not lost.
const UNDER_WAY_NS: i64 = 100_000_000;

/// From one point of the merged recording to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) from_run: usize,
    pub(super) to_run: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Maker<'_> {
    /// Counts a frame on a way, if it came to it.
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
            (Found::Whole, Some(from), Some(to)) => Some(self.took(way, to - from)),
            (Found::Whole, Some(from), None) => self.absent(way, from, records),
            // It was not seen at the end of the earlier run's way, and came to the later one.
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
        let at_ns = to
            .or(from)
            .map_or(0, |at| self.merge.since_start(0, at + self.merge.shifts_ns[0]));
        let Some(tally) = self.tallies[index].get_mut(&stream) else {
            return Ok(());
        };
        if let Some(outcome) = outcome {
            tally.count(outcome, at_ns, count);
        }
        if way.from_run != way.to_run {
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
        if way.from_run == way.to_run {
            return Outcome::Took(ns);
        }
        match self.merged.apart_ns {
            None => Outcome::Passed,
            Some(apart_ns) => {
                let is_crossing = way.to_run == way.from_run + 1 && way.to == self.bases[way.to_run];
                if is_crossing && ns < 0 && ns.unsigned_abs() > apart_ns {
                    self.merged.contradicted += 1;
                    self.merged.earliest_ns = self.merged.earliest_ns.min(ns);
                }
                Outcome::Took(ns)
            }
        }
    }

    /// What it means that a frame that was at `from_ns` at the beginning of a way has no stamp at its end.
    fn absent(&self, way: Way, from_ns: i64, records: &Records<'_, Stamps>) -> Option<Outcome> {
        if records[way.to_run].is_some() {
            // The later run saw it at another point.
            return Some(match way.to == self.bases[way.to_run] {
                true => Outcome::Passed,
                false => Outcome::Lost,
            });
        }
        if records[way.to_run + 1..].iter().any(Option::is_some) {
            return Some(Outcome::Unknown);
        }
        let (from, to) = self.covers(way.to_run);
        if from_ns < from || from_ns > to - UNDER_WAY_NS {
            return None;
        }
        Some(match self.in_hole(way.to_run, from_ns) {
            true => Outcome::Unknown,
            false => Outcome::Lost,
        })
    }

    /// Whether a run must have seen a frame that a later one saw.
    fn must_be_known(&self, run: usize, later: &Seen<Stamps>) -> bool {
        let (from, to) = self.covers(run);
        (from + UNDER_WAY_NS..=to).contains(&later.at_ns) && !self.in_hole(run, later.at_ns)
    }

    /// From when to when a run's recording holds every frame, on the first run's clock.
    fn covers(&self, run: usize) -> (i64, i64) {
        let (from, to) = self.merge.sources[run].covers_ns;
        let shift_ns = self.merge.shifts_ns[run];
        let apart_ns = i64::try_from(self.merged.apart_ns.unwrap_or(0)).unwrap_or(0);
        (from - shift_ns + apart_ns, to - shift_ns - apart_ns)
    }

    fn in_hole(&self, run: usize, at_ns: i64) -> bool {
        let shift_ns = self.merge.shifts_ns[run];
        let mut holes = self.merge.sources[run].holes.iter();
        holes.any(|(from, to)| (from - shift_ns - UNDER_WAY_NS..=to - shift_ns + UNDER_WAY_NS).contains(&at_ns))
    }

    fn tally(&mut self, way: Way, stream: u16, since_ns: u64, run: &mut RunWriter) -> Result<Tally, MergeError> {
        let merge = self.merge;
        let (from, to) = (&self.merged.points[way.from], &self.merged.points[way.to]);
        let name = &merge.streams.known[usize::from(stream)].name;
        let is_own = way.from_run == way.to_run;
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
            name: HopName { from, to, stream: name }.to_string(),
            what,
            clock: SeriesClock::Realtime,
            interval_ns: None,
            threshold_ns: None,
            settings,
        };
        let series = run.add_series(&spec)?;
        self.merged.series.push((series, way.from_run, way.to_run, stream));
        let lost = |run: usize| self.own.lost_first.get(&(run, stream)).map_or(&[][..], Vec::as_slice);
        let is_crossing = !is_own && way.to_run == way.from_run + 1 && way.to == self.bases[way.to_run];
        let is_whole = !is_own && way.from == self.bases[way.from_run];
        Ok(Tally::new(
            Open::starting(series, since_ns.max(self.window_end_ns - merge.window_ns().max(1))),
            if is_crossing { lost(way.to_run) } else { &[] },
            if is_whole { lost(way.from_run) } else { &[] },
        ))
    }
}

/// A frame whose record lacks its second point is among those that the run lost between its first two.
fn hides_a_loss(found: Found, after: Option<&Seen<Stamps>>, base: usize, points: usize) -> bool {
    found == Found::Whole
        && points > 2
        && after.is_some_and(|seen| seen.data.at(base).is_some() && seen.data.at(base + 1).is_none())
}

/// The ways that are counted: between neighbouring points of runs that told no hops themselves, from each run to the next, and from
/// the first point to the last.
pub(super) fn ways(merge: &Merge, own: &Own, bases: &[usize], points: usize) -> Vec<Way> {
    let runs = merge.sources.len();
    let last_point = |run: usize| bases.get(run + 1).map_or(points, |next| *next) - 1;
    let mut ways = Vec::new();
    for run in 0..runs {
        if !own.has(run) {
            ways.extend((bases[run]..last_point(run)).map(|from| Way {
                from_run: run,
                to_run: run,
                from,
                to: from + 1,
            }));
        }
        if run + 1 < runs {
            ways.push(Way {
                from_run: run,
                to_run: run + 1,
                from: last_point(run),
                to: bases[run + 1],
            });
        }
    }
    let whole = Way {
        from_run: 0,
        to_run: runs - 1,
        from: 0,
        to: last_point(runs - 1),
    };
    if !ways.contains(&whole) {
        ways.push(whole);
    }
    debug_assert!(runs <= MOST_RUNS, "checked when they were opened");
    ways
}
