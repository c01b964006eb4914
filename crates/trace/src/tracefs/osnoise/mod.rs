//! The kernel's osnoise tracer, without its own spinning. It reports the net time of each interruption of this program's spinning
//! threads: nested interruptions are not counted twice.
//!
//! Its events are written when an interruption ends, in a separate instance. Its option `OSNOISE_WORKLOAD` applies to the whole
//! machine; it is cleared during the measurement and restored when the instance is removed, even for a process that was killed.

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

/// Buffer of each CPU, in KiB: some 4,000 events, 40 ms at 100,000 a second; it is read every few tens of milliseconds.
const BUFFER_KIB: u32 = 256;

/// The running tracer; it stops when dropped.
pub struct Osnoise {
    instance: Instance,
    cpus: BTreeMap<u32, Cpu>,
    /// Numbers of the threads that are interrupted.
    own: BTreeSet<u32>,
    /// The first CPU whose events could not be read, with the reason.
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
    /// The kernel has no such tracer, its spinning cannot be switched off, another program uses it, or privileges are missing.
    pub fn start(tracefs: &Tracefs) -> Result<Self, TraceError> {
        tracefs.need(Tracer::Osnoise)?;
        // An instance left by a killed run of this program is no reason to refuse.
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

    /// Declares that this thread spins on this CPU from now on.
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

    /// Reads the new events. Call it every few tens of milliseconds: the kernel drops events that do not fit.
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

    /// Interruptions of the thread on this CPU between two instants, in words; `None` if the CPU is not watched.
    pub fn between(&mut self, cpu: u32, from: Monotonic, to: Monotonic) -> Option<String> {
        self.look();
        Some(self.cpus.get(&cpu)?.tally.between(from, to))
    }

    /// All interruptions of the watched CPUs so far, in words.
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
