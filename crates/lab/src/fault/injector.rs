//! The thread between the two taps.

use super::counts::LineCounts;
use super::line::{Line, Out};
use super::rule::{Direction, Rule};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{PipeReader, PipeWriter};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::SysError;
use sys::tap::Tap;
use units::Monotonic;

/// The longest frame an interface of an MTU of 65535 gives.
const LONGEST_FRAME: usize = 65_535 + 18;

/// Frames taken from one side before the other one is looked at.
const BURST: usize = 64;

/// How long a tap that refuses to be read is left alone.
const UNREADABLE: Duration = Duration::from_millis(5);

/// Where on its way a frame is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// It came in.
    Came,
    /// It goes on, as it is now.
    Passed,
}

/// Told of every frame, on the injector's thread.
pub type Observer = Box<dyn FnMut(Direction, Point, &[u8]) + Send>;

/// An injector at work. Dropping it ends the thread, and with it both taps; frames still held back are gone then.
#[derive(Debug)]
pub struct Injector {
    counts: Arc<Mutex<[LineCounts; 2]>>,
    /// Dropped to end the thread.
    go_on: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Injector {
    /// Joins the test set's tap and the device's by a thread of normal policy that applies `rules`; `seed` decides what is left
    /// to chance. Of the rules that choose a frame, the first one is applied.
    ///
    /// # Errors
    /// A rule that cannot be, or what the kernel refused.
    pub fn start(
        test_set: Tap,
        device: Tap,
        rules: &[Rule],
        seed: u64,
        observer: Option<Observer>,
    ) -> Result<Self, SysError> {
        for (number, rule) in rules.iter().enumerate() {
            rule.check().map_err(|error| SysError::Invalid {
                what: format!("fault {}: {error}", number + 1),
            })?;
        }
        let failed = |what: &str, error: &std::io::Error| SysError::Invalid {
            what: format!("cannot {what} for the fault injector: {error}"),
        };
        let (stopped, go_on) = std::io::pipe().map_err(|error| failed("make a pipe", &error))?;
        let lines = Direction::BOTH.map(|direction| Line::new(direction, rules, seed));
        let counts = Arc::new(Mutex::new(lines.each_ref().map(|line| line.counts().clone())));
        let mut wire = Wire {
            test_set,
            device,
            lines,
            observer,
            counts: Arc::clone(&counts),
        };
        let thread = std::thread::Builder::new()
            .name("triptime-faults".to_owned())
            .spawn(move || wire.run(&stopped))
            .map_err(|error| failed("start a thread", &error))?;
        Ok(Self {
            counts,
            go_on: Some(go_on),
            thread: Some(thread),
        })
    }

    /// What became of the frames that went this way so far.
    pub fn counts(&self, direction: Direction) -> LineCounts {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts[direction.index()].clone()
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        self.go_on = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Wire {
    test_set: Tap,
    device: Tap,
    lines: [Line; 2],
    observer: Option<Observer>,
    counts: Arc<Mutex<[LineCounts; 2]>>,
}

impl Wire {
    fn run(&mut self, stopped: &PipeReader) {
        let mut frame = vec![0; LONGEST_FRAME];
        while let Ok(true) = self.wait(stopped) {
            for direction in Direction::BOTH {
                if self.move_on(direction, &mut frame).is_err() {
                    // One of the interfaces was removed or cannot be read for the moment.
                    std::thread::sleep(UNREADABLE);
                }
            }
            let counts = self.lines.each_ref().map(|line| line.counts().clone());
            *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = counts;
        }
    }

    /// Sleeps until a tap has a frame or a frame held back is due; false when the thread is to end.
    fn wait(&self, stopped: &PipeReader) -> Result<bool, Errno> {
        let due = self.lines.iter().filter_map(Line::next_due).min();
        let timeout = due.map(until);
        let mut fds = [
            PollFd::new(&self.test_set, PollFlags::IN),
            PollFd::new(&self.device, PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => Ok(fds[2].revents().is_empty()),
            Err(Errno::INTR) => Ok(true),
            Err(errno) => Err(errno),
        }
    }

    /// Takes what came one way, and lets go on what is due.
    fn move_on(&mut self, direction: Direction, buffer: &mut [u8]) -> Result<(), SysError> {
        let (from, to) = match direction {
            Direction::ToDevice => (&self.test_set, &self.device),
            Direction::ToTestSet => (&self.device, &self.test_set),
        };
        let line = &mut self.lines[direction.index()];
        let mut far = FarSide {
            tap: to,
            direction,
            observer: &mut self.observer,
        };
        for _ in 0..BURST {
            let Some(octets) = from.receive(buffer)? else { break };
            far.tell(Point::Came, &buffer[..octets]);
            line.take(&buffer[..octets], sys::clock::monotonic(), &mut far);
        }
        line.release(sys::clock::monotonic(), &mut far);
        Ok(())
    }
}

/// Time left until `due`.
fn until(due: Monotonic) -> Timespec {
    let left_ns = (due - sys::clock::monotonic()).max(0);
    Timespec {
        tv_sec: left_ns / 1_000_000_000,
        tv_nsec: left_ns % 1_000_000_000,
    }
}

struct FarSide<'a> {
    tap: &'a Tap,
    direction: Direction,
    observer: &'a mut Option<Observer>,
}

impl FarSide<'_> {
    fn tell(&mut self, point: Point, frame: &[u8]) {
        if let Some(observer) = self.observer {
            observer(self.direction, point, frame);
        }
    }
}

impl Out for FarSide<'_> {
    fn send(&mut self, frame: &[u8]) -> bool {
        let taken = self.tap.send(frame).is_ok();
        if taken {
            self.tell(Point::Passed, frame);
        }
        taken
    }
}
