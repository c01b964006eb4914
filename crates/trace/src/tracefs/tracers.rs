//! The kernel's own tracers: which are built in, and their common settings.

use super::instance::clear;
use crate::error::TraceError;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Possible mount points of tracefs.
const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Options of osnoise and timerlat, for all instances at once.
const OPTIONS: &str = "osnoise/options";

/// Makes osnoise spin itself (`kernel/trace/trace_osnoise.c`, since Linux 6.2). Preceded by `NO_` if off.
const WORKLOAD: &str = "OSNOISE_WORKLOAD";

/// A mounted tracefs.
#[derive(Debug, Clone)]
pub struct Tracefs {
    root: PathBuf,
}

/// A tracer that looks for latencies without help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracer {
    /// Net time of every interruption of a thread.
    Osnoise,
    /// Wake-up latency of a kernel thread.
    Timerlat,
    /// Gaps while interrupts are off.
    Hwlat,
}

/// The tracers a kernel has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracers(Vec<String>);

impl Tracer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Osnoise, Self::Timerlat, Self::Hwlat];

    /// The name in tracefs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Osnoise => "osnoise",
            Self::Timerlat => "timerlat",
            Self::Hwlat => "hwlat",
        }
    }

    /// The kernel option that provides it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Osnoise => "CONFIG_OSNOISE_TRACER",
            Self::Timerlat => "CONFIG_TIMERLAT_TRACER",
            Self::Hwlat => "CONFIG_HWLAT_TRACER",
        }
    }
}

impl Tracers {
    /// Parses the text of `available_tracers`.
    pub fn parse(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_owned).collect())
    }

    /// True if this tracer is built in.
    pub fn has(&self, tracer: Tracer) -> bool {
        self.0.iter().any(|name| name == tracer.name())
    }

    /// Lists the kernel's tracers, and those of [`Tracer::ALL`] that it lacks.
    pub fn describe(&self) -> String {
        let missing = Tracer::ALL.into_iter().filter(|tracer| !self.has(*tracer));
        let missing: Vec<String> = missing
            .map(|tracer| format!("{} ({})", tracer.name(), tracer.option()))
            .collect();
        match missing.is_empty() {
            true => self.0.join(", "),
            false => format!("{}; not built in: {}", self.0.join(", "), missing.join(", ")),
        }
    }
}

impl Tracefs {
    /// Finds tracefs on this host.
    ///
    /// # Errors
    /// It is not mounted, or only root may read it.
    pub fn find() -> Result<Self, TraceError> {
        let mut refused = TraceError::NoTracefs;
        for tracefs in MOUNTS.map(Self::at) {
            let path = tracefs.instances();
            match fs::metadata(&path) {
                Ok(_) => return Ok(tracefs),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => refused = TraceError::file(path, error),
                Err(_) => {}
            }
        }
        Err(refused)
    }

    /// A tracefs in this folder.
    pub fn at(root: impl AsRef<Path>) -> Self {
        Self {
            root: root.as_ref().to_path_buf(),
        }
    }

    /// Removes the instances of this program's killed processes, with the tracers still running in them.
    pub fn clear(&self) {
        clear(self);
    }

