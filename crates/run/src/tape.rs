//! Every received sample with its stamps, on its way from the measuring thread to sealed segments.
//!
//! The measuring thread pushes fixed-size records into a preallocated ring. The recorder drains it, and packs and seals the records
//! about once a second. A killed process loses at most the records that are not sealed yet. A full ring loses records, never time,
//! and the loss is counted.

use crate::labels::LabelsAt;
use model::fact::{RECORDED_FROM, RECORDED_TO};
use model::{Fact, StreamId};
use recording::{Block, MAX_POINTS, Record, SegmentError, SegmentWriter, StreamInfo};
use rtrb::{Consumer, Producer, RingBuffer};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use store::SealedSegment;
use sys::memory::mapping_large_blocks;
use units::{FreeNames, Realtime};

/// A segment is sealed once it spans this much time.
const SPAN_NS: i64 = 1_000_000_000;

/// A segment is sealed once it holds this many records: the number that a packed column compresses best.
const RECORDS: usize = 1 << 18;

/// A stamp this far before the first of its segment means that the clock was set back; a nearer one belongs to a frame out of
/// order.
const SWAPPED_NS: i64 = 100_000_000;

/// Streams that can be announced between two looks of the recorder, and once more when their rate is known.
const ANNOUNCED: usize = 2 * recording::MAX_STREAMS;

/// One received frame, with an instant at each of `N` points.
#[derive(Debug, Clone, Copy)]
pub struct TapeRecord<const N: usize> {
    /// Number of the stream.
    pub stream: u16,
    /// Number of samples in the frame, numbered consecutively.
    pub samples: u16,
    /// [`recording::flag`]s.
    pub flags: u8,
    /// Number of the first sample.
    pub number: u64,
    /// Instant at each point in ns since 1970; `None` if there is none.
    pub stamps: [Option<i64>; N],
}

/// Layout of a record in the ring: 16 bytes, and 8 for each point.
#[derive(Clone, Copy)]
struct Slot<const N: usize> {
    number: u64,
    stamps: [i64; N],
    stream: u16,
    samples: u16,
    flags: u8,
}

impl<const N: usize> Slot<N> {
    fn of(record: &TapeRecord<N>) -> Self {
        Self {
            number: record.number,
            stamps: record.stamps.map(|stamp| stamp.unwrap_or(Block::NO_STAMP)),
            stream: record.stream,
            samples: record.samples,
            flags: record.flags,
        }
    }

    fn record(&self) -> Record {
        let mut stamps = [None; MAX_POINTS];
        for (stamp, ns) in stamps.iter_mut().zip(self.stamps) {
            *stamp = (ns != Block::NO_STAMP).then_some(ns);
        }
        Record {
            stream: self.stream,
            samples: self.samples,
            flags: self.flags,
            number: self.number,
            stamps,
        }
    }
}

/// Description of a stream by the measuring thread: fixed size, no pointers.
#[derive(Debug, Clone, Copy)]
pub struct TapeStream {
    /// Its number.
    pub number: u16,
    /// The identity under which its series were announced: it gets their label.
    pub announced: StreamId,
    /// The identity of the stream as far as it is known by now.
    pub stream: StreamId,
    /// Samples a second, once known.
    pub rate: Option<u32>,
}

/// First and last instant of the time in which every frame was to be recorded, in ns since 1970; [`Block::NO_STAMP`] while unknown.
struct Span {
    from_ns: AtomicI64,
    to_ns: AtomicI64,
}

impl Span {
    fn unknown() -> Self {
        Self {
            from_ns: AtomicI64::new(Block::NO_STAMP),
            to_ns: AtomicI64::new(Block::NO_STAMP),
        }
    }

    /// Facts about the span since the last look.
    fn take_facts(&self) -> Vec<Fact> {
        let ends = [(&RECORDED_FROM, &self.from_ns), (&RECORDED_TO, &self.to_ns)];
        let said = ends.into_iter().filter_map(|(of, end)| {
            let ns = end.swap(Block::NO_STAMP, Ordering::Relaxed);
            (ns != Block::NO_STAMP).then(|| of.fact(Ok(Realtime::from_ns(ns)), "clock_gettime"))
        });
        said.collect()
    }
}

/// The measuring thread's end of its ring.
pub struct Tape<const N: usize> {
    records: Producer<Slot<N>>,
    streams: Producer<TapeStream>,
    overrun: Arc<AtomicU64>,
    span: Arc<Span>,
}

impl<const N: usize> Tape<N> {
    /// Makes a tape of `capacity` records at `points`, and the recorder's end of it.
    pub(crate) fn new(capacity: usize, points: &[&str], labels: LabelsAt) -> (Self, TapeSource<N>) {
        let (mut records, mut source) = mapping_large_blocks(|| RingBuffer::new(capacity));
        touch(&mut records, &mut source);
        let (streams, stream_source) = RingBuffer::new(ANNOUNCED);
        let overrun = Arc::new(AtomicU64::new(0));
        let span = Arc::new(Span::unknown());
        let source = TapeSource {
            records: source,
            streams: stream_source,
            overrun: Arc::clone(&overrun),
            span: Arc::clone(&span),
            segment: SegmentWriter::new(points),
            labels,
            names: FreeNames::default(),
            given: HashMap::new(),
            begun_ns: None,
            waiting: None,
        };
        let tape = Self {
            records,
            streams,
            overrun,
            span,
        };
        (tape, source)
    }

