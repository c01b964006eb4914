//! Programs that hold a limit against deep idle states for all CPUs.

use crate::error::{HostError, NO_PROCESS, Unreadable};
use crate::processes::kept;
use crate::reader::Reader;

/// Name of the device that a program holds open for as long as its limit is in force.
const DEVICE: &str = "cpu_dma_latency";

/// Programs that hold a limit only while they measure.
const INSTRUMENTS: [&str; 5] = [TRIPTIME, "cyclictest", "jitterdebugger", "oslat", "rtla"];

const TRIPTIME: &str = "triptime";

/// The bits of a file's flags that say whether it is read or written (`O_ACCMODE`).
const ACCESS_MODE: u32 = 3;

/// Their value for a file that is only read (`O_RDONLY`).
const READ_ONLY: u32 = 0;

/// A program that holds a limit for all CPUs, or may hold one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleHolder {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// False for an instrument whose open files cannot be read: it may hold a limit.
    pub is_seen: bool,
}

impl IdleHolder {
    /// True for a program that only measures: in service there is no such limit.
    pub fn is_instrument(&self) -> bool {
        is_instrument(&self.name)
    }

    /// True for this tool.
    pub fn is_triptime(&self) -> bool {
        self.name == TRIPTIME
    }
}

fn is_instrument(name: &str) -> bool {
    INSTRUMENTS.iter().any(|one| kept(one) == name)
}

/// The holders among the processes that can be seen; the kernel's drivers, and processes of other PID namespaces, cannot.
pub(crate) fn holders(reader: &Reader) -> Vec<IdleHolder> {
    let is_number = |name: &str| name.bytes().all(|octet| octet.is_ascii_digit());
    let processes = reader.names("/proc", is_number).unwrap_or_default();
    processes.iter().filter_map(|pid| holder(reader, pid)).collect()
}

fn holder(reader: &Reader, pid: &str) -> Option<IdleHolder> {
    let folder = format!("/proc/{pid}/fd");
    let opened = reader.names(&folder, |_| true);
    let is_seen = opened.is_ok();
    let is_it = |number: &String| {
        let target = reader.target(&format!("{folder}/{number}"));
        target.is_ok_and(|target| target.ends_with(DEVICE)) && !is_a_reader(reader, pid, number)
    };
    let name = || {
        reader
            .line(&format!("/proc/{pid}/comm"))
            .unwrap_or_else(|_| "a process".to_owned())
    };
    let name = match opened {
        Ok(opened) => opened.iter().any(is_it).then(name)?,
        Err(error) if is_over(&error) => return None,
        Err(_) => Some(name()).filter(|name| is_instrument(name))?,
    };
    let pid = pid.parse().ok()?;
    Some(IdleHolder { pid, name, is_seen })
}

/// True if the process opened this file only to read it: that shows it the limit, and sets none.
fn is_a_reader(reader: &Reader, pid: &str, number: &str) -> bool {
    let text = reader.text(&format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    flags.is_some_and(|flags| flags & ACCESS_MODE == READ_ONLY)
}

/// True if the process has ended meanwhile.
fn is_over(error: &HostError) -> bool {
    let HostError::Unreadable { why, .. } = error else {
        return false;
    };
    why.is_absent() || *why == Unreadable::Errno(NO_PROCESS)
}

#[cfg(test)]
mod tests {
    use crate::Host;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn holders_are_the_processes_that_have_the_device_open() {
        let tree = tempfile::tempdir().expect("a folder");
        let path = |name: &str| tree.path().join(name);
        let process = |pid: u32, name: &str| {
            fs::create_dir_all(path(&format!("proc/{pid}/fd"))).expect("made");
            fs::write(path(&format!("proc/{pid}/comm")), format!("{name}\n")).expect("written");
        };
        fs::create_dir_all(path("dev")).expect("made");
        for device in ["cpu_dma_latency", "null"] {
            fs::write(path("dev").join(device), "").expect("written");
        }
        process(700, "tuned");
        process(812, "cyclictest");
        process(830, "triptime");
        process(831, "oslat");
        process(900, "rtla");
        process(901, "bash");
        symlink("/dev/cpu_dma_latency", path("proc/700/fd/9")).expect("linked");
        symlink("/dev/null", path("proc/700/fd/1")).expect("linked");
        symlink("/dev/null", path("proc/812/fd/3")).expect("linked");
        symlink("socket:[4711]", path("proc/812/fd/4")).expect("linked");
        // One reads the limit, the other writes one.
        for (pid, flags) in [(830, "0100000"), (831, "0100001")] {
            symlink("/dev/cpu_dma_latency", path(&format!("proc/{pid}/fd/5"))).expect("linked");
            fs::create_dir_all(path(&format!("proc/{pid}/fdinfo"))).expect("made");
            let info = format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t26\n");
            fs::write(path(&format!("proc/{pid}/fdinfo/5")), info).expect("written");
        }
        // Another user's processes; of those, only an instrument is of interest.
        fs::write(path(".unreadable"), "EACCES /proc/900/fd\nEACCES /proc/901/fd\n").expect("written");
        let found = Host::at(tree.path()).expect("a tree").idle_holders();
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.pid, one.name.as_str(), one.is_seen, one.is_instrument()))
            .collect();
        let writers = [(700, "tuned", true, false), (831, "oslat", true, true)];
        assert_eq!(found, [&writers[..], &[(900, "rtla", false, true)]].concat());
    }
}
