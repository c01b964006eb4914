//! Starts measuring threads together and waits for them to end.

use crate::error::ProbeError;
use run::{Feed, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use sys::thread::{Policy, RtThread};
use units::Monotonic;

/// Barrier for measuring threads: waits until all of them are ready, then gives them a common start.
#[derive(Debug, Default)]
pub(crate) struct Gate(AtomicI64);

impl Gate {
    /// Releases the threads; their schedules start at `start`.
    fn open(&self, start: Monotonic) {
        self.0.store(start.as_ns(), Ordering::Release);
    }

    /// Releases the threads without a start, because another thread could not get ready.
    fn cancel(&self) {
        self.0.store(-1, Ordering::Release);
    }

    /// The common start, or `None` if the start was cancelled.
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

/// Work of a measuring thread from the common start on. It is called once. It is `FnMut` so that its captured data are freed
/// after the measurement by the joining thread, not by the measuring thread itself.
pub(crate) type Body = Box<dyn FnMut(Monotonic, &mut Feed) -> Result<(), ProbeError> + Send>;

/// One measuring thread: its name, its scheduling and its work.
pub(crate) struct HotThread {
    /// Name of the thread, at most 15 characters.
    pub name: String,
    /// CPU, policy and stack of the thread.
    pub real_time: RtThread,
    /// The measurement, called with the common start and the feed. Runs until its end or until a stop is requested.
    pub body: Body,
    /// Destination of the samples.
    pub feed: Feed,
    /// True if the thread gets its own table of open files. A system call on a socket then takes about 50 ns less, since the
    /// kernel need not protect the file against other threads. Files that the thread holds are closed after it has ended.
    pub own_files: bool,
}

impl HotThread {
    /// Creates a thread with this policy, on this CPU if one is given; its samples go to `feed`.
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

/// Result of a measuring thread, and its work with the data that it holds.
type Ended = (Result<(), ProbeError>, Body);

/// A helper thread that runs next to the measuring threads and is stopped after them.
pub(crate) struct Beside {
    over: Stop,
    thread: JoinHandle<()>,
}

impl Beside {
    /// Starts the thread with the policy and CPUs of the calling thread. When `over` is set, it is woken from `park_timeout`.
    ///
    /// # Errors
    /// The kernel cannot create another thread.
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
        // A panic of this thread is a defect of the helper and does not affect the measurement.
        let _ = self.thread.join();
    }
}

/// Running measuring threads.
pub struct Running {
    threads: Vec<(String, JoinHandle<Ended>)>,
    /// End of the latest measurement, in ns of `CLOCK_MONOTONIC`; 0 before the first thread has finished.
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
    /// Starts `threads` together. `lead_ns` is the time from the moment the last of them is ready to the common start, or the
    /// function that returns it.
    ///
    /// # Errors
    /// The first thread that could not get ready reports its refusal; all other threads have then ended.
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

    /// Adds a helper thread, if there is one.
    pub(crate) fn with(mut self, beside: Option<Beside>) -> Self {
        self.beside.extend(beside);
        self
    }

    /// True if every thread has ended.
    pub fn is_finished(&self) -> bool {
        self.threads.iter().all(|(_, thread)| thread.is_finished())
    }

    /// End of the last thread's measurement; `None` while a thread still measures.
    pub fn ended_at(&self) -> Option<Monotonic> {
        let ended_ns = self.ended_ns.load(Ordering::Acquire);
        (self.is_finished() && ended_ns > 0).then(|| Monotonic::from_ns(ended_ns))
    }

    /// Waits for every thread to end.
    ///
    /// # Errors
    /// The first error or panic of a thread.
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

/// Body of one measuring thread, from its preparation to its end.
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
    // Counts this thread's allocations if a test has installed the counting allocator; otherwise it does nothing.
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

/// Bytes of stack touched before measuring: more than any measuring loop uses, so that no loop causes a page fault.
const STACK_BYTES: usize = 256 * 1024;

/// Size of a measuring thread's stack, which is locked in memory: twice the touched part, since the preparation runs on it too.
const ALL_STACK_BYTES: usize = 2 * STACK_BYTES;

/// Capacity of a feed for `per_second` records a second: four seconds, since the recorder may wait for a slow disk, and at least
/// enough for a burst at the start. Each record takes 32 bytes of locked memory.
pub(crate) fn capacity(per_second: u64) -> usize {
    usize::try_from(per_second.saturating_mul(4))
        .unwrap_or(usize::MAX)
        .clamp(16_384, 8 << 20)
}
