//! The merged recording and the series between the runs, made in one pass.

use super::own::Own;
use super::pairing::{Found, MOST_RUNS, Pairing, Records, Seen};
use super::source::Frames;
use super::summary::Merged;
use super::tally::{Outcome, Tally};
use super::{Merge, MergeError};
use crate::logger::windows::Open;
use recording::{MAX_POINTS, Numbering, Record, SegmentWriter};
use std::collections::HashMap;
use store::model::{SeriesClock, SeriesSpec, setting};
use store::{Batch, RunWriter, SealedSegment};
use wire::sequence::Sequence;

/// Records of a segment: what a packed column holds best.
const RECORDS: usize = 1 << 18;

/// A frame may be under way so long: within it before the end of a recording, one that is not there is not lost.
const UNDER_WAY_NS: i64 = 100_000_000;

/// Stands for a stamp that is not there.
const NO_STAMP: i64 = i64::MIN;

/// What of a record goes into the merged one: stamps on the first run's clock, at the merged run's points.
#[derive(Debug, Clone, Copy)]
struct Stamps {
    samples: u16,
    at_ns: [i64; MAX_POINTS],
}

impl Stamps {
    fn at(&self, point: usize) -> Option<i64> {
        Some(self.at_ns[point]).filter(|ns| *ns != NO_STAMP)
    }
}

/// From one point of the merged recording to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Way {
    from_run: usize,
    to_run: usize,
    from: usize,
    to: usize,
}

/// What becomes of a stream in the merged recording.
struct Numbered {
    sequence: Sequence,
    numbering: Numbering,
    last_ns: Option<i64>,
    is_known: bool,
}

