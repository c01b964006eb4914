//! The hook by which a late sample gets its explanation while the kernel's events around it are still there.

use model::{Cause, Explanation, Extent, Fact, Question};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A frame that took less than this went the ordinary way, in ns.
pub const FRAME_WORTH_ASKING_NS: i64 = 20_000;

/// Findings about one sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Where its time went.
    pub explanation: Explanation,
    /// The kernel's events around it, encoded for the run file, where they are wanted and known.
    pub flight: Option<Vec<u8>>,
}

impl Answer {
    /// Nothing is known, and why.
    pub fn unknown(question: &Question, why: &str) -> Self {
        Self {
            explanation: Explanation {
                cause: Cause::Unexplained,
                text: why.to_owned(),
                extent: Extent::Unknown,
                stages: Vec::new(),
                occupants: Vec::new(),
                unexplained_ns: question.ns(),
                around: Vec::new(),
            },
            flight: None,
        }
    }
}

/// An explainer that several can ask: the recorder here, and those of places.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Box<dyn Explain>>>);

impl Shared {
    /// For several to ask.
    pub fn new(explain: Box<dyn Explain>) -> Self {
        Self(Arc::new(Mutex::new(explain)))
    }

    fn one(&self) -> MutexGuard<'_, Box<dyn Explain>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Explain for Shared {
    fn watch(&mut self, cpu: u32, thread: i32) {
        self.one().watch(cpu, thread);
    }

    fn observe(&mut self) {
        self.one().observe();
    }

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        self.one().explain(question, with_flight)
    }

    fn summary(&mut self) -> Vec<Fact> {
        self.one().summary()
    }
}

/// Explains samples. Called by the recorder's thread, at most some 50 ms after the sample.
pub trait Explain: Send {
    /// A measuring thread runs on a CPU.
    fn watch(&mut self, cpu: u32, thread: i32);

    /// Called every few tens of milliseconds: time to look at counters.
    fn observe(&mut self);

    /// Where the time of a sample went; the events around it only `with_flight`.
    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer;

    /// Its cost and its blind spots, for the inventory; called once, at the end.
    fn summary(&mut self) -> Vec<Fact>;
}
