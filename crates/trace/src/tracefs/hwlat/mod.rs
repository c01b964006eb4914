//! The kernel's hwlat tracer. It switches off the interrupts of one CPU after the other, reads the clock without pause for a part
//! of each window, and reports the longest gap. Such a gap is caused by the firmware, the hypervisor, or an NMI.
//!
//! Window, width and mode stay as configured on this machine. The threshold (`tracing_thresh`) applies to the whole machine; the
//! kernel itself restores it when the tracer ends.

mod parse;

use super::instance::{Instance, Owed};
use super::pipe::Pipe;
use super::tracers::{Tracefs, Tracer};
use crate::error::TraceError;
pub use parse::HwlatSample;
use parse::{cpumask, mode, parse};
use units::{CpuList, format_ns};

/// Buffer of each CPU, in KiB. There is at most one event per window.
const BUFFER_KIB: u32 = 64;

/// File of the threshold, in whole microseconds; 0 means the last one used, initially 10.
const THRESHOLD: &str = "tracing_thresh";

/// The running tracer; it stops when dropped.
pub struct Hwlat {
    tracefs: Tracefs,
    instance: Instance,
    /// `None` once the tracer ends.
    pipe: Option<Pipe>,
    /// The kernel's threshold before the start.
    threshold_before: String,
    threshold_us: u64,
    settings: String,
}

impl Hwlat {
    /// Switches the tracer on: from now on, interrupts of these CPUs are off for a part of each window.
    ///
    /// The threshold is rounded down to whole microseconds, and is at least 1 µs.
    ///
    /// # Errors
    /// The kernel has no such tracer, it is already running, or privileges are missing.
    pub fn start(tracefs: &Tracefs, cpus: &CpuList, threshold_ns: u64) -> Result<Self, TraceError> {
        tracefs.need(Tracer::Hwlat)?;
        let instance = Instance::create(tracefs, BUFFER_KIB, Owed::Nothing)?;
        Self::run(tracefs, instance, cpus, threshold_ns)
    }

    fn run(tracefs: &Tracefs, instance: Instance, cpus: &CpuList, threshold_ns: u64) -> Result<Self, TraceError> {
        instance.write("tracing_cpumask", &cpumask(cpus))?;
        // In this order: while the pipe is read, the kernel refuses to change the tracer (EBUSY).
        instance.write("current_tracer", Tracer::Hwlat.name())?;
        let pipe = Pipe::open(instance.file("trace_pipe"))?;
        // Only now: the kernel saves the threshold at the tracer's start, and restores it at its end.
        let hwlat = Self {
            threshold_before: tracefs.read(THRESHOLD)?,
            threshold_us: (threshold_ns / 1_000).max(1),
            settings: settings(tracefs)?,
            tracefs: tracefs.clone(),
            instance,
            pipe: Some(pipe),
        };
        tracefs.write(THRESHOLD, &hwlat.threshold_us.to_string())?;
        Ok(hwlat)
    }

    /// The samples since the last call.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn look(&mut self) -> Result<Vec<HwlatSample>, TraceError> {
        let mut samples = Vec::new();
        if let Some(pipe) = &mut self.pipe {
            pipe.lines(|line| samples.extend(parse(line)))?;
        }
        Ok(samples)
    }

    /// The gap in ns above which windows are reported.
    pub fn threshold_ns(&self) -> u64 {
        self.threshold_us * 1_000
    }

    /// The tracer's settings, in words for a reader.
    pub fn settings(&self) -> &str {
        &self.settings
    }
}

impl Drop for Hwlat {
    fn drop(&mut self) {
        // The kernel keeps the last threshold for the tracer's next start; that must be the one it had before this run.
        let _ = self.tracefs.write(THRESHOLD, self.threshold_before.trim());
        self.pipe = None;
        let _ = self.instance.write("current_tracer", "nop");
    }
}

fn settings(tracefs: &Tracefs) -> Result<String, TraceError> {
    let length = |file: &str| {
        let text = tracefs.read(file)?;
        let us: f64 = text.trim().parse().unwrap_or(f64::NAN);
        Ok::<String, TraceError>(format_ns(us * 1e3))
    };
    let (width, window) = (length("hwlat_detector/width")?, length("hwlat_detector/window")?);
    // Kernels before 5.14 have only this mode.
    let modes = tracefs.read("hwlat_detector/mode");
    let mode = modes.map_or("round-robin".into(), |modes| mode(&modes));
    Ok(format!("interrupts off for {width} of every {window}, CPUs: {mode}"))
}

#[cfg(test)]
mod tests;