    /// Declares that every frame from `at` on is recorded.
    pub fn begin(&self, at: Realtime) {
        self.span.from_ns.store(at.as_ns(), Ordering::Relaxed);
    }

    /// Declares that every frame until `at` is recorded.
    pub fn end(&self, at: Realtime) {
        self.span.to_ns.store(at.as_ns(), Ordering::Relaxed);
    }

    /// Announces a stream, or more details of it; must be called before its first record. Do not call it for each frame: the ring
    /// is short.
    pub fn announce(&mut self, stream: TapeStream) {
        if self.streams.push(stream).is_err() {
            self.overrun.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records the contents of a frame.
    #[inline]
    pub fn push(&mut self, record: TapeRecord<N>) {
        if self.records.push(Slot::of(&record)).is_err() {
            self.overrun.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Writes every place of the ring once, so that none faults later.
fn touch<const N: usize>(records: &mut Producer<Slot<N>>, source: &mut Consumer<Slot<N>>) {
    let blank = Slot {
        number: 0,
        stamps: [0; N],
        stream: 0,
        samples: 0,
        flags: 0,
    };
    while records.push(blank).is_ok() {}
    while source.pop().is_ok() {}
}

/// The recorder's end of a tape with any number of points.
pub(crate) trait Reel: Send {
    /// Takes the records from the ring; passes each full segment to `keep`.
    fn drain(&mut self, keep: &mut dyn FnMut(SealedSegment)) -> Result<(), SegmentError>;

    /// Seals the remaining records.
    fn seal(&mut self, keep: &mut dyn FnMut(SealedSegment)) -> Result<(), SegmentError>;

    /// Records lost since the last look.
    fn take_overrun(&self) -> u64;

    /// Facts about the recording since the last look.
    fn take_facts(&self) -> Vec<Fact>;
}

/// The recorder's end of a tape.
pub(crate) struct TapeSource<const N: usize> {
    records: Consumer<Slot<N>>,
    streams: Consumer<TapeStream>,
    overrun: Arc<AtomicU64>,
    span: Arc<Span>,
    segment: SegmentWriter,
    labels: LabelsAt,
    /// Labels of the streams, made to fit a recording.
    names: FreeNames,
    /// Name of each stream, by its number.
    given: HashMap<u16, String>,
    /// First stamp of the segment under construction.
    begun_ns: Option<i64>,
    /// The first record of the next segment.
    waiting: Option<Record>,
}

impl<const N: usize> Reel for TapeSource<N> {
    fn drain(&mut self, keep: &mut dyn FnMut(SealedSegment)) -> Result<(), SegmentError> {
        self.announced()?;
        while let Some(record) = self.next() {
            if self.is_full(&record) {
                self.waiting = Some(record);
                self.seal(keep)?;
                continue;
            }
            if !self.segment.knows(record.stream) {
                // Announced after this look at the announcements, but before its first record.
                self.announced()?;
            }
            self.begun_ns = self.begun_ns.or_else(|| record.stamps.into_iter().flatten().next());
            self.segment.push(&record)?;
        }
        Ok(())
    }

    fn seal(&mut self, keep: &mut dyn FnMut(SealedSegment)) -> Result<(), SegmentError> {
        self.begun_ns = None;
        if self.segment.records() == 0 {
            return Ok(());
        }
        let (first_ns, last_ns) = self.segment.span_ns().unwrap_or((0, 0));
        let samples = self.segment.samples();
        keep(SealedSegment {
            first_ns,
            last_ns,
            samples,
            octets: self.segment.seal()?,
        });
        Ok(())
    }

    fn take_overrun(&self) -> u64 {
        self.overrun.swap(0, Ordering::Relaxed)
    }

    fn take_facts(&self) -> Vec<Fact> {
        self.span.take_facts()
    }
}

/// Bytes of a name without the suffix that makes it unique: a recording keeps 255 in all, and each byte that is not valid text
/// becomes three.
const NAME_OCTETS: usize = 240;

fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(NAME_OCTETS)]
}

impl<const N: usize> TapeSource<N> {
    fn next(&mut self) -> Option<Record> {
        let waiting = self.waiting.take();
        waiting.or_else(|| self.records.pop().ok().map(|slot| slot.record()))
    }

    fn is_full(&self, next: &Record) -> bool {
        let at_ns = next.stamps.into_iter().flatten().next();
        let is_long = at_ns
            .zip(self.begun_ns)
            .is_some_and(|(at, begun)| at.saturating_sub(begun) >= SPAN_NS || begun.saturating_sub(at) > SWAPPED_NS);
        self.segment.records() > 0 && (is_long || self.segment.records() >= RECORDS)
    }

    fn announced(&mut self) -> Result<(), SegmentError> {
        while let Ok(stream) = self.streams.pop() {
            let name = match self.given.get(&stream.number) {
                Some(given) => given.clone(),
                None => self.names.take(cut(&self.labels.of(&stream.announced))),
            };
            self.given.insert(stream.number, name.clone());
            let info = StreamInfo::of(stream.number, name, &stream.stream, stream.rate);
            self.segment.set_stream(info)?;
        }
        Ok(())
    }
}
