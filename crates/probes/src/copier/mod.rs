//! Captures the frames that a probe sends and receives, without delaying it.
//!
//! The measuring thread copies each frame into a ring. A separate thread keeps the last seconds of them, and writes those around
//! a spike, or all, into a pcapng file with nanosecond stamps, in the order of the stamps. Sent frames are stamped just before
//! the send call, received ones by the kernel. Frames that do not fit the ring are counted and are missing in the file; the
//! measuring thread never waits for room.

mod entry;
mod held;
mod keeper;
#[cfg(test)]
mod tests;

use crate::frame::Frame;
use entry::{EntryKind, RingEntry};
use keeper::{Keeper, Kept, MOST_HELD, MOST_KEPT, Sources};
use rtrb::{Consumer, Producer, RingBuffer};
use run::SpikeSignal;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use sys::packet::RxStamp;
use units::Monotonic;

/// Bytes of the ring: a tenth of a second at 144 000 frames a second, far longer than the writing thread sleeps.
const RING_BYTES: usize = 4 << 20;

/// Bytes of a further ring: a hundred long messages.
const BESIDE_BYTES: usize = 256 << 10;

/// Choice of the frames to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All frames.
    All,
    /// Frames this many ns before and after each spike or loss, and before the end.
    Around(u64),
}

/// Settings of a capture.
#[derive(Debug, Clone)]
pub struct CaptureSpec {
    /// Path of the file.
    pub path: PathBuf,
    /// Choice of the frames to write.
    pub extent: Extent,
    /// Name of the interface for the file.
    pub interface: String,
    /// Name and version of the program, for the file.
    pub application: String,
    /// Signal of spikes and losses.
    pub signal: SpikeSignal,
}

/// The measuring thread's end.
#[derive(Debug)]
pub struct FrameCopier {
    ring: Producer<u8>,
    missed: Arc<AtomicU64>,
    further: mpsc::Sender<Consumer<u8>>,
}

/// A running capture.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    is_over: Arc<AtomicBool>,
    missed: Arc<AtomicU64>,
    thread: JoinHandle<std::io::Result<Kept>>,
}

/// Result of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Path of the file.
    pub path: PathBuf,
    /// Frames in the file.
    pub written: u64,
    /// Number of frames that are missing because the ring was full.
    pub missed: u64,
    /// Number of frames that are missing because more came within the requested time than are kept in memory; exact to a
    /// thousandth of that time.
    pub left_out: u64,
    /// Number of frames with a stamp before that of the frame before: they came too late to be put in order, or the wall clock
    /// was set back.
    pub out_of_order: u64,
}

impl fmt::Display for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "capture {}: {} frames", self.path.display(), self.written)?;
        if self.missed > 0 {
            let missed = self.missed;
            write!(f, "; {missed} are missing: they came faster than they were written")?;
        }
        if self.left_out > 0 {
            write!(
                f,
                "; about {} of the requested time are missing, since at most {} MiB are kept: ask for less with \
                 --capture-around, or for everything with --capture-all",
                self.left_out,
                MOST_KEPT >> 20
            )?;
        }
        if self.out_of_order > 0 {
            let times = self.out_of_order;
            write!(
                f,
                "; stamps go back {times} times: frames came too late to be put in order, or the clock was set back"
            )?;
        }
        Ok(())
    }
}

/// Reason why the capture is missing or incomplete.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write the capture: {why}", path.display())]
pub struct CaptureError {
    /// Path of the file.
    pub path: PathBuf,
    /// Error of the system.
    pub why: std::io::Error,
}

