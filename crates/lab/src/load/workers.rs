//! Threads of a load: pinned, counted, and ended together.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use sys::thread::{Policy, RtThread};
use units::CpuList;

use super::LoadError;

/// The CPUs over and over.
pub(super) fn in_turn(cpus: &CpuList) -> impl Iterator<Item = u32> {
    cpus.iter().collect::<Vec<_>>().into_iter().cycle()
}

/// What a thread of a load sees of the rest.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    stop: Arc<AtomicBool>,
    work: Arc<AtomicU64>,
}

impl Turn {
    /// Whether to go on.
    pub(super) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Adds to what this thread did.
    pub(super) fn did(&self, amount: u64) {
        self.work.fetch_add(amount, Ordering::Relaxed);
    }
}

/// The threads of a load. Dropping them ends them.
#[derive(Debug)]
pub(super) struct Workers {
    load: &'static str,
    stop: Arc<AtomicBool>,
    /// One count per thread: a shared one would carry its cache line between the CPUs.
    work: Vec<Arc<AtomicU64>>,
    /// Sockets whose end wakes a thread that waits.
    sockets: Vec<UnixStream>,
    failure: Arc<Mutex<Option<String>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(super) fn new(load: &'static str) -> Self {
        Self {
            load,
            stop: Arc::default(),
            work: Vec::new(),
            sockets: Vec::new(),
            failure: Arc::default(),
            threads: Vec::new(),
        }
    }

    /// Starts a thread on `cpu` and waits until it is there.
    pub(super) fn spawn(
        &mut self,
        cpu: u32,
        body: impl FnOnce(&Turn) -> Result<(), String> + Send + 'static,
    ) -> Result<(), LoadError> {
        let turn = Turn {
            stop: Arc::clone(&self.stop),
            work: Arc::default(),
        };
        let failure = Arc::clone(&self.failure);
        self.work.push(Arc::clone(&turn.work));
        let (ready, is_ready) = sync_channel(1);
        let run = move || {
            let entered = RtThread {
                policy: Policy::Other,
                cpu: Some(cpu),
                stack_bytes: 0,
            }
            .enter();
            let there = entered.is_ok();
            // Nobody listens only when the load is being dropped: then `goes_on` is false at once.
            let _ = ready.send(entered);
            if there
                && let Err(why) = body(&turn)
                && turn.goes_on()
            {
                failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(why);
            }
        };
        let system = |why: String| LoadError::System {
            load: self.load.to_owned(),
            operation: "start a thread",
            why,
        };
        let thread = Builder::new()
            .name("load".to_owned())
            .spawn(run)
            .map_err(|error| system(error.to_string()))?;
        self.threads.push(thread);
        match is_ready.recv() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(LoadError::Cpu {
                load: self.load.to_owned(),
                source,
            }),
            Err(_) => Err(system("it ended at once".to_owned())),
        }
    }

    /// Ends `socket` with the load, so that a thread waiting on it wakes.
    pub(super) fn end_with(&mut self, socket: UnixStream) {
        self.sockets.push(socket);
    }

    pub(super) fn work(&self) -> u64 {
        self.work.iter().map(|work| work.load(Ordering::Relaxed)).sum()
    }

    pub(super) fn failed(&self) -> Option<String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ended = || {
            let ended = self.threads.iter().filter(|thread| thread.is_finished()).count();
            (ended > 0).then(|| format!("{ended} of {} threads ended by themselves", self.threads.len()))
        };
        failure.or_else(ended).map(|why| format!("{}: {why}", self.load))
    }

    /// Ends all threads and waits for them.
    pub(super) fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for socket in self.sockets.drain(..) {
            // The other end may be closed already: then nobody waits on it.
            let _ = socket.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert_with(|| "a thread panicked".to_owned());
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.end();
    }
}
