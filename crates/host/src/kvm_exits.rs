//! Guest exits, as KVM counts them (Linux: virt/kvm/kvm_main.c, `kvm_create_vm_debugfs`): a folder `PROCESS-FD` per guest, with a file per
//! counter, summed over all its virtual CPUs.

use crate::error::HostError;
use crate::reader::Reader;

const DEBUG: &str = "/sys/kernel/debug";
const ROOT: &str = "/sys/kernel/debug/kvm";
/// Maximum number of guests whose counters are read.
const MOST_GUESTS: usize = 16;

/// A counter of one guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvmExits {
    /// Process id of the hypervisor, its number for the guest, and the kernel's name of the counter: `1234-8/halt_exits`.
    pub name: String,
}

/// Exits of all guests of this machine, in total and by kind; empty without guests under KVM, or if the file system is not mounted.
pub(crate) fn find(reader: &Reader) -> Result<Vec<KvmExits>, HostError> {
    if !reader.exists(ROOT)? {
        return Ok(Vec::new());
    }
    let mut guests = reader.names(ROOT, is_guest)?;
    guests.truncate(MOST_GUESTS);
    let mut found = Vec::new();
    for guest in guests {
        // A guest may end while its folder is read.
        let kinds = reader
            .names(&format!("{ROOT}/{guest}"), counts_exits)
            .unwrap_or_default();
        found.extend(kinds.into_iter().map(|kind| KvmExits {
            name: format!("{guest}/{kind}"),
        }));
    }
    Ok(found)
}

/// True for a name `PROCESS-FD`.
fn is_guest(name: &str) -> bool {
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    let parts = name.split_once('-');
    parts.is_some_and(|(process, fd)| is_number(process) && is_number(fd))
}

/// Total, and the kinds: `halt_exits` on x86, `wfi_exit_stat` on ARM.
fn counts_exits(name: &str) -> bool {
    name == "exits" || name.ends_with("_exits") || name.ends_with("_exit_stat")
}

/// Describes the counters of this process's guests, or the reason that they cannot be read.
pub(crate) fn told(reader: &Reader, process: u32) -> Result<String, String> {
    if !reader.exists(DEBUG).is_ok_and(|is_there| is_there) || !reader.exists(ROOT).is_ok_and(|is_there| is_there) {
        return Err(format!(
            "{ROOT} does not exist: make it visible with mount -t debugfs none {DEBUG}"
        ));
    }
    let own = format!("{process}-");
    let all = find(reader).map_err(|error| error.to_string())?;
    let Some(first) = all.iter().find(|counter| counter.name.starts_with(&own)) else {
        return Err(format!("{ROOT} has no counters of process {process}"));
    };
    first.read(reader)?;
    let guest = first.name.split('/').next().unwrap_or_default();
    Ok(format!("read every second, as readings exits/{guest}/..."))
}

impl KvmExits {
    /// Value of the counter.
    ///
    /// # Errors
    /// The guest has ended, or the kernel is locked down and refuses all readers.
    pub(crate) fn read(&self, reader: &Reader) -> Result<u64, String> {
        let path = format!("{ROOT}/{}", self.name);
        let line = reader.line(&path).map_err(|error| error.to_string())?;
        line.parse()
            .map_err(|_| format!("the kernel reports \"{line}\" ({path})"))
    }
}

#[cfg(test)]
mod tests {
    use super::{find, told};
    use crate::reader::Reader;
    use std::fs;

    #[test]
    fn exits_of_each_guest_are_found_and_nothing_else() {
        let root = tempfile::tempdir().expect("a folder");
        let kvm = root.path().join("sys/kernel/debug/kvm");
        let reader = Reader::new(root.path());
        assert!(find(&reader).expect("none").is_empty());
        assert!(told(&reader, 77).expect_err("not mounted").contains("mount -t debugfs"));
        for file in [
            "exits",
            "77-8/exits",
            "77-8/halt_exits",
            "77-8/halt_wait_ns",
            "77-8/vcpu0/pid",
            "x-8/exits",
        ] {
            let path = kvm.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "12\n").expect("written");
        }
        let found = find(&reader).expect("counters");
        let read: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.read(&reader))).collect();
        assert_eq!(read, [("77-8/exits", Ok(12)), ("77-8/halt_exits", Ok(12))]);
        assert!(told(&reader, 77).expect("told").contains("exits/77-8"));
        assert!(told(&reader, 78).expect_err("another").contains("process 78"));
        fs::remove_file(kvm.join("77-8/exits")).expect("removed");
        assert!(found[0].read(&reader).is_err(), "gone is not zero");
    }
}
