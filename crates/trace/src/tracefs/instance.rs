//! A tracing instance: a directory below `instances` with buffers of its own, which disturbs nobody else's tracing.

use crate::error::TraceError;
use crate::point::{POINTS, Program};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where tracefs is mounted.
const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Buffer of each CPU, in KiB: some 20,000 events, 200 ms at 100,000 events a second.
const BUFFER_KIB: u32 = 1024;

/// First part of an instance's name.
const PREFIX: &str = "triptime";

/// Sets apart the recorders of one process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// An instance, removed when dropped.
pub(super) struct Instance {
    path: PathBuf,
}

impl Instance {
    /// Makes the instance, empty and with the clock that is ours. Removes what dead processes left behind.
    pub(super) fn create() -> Result<Self, TraceError> {
        let instances = find()?;
        let namespace = pid_namespace();
        remove_stale(&instances, namespace);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}-{namespace}-{}-{number}", std::process::id());
        let path = instances.join(name);
        fs::create_dir(&path).map_err(|error| TraceError::file(&path, error))?;
        let instance = Self { path };
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &BUFFER_KIB.to_string())?;
        instance.write("options/overwrite", "1")?;
        Ok(instance)
    }

    /// Switches on the events that this kernel has.
    pub(super) fn enable_events(&self) -> Result<Vec<Program>, TraceError> {
        let mut programs = Vec::new();
        for point in &POINTS {
            let file = format!("events/{}/{}/enable", point.group, point.name);
            let missing = match self.write(&file, "1") {
                Ok(()) => None,
                Err(error) if point.needed => return Err(error),
                Err(error) => Some(error.to_string()),
            };
            programs.push(Program::of(point, missing));
        }
        Ok(programs)
    }

    /// Keeps the wake-ups of real-time threads and of these.
    pub(super) fn filter_waking(&self, threads: &BTreeSet<i32>) -> Result<(), TraceError> {
        let mut filter = "prio < 100".to_owned();
        for thread in threads {
            filter.push_str(&format!(" || pid == {thread}"));
        }
        self.write("events/sched/sched_waking/filter", &filter)
    }

    /// What the buffer of a CPU holds, as text.
    pub(super) fn text(&self, cpu: u32) -> Result<String, TraceError> {
        let path = self.path.join(format!("per_cpu/cpu{cpu}/trace"));
        // A thread's name may be no UTF-8.
        let octets = fs::read(&path).map_err(|error| TraceError::file(&path, error))?;
        Ok(String::from_utf8_lossy(&octets).into_owned())
    }

    /// Events written so far on all CPUs, overwritten ones included.
    pub(super) fn events_written(&self) -> Result<u64, TraceError> {
        let path = self.path.join("per_cpu");
        let folder = fs::read_dir(&path).map_err(|error| TraceError::file(&path, error))?;
        let mut sum = 0;
        for entry in folder.flatten() {
            let path = entry.path().join("stats");
            let text = fs::read_to_string(&path).map_err(|error| TraceError::file(&path, error))?;
            sum += counted(&text);
        }
        Ok(sum)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), TraceError> {
        let path = self.path.join(file);
        fs::write(&path, text).map_err(|error| TraceError::file(&path, error))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Nothing is left to do when it fails: the next start removes it.
        let _ = self.write("tracing_on", "0");
        let _ = fs::remove_dir(&self.path);
    }
}

/// The folder of instances.
fn find() -> Result<PathBuf, TraceError> {
    let folders = MOUNTS.iter().map(|mount| Path::new(mount).join("instances"));
    folders
        .into_iter()
        .find(|folder| folder.is_dir())
        .ok_or(TraceError::NoTracefs)
}

/// Process numbers count within a namespace only; its inode tells namespaces apart. 0: unknown.
fn pid_namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |found| found.ino())
}

/// Removes the instances of processes that are gone, of this namespace: of others we cannot know.
fn remove_stale(instances: &Path, namespace: u64) {
    let Ok(folder) = fs::read_dir(instances) else { return };
    for entry in folder.flatten() {
        let name = entry.file_name();
        if let Some(pid) = owner(&name.to_string_lossy(), namespace)
            && !Path::new(&format!("/proc/{pid}")).exists()
        {
            // One that is busy stays for the next start.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The process that made the instance of this name, when it is one of ours and of this namespace.
fn owner(name: &str, namespace: u64) -> Option<u32> {
    let mut parts = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split('-');
    let (theirs, pid) = (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse().ok()?);
    (theirs == namespace && namespace != 0).then_some(pid)
}

/// `entries: 205` and `overrun: 3` of a `stats` file, added up.
fn counted(text: &str) -> u64 {
    let fields = text.lines().filter_map(|line| {
        let value = line
            .strip_prefix("entries:")
            .or_else(|| line.strip_prefix("overrun:"))?;
        value.trim().parse::<u64>().ok()
    });
    fields.sum()
}

#[cfg(test)]
mod tests {
    use super::{counted, owner};

    #[test]
    fn instances_of_other_namespaces_and_programs_are_left_alone() {
        assert_eq!(owner("triptime-4026531836-77-0", 4_026_531_836), Some(77));
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
    fn overwritten_events_count_as_written() {
        let text = "entries: 205\noverrun: 3\ncommit overrun: 1\nbytes: 9\ndropped events: 0\nread events: 0\n";
        assert_eq!(counted(text), 208);
    }
}
