//! Answers to the questions that a command in a place asks this machine: the causes of late samples.

use place::line::{Asked, FromPlace, ToPlace, Told, read, written};
use place::{Away, Place};
use run::{Explain, Shared};
use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long a measured clock offset of a place stays valid.
const CLOCK_AGE: Duration = Duration::from_secs(10);

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the questions of a command in a place.
pub struct Answering {
    pub(super) away: Arc<Mutex<Box<dyn Away>>>,
    place: Arc<dyn Place>,
    explain: Option<Shared>,
    /// When the command ended its measurement, by the place's `CLOCK_REALTIME` in ns, once it has said so.
    pub(super) ended: Arc<OnceLock<i64>>,
    /// How far the place's `CLOCK_REALTIME` is ahead, in ns, and when that was read.
    ahead: Option<(Instant, i64)>,
    /// Numbers of threads here, by their numbers there.
    threads: BTreeMap<i32, i32>,
}

impl Answering {
    /// Answers the command `away` in `place` with `explain`, the explainer of this machine.
    pub fn new(place: &Arc<dyn Place>, away: Arc<Mutex<Box<dyn Away>>>, explain: Option<Shared>) -> Self {
        Self {
            away,
            place: Arc::clone(place),
            explain,
            ended: Arc::default(),
            ahead: None,
            threads: BTreeMap::new(),
        }
    }

    /// Answers until the other end has sent everything.
    pub fn answer_all(mut self, lines: &Receiver<String>) {
        sys::thread::set_name("triptime-answer");
        // A late answer finds the events overwritten, so this thread gets a higher priority.
        sys::thread::prefer();
        for said in lines.iter().filter_map(|line| read(&line)) {
            self.answer(&said);
        }
    }

    pub(super) fn answer(&mut self, said: &FromPlace) {
        match said {
            FromPlace::Prepared | FromPlace::Ready => {}
            FromPlace::Ended(at) => {
                let _ = self.ended.set(*at);
            }
            FromPlace::Watch { cpu, thread } => {
                let here = self.number_of(*thread);
                if let Some(explain) = &mut self.explain {
                    explain.watch(*cpu, here);
                }
            }
            FromPlace::Why(asked) => {
                let told = self.told(asked);
                // An error means that it has ended, and asks no more.
                let _ = lock(&self.away).say(&written(&ToPlace::Because(told)));
            }
        }
    }

    fn told(&mut self, asked: &Asked) -> Told {
        let question = match asked.wall_ns {
            None => asked.question(|thread| self.number_of(thread)),
            Some(wall_ns) => match self.place.vcpu(asked.cpu()) {
                Some(vcpu) => asked.of_vcpu(wall_ns, self.ahead_ns(), vcpu),
                None => {
                    return unknown(
                        asked,
                        "the thread of the virtual CPU is not pinned to one CPU: add --host-cpus",
                    );
                }
            },
        };
        let answer = match &mut self.explain {
            Some(explain) => explain.explain(&question, asked.with_flight),
            None => run::Answer::unknown(&question, "the machine has no flight recorder"),
        };
        Told {
            explanation: answer.explanation,
            flight: answer.flight,
        }
    }

    /// How far the place's `CLOCK_REALTIME` is ahead, in ns. It is read at intervals, because the query takes longer than its
    /// answer may.
    fn ahead_ns(&mut self) -> i64 {
        let is_old = |(at, _): &(Instant, i64)| at.elapsed() > CLOCK_AGE;
        if self.ahead.as_ref().is_none_or(is_old) {
            let offset_ns = self.place.clock().map_or(0, |clock| clock.offset_ns);
            self.ahead = Some((Instant::now(), offset_ns));
        }
        self.ahead.map_or(0, |(_, offset_ns)| offset_ns)
    }

    /// The number here of a thread there. 0 if unknown: then the CPU's events count all threads as others.
    fn number_of(&mut self, there: i32) -> i32 {
        let away = &self.away;
        let number = || lock(away).thread_here(there).unwrap_or(0);
        *self.threads.entry(there).or_insert_with(number)
    }
}

/// The answer that nothing is known, with the reason.
fn unknown(asked: &Asked, why: &str) -> Told {
    let question = asked.question(|thread| thread);
    Told {
        explanation: run::Answer::unknown(&question, why).explanation,
        flight: None,
    }
}
