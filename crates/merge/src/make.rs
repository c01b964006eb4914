//! The merged recording and the series between the runs, made in one pass.

use super::own::Own;
use super::pairing::{Found, Pairing, Records, Seen};
use super::source::Frames;
use super::summary::Merged;
use super::tally::Tally;
use super::ways::{Way, WayKind, ways};
use super::{Merge, MergeError};
use recording::{MAX_POINTS, NumberedStream, Record, SegmentWriter};
use run::sealing;
use std::collections::HashMap;
use store::{Batch, RunWriter};

/// Marks a missing stamp.
const NO_STAMP: i64 = i64::MIN;

/// The part of a record for the merged recording: stamps on the first run's clock, at the merged run's points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamps {
    samples: u16,
    at_ns: [i64; MAX_POINTS],
}

impl Stamps {
    pub(super) fn at(&self, point: usize) -> Option<i64> {
        Some(self.at_ns[point]).filter(|ns| *ns != NO_STAMP)
    }
}

pub(super) struct Maker<'a> {
    pub(super) merge: &'a Merge,
    pub(super) own: &'a Own,
    /// First point of each run in the merged recording.
    pub(super) bases: Vec<usize>,
    pub(super) ways: Vec<Way>,
    pub(super) tallies: Vec<HashMap<u16, Tally>>,
    streams: HashMap<u16, NumberedStream>,
    segment: SegmentWriter,
    pub(super) window_end_ns: u64,
    /// Time of the newest frame since the merged run's start.
    last_ns: u64,
    batch: Batch,
    pub(super) merged: Merged,
    failed: Option<MergeError>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(merge: &'a Merge, own: &'a Own) -> Self {
        let mut bases = Vec::new();
        let mut names = Vec::new();
        for run in 0..merge.sources.len() {
            bases.push(names.len());
            names.extend((0..merge.sources[run].points.len()).map(|point| merge.point(run, point)));
        }
        let points: Vec<&str> = names.iter().map(String::as_str).collect();
        let ways = ways(merge, own, &bases, names.len());
        Self {
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
        }
    }

    /// Reads all runs in parallel, in order of time.
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
            let waiting = next
                .iter()
                .enumerate()
                .filter_map(|(run, seen)| Some((run, seen.as_ref()?.at_ns)));
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
                at_ns[base + point] = frame
                    .stamp(point)
                    .map_or(NO_STAMP, |ns| ns.saturating_sub(shift_ns).max(NO_STAMP + 1));
            }
            let seen = place.map(|stream| Seen {
                // There are at most four runs.
                run: run as u8,
                stream,
                count: frame.count,
                is_restart: frame.is_restart,
                is_late: frame.is_late,
                at_ns: frame.at_ns.saturating_sub(shift_ns),
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
        let since_ns = self.merge.since(first.at_ns);
        self.last_ns = self.last_ns.max(since_ns);
        if since_ns >= self.window_end_ns {
            self.close_windows(since_ns, run)?;
        }
        for way in 0..self.ways.len() {
            self.count(way, found, records, (stream, count, since_ns), run)?;
        }
        self.merged.take(found, records);
        self.record(records, (stream, count), run)
    }

    /// Writes the frame into the merged recording.
    fn record(
        &mut self,
        records: &Records<'_, Stamps>,
        (stream, count): (u16, u16),
        run: &mut RunWriter,
    ) -> Result<(), MergeError> {
        let Some(first) = records.iter().flatten().next() else {
            return Ok(());
        };
        let info = &self.merge.streams.known[usize::from(stream)];
        let numbered = self
            .streams
            .entry(stream)
            .or_insert_with(|| NumberedStream::new(info.rate));
        let rate = numbered.sequence().rate();
        let (number, flags) = numbered.number(count, first.at_ns);
        for asdu in 1..first.data.samples {
            numbered.number(count.wrapping_add(asdu), first.at_ns);
        }
        if !self.segment.knows(stream) || rate != numbered.sequence().rate() {
            let rate = numbered.sequence().rate();
            self.segment
                .set_stream(recording::StreamInfo { rate, ..info.clone() })?;
        }
        let mut stamps = [None; MAX_POINTS];
        for seen in records.iter().flatten() {
            for (stamp, point) in stamps.iter_mut().zip(0..MAX_POINTS) {
                *stamp = stamp.or(seen.data.at(point));
            }
        }
        let record = Record {
            stream,
            samples: first.data.samples,
            flags,
            number,
            stamps,
        };
        sealing::push(&mut self.segment, &record, run)
    }

    fn close_windows(&mut self, at_ns: u64, run: &mut RunWriter) -> Result<(), MergeError> {
        let window_ns = self.merge.window_ns().max(1);
        let start_ns = at_ns / window_ns * window_ns;
        for tally in self.tallies.iter_mut().flat_map(HashMap::values_mut) {
            tally.close(self.window_end_ns, &mut self.batch);
            if start_ns > self.window_end_ns {
                // After whole windows without frames, the next window starts at the next frame.
                tally.close(start_ns, &mut self.batch);
            }
        }
        self.window_end_ns = start_ns.saturating_add(window_ns);
        Ok(run.write(&std::mem::take(&mut self.batch))?)
    }

    /// Closes the recording and the series.
    pub(super) fn finish(mut self, run: &mut RunWriter) -> Result<Merged, MergeError> {
        sealing::seal::<MergeError>(&mut self.segment, run)?;
        self.begin_lost_streams(run)?;
        let tallies = self.tallies.iter().flat_map(HashMap::values);
        let lost_ns = tallies.filter_map(Tally::loses_until_ns).max();
        let end_ns = self.last_ns.saturating_add(1).max(lost_ns.unwrap_or(0));
        if end_ns > self.window_end_ns {
            self.close_windows(end_ns - 1, run)?;
        }
        for tally in self.tallies.iter_mut().flat_map(HashMap::values_mut) {
            tally.finish(end_ns, &mut self.batch);
            self.merged.note_tally(tally);
        }
        run.write(&std::mem::take(&mut self.batch))?;
        Ok(self.merged)
    }

    /// Starts the series of streams that reached only one point: all that is known of them is their losses.
    fn begin_lost_streams(&mut self, run: &mut RunWriter) -> Result<(), MergeError> {
        let Some(index) = self.ways.iter().position(|way| way.kind == WayKind::Whole) else {
            return Ok(());
        };
        let (own, way) = (self.own, self.ways[index]);
        for ((of, stream), lost) in &own.lost_first {
            if *of == way.from_run && !lost.is_empty() && !self.tallies[index].contains_key(stream) {
                let tally = self.tally(way, *stream, 0, run)?;
                self.tallies[index].insert(*stream, tally);
            }
        }
        Ok(())
    }
}
