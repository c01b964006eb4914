//! The measuring thread's end of a ring: it pushes records and never waits.

use crate::delays::Turns;
use crate::labels::{Labels, LabelsAt};
use crate::signal::SpikeSignal;
use crate::tape::Tape;
use model::{Counter, EventKind, QuestionKind, SeriesSpec, StreamId};
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use sys::memory::mapping_large_blocks;
use sys::thread::Standing;
use units::Monotonic;

/// Length in bytes of the longest label of an announced series: an svID with its prefix.
pub const LABEL_BYTES: usize = model::MAX_NAME;

/// Number of stamps of a received frame on a tape: the kernel's and the application's receive instant.
pub const RECEIVED_POINTS: usize = 2;

/// One record from a measuring thread. Fixed size, no pointers.
#[derive(Debug, Clone, Copy)]
pub enum FeedItem {
    /// `repeat` samples of `value_ns` (an SV frame with several ASDUs counts as that many samples).
    Sample {
        /// Slot of the series.
        slot: u16,
        /// How many samples share the value.
        repeat: u16,
        /// CPU it was measured on.
        cpu: u16,
        /// Instant of the sample.
        at: Monotonic,
        /// The sample, in ns.
        value_ns: i64,
        /// Cycle, frame or sample number.
        sequence: u64,
    },
    /// Adds to a counter; `lost` and `missed` also add to `expected`.
    Count {
        /// Slot of the series.
        slot: u16,
        /// The counter.
        counter: Counter,
        /// Instant of the event that is counted.
        at: Monotonic,
        /// The number to add.
        n: u64,
    },
    /// An entry for the event list; the probe's [`Describe`] puts it into words.
    Notice {
        /// Slot of the affected series.
        slot: u16,
        /// Code in the probe's own numbering.
        code: u16,
        /// Instant of the event.
        at: Monotonic,
        /// First figure.
        a: u64,
        /// Second figure.
        b: u64,
    },
}

/// One of the notices of a probe, which defines an enum of them.
pub trait Notice: Copy {
    /// Code in the ring, in the probe's own numbering.
    fn code(self) -> u16;
}

/// Translates a probe's slots and notices into words, in the recorder's thread.
pub trait Describe: Send {
    /// The series for slot `slot`, announced as `label`.
    fn series(&self, slot: u16, label: &str) -> SeriesSpec;

    /// The threshold of slot `slot` in ns, used if neither its series nor a limit sets one.
    fn threshold_otherwise(&self, _slot: u16) -> Option<u64> {
        None
    }

    /// The event for the notice with this code about the series `name`; `None` for a code that the probe does not have.
    fn notice(&self, _code: u16, _name: &str, _a: u64, _b: u64) -> Option<(EventKind, String)> {
        None
    }

    /// The question about a late sample of `slot`; `None` if its time was not spent on one CPU, or is too short to explain.
    fn question(&self, _slot: u16, _value_ns: i64) -> Option<QuestionKind> {
        None
    }
}

/// A new series, with the label or the stream that it is named after.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Announcement {
    pub(crate) slot: u16,
    pub(crate) of: Announced,
}

/// Identity of an announced series.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Announced {
    Label { length: u8, octets: [u8; LABEL_BYTES] },
    Stream(StreamId),
}

/// The recorder's end of a ring.
pub(crate) struct Source {
    pub(crate) records: Consumer<FeedItem>,
    pub(crate) announcements: Consumer<Announcement>,
    pub(crate) overruns: Arc<[AtomicU64]>,
    pub(crate) described: Described,
    pub(crate) thread: ThreadNumber,
}

impl Source {
    /// True if the measuring thread has ended and all its records are read.
    pub(crate) fn is_over(&self) -> bool {
        self.records.is_abandoned() && self.records.is_empty()
    }

    /// Frees the memory of the ring once its thread has ended: the next step of a plan needs memory for its own.
    pub(crate) fn free_ring(&mut self) {
        if self.is_over() && self.records.buffer().capacity() > 0 {
            (_, self.records) = RingBuffer::new(0);
        }
    }
}

/// Description of the series of a feed, apart from their samples.
pub(crate) struct Described {
    pub(crate) describe: Box<dyn Describe>,
    /// Settings shared by everything that is measured at the same time.
    pub(crate) settings: Vec<(String, String)>,
    /// Names of streams at the place where they are measured.
    pub(crate) labels: LabelsAt,
    /// Number of the step in which they are measured.
    pub(crate) step: usize,
}

impl Described {
    /// Name of an announced series after the name of its kind.
    fn label(&self, of: &Announced) -> String {
        match of {
            Announced::Label { length, octets } => {
                String::from_utf8_lossy(octets.get(..usize::from(*length)).unwrap_or_default()).into_owned()
            }
            Announced::Stream(stream) => self.labels.of(stream),
        }
    }

    /// The announced series.
    pub(crate) fn series(&self, Announcement { slot, of }: Announcement) -> SeriesSpec {
        let label = self.label(&of);
        let mut spec = self.describe.series(slot, &label);
        spec.settings.extend(self.settings.iter().cloned());
        spec
    }
}

