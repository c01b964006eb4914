//! The kernel's osnoise tracer, without its own spinning. It reports the net time of each interruption of our spinning
//! threads: what interrupted the interruption is not counted twice.
//!
//! Its events are written when an interruption ends, in an instance of our own. Its option `OSNOISE_WORKLOAD` counts for the
//! whole machine; it is cleared while we measure and put back when the instance goes, also that of a process that was killed.

mod parse;
mod tally;

use super::instance::{Instance, Owed};
use super::pipe::Pipe;
use super::tracers::{Tracefs, Tracer};
use crate::error::TraceError;
use parse::Interrupter;
use std::collections::{BTreeMap, BTreeSet};
use tally::{Tally, Total};
use units::{Monotonic, Ns};

/// Buffer of each CPU, in KiB: some 4,000 events, 40 ms at 100,000 a second; it is emptied every few tens of milliseconds.
const BUFFER_KIB: u32 = 256;

/// The tracer at work; it stops when dropped.
pub struct Osnoise {
    instance: Instance,
    cpus: BTreeMap<u32, Cpu>,
    /// Threads that are interrupted, by number.
    own: BTreeSet<u32>,
    /// The first CPU whose events could not be read, and why.
    refused: Option<String>,
}

struct Cpu {
    pipe: Pipe,
    tally: Tally,
}

impl Osnoise {
    /// Switches the tracer on.
    ///
    /// # Errors
    /// The kernel has no such tracer, it cannot be told not to spin, somebody else uses it, or rights are missing.
    pub fn start(tracefs: &Tracefs) -> Result<Self, TraceError> {
        tracefs.need(Tracer::Osnoise)?;
        // One of ours that was killed is no reason to refuse.
        tracefs.clear();
        tracefs.need_osnoise_idle()?;
        let owed = match tracefs.workload()?.ok_or(TraceError::NoWorkloadOption)? {
            true => Owed::Workload,
            false => Owed::Nothing,
        };
        let instance = Instance::create(tracefs, BUFFER_KIB, owed)?;
        Self::run(tracefs, instance)
    }

    fn run(tracefs: &Tracefs, instance: Instance) -> Result<Self, TraceError> {
        for kind in Interrupter::ALL {
            instance.write(&format!("events/osnoise/{}/enable", kind.event()), "1")?;
        }
        tracefs.set_workload(false)?;
        instance.write("current_tracer", Tracer::Osnoise.name())?;
        Ok(Self {
            instance,
            cpus: BTreeMap::new(),
            own: BTreeSet::new(),
            refused: None,
        })
    }

    /// This thread spins on this CPU from now on.
    pub fn watch(&mut self, cpu: u32, thread: i32) {
        self.own.extend(u32::try_from(thread));
        if self.cpus.contains_key(&cpu) {
            return;
        }
        match Pipe::open(self.instance.file(&format!("per_cpu/cpu{cpu}/trace_pipe"))) {
            Ok(pipe) => {
                let tally = Tally::default();
                self.cpus.insert(cpu, Cpu { pipe, tally });
            }
            Err(error) => self.refuse(&error),
        }
    }

    /// Takes the events that have come. Call it every few tens of milliseconds: the kernel drops what does not fit.
    pub fn look(&mut self) {
        let mut failed = None;
        for cpu in self.cpus.values_mut() {
            let tally = &mut cpu.tally;
            if let Err(error) = cpu.pipe.lines(|line| tally.line(line, &self.own)) {
                failed = Some(error);
            }
        }
        if let Some(error) = failed {
            self.refuse(&error);
        }
    }

    /// Interruptions of the thread on this CPU between two instants, for a reader; `None` when the CPU is not watched.
    pub fn between(&mut self, cpu: u32, from: Monotonic, to: Monotonic) -> Option<String> {
        self.look();
        Some(self.cpus.get(&cpu)?.tally.between(from, to))
    }

    /// Everything that interrupted the watched CPUs so far, for a reader.
    ///
    /// # Errors
    /// The events of a CPU could not be read.
    pub fn totals(&mut self) -> Result<String, String> {
        self.look();
        if let Some(why) = &self.refused {
            return Err(why.clone());
        }
        let parts = Interrupter::ALL.map(|kind| self.total(kind));
        let lost: u64 = self.cpus.values().map(|cpu| cpu.tally.lost()).sum();
        let cpus: Vec<String> = self.cpus.keys().map(u32::to_string).collect();
        Ok(format!(
            "{} (net; on CPU {}, pauses of the spinning threads included; {lost} events lost)",
            parts.join(", "),
            cpus.join(",")
        ))
    }

    fn total(&self, kind: Interrupter) -> String {
        let totals = self.cpus.values().map(|cpu| cpu.tally.total(kind));
        let total = totals.fold(Total::default(), Total::and);
        match total.count {
            0 => format!("{} none", kind.word()),
            count => format!(
                "{} {count} of {}, longest {}",
                kind.word(),
                Ns(total.sum_ns),
                Ns(total.longest_ns)
            ),
        }
    }

    fn refuse(&mut self, error: &TraceError) {
        self.refused.get_or_insert_with(|| error.to_string());
    }
}

#[cfg(test)]
mod tests;
