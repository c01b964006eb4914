//! The thread between the two taps.

use super::lane::{Lane, LaneCounts};
use super::rule::Rule;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::SysError;
use sys::tap::{Tap, wait_readable};

/// Longest sleep of the thread until it checks if it must end.
const LOOK_UP: Duration = Duration::from_millis(20);

/// Number of frames from one side before the other side's turn.
const TURN: usize = 64;

/// Longest frame, including a VLAN tag.
const LONGEST_FRAME: usize = 9_022;

/// A direction through the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the test set to the device under test.
    ToDevice,
    /// From the device under test to the test set.
    ToTestSet,
}

/// Side of the wire on which a frame is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// As the frame entered.
    Entering,
    /// As the frame left.
    Leaving,
}

/// Function that observes every frame.
pub type Observer = Box<dyn FnMut(Direction, Side, &[u8]) + Send>;

/// Faults of a wire.
#[derive(Default)]
pub struct Faults {
    /// Rules for frames from the test set to the device under test.
    pub to_device: Vec<Rule>,
    /// Rules for frames from the device under test to the test set.
    pub to_test_set: Vec<Rule>,
    /// Seed of the random choices.
    pub seed: u64,
    /// Function that observes every frame, on the wire's thread.
    pub observer: Option<Observer>,
}

/// A wire between two taps. Dropping it ends it, and drops the frames that it still has.
#[derive(Debug)]
pub struct Wire {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    to_device: Mutex<Lane>,
    to_test_set: Mutex<Lane>,
    end: AtomicBool,
    /// The error that ended the thread early.
    broken_by: OnceLock<SysError>,
}

impl Wire {
    /// Starts the thread.
    pub(crate) fn start(test_set: Tap, device: Tap, faults: Faults) -> Result<Self, SysError> {
        let shared = Arc::new(Shared {
            to_device: Mutex::new(Lane::new(faults.to_device, faults.seed)),
            // A different seed, so that the two directions choose different frames.
            to_test_set: Mutex::new(Lane::new(faults.to_test_set, !faults.seed)),
            end: AtomicBool::new(false),
            broken_by: OnceLock::new(),
        });
        let mut carrier = Carrier {
            shared: Arc::clone(&shared),
            test_set,
            device,
            observer: faults.observer,
            buffer: vec![0; LONGEST_FRAME],
            out: Vec::new(),
        };
        let thread = std::thread::Builder::new()
            .name("fault-wire".into())
            .spawn(move || {
                if let Err(error) = carrier.run() {
                    let _ = carrier.shared.broken_by.set(error);
                }
            })
            .map_err(|error| SysError::Refused {
                operation: "start",
                target: "a thread".into(),
                errno: rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::AGAIN),
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Present counts of one direction.
    pub fn counts(&self, way: Direction) -> LaneCounts {
        self.shared.lane(way).counts().clone()
    }

    /// Reason why the wire no longer carries frames; `None` if it does.
    pub fn broken(&self) -> Option<String> {
        if let Some(error) = self.shared.broken_by.get() {
            return Some(error.to_string());
        }
        let ended = self.thread.as_ref().is_some_and(JoinHandle::is_finished);
        ended.then(|| "its thread panicked".to_owned())
    }

    /// Ends the wire, and reports its error, if there was one.
    ///
    /// # Errors
    /// An error of reading from or writing to the taps.
    pub fn end(mut self) -> Result<(), SysError> {
        self.shared.end.store(true, Ordering::Relaxed);
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
        self.shared.broken_by.get().cloned().map_or(Ok(()), Err)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The panic message was already printed, and a second panic here would abort the
            // process.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lane(&self, way: Direction) -> MutexGuard<'_, Lane> {
        let lane = match way {
            Direction::ToDevice => &self.to_device,
            Direction::ToTestSet => &self.to_test_set,
        };
        lane.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parts that the thread owns.
struct Carrier {
    shared: Arc<Shared>,
    test_set: Tap,
    device: Tap,
    observer: Option<Observer>,
    buffer: Vec<u8>,
    out: Vec<Vec<u8>>,
}

impl Carrier {
    fn run(&mut self) -> Result<(), SysError> {
        while !self.shared.end.load(Ordering::Relaxed) {
            let timeout = self.until_due().map_or(LOOK_UP, |due| due.min(LOOK_UP));
            wait_readable(&[&self.test_set, &self.device], Some(timeout))?;
            for way in [Direction::ToDevice, Direction::ToTestSet] {
                self.let_out_ripe(way)?;
                for _ in 0..TURN {
                    if !self.carry(way)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Time to the next delayed frame.
    fn until_due(&self) -> Option<Duration> {
        let due = [Direction::ToDevice, Direction::ToTestSet]
            .into_iter()
            .filter_map(|way| self.shared.lane(way).next_due())
            .min()?;
        let ns = u64::try_from(due - sys::clock::monotonic()).unwrap_or(0);
        Some(Duration::from_nanos(ns))
    }

    fn let_out_ripe(&mut self, way: Direction) -> Result<(), SysError> {
        let shared = Arc::clone(&self.shared);
        let mut lane = shared.lane(way);
        lane.ripe(sys::clock::monotonic(), &mut self.out);
        self.write(way, &mut lane)
    }

    /// Processes one frame and lets the resulting frames leave; returns false if there was none.
    fn carry(&mut self, way: Direction) -> Result<bool, SysError> {
        let from = match way {
            Direction::ToDevice => &self.test_set,
            Direction::ToTestSet => &self.device,
        };
        let Some(length) = from.read(&mut self.buffer)? else {
            return Ok(false);
        };
        if let Some(observer) = &mut self.observer {
            observer(way, Side::Entering, &self.buffer[..length]);
        }
        let shared = Arc::clone(&self.shared);
        let mut lane = shared.lane(way);
        let now = sys::clock::monotonic();
        lane.enter(self.buffer[..length].to_vec(), now, &mut self.out);
        self.write(way, &mut lane)?;
        Ok(true)
    }

    /// Writes while the lane is locked, so that the counts only include delivered frames.
    fn write(&mut self, way: Direction, lane: &mut Lane) -> Result<(), SysError> {
        let to = match way {
            Direction::ToDevice => &self.device,
            Direction::ToTestSet => &self.test_set,
        };
        for frame in self.out.drain(..) {
            if !to.write(&frame)? {
                lane.refused();
            } else if let Some(observer) = &mut self.observer {
                observer(way, Side::Leaving, &frame);
            }
        }
        Ok(())
    }
}