/// CPU and kernel thread number of the measuring thread, once it runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThreadNumber(Arc<Known>);

/// Facts of a measuring thread.
#[derive(Debug, Default)]
struct Known {
    /// Its CPU and its thread number in one word.
    both: AtomicU64,
    /// Its policy and CPUs when it began.
    began_as: OnceLock<Standing>,
    /// Its turns on the CPU until it began.
    began_with: OnceLock<Turns>,
    /// True if it no longer measures.
    over: AtomicBool,
}

impl ThreadNumber {
    fn store(&self, cpu: u32, thread: i32) {
        if let Some(standing) = sys::thread::standing(thread) {
            let _ = self.0.began_as.set(standing);
        }
        if let Some(turns) = Turns::own() {
            let _ = self.0.began_with.set(turns);
        }
        let thread = u64::try_from(thread).unwrap_or(0);
        self.0.both.store((u64::from(cpu) << 32) | thread, Ordering::Release);
    }

    /// Its policy and CPUs when it began.
    pub(crate) fn began_as(&self) -> Option<&Standing> {
        self.0.began_as.get()
    }

    /// Its turns on the CPU until it began.
    pub(crate) fn began_with(&self) -> Option<Turns> {
        self.0.began_with.get().copied()
    }

    /// Its present policy and CPUs; `None` if it does not measure.
    pub(crate) fn runs_as(&self) -> Option<Standing> {
        let (_, thread) = self.load()?;
        let standing = sys::thread::standing(thread)?;
        // Checked afterwards: the number may meanwhile belong to another thread, and then the answer is discarded.
        (!self.0.over.load(Ordering::Acquire)).then_some(standing)
    }

    /// CPU and thread number.
    pub(crate) fn load(&self) -> Option<(u32, i32)> {
        let both = self.0.both.load(Ordering::Acquire);
        let thread = i32::try_from(both & 0xffff_ffff).ok().filter(|thread| *thread > 0)?;
        Some((u32::try_from(both >> 32).unwrap_or(0), thread))
    }
}

/// A message outside the ring, sent when the measurement is over.
pub(crate) enum AfterWord {
    Usage {
        feed: usize,
        name: String,
        minor_faults: u64,
        major_faults: u64,
        wrong_cpu: Option<u32>,
        /// Its policy and CPUs at its end.
        ended_as: Option<Standing>,
        /// Its turns on the CPU until its end.
        ended_with: Option<Turns>,
    },
}

/// Writes every place of a ring once: a page that was never written, or was shared with a child process since, faults at its first
/// write, even if memory is locked.
fn touch(records: &mut Producer<FeedItem>, source: &mut Consumer<FeedItem>) {
    let blank = FeedItem::Count {
        slot: 0,
        counter: Counter::Late,
        at: Monotonic::from_ns(0),
        n: 0,
    };
    while records.push(blank).is_ok() {}
    while source.pop().is_ok() {}
}

/// The CPU's number as it fits a record.
fn short(cpu: u32) -> u16 {
    u16::try_from(cpu).unwrap_or(u16::MAX)
}

/// The measuring thread's end of its ring.
pub struct Feed {
    records: Producer<FeedItem>,
    announcements: Producer<Announcement>,
    overruns: Arc<[AtomicU64]>,
    /// CPU on which the thread measures; `None`: any CPU that the scheduler chooses.
    cpu: Option<u16>,
    number: usize,
    after: Sender<AfterWord>,
    thread: ThreadNumber,
    tape: Option<Tape<RECEIVED_POINTS>>,
    signal: SpikeSignal,
}

impl Feed {
    /// Makes a feed of `capacity` records for up to `slots` series, and the recorder's end of it.
    pub(crate) fn new(
        capacity: usize,
        slots: usize,
        described: Described,
        number: usize,
        after: Sender<AfterWord>,
        signal: SpikeSignal,
    ) -> (Self, Source) {
        // A large ring gets a mapping of its own: in the heap, smaller blocks would fill the room of the last step's ring, and the
        // heap would grow with the next.
        let (mut records, mut record_source) = mapping_large_blocks(|| RingBuffer::new(capacity));
        touch(&mut records, &mut record_source);
        let (announcements, announcement_source) = RingBuffer::new(slots);
        let overruns: Arc<[AtomicU64]> = (0..slots).map(|_| AtomicU64::new(0)).collect();
        let source = Source {
            records: record_source,
            announcements: announcement_source,
            overruns: Arc::clone(&overruns),
            described,
            thread: ThreadNumber::default(),
        };
        let thread = source.thread.clone();
        (
            Self {
                records,
                announcements,
                overruns,
                cpu: None,
                number,
                after,
                thread,
                tape: None,
                signal,
            },
            source,
        )
    }

    /// Number of the feed in the run.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Sets the CPU on which the following samples are measured. Until this is called, each sample carries the CPU on which it was
    /// pushed.
    pub fn set_cpu(&mut self, cpu: u32) {
        self.cpu = Some(short(cpu));
    }

    /// Records every sample on `tape` as well.
    pub fn set_tape(&mut self, tape: Tape<RECEIVED_POINTS>) {
        self.tape = Some(tape);
    }

