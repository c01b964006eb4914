//! Starting measuring threads, all at once, and waiting for them.

use crate::error::ProbeError;
use run::{Feed, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use sys::thread::{Policy, RtThread};
use units::Monotonic;

/// Holds measuring threads back until all of them are ready, then gives them one common start.
#[derive(Debug, Default)]
pub(crate) struct Gate(AtomicI64);

impl Gate {
    /// Lets the threads go; their schedules start at `start`.
    fn open(&self, start: Monotonic) {
        self.0.store(start.as_ns(), Ordering::Release);
    }

    /// Tells the threads that another one could not get ready.
    fn cancel(&self) {
        self.0.store(-1, Ordering::Release);
    }

    /// The common start, or `None` when the probe was called off.
    fn wait(&self) -> Option<Monotonic> {
        loop {
            match self.0.load(Ordering::Acquire) {
                0 => std::thread::sleep(Duration::from_micros(500)),
                ns if ns < 0 => return None,
                ns => return Some(Monotonic::from_ns(ns)),
            }
        }
    }
}

/// Work of a measuring thread from the common start on. Called once; it is `FnMut` so that what it holds is freed after the
/// measuring, by who joins the thread, and not as the last thing the measuring thread is watched doing.
pub(crate) type Body = Box<dyn FnMut(Monotonic, &mut Feed) -> Result<(), ProbeError> + Send>;

/// One measuring thread: what it is called, how it is to run, and what it does.
pub(crate) struct HotThread {
    /// Thread name, at most 15 characters.
    pub name: String,
    /// CPU, policy and stack.
    pub real_time: RtThread,
    /// The measuring itself, given the common start and its feed. Runs until its end or until told to stop.
    pub body: Body,
    /// Where its samples go.
    pub feed: Feed,
    /// True if it gets a table of open files of its own: a system call on a socket then takes some 50 ns less, since the kernel
    /// need not hold the file against other threads. Files that it holds are closed when it has ended.
    pub own_files: bool,
}

impl HotThread {
    /// A thread of this policy, on this CPU if one is named; its samples go to `feed`.
    pub(crate) fn new(name: &str, policy: Policy, cpu: Option<u32>, mut feed: Feed, body: Body) -> Self {
        if let Some(cpu) = cpu {
            feed.set_cpu(cpu);
        }
        Self {
            name: name.to_owned(),
            real_time: RtThread {
                policy,
                cpu,
                stack_bytes: STACK_BYTES,
            },
            body,
            feed,
            own_files: false,
        }
    }
}

/// How a measuring thread ended, and what it held.
type Ended = (Result<(), ProbeError>, Body);

/// A thread beside the measuring ones that is told to end when they have ended.
pub(crate) struct Beside {
    over: Stop,
    thread: JoinHandle<()>,
}

impl Beside {
    /// Starts it, of the calling thread's policy and CPUs; it is woken from `park_timeout` when `over` is set.
    ///
    /// # Errors
    /// The kernel has no thread left.
    pub(crate) fn start(name: &str, work: impl FnOnce(&Stop) + Send + 'static) -> std::io::Result<Self> {
        let over = Stop::new();
        let told = over.clone();
        let thread = std::thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || work(&told))?;
        Ok(Self { over, thread })
    }

    fn end(self) {
        self.over.request();
        self.thread.thread().unpark();
        // A panic of it is a defect of what stands beside the measurement, not of the measurement.
        let _ = self.thread.join();
    }
}

