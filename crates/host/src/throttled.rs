//! How often the processor slowed itself down because it was too hot, as the kernel counts the interrupts that say so (Linux:
//! arch/x86/kernel/cpu/mce/therm_throt.c): a counter for the core of each CPU, and one for its package.
//!
//! Reading a counter costs the CPU nothing. Temperatures have no such counter: the kernel asks the CPU itself for one, with an interrupt, which
//! would delay what is measured there.

use crate::error::HostError;
use crate::reader::Reader;
use units::CpuList;

const CPUS: &str = "/sys/devices/system/cpu";

/// A counter of one CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttled {
    /// The CPU and the part of the processor: `cpu1/core`, `cpu1/package`.
    pub name: String,
    path: String,
}

/// The counters of these CPUs; empty if this processor has none, as that of most virtual machines.
pub(crate) fn find(reader: &Reader, cpus: &CpuList) -> Result<Vec<Throttled>, HostError> {
    let mut found = Vec::new();
    for cpu in cpus.iter() {
        for part in ["core", "package"] {
            let path = format!("{CPUS}/cpu{cpu}/thermal_throttle/{part}_throttle_count");
            if reader.exists(&path)? {
                found.push(Throttled {
                    name: format!("cpu{cpu}/{part}"),
                    path,
                });
            }
        }
    }
    Ok(found)
}

impl Throttled {
    /// Value of the counter.
    ///
    /// # Errors
    /// It cannot be read, as of a CPU that was taken offline, or is no number.
    pub(crate) fn read(&self, reader: &Reader) -> Result<u64, String> {
        let line = reader.line(&self.path).map_err(|error| error.to_string())?;
        line.parse()
            .map_err(|_| format!("the kernel reports \"{line}\" ({})", self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::reader::Reader;
    use std::fs;
    use std::path::Path;
    use units::CpuList;

    #[test]
    fn counters_of_these_cpus_are_found_and_one_that_goes_is_not_zero() {
        let root = tempfile::tempdir().expect("a folder");
        let reader = Reader::new(root.path());
        let both: CpuList = [0, 1].into_iter().collect();
        assert!(find(&reader, &both).expect("none").is_empty());
        for (cpu, part, count) in [(0, "core", "7"), (1, "core", "12"), (1, "package", "13")] {
            let file = format!("sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{part}_throttle_count");
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, format!("{count}\n")).expect("written");
        }
        let found = find(&reader, &CpuList::from_iter([1])).expect("counters");
        let read: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.read(&reader))).collect();
        assert_eq!(read, [("cpu1/core", Ok(12)), ("cpu1/package", Ok(13))]);
        fs::remove_dir_all(root.path().join("sys/devices/system/cpu/cpu1")).expect("removed");
        assert!(found[0].read(&reader).is_err());
    }

    #[test]
    fn a_recorded_bare_machine_has_them_and_a_guest_has_none() {
        let found = |tree: &str| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../tests/hosts")
                .join(tree)
                .join("root");
            let reader = Reader::new(&root);
            let counters = find(&reader, &CpuList::from_iter([1])).expect("readable").into_iter();
            counters
                .map(|one| (one.name.clone(), one.read(&reader)))
                .collect::<Vec<_>>()
        };
        let bare = found("preempt-rt-bare-metal");
        assert_eq!(
            bare,
            [("cpu1/core".to_owned(), Ok(0)), ("cpu1/package".to_owned(), Ok(3))]
        );
        assert_eq!(found("kvm-guest"), []);
    }
}
