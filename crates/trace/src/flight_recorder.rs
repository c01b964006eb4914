//! The recorder: eBPF programs on tracepoints, and the counters around samples.

use crate::around::Counters;
use crate::attachment::Program;
use crate::bpf::{BpfEngine, Cost, possible_cpus};
use crate::error::TraceError;
use crate::event::Event;
use crate::explain::{explain, explain_far_end, far_end};
use crate::flight;
use crate::kin::Kinship;
use crate::snapshot::Snapshot;
use model::{Cause, Explanation, Question, QuestionKind};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use units::Monotonic;

/// How far before the due instant events are read and kept, in ns: as far as the sample is long, within these bounds. So interrupts
/// that began before it are seen completely, and so is a stop of the thread while it slept.
const BEFORE_NS: RangeInclusive<i64> = 1_000_000..=100_000_000;
/// How far after the sample events are read, in ns: the other CPUs' next events.
const AFTER_NS: i64 = 200_000;

/// Shortest wait for a frame, in ns, for which the CPU of the far end is examined, too: shorter waits are mostly the ordinary path.
const FAR_WORTH_NS: u64 = 1_000_000;
/// Interval in ns at which all CPUs are searched for the far end while it is on none of the known ones.
const SEARCH_EACH_NS: i64 = 1_000_000_000;

/// The CPUs of the far end of round trips.
#[derive(Default)]
struct Far {
    cpus: BTreeSet<u32>,
    searched: Option<Monotonic>,
}

/// An explained sample, with the events around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// How the time was spent.
    pub explanation: Explanation,
    /// The events around it, in the form for [`flight::Packer`].
    pub events: Vec<Event>,
}

/// Records the events of every CPU, and explains afterwards how the time of a late sample was spent. Stops when dropped.
pub struct FlightRecorder {
    engine: BpfEngine,
    watched: Mutex<BTreeSet<u32>>,
    counters: Mutex<Counters>,
    kinship: Mutex<Kinship>,
    far: Mutex<Far>,
    /// Buffers for the events of snapshots, reused for each question. If they were allocated each time, between explanations that
    /// stay, they would fragment the heap, and the next ones would not fit into the gaps.
    rooms: Mutex<Vec<Vec<Event>>>,
}

impl FlightRecorder {
    /// Starts recording on every CPU.
    ///
    /// # Errors
    /// eBPF cannot run here: the reason, and the remedy.
    pub fn start() -> Result<Self, TraceError> {
        let recorder = Self {
            engine: BpfEngine::start()?,
            watched: Mutex::default(),
            counters: Mutex::new(Counters::new()),
            kinship: Mutex::default(),
            far: Mutex::default(),
            rooms: Mutex::default(),
        };
        recorder.observe();
        Ok(recorder)
    }

    /// Runs `work` while nothing is recorded and no tracepoint is attached, and then starts again: events recorded before are lost.
    ///
    /// # Errors
    /// The kernel refuses to stop or to restart.
    pub fn while_paused<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, TraceError> {
        self.engine.pause()?;
        let done = work();
        self.engine.resume()?;
        Ok(done)
    }

    /// Every tracepoint, with the reason if it is not used.
    pub fn programs(&self) -> &[Program] {
        self.engine.programs()
    }

    /// Describes the events that it records and those that it cannot, for a reader.
    pub fn describe(&self) -> String {
        let programs = self.programs();
        let missing = programs.iter().filter(|program| program.missing.is_some());
        let missing: Vec<&str> = missing.map(|program| program.tracepoint.as_str()).collect();
        let seen = programs.len() - missing.len();
        let mut text = format!("eBPF, {seen} of {} tracepoints", programs.len());
        if !missing.is_empty() {
            text.push_str(&format!(" (not in this kernel: {})", missing.join(", ")));
        }
        text
    }

