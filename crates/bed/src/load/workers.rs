//! Threads of a load: pinned, started together, counted, and ended together.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use sys::thread::{Policy, RtThread};
use units::{CpuList, Refusal};

use super::LoadError;

/// Stack size of a thread: none needs much, and if the process locks its memory, all of it is locked.
const STACK_BYTES: usize = 128 << 10;

/// The CPUs in endless repetition.
pub(super) fn in_turn(cpus: &CpuList) -> impl Iterator<Item = u32> {
    cpus.iter().collect::<Vec<_>>().into_iter().cycle()
}

/// One CPU for each thread: the requested number of threads, otherwise one thread per CPU.
pub(super) fn placed(threads: Option<usize>, cpus: &CpuList) -> impl Iterator<Item = u32> {
    in_turn(cpus).take(threads.unwrap_or(cpus.len()))
}

/// Counts of one thread. They have their own cache lines (two, for processors that fetch lines in pairs), which would otherwise move between the CPUs
/// of two threads.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counts {
    work: AtomicU64,
    extra: AtomicU64,
}

/// A thread's view of its load: the stop flag, and its own counts.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    stop: Arc<AtomicBool>,
    counts: Arc<Counts>,
}

impl Turn {
    /// True until the load is stopped.
    pub(super) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Adds to the work of this thread.
    pub(super) fn did(&self, amount: u64) {
        self.counts.work.fetch_add(amount, Ordering::Relaxed);
    }

    /// Adds to the second count of this thread, for loads that have one.
    pub(super) fn did_extra(&self, amount: u64) {
        self.counts.extra.fetch_add(amount, Ordering::Relaxed);
    }
}

/// The threads of a load. They start working with [`Workers::begin`]; dropping this ends them.
#[derive(Debug)]
pub(super) struct Workers {
    load: &'static str,
    /// Set when the threads may start working: a busy thread would delay the start of the next on its CPU.
    begin: Arc<OnceLock<()>>,
    stop: Arc<AtomicBool>,
    counts: Vec<Arc<Counts>>,
    failure: Arc<Mutex<Option<String>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// No threads yet, of the load called `load`.
    pub(super) fn new(load: &'static str) -> Self {
        Self {
            load,
            begin: Arc::default(),
            stop: Arc::default(),
            counts: Vec::new(),
            failure: Arc::default(),
            threads: Vec::new(),
        }
    }

    /// Starts a thread on `cpu` and waits until it runs. It then waits for [`Workers::begin`].
    pub(super) fn spawn(
        &mut self,
        cpu: u32,
        body: impl FnOnce(&Turn) -> Result<(), Refusal> + Send + 'static,
    ) -> Result<(), LoadError> {
        let turn = Turn {
            stop: Arc::clone(&self.stop),
            counts: Arc::default(),
        };
        let (failure, begin) = (Arc::clone(&self.failure), Arc::clone(&self.begin));
        self.counts.push(Arc::clone(&turn.counts));
        let (ready, is_ready) = sync_channel(1);
        let run = move || {
            let entered = RtThread {
                policy: Policy::Other,
                cpu: Some(cpu),
                stack_bytes: 0,
            }
            .enter();
            let there = entered.is_ok();
            // An error means that the load is being dropped: then `goes_on` returns false at once.
            let _ = ready.send(entered);
            if !there {
                return;
            }
            begin.wait();
            if let Err(why) = body(&turn)
                && turn.goes_on()
            {
                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(why.into());
            }
        };
        let title = self.title();
        let system = |why: String| LoadError::System {
            load: title.clone(),
            operation: "start a thread",
            why,
        };
        let thread = Builder::new()
            .name(format!("load-{}", self.load))
            .stack_size(STACK_BYTES)
            .spawn(run)
            .map_err(|error| system(error.to_string()))?;
        self.threads.push(thread);
        match is_ready.recv() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(LoadError::Refused { load: title, source }),
            Err(_) => Err(system("it ended at once".to_owned())),
        }
    }

    /// Lets all threads start working.
    pub(super) fn begin(&self) {
        // Fails only when the load is being ended.
        let _ = self.begin.set(());
    }

    pub(super) fn work(&self) -> u64 {
        self.counts.iter().map(|one| one.work.load(Ordering::Relaxed)).sum()
    }

    pub(super) fn extra(&self) -> u64 {
        self.counts.iter().map(|one| one.extra.load(Ordering::Relaxed)).sum()
    }

    pub(super) fn failed(&self) -> Option<String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ended = || {
            let ended = self.threads.iter().filter(|thread| thread.is_finished()).count();
            (ended > 0).then(|| format!("{ended} of {} threads ended by themselves", self.threads.len()))
        };
        failure.or_else(ended).map(|why| format!("{}: {why}", self.title()))
    }

    /// Ends all threads and waits for them.
    pub(super) fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.begin();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert_with(|| "a thread panicked".to_owned());
            }
        }
    }

    /// Name of the load in messages.
    pub(super) fn title(&self) -> String {
        format!("{} load", self.load)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::Workers;
    use std::time::{Duration, Instant};
    use units::Refusal;

    /// A running load of one thread, on a CPU that this process may use.
    fn begun(body: impl FnOnce(&super::Turn) -> Result<(), Refusal> + Send + 'static) -> Workers {
        let cpu = sys::thread::allowed_cpus().first().expect("a CPU");
        let mut workers = Workers::new("test");
        workers.spawn(cpu, body).expect("a thread");
        workers.begin();
        workers
    }

    fn failure(workers: &Workers) -> String {
        let start = Instant::now();
        loop {
            if let Some(failure) = workers.failed() {
                return failure;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "no failure was noticed");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn an_error_of_a_thread_is_a_failure_of_the_load() {
        let workers = begun(|_| Err("out of paper".into()));
        assert_eq!(failure(&workers), "test load: out of paper");
    }

    #[test]
    fn a_thread_that_ends_early_is_noticed_whatever_it_returned() {
        let workers = begun(|_| Ok(()));
        assert_eq!(failure(&workers), "test load: 1 of 1 threads ended by themselves");
    }

    #[test]
    fn a_panic_is_noticed() {
        let mut workers = begun(|_| panic!("on purpose: a thread of a load panics"));
        assert!(failure(&workers).ends_with("ended by themselves"));
        workers.end();
        assert_eq!(workers.failed().as_deref(), Some("test load: a thread panicked"));
    }

    #[test]
    fn an_error_met_while_stopping_is_none() {
        let mut workers = begun(|turn| {
            while turn.goes_on() {
                turn.did(1);
                turn.did_extra(2);
                std::thread::sleep(Duration::from_millis(1));
            }
            Err("the other end is gone".into())
        });
        while workers.work() == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        workers.end();
        assert_eq!((workers.failed(), workers.extra()), (None, 2 * workers.work()));
    }

    #[test]
    fn threads_wait_for_the_beginning() {
        let cpu = sys::thread::allowed_cpus().first().expect("a CPU");
        let mut workers = Workers::new("test");
        workers
            .spawn(cpu, |turn| {
                turn.did(1);
                Ok(())
            })
            .expect("a thread");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(workers.work(), 0);
        workers.begin();
        failure(&workers);
        assert_eq!(workers.work(), 1);
    }
}
