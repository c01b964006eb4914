//! The recording of one run, read frame by frame.

use super::MergeError;
use model::fact::{RECORDED_FROM, RECORDED_TO, STAMP_UNCERTAINTY};
use model::{Fact, RunInfo, RunState};
use recording::{Block, SegmentReader, StreamInfo, flag};
use std::path::Path;
use store::{RunFile, SegmentPlace, StoreError};
use units::Realtime;

/// Command of a merged run. Its recording lacks the uncertainty of its stamps and any contradiction of its clocks.
const COMMAND: &str = "merge";

/// The oldest format with reliable counts.
const OLDEST_FORMAT: u16 = 2;

/// Number of stored reasons for unreadable segments; all of them are counted.
const REASONS_KEPT: usize = 8;

/// Properties of a run before its frames are read. Times are of the run's own wall clock.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) run: RunFile,
    pub(crate) label: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) points: Vec<String>,
    pub(crate) streams: Vec<StreamInfo>,
    /// Start and end of the time in which every frame was recorded.
    pub(crate) covers_ns: (i64, i64),
    /// Largest error of a stamp.
    pub(crate) uncertainty_ns: u64,
    /// Start and end of each unreadable segment, with the reason.
    pub(crate) holes: Vec<(i64, i64)>,
    pub(crate) reasons: Vec<String>,
    segments: Vec<SegmentPlace>,
    pub(crate) samples: u64,
}

impl Source {
    /// Scans a run: its points, its streams, and its unreadable parts.
    ///
    /// # Errors
    /// The file cannot be read, or has no recording that can be merged with others.
    pub(crate) fn open(path: &Path, label: String) -> Result<Self, MergeError> {
        let run = RunFile::open(path)?;
        if run.info().command == COMMAND {
            return Err(MergeError::Merged(path.display().to_string()));
        }
        let none = || MergeError::NoRecording(path.display().to_string());
        let totals = run.segment_totals()?.ok_or_else(none)?;
        let facts = run.facts()?;
        let (first_ns, last_ns) = span(&run, (totals.first_ns, totals.last_ns));
        let covers_ns = (
            RECORDED_FROM.of(&facts).map_or(first_ns, Realtime::as_ns),
            RECORDED_TO.of(&facts).map_or(last_ns, Realtime::as_ns),
        );
        let uncertainty_ns = STAMP_UNCERTAINTY.of(&facts).unwrap_or(0);
        let segments = run.segment_places()?;
        let mut source = Self {
            run,
            label,
            facts,
            points: Vec::new(),
            streams: Vec::new(),
            covers_ns,
            uncertainty_ns,
            holes: Vec::new(),
            reasons: Vec::new(),
            segments: Vec::new(),
            samples: totals.samples,
        };
        source.look_through(segments)?;
        if source.points.is_empty() {
            return Err(none());
        }
        Ok(source)
    }

    pub(crate) fn info(&self) -> &RunInfo {
        self.run.info()
    }

    pub(crate) fn state(&self) -> RunState {
        self.run.state()
    }

    fn look_through(&mut self, segments: Vec<SegmentPlace>) -> Result<(), MergeError> {
        let mut reader = SegmentReader::new();
        for (index, segment) in segments.into_iter().enumerate() {
            let why = match self.run.segment(&segment, |octets| self_head(&mut reader, octets)) {
                Ok(Ok(())) => self.take_head(&reader),
                Ok(Err(why)) => Some(why),
                Err(error @ StoreError::Damaged { .. }) => Some(error.to_string()),
                Err(error) => return Err(error.into()),
            };
            match why {
                None => self.segments.push(segment),
                Some(why) => {
                    self.holes.push((segment.first_ns, segment.last_ns));
                    if self.reasons.len() < REASONS_KEPT {
                        self.reasons.push(format!("segment {}: {why}", index + 1));
                    }
                }
            }
        }
        Ok(())
    }

    /// Uses the segment head that was just read; returns the reason if it cannot be used.
    fn take_head(&mut self, reader: &SegmentReader) -> Option<String> {
        let head = reader.segment();
        if head.format < OLDEST_FORMAT {
            return Some("an earlier version wrote it, whose counts are not certain: record again".to_owned());
        }
        if self.points.is_empty() {
            self.points.clone_from(&head.points);
        }
        if head.points != self.points {
            return Some(format!("it has other points ({})", head.points.join(", ")));
        }
        for info in &head.streams {
            match self.streams.iter_mut().find(|known| known.number == info.number) {
                Some(known) => known.rate = info.rate.or(known.rate),
                None => self.streams.push(info.clone()),
            }
        }
        None
    }
}