    /// Announces that this thread measures on this CPU: its wake-ups are recorded whatever its priority, and its CPU is examined
    /// when a sample on another one is late.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn watch(&self, cpu: u32, thread: i32) -> Result<(), TraceError> {
        if lock(&self.watched).insert(cpu) {
            lock(&self.counters).watch(cpu);
        }
        self.engine.watch(thread)
    }

    /// Reads the counters of stolen time and system management interrupts. Call it every 20 to 100 ms: explanations of late samples
    /// contain the differences around them.
    pub fn observe(&self) {
        lock(&self.counters).observe();
    }

    /// Number of events recorded so far on all CPUs, including overwritten ones.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn events_recorded(&self) -> Result<u64, TraceError> {
        self.engine.events_recorded()
    }

    /// The events of a CPU between two instants, which should not be older than the ring reaches back.
    ///
    /// # Errors
    /// There is no such CPU, or the kernel refuses.
    pub fn snapshot(&self, cpu: u32, from: Monotonic, to: Monotonic) -> Result<Snapshot, TraceError> {
        let room = lock(&self.rooms).pop().unwrap_or_default();
        self.engine.snapshot(cpu, (from, to), room)
    }

    /// Explains a sample. Ask soon: within 50 ms even a CPU with 100,000 events a second still has all of them.
    ///
    /// # Errors
    /// There is no such CPU, or the kernel refuses.
    pub fn explain(&self, question: &Question) -> Result<Explained, TraceError> {
        let before_ns = (question.to - question.from).clamp(*BEFORE_NS.start(), *BEFORE_NS.end());
        let (from, to) = (question.from - before_ns, question.to + AFTER_NS);
        let on_cpu = self.snapshot(question.cpu, from, to)?;
        let watched: Vec<u32> = lock(&self.watched).iter().copied().collect();
        let others = watched.into_iter().filter(|cpu| *cpu != question.cpu);
        let others: Vec<Snapshot> = others
            .map(|cpu| self.snapshot(cpu, from, to))
            .collect::<Result<_, _>>()?;
        let around = lock(&self.counters).around(question.cpu, question.from, question.to);
        let mut explanation = explain(&on_cpu, &others, question, &around);
        let mut snapshots = others;
        snapshots.push(on_cpu);
        let may_be_far = question.kind == QuestionKind::Frame && question.ns() >= FAR_WORTH_NS;
        if may_be_far && explanation.cause == Cause::Path {
            self.add_far_cpus(&mut snapshots, (from, to));
            explanation = explain_far_end(&snapshots, question, &around).unwrap_or(explanation);
        }
        lock(&self.kinship).name_in(&mut explanation, &snapshots);
        let events = flight::choose(question.cpu, &snapshots);
        lock(&self.rooms).extend(snapshots.into_iter().map(|snapshot| snapshot.events));
        Ok(Explained { explanation, events })
    }

    /// Adds the events of the CPUs on which the far end of round trips runs, which may be another process. If none is known, all
    /// CPUs are searched, at intervals: each search takes time in which rings are overwritten.
    fn add_far_cpus(&self, snapshots: &mut Vec<Snapshot>, (from, to): (Monotonic, Monotonic)) {
        let mut far = lock(&self.far);
        let is_search = far.cpus.is_empty() && far.searched.is_none_or(|at| to - at > SEARCH_EACH_NS);
        let cpus: Vec<u32> = match is_search {
            true => (0..possible_cpus()).collect(),
            false => far.cpus.iter().copied().collect(),
        };
        for cpu in cpus {
            if !snapshots.iter().any(|known| known.cpu == cpu) {
                // If a CPU has no ring, it has no events.
                snapshots.extend(self.snapshot(cpu, from, to));
            }
        }
        let has_it = snapshots.iter().filter(|on_cpu| far_end(on_cpu).is_some());
        far.cpus = has_it.map(|on_cpu| on_cpu.cpu).collect();
        if is_search {
            far.searched = Some(to);
        }
    }

    /// Cost of the recorder, from the kernel's eBPF statistics, which are on for `span` only; this call waits for that time.
    ///
    /// # Errors
    /// The statistics are refused (they need `CAP_SYS_ADMIN`), or nothing happened.
    pub fn cost(&self, span: Duration) -> Result<Cost, TraceError> {
        self.engine.cost(span)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // The values under the lock stay usable after a panic of another thread that held it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{FlightRecorder, lock};
    use model::{Question, QuestionKind};
    use sys::clock::monotonic;

    #[test]
    fn questions_are_answered_in_the_room_of_earlier_ones() {
        let recorder = match FlightRecorder::start() {
            Ok(recorder) => recorder,
            Err(error) => {
                return testing::skip("questions_are_answered_in_the_room_of_earlier_ones", &error.to_string());
            }
        };
        let cpus: Vec<u32> = sys::thread::allowed_cpus().iter().collect();
        for cpu in &cpus {
            recorder.watch(*cpu, 1).expect("watched");
        }
        let from = monotonic();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let question = Question {
            cpu: cpus[0],
            thread: 1,
            from,
            to: monotonic(),
            kind: QuestionKind::WakeUp,
        };
        let ask = || {
            for _ in 0..20 {
                recorder.explain(&question).expect("an answer");
            }
            let rooms = lock(&recorder.rooms);
            let mut places: Vec<_> = rooms.iter().map(|room| (room.as_ptr(), room.capacity())).collect();
            places.sort();
            places
        };
        let first = ask();
        assert_eq!(first.len(), cpus.len(), "one for each CPU that is looked at");
        assert!(first.iter().any(|(_, capacity)| *capacity > 0), "nothing was recorded");
        assert_eq!(ask(), first);
    }
}