pub(super) struct Maker<'a> {
    merge: &'a Merge,
    own: &'a Own,
    /// First point of each run in the merged recording.
    bases: Vec<usize>,
    ways: Vec<Way>,
    tallies: Vec<HashMap<u16, Tally>>,
    streams: HashMap<u16, Numbered>,
    segment: SegmentWriter,
    window_end_ns: u64,
    /// The newest frame, since the merged run's start.
    last_ns: u64,
    batch: Batch,
    merged: Merged,
    failed: Option<MergeError>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(merge: &'a Merge, own: &'a Own, _run: &mut RunWriter) -> Result<Self, MergeError> {
        let mut bases = Vec::new();
        let mut names = Vec::new();
        for run in 0..merge.sources.len() {
            bases.push(names.len());
            names.extend((0..merge.sources[run].points.len()).map(|point| merge.point(run, point)));
        }
        let points: Vec<&str> = names.iter().map(String::as_str).collect();
        let ways = ways(merge, own, &bases, names.len());
        Ok(Self {
            tallies: ways.iter().map(|_| HashMap::new()).collect(),
            merged: Merged::new(merge, &names),
            segment: SegmentWriter::new(&points),
            window_end_ns: merge.window_ns().max(1),
            last_ns: 0,
            batch: Batch::default(),
            streams: HashMap::new(),
            failed: None,
            bases,
            ways,
            own,
            merge,
        })
    }

    /// Reads all runs side by side, in order of time.
    pub(super) fn read_all(&mut self, run: &mut RunWriter) -> Result<(), MergeError> {
        let merge = self.merge;
        let rates = merge.streams.known.iter().map(|info| info.rate).collect();
        let mut pairing = Pairing::new(rates);
        let mut frames: Vec<Frames> = merge.sources.iter().map(|_| Frames::new()).collect();
        let mut next: Vec<Option<Seen<Stamps>>> = Vec::new();
        for (index, frames) in frames.iter_mut().enumerate() {
            next.push(self.next(index, frames)?);
        }
        loop {
            let waiting = next.iter().enumerate().filter_map(|(run, seen)| Some((run, seen.as_ref()?.at_ns)));
            let Some((first, read_to_ns)) = waiting.min_by_key(|(_, at_ns)| *at_ns) else {
                break;
            };
            if let Some(seen) = next[first].take() {
                pairing.push(seen);
            }
            next[first] = self.next(first, &mut frames[first])?;
            pairing.settle(read_to_ns, &mut |found, records| self.found(found, &records, run));
            self.check()?;
        }
        pairing.finish(&mut |found, records| self.found(found, &records, run));
        self.check()
    }

    fn check(&mut self) -> Result<(), MergeError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The next frame of a run whose stream is known.
    fn next(&mut self, run: usize, frames: &mut Frames) -> Result<Option<Seen<Stamps>>, MergeError> {
        let source = &self.merge.sources[run];
        let (base, shift_ns) = (self.bases[run], self.merge.shifts_ns[run]);
        loop {
            let Some(frame) = frames.peek(source)? else {
                return Ok(None);
            };
            let place = self.merge.streams.place(run, frame.stream);
            let mut at_ns = [NO_STAMP; MAX_POINTS];
            for point in 0..source.points.len() {
                at_ns[base + point] = frame.stamp(point).map_or(NO_STAMP, |ns| ns - shift_ns);
            }
            let seen = place.map(|stream| Seen {
                // At most four.
                run: run as u8,
                stream,
                count: frame.count,
                is_restart: frame.is_restart,
                is_late: frame.is_late,
                at_ns: frame.at_ns - shift_ns,
                data: Stamps {
                    samples: frame.samples,
                    at_ns,
                },
            });
            frames.step();
            if seen.is_some() {
                return Ok(seen);
            }
        }
    }

    fn found(&mut self, found: Found, records: &Records<'_, Stamps>, run: &mut RunWriter) {
        if self.failed.is_none()
            && let Err(error) = self.take(found, records, run)
        {
            self.failed = Some(error);
        }
    }

    fn take(&mut self, found: Found, records: &Records<'_, Stamps>, run: &mut RunWriter) -> Result<(), MergeError> {
        let Some(first) = records.iter().flatten().next() else {
            return Ok(());
        };
        let (stream, count) = (first.stream, first.count);
        let since_ns = self.merge.since_start(0, first.at_ns + self.merge.shifts_ns[0]);
        self.last_ns = self.last_ns.max(since_ns);
        if since_ns >= self.window_end_ns {
            self.close_windows(since_ns, run)?;
        }
        for way in 0..self.ways.len() {
            self.count(way, found, records, (stream, count, since_ns), run)?;
        }
        self.merged.take(found, records);
        self.record(found, records, (stream, count), run)
    }

    /// Counts a frame on a way, if it came to it.
    fn count(
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
        let is_strange = found == Found::Whole && before.is_none() && after.is_some_and(|after| self.must_be_known(way.from_run, after));
        let hidden = hides_a_loss(found, after, self.bases[way.to_run], self.merge.sources[way.to_run].points.len());
        let hidden_before = hides_a_loss(found, before, self.bases[way.from_run], self.merge.sources[way.from_run].points.len());
        let at_ns = to.or(from).map_or(0, |at| self.merge.since_start(0, at + self.merge.shifts_ns[0]));
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
            let apart = self.merged.apart_ns.map_or_else(|| setting::NOT_STATED.to_owned(), |ns| ns.to_string());
            settings.push((setting::CLOCK_RELATION.to_owned(), self.merged.relation.clone()));
            settings.push((setting::CLOCK_UNCERTAINTY_NS.to_owned(), apart));
        }
        let spec = SeriesSpec {
            name: format!("hop/{from}-to-{to}/{name}"),
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

    /// Writes the frame into the merged recording.
    fn record(
        &mut self,
        found: Found,
        records: &Records<'_, Stamps>,
        (stream, count): (u16, u16),
        run: &mut RunWriter,
    ) -> Result<(), MergeError> {
        let info = &self.merge.streams.known[usize::from(stream)];
        let numbered = self.streams.entry(stream).or_insert_with(|| Numbered {
            sequence: info.rate.map_or_else(Sequence::learning, Sequence::new),
            numbering: Numbering::default(),
            last_ns: None,
            is_known: false,
        });
        let rate = numbered.sequence.rate();
        let Some(first) = records.iter().flatten().next() else {
            return Ok(());
        };
        let silent_ns = numbered.last_ns.map_or(0, |last| first.at_ns.saturating_sub(last));
        let silent_ns = u64::try_from(silent_ns).unwrap_or(0);
        let step = numbered.sequence.accept_after(count, silent_ns);
        if found != Found::Again {
            numbered.last_ns = Some(first.at_ns);
        }
        let (number, flags) = numbered.numbering.number(count, step, numbered.sequence.rate());
        for asdu in 1..first.data.samples {
            let step = numbered.sequence.accept(count.wrapping_add(asdu));
            numbered.numbering.number(count.wrapping_add(asdu), step, numbered.sequence.rate());
        }
        if !numbered.is_known || rate != numbered.sequence.rate() {
            numbered.is_known = true;
            let rate = numbered.sequence.rate();
            self.segment.set_stream(recording::StreamInfo { rate, ..info.clone() })?;
        }
        let mut stamps = [None; MAX_POINTS];
        for seen in records.iter().flatten() {
            for (stamp, point) in stamps.iter_mut().zip(0..MAX_POINTS) {
                *stamp = stamp.or(seen.data.at(point));
            }
        }
        self.segment.push(&Record {
            stream,
            samples: first.data.samples,
            flags,
            number,
            stamps,
        })?;
        if self.segment.records() >= RECORDS {
            self.seal(run)?;
        }
        Ok(())
    }

    fn seal(&mut self, run: &mut RunWriter) -> Result<(), MergeError> {
        if self.segment.records() == 0 {
            return Ok(());
        }
        let (first_ns, last_ns) = self.segment.span_ns().unwrap_or_default();
        let samples = self.segment.samples();
        let octets = self.segment.seal()?;
        Ok(run.add_segment(&SealedSegment {
            first_ns,
            last_ns,
            samples,
            octets,
        })?)
    }

    fn close_windows(&mut self, at_ns: u64, run: &mut RunWriter) -> Result<(), MergeError> {
        let window_ns = self.merge.window_ns().max(1);
        let start_ns = at_ns / window_ns * window_ns;
        for tally in self.tallies.iter_mut().flat_map(HashMap::values_mut) {
            tally.close(self.window_end_ns, &mut self.batch);
            if start_ns > self.window_end_ns {
                // Nothing came for whole windows: the next one starts where something did.
                tally.close(start_ns, &mut self.batch);
            }
        }
        self.window_end_ns = start_ns + window_ns;
        Ok(run.write(&std::mem::take(&mut self.batch))?)
    }

    /// Closes the recording and the series.
    pub(super) fn finish(mut self, run: &mut RunWriter) -> Result<Merged, MergeError> {
        self.seal(run)?;
        let end_ns = self.last_ns + 1;
        for (index, tallies) in self.tallies.iter_mut().enumerate() {
            let way = self.ways[index];
            for (stream, tally) in tallies {
                tally.close(end_ns, &mut self.batch);
                self.merged.note_tally((way.from_run, way.to_run, *stream), tally);
            }
        }
        run.write(&std::mem::take(&mut self.batch))?;
        Ok(self.merged)
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
fn ways(merge: &Merge, own: &Own, bases: &[usize], points: usize) -> Vec<Way> {
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