/// Measuring threads under way.
pub struct Running {
    threads: Vec<(String, JoinHandle<Ended>)>,
    /// When the last of them had measured, in ns of `CLOCK_MONOTONIC`; 0 before the first has.
    ended_ns: Arc<AtomicI64>,
    beside: Vec<Beside>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.threads.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

impl Running {
    /// Starts `threads` together. `lead_ns` is the time between the last of them being ready and the common start, or the
    /// function that chooses it.
    ///
    /// # Errors
    /// Refusal of the first thread that could not get ready; no thread is left behind then.
    pub(crate) fn start(threads: Vec<HotThread>, choose_start: impl FnOnce() -> Monotonic) -> Result<Self, ProbeError> {
        let gate = Arc::new(Gate::default());
        let (report, ready) = mpsc::channel();
        let count = threads.len();
        let ended_ns = Arc::new(AtomicI64::new(0));
        let running = Self {
            threads: threads
                .into_iter()
                .map(|thread| {
                    let name = thread.name.clone();
                    let (gate, report, ended_ns) = (Arc::clone(&gate), report.clone(), Arc::clone(&ended_ns));
                    let life = move || {
                        let ended = live(thread, &gate, &report);
                        ended_ns.fetch_max(sys::clock::monotonic().as_ns(), Ordering::Release);
                        ended
                    };
                    let builder = std::thread::Builder::new().stack_size(ALL_STACK_BYTES);
                    (name, builder.spawn(life).expect("the system has a thread left"))
                })
                .collect(),
            ended_ns,
            beside: Vec::new(),
        };
        drop(report);
        for _ in 0..count {
            let problem = match ready.recv() {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error,
                Err(_) => ProbeError::Panicked("a thread that was getting ready".into()),
            };
            gate.cancel();
            let _ = running.join();
            return Err(problem);
        }
        gate.open(choose_start());
        Ok(running)
    }

    /// With a thread more beside them, if there is one.
    pub(crate) fn with(mut self, beside: Option<Beside>) -> Self {
        self.beside.extend(beside);
        self
    }

    /// True if every thread has ended.
    pub fn is_finished(&self) -> bool {
        self.threads.iter().all(|(_, thread)| thread.is_finished())
    }

    /// When the last thread had measured, once every one has.
    pub fn ended_at(&self) -> Option<Monotonic> {
        let ended_ns = self.ended_ns.load(Ordering::Acquire);
        (self.is_finished() && ended_ns > 0).then(|| Monotonic::from_ns(ended_ns))
    }

    /// Waits for every thread to end.
    ///
    /// # Errors
    /// Error or panic of the first of them that failed.
    pub fn join(self) -> Result<(), ProbeError> {
        let mut outcome = Ok(());
        for (name, thread) in self.threads {
            let ended = match thread.join() {
                Ok((ended, _)) => ended,
                Err(_) => Err(ProbeError::Panicked(name)),
            };
            outcome = outcome.and(ended);
        }
        self.beside.into_iter().for_each(Beside::end);
        outcome
    }
}

/// The life of one measuring thread.
fn live(mut thread: HotThread, gate: &Gate, report: &mpsc::Sender<Result<(), ProbeError>>) -> Ended {
    sys::thread::set_name(&thread.name);
    if let Err(error) = thread.real_time.enter() {
        let _ = report.send(Err(error.into()));
        return (Ok(()), thread.body);
    }
    thread.feed.set_thread(sys::thread::current_cpu());
    let _ = report.send(Ok(()));
    let Some(start) = gate.wait() else {
        return (Ok(()), thread.body);
    };
    if thread.own_files {
        sys::thread::own_files();
    }
    let before = sys::thread::usage();
    // Counts this thread's allocations where a test has installed the counting allocator; does nothing elsewhere.
    sys::alloc::watch(true);
    let outcome = (thread.body)(start, &mut thread.feed);
    sys::alloc::watch(false);
    let after = sys::thread::usage();
    let cpu = thread.real_time.cpu.filter(|cpu| *cpu != sys::thread::current_cpu());
    thread.feed.thread_ended(
        &thread.name,
        after.minor_faults - before.minor_faults,
        after.major_faults - before.major_faults,
        cpu,
    );
    (outcome, thread.body)
}

/// Stack touched before measuring: more than any measuring loop uses, so that none faults a page in.
const STACK_BYTES: usize = 256 * 1024;

/// The whole stack of a measuring thread, all of which is locked: twice what it touches, since it gets ready on it too.
const ALL_STACK_BYTES: usize = 2 * STACK_BYTES;

/// Records a feed holds for `per_second` records a second: four seconds, since the recorder may wait for a slow disk, and at
/// least as many as a burst at the start brings. Each takes 32 octets of locked memory.
pub(crate) fn capacity(per_second: u64) -> usize {
    usize::try_from(per_second.saturating_mul(4))
        .unwrap_or(usize::MAX)
        .clamp(16_384, 8 << 20)
}