    /// The tape, if every sample is recorded.
    #[inline]
    pub fn tape(&mut self) -> Option<&mut Tape<RECEIVED_POINTS>> {
        self.tape.as_mut()
    }

    /// Makes slot `slot` a series; must be called before its first record. Labels over 129 bytes are cut.
    pub fn announce(&mut self, slot: u16, label: &str) {
        self.announce_bytes(slot, label.as_bytes());
    }

    /// Same as [`Feed::announce`], for labels in bytes as received over the wire.
    pub fn announce_bytes(&mut self, slot: u16, label: &[u8]) {
        let length = label.len().min(LABEL_BYTES);
        let mut octets = [0; LABEL_BYTES];
        octets[..length].copy_from_slice(&label[..length]);
        let length = u8::try_from(length).unwrap_or(u8::MAX);
        self.say(slot, Announced::Label { length, octets });
    }

    /// Same as [`Feed::announce`], for a series of a stream: it gets the label that the stream has in the whole run.
    pub fn announce_stream(&mut self, slot: u16, stream: &StreamId) {
        self.say(slot, Announced::Stream(*stream));
    }

    fn say(&mut self, slot: u16, of: Announced) {
        // There are as many places as slots: the queue can be full only if a slot is announced twice, and then the first name is
        // kept.
        let _ = self.announcements.push(Announcement { slot, of });
    }

    /// Records one sample.
    #[inline]
    pub fn sample(&mut self, slot: u16, at: Monotonic, value_ns: i64, sequence: u64) {
        self.samples(slot, at, value_ns, sequence, 1);
    }

    /// Records `repeat` samples of the same value; none if 0.
    #[inline]
    pub fn samples(&mut self, slot: u16, at: Monotonic, value_ns: i64, sequence: u64, repeat: u16) {
        if repeat == 0 {
            return;
        }
        self.push(
            slot,
            FeedItem::Sample {
                slot,
                repeat,
                cpu: self.cpu.unwrap_or_else(|| short(sys::thread::current_cpu())),
                at,
                value_ns,
                sequence,
            },
        );
    }

    /// Adds `n` to a counter.
    #[inline]
    pub fn count(&mut self, slot: u16, counter: Counter, at: Monotonic, n: u64) {
        if n > 0 {
            self.push(slot, FeedItem::Count { slot, counter, at, n });
        }
    }

    /// Reports that a frame due around `at` is missing so far, so that a capture keeps the frames around it. The loss is decided
    /// and counted later. Costs at most two writes to memory.
    pub fn suspect(&self, at: Monotonic) {
        self.signal.set(at);
    }

    /// Adds an entry to the event list.
    pub fn notice(&mut self, slot: u16, notice: impl Notice, at: Monotonic, a: u64, b: u64) {
        let code = notice.code();
        self.push(slot, FeedItem::Notice { slot, code, at, a, b });
    }

    #[inline]
    fn push(&mut self, slot: u16, record: FeedItem) {
        if self.records.push(record).is_err()
            && let Some(overrun) = self.overruns.get(usize::from(slot))
        {
            overrun.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sets the measuring thread; that thread calls this before it begins.
    pub fn set_thread(&self, cpu: u32) {
        self.thread.store(cpu, sys::thread::number());
    }

    /// Ends the use of this feed by a thread that also measures for another feed. Its page faults and migrations are reported
    /// there.
    pub fn thread_is_over(&self) {
        self.thread.0.over.store(true, Ordering::Release);
    }

    /// Reports the page faults and migrations of the thread, once, after the measurement.
    pub fn thread_ended(&self, name: &str, minor_faults: u64, major_faults: u64, wrong_cpu: Option<u32>) {
        self.thread_is_over();
        let _ = self.after.send(AfterWord::Usage {
            feed: self.number,
            name: name.to_owned(),
            minor_faults,
            major_faults,
            wrong_cpu,
            ended_as: sys::thread::standing(0),
            ended_with: Turns::own(),
        });
    }
}

/// The other end of a feed without a recorder: it keeps the records.
pub struct Heard(Source);

impl Heard {
    /// Makes a feed whose records the caller reads.
    pub fn of(capacity: usize, slots: usize, describe: Box<dyn Describe>) -> (Feed, Self) {
        let (after, _) = std::sync::mpsc::channel();
        let settings = Vec::new();
        let (feed, source) = Feed::new(
            capacity,
            slots,
            Described {
                describe,
                settings,
                labels: Labels::default().for_observer(),
                step: 0,
            },
            0,
            after,
            SpikeSignal::default(),
        );
        (feed, Self(source))
    }

    /// Takes the items pushed since the last call.
    pub fn take(&mut self) -> Vec<FeedItem> {
        std::iter::from_fn(|| self.0.records.pop().ok()).collect()
    }

    /// The slots announced since the last call, with their labels.
    pub fn announced(&mut self) -> Vec<(u16, String)> {
        let next = || self.0.announcements.pop().ok();
        let described = &self.0.described;
        std::iter::from_fn(next)
            .map(|one| (one.slot, described.label(&one.of)))
            .collect()
    }
}
