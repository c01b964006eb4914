//! The instrument itself: how long its clock takes to read, in which steps it runs, and how well its clocks are known against each
//! other. Measured before a run, on a judged CPU, as part of the uncertainty of its figures.

use model::Fact;
use model::fact::{CLOCK_LONG_READING, CLOCK_READING, CLOCK_STEP, CLOCKS_APART, COUNTER_READING, INSTRUMENT};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::mpsc::channel;
use std::time::Duration;
use sys::readout::{self, Readout};
use units::CpuList;

/// How long a CPU may take to give the measurement its millisecond. A real-time thread of another program may keep it.
const PATIENCE: Duration = Duration::from_millis(500);

/// How the facts are read.
const SOURCE: &str = "clock_gettime(2), read again and again";

/// The clocks of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instrument {
    /// `CLOCK_MONOTONIC`.
    pub monotonic: Readout,
    /// `CLOCK_REALTIME`.
    pub realtime: Readout,
    /// Largest error between the two, in ns.
    pub apart_ns: u64,
    /// Mean time of one reading of the CPU's own counter, in ns.
    pub counter_ns: u64,
    /// Mean time of one reading of `CLOCK_MONOTONIC` through a system call, in ns.
    pub system_call_ns: u64,
}

impl Instrument {
    /// Measures the clocks on `cpu`, or on any CPU.
    ///
    /// # Errors
    /// The CPU cannot be used, or gave no time.
    pub fn measure(cpu: Option<u32>) -> Result<Self, String> {
        let (done, outcome) = channel();
        let measure = move || {
            // Nobody waits for an answer that comes too late.
            let _ = done.send(pinned(cpu));
        };
        let started = std::thread::Builder::new().name("instrument".into()).spawn(measure);
        started.map_err(|error| format!("no thread to measure the clock: {error}"))?;
        let place = cpu.map_or_else(|| "no CPU".to_owned(), |cpu| format!("CPU {cpu}"));
        let late = |_| format!("{place} gave no time to measure the clock within 0.5 s");
        outcome.recv_timeout(PATIENCE).map_err(late)?
    }

    /// The worse of each figure.
    pub fn worse(self, other: Self) -> Self {
        Self {
            monotonic: worse(self.monotonic, other.monotonic),
            realtime: worse(self.realtime, other.realtime),
            apart_ns: self.apart_ns.max(other.apart_ns),
            counter_ns: self.counter_ns.max(other.counter_ns),
            system_call_ns: self.system_call_ns.max(other.system_call_ns),
        }
    }
}

fn worse(a: Readout, b: Readout) -> Readout {
    let steps = a.step_ns.zip(b.step_ns);
    Readout {
        mean_ns: a.mean_ns.max(b.mean_ns),
        long_ns: a.long_ns.max(b.long_ns),
        step_ns: steps.map(|(a, b)| a.max(b)),
    }
}

fn pinned(cpu: Option<u32>) -> Result<Instrument, String> {
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        sched_setaffinity(None, &set).map_err(|errno| format!("cannot measure the clock on CPU {cpu}: {errno}"))?;
    }
    Ok(Instrument {
        monotonic: Readout::of_monotonic(),
        realtime: Readout::of_realtime(),
        apart_ns: readout::conversion_ns(),
        counter_ns: readout::counter_ns(),
        system_call_ns: readout::system_call_ns(),
    })
}

/// Facts about the clocks on the first of the judged CPUs.
pub(crate) fn facts(judged: &CpuList) -> Vec<Fact> {
    let cpu = judged.first();
    facts_of(&Instrument::measure(cpu), cpu)
}

/// The facts of a measured instrument.
pub fn facts_of(measured: &Result<Instrument, String>, cpu: Option<u32>) -> Vec<Fact> {
    let of =
        |figure: &dyn Fn(&Instrument) -> Result<u64, String>| measured.as_ref().map_err(Clone::clone).and_then(figure);
    let step = |one: &Instrument| {
        let steps = one.monotonic.step_ns.zip(one.realtime.step_ns);
        let standing = || "the clock did not move".to_owned();
        steps.map(|(a, b)| a.max(b)).ok_or_else(standing)
    };
    let place = cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
    vec![
        Fact {
            group: INSTRUMENT.to_owned(),
            name: "measured on CPU".to_owned(),
            value: Ok(place),
            source: SOURCE.to_owned(),
        },
        CLOCK_READING.fact(of(&|one| Ok(one.monotonic.mean_ns.max(one.realtime.mean_ns))), SOURCE),
        CLOCK_LONG_READING.fact(of(&|one| Ok(one.monotonic.long_ns.max(one.realtime.long_ns))), SOURCE),
        CLOCK_STEP.fact(of(&step), SOURCE),
        CLOCKS_APART.fact(of(&|one| Ok(one.apart_ns)), SOURCE),
        COUNTER_READING.fact(
            of(&|one| Ok(one.counter_ns)),
            "the CPU's time stamp counter, read again and again",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Instrument, facts, facts_of};
    use model::fact::{CLOCK_LONG_READING, CLOCK_READING, CLOCK_STEP, CLOCKS_APART, COUNTER_READING};
    use units::CpuList;

    #[test]
    fn every_figure_of_this_machine_is_known_and_can_be_read_back() {
        let facts = facts(&CpuList::default());
        for known in [
            &CLOCK_READING,
            &CLOCK_LONG_READING,
            &CLOCK_STEP,
            &CLOCKS_APART,
            &COUNTER_READING,
        ] {
            assert!(
                known.of(&facts).is_some_and(|ns| ns < 1_000_000_000),
                "{known:?} of {facts:?}"
            );
        }
        assert!(CLOCK_LONG_READING.of(&facts) >= CLOCK_READING.of(&facts));
    }

    #[test]
    fn a_cpu_that_is_not_there_leaves_each_figure_unknown_with_its_reason() {
        let facts = facts_of(&Instrument::measure(Some(9_999)), Some(9_999));
        let unknown = facts.iter().filter(|fact| fact.value.is_err()).count();
        assert_eq!(unknown, 5, "{facts:?}");
    }
}
