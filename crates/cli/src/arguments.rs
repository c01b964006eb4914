//! Values on the command line, and the options of every measuring command.

use crate::about::about;
use crate::face::FaceArgs;
use crate::live::ServedArgs;
use bed::load::{LoadKind, LoadRequest, LoadSpec};
use probes::options::positive_duration;
use report::about::About;
use session::preflight::Intent;
use std::path::{Path, PathBuf};
use sys::thread::Policy;
use units::CpuList;

/// Options of every measuring command.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct RunArgs {
    /// Run file to write [default: ./runs/TIME-COMMAND.triptime]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Name of this machine or set-up, under which tables and comparisons show the run
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) pages: PageArgs,
    #[command(flatten)]
    pub(crate) face: FaceArgs,
    #[command(flatten)]
    pub(crate) served: ServedArgs,
    /// No progress on standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Limit profile that judges the run: substation, seapath, avb, vpac, or a TOML file
    #[arg(long, value_name = "PROFILE")]
    pub(crate) limits: Option<String>,
    /// Length of a window, after which its extremes are written [default: a 60th of --duration, at least 100ms and at most 20s]
    #[arg(long, value_name = "DURATION", value_parser = window)]
    pub(crate) window: Option<u64>,
    /// Room for histograms in the run file. To stay within it, those of older windows are merged; counts and extremes
    /// are always kept
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = size)]
    pub(crate) file_budget: u64,
    /// Start even if the disk certainly has too little room for the run, and run until the disk is full. If a kill left the file that --out
    /// names, rename that one, and write a new one
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not record what the kernel did around late samples (it needs CAP_BPF and CAP_PERFMON, and costs a little)
    #[arg(long)]
    pub(crate) no_flight_recorder: bool,
    /// Hold all CPUs out of idle states during the run (/dev/cpu_dma_latency at 0), as cyclictest does. If a judged CPU enters states
    /// deeper than C1 in normal service, or polls before it halts (haltpoll), the host differs in service: a pass becomes inconclusive
    #[arg(long)]
    pub(crate) hold_idle: bool,
    /// A load to run during the measurement: hackbench, memory, cache or packets, with its amounts and CPUs, such as
    /// hackbench:groups=4,fds=1@0; may be given again [default CPUs: those that are not measured]
    #[arg(long, value_name = "KIND[:KEY=VALUE,...][@CPUS]")]
    pub(crate) load: Vec<LoadRequest>,
    /// A command to run as a load during the measurement, such as "stress-ng --cpu 1"; may be given again
    #[arg(long, value_name = "COMMAND")]
    pub(crate) load_command: Vec<String>,
}

impl RunArgs {
    /// The loads to run during the measurement, on `cpus` unless their options name others.
    pub(crate) fn loads(&self, cpus: &CpuList) -> Vec<LoadSpec> {
        let commands = self.load_command.iter().map(|line| LoadSpec {
            kind: LoadKind::Command {
                line: line.clone(),
                namespace: None,
            },
            cpus: cpus.clone(),
        });
        let built_in = self.load.iter().map(|request| request.clone().on(cpus));
        built_in.chain(commands).collect()
    }
}

/// Files that a judged command writes in addition to its answer.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PageArgs {
    /// Also write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write the verdict as JUnit XML: a test case for each limit; a limit in doubt is an error, one not measured is skipped
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Object, site, operator and more for the acceptance record that a printed page begins with: a TOML file [without --html, the page is
    /// written next to the run file]
    #[arg(long, value_name = "FILE", value_parser = about)]
    pub(crate) about: Option<About>,
}

impl PageArgs {
    /// File for the page of the run in this file, if a page was requested.
    pub(crate) fn page(&self, run: &Path) -> Option<PathBuf> {
        let beside = || self.about.is_some().then(|| run.with_extension("html"));
        self.html.clone().or_else(beside)
    }

    /// Moves the planned files from the folder of the run file `was` to the folder of `is`, where the run file is now.
    pub(crate) fn follow(&mut self, was: &Path, is: &Path) {
        let Some(folder) = is.parent().filter(|folder| Some(*folder) != was.parent()) else {
            return;
        };
        for file in [&mut self.html, &mut self.junit].into_iter().flatten() {
            if let Some(name) = file.file_name().filter(|_| file.parent() == was.parent()) {
                *file = folder.join(name);
            }
        }
    }
}

/// Parses the length of a window. Less than a tenth of a second is refused: its extremes mean nothing, and the run file would be flooded.
pub(crate) fn window(text: &str) -> Result<u64, String> {
    match units::parse_ns(text) {
        Ok(ns) if ns < 100_000_000 => Err("must be at least 100ms".into()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

/// Options of every command that measures on an interface with one thread.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PortArgs {
    /// Interface
    pub(crate) interface: String,
    /// How long to measure [default: until interrupted]
    #[arg(long, short = 'D', value_name = "DURATION", value_parser = positive_duration)]
    pub(crate) duration: Option<u64>,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY
    #[arg(long, short, default_value = "fifo:60")]
    pub(crate) policy: Policy,
    /// CPU to run on
    #[arg(long, short = 'a')]
    pub(crate) cpu: Option<u32>,
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
}

/// Heading of the options of a capture.
const CAPTURE: &str = "Capture";

/// Options of a capture of passing frames.
// Each option has its own heading: a heading of the struct would also apply to the following options of the command it is flattened into.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CaptureArgs {
    /// Write frames sent and received to this pcapng file, with nanosecond stamps: those around samples over their limit,
    /// around losses, and before the end
    #[arg(long, value_name = "FILE", help_heading = CAPTURE)]
    pub(crate) capture: Option<PathBuf>,
    /// Time to keep before and after each
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "1s",
        value_parser = positive_duration,
        requires = "capture",
        help_heading = CAPTURE
    )]
    pub(crate) capture_around: u64,
    /// Write every frame instead
    #[arg(long, requires = "capture", conflicts_with = "capture_around", help_heading = CAPTURE)]
    pub(crate) capture_all: bool,
}

impl PortArgs {
    /// Way of measuring, as far as these options define it.
    pub(crate) fn intent(&self) -> Intent {
        Intent {
            cpus: self.measured(),
            ..Intent::default()
        }
    }

    /// The measured CPUs: the one named, if any.
    pub(crate) fn measured(&self) -> CpuList {
        self.cpu.into_iter().collect()
    }
}

/// Parses a size such as `64MiB`, in bytes.
pub(crate) fn size(text: &str) -> Result<u64, units::SizeError> {
    units::parse_bytes(text)
}

#[cfg(test)]
mod tests {
    use super::{PageArgs, window};
    use std::path::Path;

    #[test]
    fn pages_beside_a_run_follow_it_and_others_stay() {
        let mut pages = PageArgs {
            html: Some("runs/one.html".into()),
            junit: Some("elsewhere/one.xml".into()),
            about: None,
        };
        pages.follow(Path::new("runs/one.triptime"), Path::new("/old/one.triptime"));
        assert_eq!(pages.html.as_deref(), Some(Path::new("/old/one.html")));
        assert_eq!(pages.junit.as_deref(), Some(Path::new("elsewhere/one.xml")));
    }

    use probes::options::positive_duration;

    #[test]
    fn values_and_refusals() {
        assert_eq!(window("1s"), Ok(1_000_000_000));
        assert!(window("0").is_err() && window("99ms").is_err());
        assert!(positive_duration("0").is_err() && positive_duration("10").is_err());
    }
}
