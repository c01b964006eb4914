//! The hook that explains a late sample while the kernel's events around it are still there.

use model::{Cause, Explanation, Extent, Fact, Question};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longest ordinary time of a frame in ns: shorter ones are not explained.
pub const FRAME_WORTH_ASKING_NS: i64 = 20_000;

/// Findings about one sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// How its time was spent.
    pub explanation: Explanation,
    /// The kernel's events around it, encoded for the run file, if they are wanted and known.
    pub flight: Option<Vec<u8>>,
}

impl Answer {
    /// The answer that nothing is known, with the reason.
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

/// An explainer shared by several users: the recorder of this run, and the recorders of other places.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Box<dyn Explain>>>);

impl Shared {
    /// Makes an explainer for several users.
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
    /// Called when a measuring thread runs on a CPU.
    fn watch(&mut self, cpu: u32, thread: i32);

    /// Called every few tens of milliseconds, to read counters.
    fn observe(&mut self);

    /// Explains how the time of a sample was spent; returns the events around it only `with_flight`.
    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer;

    /// Facts about its cost and its blind spots, for the inventory; called once, at the end.
    fn summary(&mut self) -> Vec<Fact>;
}