/// The recorded time of a run that does not state it. For a closed run, its whole duration, because frames not received in it were lost. For another
/// run, the time of its stamps, because its end is unknown.
fn span(run: &RunFile, stamps_ns: (i64, i64)) -> (i64, i64) {
    if run.state() == RunState::Interrupted {
        return stamps_ns;
    }
    let started_ns = run.info().started.as_ns();
    let length_ns = i64::try_from(run.duration_ns()).unwrap_or(i64::MAX);
    (started_ns, started_ns.saturating_add(length_ns))
}

fn self_head(reader: &mut SegmentReader, octets: &[u8]) -> Result<(), String> {
    reader.read_head(octets).map(|_| ()).map_err(|error| error.to_string())
}

/// A frame of a run's recording. Times are of the run's own wall clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunFrame<'a> {
    pub(crate) stream: u16,
    pub(crate) count: u16,
    pub(crate) samples: u16,
    pub(crate) is_restart: bool,
    /// True if its number is not beyond the earlier ones.
    pub(crate) is_late: bool,
    /// Its first available time.
    pub(crate) at_ns: i64,
    block: &'a Block,
    index: usize,
}

impl RunFrame<'_> {
    /// Its time at one of the run's points.
    pub(crate) fn stamp(&self, point: usize) -> Option<i64> {
        Some(self.block.stamps[point][self.index]).filter(|ns| *ns != Block::NO_STAMP)
    }
}

/// Reads a run's frames in the order of recording, a segment at a time.
#[derive(Debug)]
pub(crate) struct Frames {
    reader: SegmentReader,
    next_segment: usize,
    index: usize,
    /// Index in the segment, by number of the stream.
    places: Vec<Option<usize>>,
    /// The number after the newest one, by number of the stream.
    next_number: Vec<u64>,
    unread: bool,
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self {
            reader: SegmentReader::new(),
            next_segment: 0,
            index: 0,
            places: Vec::new(),
            next_number: Vec::new(),
            unread: true,
        }
    }

    /// The next frame; `None` at the end.
    pub(crate) fn peek(&mut self, source: &Source) -> Result<Option<RunFrame<'_>>, MergeError> {
        loop {
            let length = if self.unread {
                0
            } else {
                self.reader.segment().block.len()
            };
            if self.index >= length {
                if !self.load(source)? {
                    return Ok(None);
                }
                continue;
            }
            if self.first_instant().is_some() {
                break;
            }
            // A frame without any time cannot be placed.
            self.index += 1;
        }
        let (Some(at_ns), segment) = (self.first_instant(), self.reader.segment()) else {
            return Ok(None);
        };
        let (block, index) = (&segment.block, self.index);
        let (stream, flags) = (block.stream[index], block.flags[index]);
        let place = self.places.get(usize::from(stream)).copied().flatten();
        let info = place.and_then(|place| segment.streams.get(place));
        Ok(Some(RunFrame {
            stream,
            count: info.map_or(0, |info| info.count(block.number[index], flags)),
            samples: block.samples[index],
            is_restart: flags & flag::RESTART != 0,
            is_late: flags & (flag::RESTART | flag::OUT_OF_RANGE) == 0
                && self
                    .next_number
                    .get(usize::from(stream))
                    .is_some_and(|next| block.number[index] < *next),
            at_ns,
            block,
            index,
        }))
    }

    /// Advances past the next frame.
    pub(crate) fn step(&mut self) {
        let block = &self.reader.segment().block;
        let (stream, number) = (usize::from(block.stream[self.index]), block.number[self.index]);
        let (flags, samples) = (block.flags[self.index], u64::from(block.samples[self.index]));
        self.index += 1;
        if flags & flag::OUT_OF_RANGE != 0 {
            return;
        }
        if self.next_number.len() <= stream {
            self.next_number.resize(stream + 1, 0);
        }
        let next = &mut self.next_number[stream];
        let after = number.saturating_add(samples);
        *next = if flags & flag::RESTART != 0 {
            after
        } else {
            after.max(*next)
        };
    }

    fn first_instant(&self) -> Option<i64> {
        let columns = &self.reader.segment().block.stamps;
        let mut instants = columns.iter().map(|column| column[self.index]);
        instants.find(|ns| *ns != Block::NO_STAMP)
    }

    fn load(&mut self, source: &Source) -> Result<bool, MergeError> {
        let Some(place) = source.segments.get(self.next_segment) else {
            return Ok(false);
        };
        self.next_segment += 1;
        self.index = 0;
        let read = source
            .run
            .segment(place, |octets| self.reader.read(octets).map(|_| ()))?;
        // The head was valid before, so an error in the rest is one that the checksum should have caught.
        read.map_err(|error| MergeError::Segment(source.label.clone(), error))?;
        self.unread = false;
        self.places.clear();
        for (place, info) in self.reader.segment().streams.iter().enumerate() {
            let number = usize::from(info.number);
            if self.places.len() <= number {
                self.places.resize(number + 1, None);
            }
            self.places[number] = Some(place);
        }
        Ok(true)
    }
}
