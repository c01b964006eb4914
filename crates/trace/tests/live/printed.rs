//! Switches as the kernel itself prints them (`trace` of an instance of tracefs, clock `mono`): independent evidence that shares
//! only the tracepoint with the recorder.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use units::Monotonic;

/// An instance that records switches; removed when dropped.
pub(super) struct Printed {
    path: PathBuf,
}

impl Printed {
    /// Starts to record; `None` if the test is skipped.
    pub(super) fn start(test: &str) -> Option<Self> {
        let mounts = ["/sys/kernel/tracing/instances", "/sys/kernel/debug/tracing/instances"];
        let Some(folder) = mounts.iter().map(Path::new).find(|path| path.is_dir()) else {
            testing::skip(test, "tracefs is not mounted");
            return None;
        };
        // Named so that the program's next start removes the instance of a killed test.
        let namespace = fs::metadata("/proc/self/ns/pid").expect("a namespace").ino();
        let path = folder.join(format!("triptime-{namespace}-{}-999", std::process::id()));
        if let Err(error) = fs::create_dir(&path) {
            testing::skip(test, &format!("{}: {error}", path.display()));
            return None;
        }
        let printed = Self { path };
        for (file, text) in [
            ("trace_clock", "mono"),
            ("buffer_size_kb", "1024"),
            ("events/sched/sched_switch/enable", "1"),
        ] {
            fs::write(printed.path.join(file), text).expect(file);
        }
        Some(printed)
    }

    /// Each switch on a CPU: its instant, to the microsecond, and the thread that got the CPU.
    pub(super) fn switches(&self, cpu: u32) -> Vec<(Monotonic, i32)> {
        let octets = fs::read(self.path.join(format!("per_cpu/cpu{cpu}/trace"))).expect("readable");
        String::from_utf8_lossy(&octets).lines().filter_map(read).collect()
    }
}

impl Drop for Printed {
    fn drop(&mut self) {
        let _ = fs::write(self.path.join("tracing_on"), "0");
        let _ = fs::remove_dir(&self.path);
    }
}

/// Parses `  name-pid   [001] d..2.  1234.567890: sched_switch: prev_comm=… ==> next_comm=b next_pid=2 next_prio=98`.
fn read(line: &str) -> Option<(Monotonic, i32)> {
    let (head, fields) = line.split_once(": sched_switch: ")?;
    let (seconds, micros) = head.rsplit(' ').next()?.split_once('.')?;
    let ns = seconds.parse::<i64>().ok()? * 1_000_000_000 + micros.parse::<i64>().ok()? * 1_000;
    let (_, next) = fields.rsplit_once(" next_pid=")?;
    let pid = next.split(' ').next()?.parse().ok()?;
    Some((Monotonic::from_ns(ns), pid))
}
