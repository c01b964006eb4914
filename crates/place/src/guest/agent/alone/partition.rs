//! The partition of the boot disk that has the user's files. It is mounted only while it is read or written, so that a power cut during the
//! measurement does not damage it.

use super::super::machine::line;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{create_dir_all, read_dir};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The kernel's list of block devices, each a folder.
const DEVICES: &str = "/sys/class/block";
/// Mount point.
const AT: &str = "/run/disk";
/// Time to find disks.
const PATIENCE: Duration = Duration::from_secs(30);

/// Such a partition.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// Its device file.
    pub(super) device: PathBuf,
}

impl Partition {
    /// The partition with this name in its disk's partition table.
    ///
    /// # Errors
    /// There is none, or several: then the boot disk is ambiguous.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        let begun = Instant::now();
        loop {
            let found = among(Path::new(DEVICES), name);
            match found.as_slice() {
                [one] => {
                    let device = Path::new("/dev").join(one);
                    return Ok(Self { device });
                }
                [] if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(100)),
                [] => {
                    return Err(format!(
                        "no disk has a partition {name}: the kernel may lack the driver of the disk"
                    ));
                }
                several => {
                    return Err(format!(
                        "{} are partitions {name}, copies of one disk: detach all but one",
                        several.join(" and ")
                    ));
                }
            }
        }
    }

    /// Mounts the partition, calls `work` for its files, and unmounts it so that all data is on the disk.
    ///
    /// # Errors
    /// The error of `work`; or the partition cannot be mounted or written.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
        let at = Path::new(AT);
        let failed = |what: &str, why: String| format!("{}: cannot be {what}: {why}", self.device.display());
        create_dir_all(at).map_err(|error| failed("mounted", error.to_string()))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let mounted = mount(&self.device, at, "vfat", flags, None);
        mounted.map_err(|errno| failed("mounted", format!("{errno} (the kernel needs vfat, and nls_cp437)")))?;
        let done = work(at);
        let left = unmount(at, UnmountFlags::empty()).map_err(|errno| failed("let go", errno.to_string()));
        rustix::fs::sync();
        let done = done?;
        left.map(|()| done)
    }
}

/// Names of the devices of partitions with this name (`PARTNAME` in their `uevent`, from the partition table).
fn among(devices: &Path, name: &str) -> Vec<String> {
    let devices = read_dir(devices).into_iter().flatten().flatten();
    let is_it = |folder: &Path| {
        let told = folder.join("uevent").to_str().and_then(|path| line(path).ok());
        told.is_some_and(|told| told.lines().any(|line| line.strip_prefix("PARTNAME=") == Some(name)))
    };
    let found = devices.filter(|device| is_it(&device.path()));
    let mut names: Vec<String> = found
        .map(|device| device.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::among;

    #[test]
    fn partitions_are_found_by_their_name_and_all_of_them() {
        let folder = tempfile::tempdir().expect("a folder");
        for (device, told) in [
            ("sda", "DEVNAME=sda\nDEVTYPE=disk\n"),
            ("sda1", "DEVNAME=sda1\nPARTNAME=EFI system partition\n"),
            ("sda2", "DEVNAME=sda2\nPARTNAME=triptime-00c0ffee\n"),
            ("sdb2", "DEVNAME=sdb2\nPARTNAME=triptime-00c0ffee\n"),
            ("sdc2", "DEVNAME=sdc2\nPARTNAME=triptime-00c0ffee2\n"),
        ] {
            std::fs::create_dir(folder.path().join(device)).expect("made");
            std::fs::write(folder.path().join(device).join("uevent"), told).expect("written");
        }
        assert_eq!(among(folder.path(), "triptime-00c0ffee"), ["sda2", "sdb2"]);
        assert!(among(folder.path(), "triptime-0").is_empty());
    }
}