    /// The tracers that the kernel has.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn tracers(&self) -> Result<Tracers, TraceError> {
        self.read("available_tracers").map(|text| Tracers::parse(&text))
    }

    /// Errors if the tracer is not built in.
    ///
    /// # Errors
    /// The tracer is not built in, or the list cannot be read.
    pub fn need(&self, tracer: Tracer) -> Result<(), TraceError> {
        let tracers = self.tracers()?;
        match tracers.has(tracer) {
            true => Ok(()),
            false => Err(TraceError::NoTracer {
                tracer: tracer.name(),
                option: tracer.option(),
                have: tracers.0.join(", "),
            }),
        }
    }

    pub(super) fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// Errors if osnoise or timerlat, which share their settings, is already in use.
    pub(super) fn need_osnoise_idle(&self) -> Result<(), TraceError> {
        let instances = fs::read_dir(self.instances()).into_iter().flatten().flatten();
        let folders = instances.map(|entry| entry.path());
        for folder in std::iter::once(self.root.clone()).chain(folders) {
            let path = folder.join("current_tracer");
            let tracer = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            if [Tracer::Osnoise, Tracer::Timerlat]
                .iter()
                .any(|used| used.name() == tracer)
            {
                return Err(TraceError::TracerBusy { path, tracer });
            }
        }
        Ok(())
    }

    /// True if osnoise spins itself; `None` if there is no such option, and it always does.
    pub(super) fn workload(&self) -> Result<Option<bool>, TraceError> {
        if !self.root.join(OPTIONS).exists() {
            return Ok(None);
        }
        let text = self.read(OPTIONS)?;
        let options = text.split_whitespace().map(|option| match option.strip_prefix("NO_") {
            Some(name) => (name, false),
            None => (option, true),
        });
        Ok(options
            .into_iter()
            .find(|(name, _)| *name == WORKLOAD)
            .map(|(_, is_on)| is_on))
    }

    /// Switches osnoise's own spinning on or off.
    pub(super) fn set_workload(&self, is_on: bool) -> Result<(), TraceError> {
        let prefix = if is_on { "" } else { "NO_" };
        self.write(OPTIONS, &format!("{prefix}{WORKLOAD}"))
    }

    pub(super) fn read(&self, file: &str) -> Result<String, TraceError> {
        let path = self.root.join(file);
        fs::read_to_string(&path).map_err(|error| TraceError::file(path, error))
    }

    pub(super) fn write(&self, file: &str, text: &str) -> Result<(), TraceError> {
        let path = self.root.join(file);
        fs::write(&path, text).map_err(|error| TraceError::file(path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::{Tracefs, Tracer, Tracers};
    use std::fs;

    #[test]
    fn what_is_missing_is_named_with_its_option() {
        let bare = Tracers::parse("blk function nop\n");
        assert_eq!(
            bare.describe(),
            "blk, function, nop; not built in: osnoise (CONFIG_OSNOISE_TRACER), timerlat (CONFIG_TIMERLAT_TRACER), \
             hwlat (CONFIG_HWLAT_TRACER)"
        );
        let debian = Tracers::parse(
            "timerlat osnoise hwlat blk mmiotrace function_graph wakeup_dl wakeup_rt wakeup function nop\n",
        );
        assert!(Tracer::ALL.into_iter().all(|tracer| debian.has(tracer)));
        assert!(!debian.describe().contains("not built in"));
        // A part of a name does not count as the name.
        assert!(!Tracers::parse("hwlat2 myosnoise").has(Tracer::Hwlat));
    }

    #[test]
    fn a_tracer_that_is_not_there_is_refused_by_its_option() {
        let tree = tempfile::tempdir().expect("a folder");
        let tracefs = Tracefs::at(tree.path());
        let unreadable = tracefs.need(Tracer::Hwlat).expect_err("no list").to_string();
        assert!(unreadable.contains("available_tracers"), "{unreadable}");
        fs::write(tree.path().join("available_tracers"), "hwlat nop\n").expect("a file");
        assert!(tracefs.need(Tracer::Hwlat).is_ok());
        let refused = tracefs.need(Tracer::Osnoise).expect_err("not built in").to_string();
        assert!(
            refused.contains("CONFIG_OSNOISE_TRACER; it has: hwlat, nop"),
            "{refused}"
        );
    }

    #[test]
    fn the_workload_option_is_read_as_the_kernel_prints_it() {
        let tree = tempfile::tempdir().expect("a folder");
        let tracefs = Tracefs::at(tree.path());
        assert_eq!(tracefs.workload().expect("no file"), None);
        fs::create_dir(tree.path().join("osnoise")).expect("a folder");
        for (text, wanted) in [
            (
                "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE NO_OSNOISE_IRQ_DISABLE \n",
                Some(true),
            ),
            ("NO_DEFAULTS NO_OSNOISE_WORKLOAD \n", Some(false)),
            ("DEFAULTS \n", None),
        ] {
            fs::write(tree.path().join("osnoise/options"), text).expect("a file");
            assert_eq!(tracefs.workload().expect("readable"), wanted, "{text}");
        }
    }

    #[test]
    fn this_kernel_has_a_list() {
        let Ok(tracefs) = Tracefs::find() else {
            return testing::skip("this_kernel_has_a_list", "no tracefs, or not root");
        };
        // Every kernel with tracing has this tracer.
        let have = tracefs.tracers().expect("readable").describe();
        assert!(have.contains("nop"), "{have}");
    }
}
