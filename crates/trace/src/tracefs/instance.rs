//! A tracing instance: a directory below `instances` with its own buffers, which disturbs no other tracing.

use super::tracers::Tracefs;
use crate::error::TraceError;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// First part of an instance's name.
const PREFIX: &str = "triptime";

/// Distinguishes the instances of one process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A machine-wide setting that must be restored once an instance is gone. It is part of the instance's name, so that the next start
/// can restore it for a process that was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owed {
    Nothing,
    /// The osnoise tracer's own spinning threads, switched off for all instances at once.
    Workload,
}

impl Owed {
    fn suffix(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Workload => "-workload",
        }
    }
}

/// An instance, removed when dropped.
pub(super) struct Instance {
    tracefs: Tracefs,
    path: PathBuf,
    owed: Owed,
}

impl Instance {
    /// Makes the instance, empty and with the clock that this program uses. Removes the instances of dead processes.
    pub(super) fn create(tracefs: &Tracefs, buffer_kib: u32, owed: Owed) -> Result<Self, TraceError> {
        clear(tracefs);
        let namespace = pid_namespace();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let suffix = owed.suffix();
        let name = format!("{PREFIX}-{namespace}-{}-{number}{suffix}", std::process::id());
        let path = tracefs.instances().join(name);
        fs::create_dir(&path).map_err(|error| TraceError::file(&path, error))?;
        let instance = Self::held(tracefs, path, owed);
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &buffer_kib.to_string())?;
        instance.write("options/overwrite", "1")?;
        Ok(instance)
    }

    /// Takes over an existing instance.
    pub(super) fn held(tracefs: &Tracefs, path: PathBuf, owed: Owed) -> Self {
        Self {
            tracefs: tracefs.clone(),
            path,
            owed,
        }
    }

    /// A file of the instance.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(super) fn write(&self, file: &str, text: &str) -> Result<(), TraceError> {
        let path = self.path.join(file);
        fs::write(&path, text).map_err(|error| TraceError::file(&path, error))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        dismantle(&self.tracefs, &self.path, self.owed);
    }
}

/// Removes an instance and restores the setting that it changed. If that fails, the next start tries again.
fn dismantle(tracefs: &Tracefs, path: &Path, owed: Owed) {
    let _ = fs::write(path.join("tracing_on"), "0");
    let is_quiet = fs::write(path.join("current_tracer"), "nop").is_ok();
    let is_gone = fs::remove_dir(path).is_ok();
    // If the tracer is still running in it, its threads would start at once.
    if owed == Owed::Workload && (is_quiet || is_gone) {
        let _ = tracefs.set_workload(true);
    }
}

/// Removes the instances of dead processes.
pub(super) fn clear(tracefs: &Tracefs) {
    remove_stale(tracefs, pid_namespace());
}

/// Inode of the PID namespace, which distinguishes namespaces, since process numbers are valid only within one. 0: unknown.
pub(super) fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |found| found.ino())
}

/// Removes the instances of processes of this namespace that are gone; processes of other namespaces are not visible.
fn remove_stale(tracefs: &Tracefs, namespace: u64) {
    let Ok(folder) = fs::read_dir(tracefs.instances()) else {
        return;
    };
    for entry in folder.flatten() {
        let name = entry.file_name();
        if let Some((pid, owed)) = owner(&name.to_string_lossy(), namespace)
            && !Path::new(&format!("/proc/{pid}")).exists()
        {
            dismantle(tracefs, &entry.path(), owed);
        }
    }
}

/// The process that made the instance of this name, if it is from this program and this namespace, and the setting to restore.
fn owner(name: &str, namespace: u64) -> Option<(u32, Owed)> {
    let (name, owed) = match name.strip_suffix(Owed::Workload.suffix()) {
        Some(name) => (name, Owed::Workload),
        None => (name, Owed::Nothing),
    };
    let mut parts = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split('-');
    let (theirs, pid) = (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse().ok()?);
    (theirs == namespace && namespace != 0).then_some((pid, owed))
}

#[cfg(test)]
mod tests {
    use super::{Owed, Tracefs, owner, remove_stale};
    use std::fs;

    #[test]
    fn instances_of_other_namespaces_and_programs_are_left_alone() {
        let ours = 4_026_531_836;
        assert_eq!(owner("triptime-4026531836-77-0", ours), Some((77, Owed::Nothing)));
        assert_eq!(
            owner("triptime-4026531836-77-0-workload", ours),
            Some((77, Owed::Workload))
        );
        for (name, namespace) in [
            ("triptime-4026531836-77-0", 1),
            ("triptime-0-77-0", 0),
            ("triptime-77", 77),
            ("rtla-4026531836-77-0", 4_026_531_836),
            ("triptime-x-y-z", 1),
        ] {
            assert_eq!(owner(name, namespace), None, "{name}");
        }
    }

    #[test]
    fn what_a_killed_process_owes_is_put_back_with_its_instance() {
        let tree = tempfile::tempdir().expect("a folder");
        let tracefs = Tracefs::at(tree.path());
        let options = tree.path().join("osnoise/options");
        fs::create_dir_all(tree.path().join("osnoise")).expect("a folder");
        fs::write(&options, "NO_DEFAULTS NO_OSNOISE_WORKLOAD \n").expect("a file");
        // No process has number 0, and process 1 always exists.
        let dead = tracefs.instances().join("triptime-5-0-3-workload");
        let alive = tracefs.instances().join("triptime-5-1-3-workload");
        fs::create_dir_all(&alive).expect("a folder");
        remove_stale(&tracefs, 5);
        assert!(alive.is_dir());
        assert!(!tracefs.workload().expect("readable").expect("there"), "nobody died");
        fs::create_dir_all(&dead).expect("a folder");
        remove_stale(&tracefs, 5);
        assert!(alive.is_dir());
        assert_eq!(fs::read_to_string(&options).expect("a file"), "OSNOISE_WORKLOAD");
    }
}
