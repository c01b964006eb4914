//! The measuring thread's end: push and forget.

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

/// Longest label a series can be announced with: an svID, and what a prefix adds.
pub const LABEL_BYTES: usize = model::MAX_NAME;

/// Points of a received frame on a tape: when the kernel, and when the application had it.
pub const RECEIVED_POINTS: usize = 2;

/// One thing a measuring thread has to say. Fixed size, no pointers.
#[derive(Debug, Clone, Copy)]
pub enum FeedItem {
    /// `repeat` samples of `value_ns` (an SV frame with several ASDUs is as many samples).
    Sample {
        /// Slot of the series.
        slot: u16,
        /// How many samples share the value.
        repeat: u16,
        /// CPU it was measured on.
        cpu: u16,
        /// When.
        at: Monotonic,
        /// The sample.
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
        /// When.
        at: Monotonic,
        /// How many.
        n: u64,
    },
    /// Something for the event list; the probe's [`Describe`] puts it into words.
    Notice {
        /// Slot of the series it touches.
        slot: u16,
        /// Its code, in the probe's own numbering.
        code: u16,
        /// When.
        at: Monotonic,
        /// First figure.
        a: u64,
        /// Second figure.
        b: u64,
    },
}

/// One of the notices of a probe, which has an enum of them.
pub trait Notice: Copy {
    /// Its number in the ring, in the probe's own numbering.
    fn code(self) -> u16;
}

/// Puts a probe's slots and notices into words, on the recorder's side.
pub trait Describe: Send {
    /// The series that slot `slot`, announced as `label`, stands for.
    fn series(&self, slot: u16, label: &str) -> SeriesSpec;

    /// The threshold of slot `slot` in ns where neither its series asks for one nor anything judges it.
    fn threshold_otherwise(&self, _slot: u16) -> Option<u64> {
        None
    }

    /// The event for the notice of this code about the series `name`; `None` of a code that the probe does not have.
    fn notice(&self, _code: u16, _name: &str, _a: u64, _b: u64) -> Option<(EventKind, String)> {
        None
    }

    /// The question about a late sample of `slot`; `None` where its time is not one CPU's, or too short to ask.
    fn question(&self, _slot: u16, _value_ns: i64) -> Option<QuestionKind> {
        None
    }
}

/// A new series, by what it is of.
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

/// The recorder's end of a feed.
pub(crate) struct Source {
    pub(crate) records: Consumer<FeedItem>,
    pub(crate) announcements: Consumer<Announcement>,
    pub(crate) overruns: Arc<[AtomicU64]>,
    pub(crate) described: Described,
    pub(crate) thread: ThreadNumber,
}

impl Source {
    /// True if the measuring thread has ended, and everything it said is taken in.
    pub(crate) fn is_over(&self) -> bool {
        self.records.is_abandoned() && self.records.is_empty()
    }

    /// Gives the memory of the ring back, once nothing comes any more: the next step of a plan needs it for its own.
    pub(crate) fn free_ring(&mut self) {
        if self.is_over() && self.records.buffer().capacity() > 0 {
            (_, self.records) = RingBuffer::new(0);
        }
    }
}

/// Description of the series of a feed, beside what is measured.
pub(crate) struct Described {
    pub(crate) describe: Box<dyn Describe>,
    /// Settings that they share with all that is measured meanwhile.
    pub(crate) settings: Vec<(String, String)>,
    /// Names of streams where they are measured.
    pub(crate) labels: LabelsAt,
    /// Number of the step that they are measured in.
    pub(crate) step: usize,
}

impl Described {
    /// Name of an announced series behind the name of its kind.
    fn label(&self, of: &Announced) -> String {
        match of {
            Announced::Label { length, octets } => {
                String::from_utf8_lossy(octets.get(..usize::from(*length)).unwrap_or_default()).into_owned()
            }
            Announced::Stream(stream) => self.labels.of(stream),
        }
    }

    /// The series that is announced.
    pub(crate) fn series(&self, Announcement { slot, of }: Announcement) -> SeriesSpec {
        let label = self.label(&of);
        let mut spec = self.describe.series(slot, &label);
        spec.settings.extend(self.settings.iter().cloned());
        spec
    }
}

/// The measuring thread as the kernel knows it, once it runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThreadNumber(Arc<Known>);

/// Facts of a measuring thread.
#[derive(Debug, Default)]
struct Known {
    /// Its CPU and its number.
    both: AtomicU64,
    /// How it ran when it began.
    began_as: OnceLock<Standing>,
    /// The turns that it had had on its CPU when it began.
    began_with: OnceLock<Turns>,
    /// It measures no more.
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

    /// How it ran when it began.
    pub(crate) fn began_as(&self) -> Option<&Standing> {
        self.0.began_as.get()
    }

    /// The turns that it had had on its CPU when it began.
    pub(crate) fn began_with(&self) -> Option<Turns> {
        self.0.began_with.get().copied()
    }

    /// How it runs now; `None` where it does not measure.
    pub(crate) fn runs_as(&self) -> Option<Standing> {
        let (_, thread) = self.load()?;
        let standing = sys::thread::standing(thread)?;
        // Looked at afterwards: a number that was given to another thread meanwhile is not believed.
        (!self.0.over.load(Ordering::Acquire)).then_some(standing)
    }

