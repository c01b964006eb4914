//! Chooses the guest's disk for the result. Only a disk that is named, or that is blank or has an earlier result, is ever written to.

use super::FOLDER;
use std::fs::{File, read_dir};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes at the start of a disk that are checked: every partition table, file system or volume leaves some of them nonzero.
const LOOKED_AT: u64 = 1 << 20;
/// Names of block devices that are not disks of the hypervisor.
const OTHERS: [&str; 8] = ["loop", "ram", "zram", "sr", "fd", "md", "dm-", "nbd"];
/// Time to find disks: with SATA and SCSI they appear some time after their driver is loaded.
const PATIENCE: Duration = Duration::from_secs(15);

/// A disk, and the reason why it may be written to.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) path: PathBuf,
    pub(super) why: &'static str,
}

/// The disk of this name, or the first one that may be overwritten.
///
/// # Errors
/// There is no such disk.
pub(super) fn choose(name: Option<&str>) -> Result<Disk, String> {
    let begun = Instant::now();
    loop {
        let found = match name {
            Some(name) => named(name),
            None => free(),
        };
        match found {
            Err(_) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(100)),
            found => return found,
        }
    }
}

fn named(name: &str) -> Result<Disk, String> {
    let path = Path::new("/dev").join(name.trim_start_matches("/dev/"));
    match path.exists() {
        true => Ok(Disk {
            path,
            why: "named on the kernel command line",
        }),
        false => Err(format!("there is no disk {}", path.display())),
    }
}

fn free() -> Result<Disk, String> {
    let mut names: Vec<String> = read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
        .map(|disk| disk.file_name().to_string_lossy().into_owned())
        .filter(|name| !OTHERS.iter().any(|other| name.starts_with(other)))
        .collect();
    names.sort();
    let looked_at = names.iter().find_map(|name| {
        let path = Path::new("/dev").join(name);
        let why = may_be_overwritten(&beginning(&path).ok()?)?;
        Some(Disk { path, why })
    });
    looked_at.ok_or_else(|| match names.as_slice() {
        [] => "no disk takes the result: the guest has none".to_owned(),
        names => format!(
            "no disk takes the result: none of {} is blank or has an earlier one; name one with triptime.disk=NAME",
            names.join(", ")
        ),
    })
}

fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut octets)?;
    Ok(octets)
}

/// Reason why a disk with this beginning may be overwritten, if it may.
pub(super) fn may_be_overwritten(beginning: &[u8]) -> Option<&'static str> {
    if beginning.starts_with(FOLDER.as_bytes()) {
        return Some("which had an earlier result");
    }
    let is_blank = !beginning.is_empty() && beginning.iter().all(|octet| *octet == 0);
    is_blank.then_some("which was blank")
}

#[cfg(test)]
mod tests {
    use super::may_be_overwritten;

    #[test]
    fn only_blank_disks_and_results_are_overwritten() {
        let mut disk = vec![0; 1 << 20];
        assert_eq!(may_be_overwritten(&disk), Some("which was blank"));
        // File systems of the ext family have their magic number here.
        disk[1080..1082].copy_from_slice(&[0x53, 0xef]);
        assert_eq!(may_be_overwritten(&disk), None);
        assert_eq!(may_be_overwritten(b""), None);
        assert!(may_be_overwritten(b"triptime/run.triptime\0\0").is_some());
    }
}