/// Makes the file, and starts the thread that writes it.
///
/// # Errors
/// The file cannot be made.
pub fn start(spec: &CaptureSpec) -> Result<(FrameCopier, Capture), CaptureError> {
    let error = |why| CaptureError {
        path: spec.path.clone(),
        why,
    };
    let file = std::fs::File::create(&spec.path).map_err(error)?;
    let output = std::io::BufWriter::with_capacity(1 << 16, file);
    let writer = capture::PcapngWriter::new(output, &spec.application, &spec.interface).map_err(error)?;
    let (copier, sources) = both_ends();
    let missed = Arc::clone(&copier.missed);
    let is_over = Arc::new(AtomicBool::new(false));
    let most_held = match spec.extent {
        Extent::All => MOST_HELD,
        Extent::Around(_) => MOST_KEPT,
    };
    let mut keeper = Keeper::new(sources, writer, spec.extent, spec.signal.clone(), most_held);
    let (over, lost) = (Arc::clone(&is_over), Arc::clone(&missed));
    let thread = std::thread::spawn(move || {
        sys::thread::set_name("triptime-copy");
        while !over.load(Ordering::Acquire) {
            keeper.take()?;
            std::thread::sleep(keeper::LOOK);
        }
        keeper.finish(lost.load(Ordering::Acquire))
    });
    let capture = Capture {
        path: spec.path.clone(),
        is_over,
        missed,
        thread,
    };
    Ok((copier, capture))
}

/// Makes a copier, and the end that frames are read from.
fn both_ends() -> (FrameCopier, Sources) {
    let (ring, source) = RingBuffer::new(RING_BYTES);
    let (further, made) = mpsc::channel();
    let copier = FrameCopier {
        ring,
        missed: Arc::default(),
        further,
    };
    let sources = Sources {
        known: vec![source],
        further: made,
    };
    (copier, sources)
}

impl Capture {
    /// Ends the capture after the measurement: writes the held frames and closes the file.
    ///
    /// # Errors
    /// The file could not be written; the part already written is kept.
    pub fn finish(self) -> Result<Captured, CaptureError> {
        self.is_over.store(true, Ordering::Release);
        let outcome = self
            .thread
            .join()
            .unwrap_or_else(|_| Err(std::io::Error::other("the writing thread panicked")));
        match outcome {
            Ok(Kept {
                written,
                left_out,
                out_of_order,
            }) => Ok(Captured {
                path: self.path,
                written,
                missed: self.missed.load(Ordering::Acquire),
                left_out,
                out_of_order,
            }),
            Err(why) => Err(CaptureError { path: self.path, why }),
        }
    }
}

impl FrameCopier {
    /// Makes a copier for another thread that sends few frames; it copies into the same capture.
    pub(crate) fn beside(&self) -> Self {
        let (ring, source) = RingBuffer::new(BESIDE_BYTES);
        // If the capture has ended, the frames are not read any more.
        let _ = self.further.send(source);
        Self {
            ring,
            missed: Arc::clone(&self.missed),
            further: self.further.clone(),
        }
    }

    /// Copies a sent frame; `at` is just before the call.
    pub(crate) fn sent(&mut self, at: Monotonic, frame: &[u8]) {
        let entry = RingEntry::of(EntryKind::Sent, at.as_ns(), None, frame.len(), frame.len());
        self.push(&entry, frame);
    }

    /// Copies a received frame.
    pub(crate) fn received(&mut self, frame: &Frame<'_>) {
        let (kind, at_ns) = match frame.stamp() {
            Some(RxStamp::Software(at) | RxStamp::Socket(at)) => (EntryKind::ReceivedAt, at.as_ns()),
            // The NIC's clock cannot be compared with the stamps of sent frames.
            Some(RxStamp::Hardware(_)) | None => (EntryKind::Received, sys::clock::monotonic().as_ns()),
        };
        let data = frame.data();
        self.push(
            &RingEntry::of(kind, at_ns, frame.taken_tag(), data.len(), frame.original_len()),
            data,
        );
    }

    fn push(&mut self, entry: &RingEntry, data: &[u8]) {
        let header = entry.to_bytes();
        let Ok(mut room) = self.ring.write_chunk(header.len() + data.len()) else {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let (first, second) = room.as_mut_slices();
        scatter(&header, data, first, second);
        room.commit_all();
    }
}

/// Writes `header` and `data`, one after the other, over two consecutive slices.
fn scatter(header: &[u8], data: &[u8], first: &mut [u8], second: &mut [u8]) {
    let split = header.len().min(first.len());
    first[..split].copy_from_slice(&header[..split]);
    second[..header.len() - split].copy_from_slice(&header[split..]);
    let (first, second) = (&mut first[split..], &mut second[header.len() - split..]);
    let split = data.len().min(first.len());
    first[..split].copy_from_slice(&data[..split]);
    second[..data.len() - split].copy_from_slice(&data[split..]);
}