    /// CPU and number.
    pub(crate) fn load(&self) -> Option<(u32, i32)> {
        let both = self.0.both.load(Ordering::Acquire);
        let thread = i32::try_from(both & 0xffff_ffff).ok().filter(|thread| *thread > 0)?;
        Some((u32::try_from(both >> 32).unwrap_or(0), thread))
    }
}

/// Words outside the ring, when the measuring is over.
pub(crate) enum AfterWord {
    Usage {
        feed: usize,
        name: String,
        minor_faults: u64,
        major_faults: u64,
        wrong_cpu: Option<u32>,
        /// How it ran at its end.
        ended_as: Option<Standing>,
        /// The turns that it had had on its CPU then.
        ended_with: Option<Turns>,
    },
}

/// Writes every place of a ring once: a page that was never written, or shared with a child since, faults at its first write
/// however much memory is locked.
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

/// The number of a CPU in a record.
fn short(cpu: u32) -> u16 {
    u16::try_from(cpu).unwrap_or(u16::MAX)
}

/// The measuring thread's end of its ring.
pub struct Feed {
    records: Producer<FeedItem>,
    announcements: Producer<Announcement>,
    overruns: Arc<[AtomicU64]>,
    /// Where the thread measures; `None`: wherever the scheduler has it.
    cpu: Option<u16>,
    number: usize,
    after: Sender<AfterWord>,
    thread: ThreadNumber,
    tape: Option<Tape<RECEIVED_POINTS>>,
    signal: SpikeSignal,
}

impl Feed {
    /// A feed of `capacity` records for up to `slots` series, and its other end.
    pub(crate) fn new(
        capacity: usize,
        slots: usize,
        described: Described,
        number: usize,
        after: Sender<AfterWord>,
        signal: SpikeSignal,
    ) -> (Self, Source) {
        // A large one is mapped for itself: in the heap, what was put into the room of the last step's would make the next take more.
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

    /// Its number in the run.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Names the CPU that the samples to come are measured on. Until it is called, each sample tells on which CPU it was pushed.
    pub fn set_cpu(&mut self, cpu: u32) {
        self.cpu = Some(short(cpu));
    }

    /// Records every sample on `tape`, too.
    pub fn set_tape(&mut self, tape: Tape<RECEIVED_POINTS>) {
        self.tape = Some(tape);
    }

    /// The tape, where every sample is recorded.
    #[inline]
    pub fn tape(&mut self) -> Option<&mut Tape<RECEIVED_POINTS>> {
        self.tape.as_mut()
    }

    /// Makes slot `slot` a series; must come before its first record. Labels over 129 octets are cut.
    pub fn announce(&mut self, slot: u16, label: &str) {
        self.announce_bytes(slot, label.as_bytes());
    }

    /// As [`Feed::announce`], for labels as they came over the wire.
    pub fn announce_bytes(&mut self, slot: u16, label: &[u8]) {
        let length = label.len().min(LABEL_BYTES);
        let mut octets = [0; LABEL_BYTES];
        octets[..length].copy_from_slice(&label[..length]);
        let length = u8::try_from(length).unwrap_or(u8::MAX);
        self.say(slot, Announced::Label { length, octets });
    }

    /// As [`Feed::announce`], for a series of a stream: it has the label that the stream has in the whole run.
    pub fn announce_stream(&mut self, slot: u16, stream: &StreamId) {
        self.say(slot, Announced::Stream(*stream));
    }

    fn say(&mut self, slot: u16, of: Announced) {
        // As many places as slots: it can only be full when a slot is announced twice, and then the first name stands.
        let _ = self.announcements.push(Announcement { slot, of });
    }

    /// One sample.
    #[inline]
    pub fn sample(&mut self, slot: u16, at: Monotonic, value_ns: i64, sequence: u64) {
        self.samples(slot, at, value_ns, sequence, 1);
    }

    /// `repeat` samples of the same value; none for 0.
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

    /// A frame of about `at` is missing so far. A capture keeps what was around it; whether the frame is lost is decided, and
    /// counted, later. No more than two writes of memory.
    pub fn suspect(&self, at: Monotonic) {
        self.signal.set(at);
    }

    /// Something for the event list.
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

    /// Says which thread measures; called by that thread before it begins.
    pub fn set_thread(&self, cpu: u32) {
        self.thread.store(cpu, sys::thread::number());
    }

    /// Said by a thread that measures for another feed, too: it has measured. What it suffered is said there.
    pub fn thread_is_over(&self) {
        self.thread.0.over.store(true, Ordering::Release);
    }

    /// Said once, after the measuring: what the thread suffered.
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

/// The other end of a feed without a recorder: what was said.
pub struct Heard(Source);

impl Heard {
    /// A feed that somebody listens to.
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

    /// Items since this was last called.
    pub fn take(&mut self) -> Vec<FeedItem> {
        std::iter::from_fn(|| self.0.records.pop().ok()).collect()
    }

    /// The slots that were announced since this was last asked, with their labels.
    pub fn announced(&mut self) -> Vec<(u16, String)> {
        let next = || self.0.announcements.pop().ok();
        let described = &self.0.described;
        std::iter::from_fn(next)
            .map(|one| (one.slot, described.label(&one.of)))
            .collect()
    }
}
