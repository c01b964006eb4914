//! The file system that a file is written to, and the disks below it: on an SD card or with `sync`, what writes waits.

use crate::error::HostError;
use crate::fact::Sheet;
use crate::mounts::{self, Mount};
use crate::reader::Reader;
use crate::storage;
use model::Fact;
use std::path::Path;

const BLOCK: &str = "/sys/class/block";

/// Longest chain of devices that are made of others (LUKS on LVM on a RAID is three).
const MOST_LAYERS: usize = 8;

/// Facts about the place of a file at this absolute path, which contains no link.
pub(crate) fn facts(reader: &Reader, path: &Path, what: &str) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "storage");
    let mount = mount_of(reader, path);
    let shown = mount.as_ref().map(shown).map_err(Clone::clone);
    sheet.add(&format!("file system of {what}"), mounts::PATH, shown);
    let disks = mount.and_then(|mount| disks_of(reader, &mount));
    sheet.add(&format!("disk of {what}"), BLOCK, disks);
    sheet.finish()
}

/// The mount with the longest mount point above the path. Of several at one point, the last hides the others.
fn mount_of(reader: &Reader, path: &Path) -> Result<Mount, HostError> {
    let above = mounts::read(reader)?
        .into_iter()
        .filter(|mount| path.starts_with(&mount.point));
    above
        .max_by_key(|mount| Path::new(&mount.point).components().count())
        .ok_or_else(|| HostError::Undecided(format!("no mount above {} is listed", path.display())))
}

/// Such as `ext4 on /dev/vda1, mounted at / with rw,noatime,discard`.
fn shown(mount: &Mount) -> String {
    let mut options: Vec<&str> = Vec::new();
    for option in mount.flags.iter().chain(&mount.options) {
        if !option.is_empty() && !options.contains(&option.as_str()) {
            options.push(option);
        }
    }
    format!(
        "{} on {}, mounted at {} with {}",
        mount.kind,
        mount.source,
        mount.point,
        options.join(",")
    )
}

/// The disks below a mount, such as `mmcblk0: SD card, SU16G, driver mmcblk, 14.8 GiB, scheduler mq-deadline`.
fn disks_of(reader: &Reader, mount: &Mount) -> Result<String, HostError> {
    if ["tmpfs", "ramfs"].contains(&mount.kind.as_str()) {
        return Ok("none: it is in memory".to_owned());
    }
    let device = device_of(reader, mount)?;
    let mut disks = Vec::new();
    below(reader, &device, MOST_LAYERS, &mut disks);
    let described = disks.iter().map(|disk| {
        let parts = [kind(reader, disk), Some(storage::described(reader, disk)?)];
        Ok(format!(
            "{disk}: {}",
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        ))
    });
    Ok(described.collect::<Result<Vec<String>, HostError>>()?.join("; "))
}

/// Name of the block device that is mounted. File systems on several devices have no number of one, but name one as their source.
fn device_of(reader: &Reader, mount: &Mount) -> Result<String, HostError> {
    let name = |path: &str| {
        let target = reader.target(path).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    };
    let by_number = || match mount.device.starts_with("0:") {
        true => None,
        false => name(&format!("/sys/dev/block/{}", mount.device)),
    };
    let by_source = || {
        let of_dev = mount.source.starts_with("/dev/").then(|| name(&mount.source))??;
        reader.exists(&format!("{BLOCK}/{of_dev}")).ok()?.then_some(of_dev)
    };
    by_number().or_else(by_source).ok_or_else(|| {
        HostError::Undecided(format!(
            "{} on {} names no disk of this machine",
            mount.kind, mount.source
        ))
    })
}

/// Adds the disks that a block device is made of: of a partition its disk, of a volume or a RAID the disks of its parts.
fn below(reader: &Reader, device: &str, layers: usize, disks: &mut Vec<String>) {
    let folder = format!("{BLOCK}/{device}");
    let parts = reader.names(&format!("{folder}/slaves"), |_| true).unwrap_or_default();
    if layers > 0 && !parts.is_empty() {
        parts.iter().for_each(|part| below(reader, part, layers - 1, disks));
        return;
    }
    let is_partition = reader.exists(&format!("{folder}/partition")).unwrap_or(false);
    let target = reader.target(&folder).ok().filter(|_| is_partition);
    let whole = target.and_then(|path| Some(path.parent()?.file_name()?.to_string_lossy().into_owned()));
    let disk = whole.unwrap_or_else(|| device.to_owned());
    if !disks.contains(&disk) {
        disks.push(disk);
    }
}

/// Kind of a disk, as far as the kernel says it.
fn kind(reader: &Reader, disk: &str) -> Option<String> {
    let line = |file: &str| reader.line(&format!("{BLOCK}/{disk}/{file}")).ok();
    if disk.starts_with("nvme") {
        return Some("NVMe".to_owned());
    }
    if disk.starts_with("mmcblk") {
        let card = match line("device/type")?.as_str() {
            "SD" => "SD card".to_owned(),
            "MMC" => "eMMC or MMC card".to_owned(),
            other => format!("{other} card"),
        };
        let name = line("device/name").map(|name| format!(", {name}")).unwrap_or_default();
        return Some(format!("{card}{name}"));
    }
    // The description says so of a disk that rotates. Many virtual disks say that they do.
    (line("queue/rotational")? == "0").then(|| "not rotational".to_owned())
}

#[cfg(test)]
mod tests {
    use super::facts;
    use crate::reader::Reader;
    use std::path::Path;

    /// The two facts about `path` on a machine with these files and links.
    fn told(files: &[(&str, &str)], links: &[(&str, &str)], path: &str) -> [Result<String, String>; 2] {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let name = root.path().join(name);
            std::fs::create_dir_all(name.parent().expect("a folder")).expect("made");
            std::fs::write(name, text).expect("written");
        }
        for (name, target) in links {
            let name = root.path().join(name);
            std::fs::create_dir_all(name.parent().expect("a folder")).expect("made");
            std::os::unix::fs::symlink(target, name).expect("linked");
        }
        let facts = facts(&Reader::new(root.path()), Path::new(path), "the run file");
        let value = |name: &str| facts.iter().find(|fact| fact.name == name).expect(name).value.clone();
        [value("file system of the run file"), value("disk of the run file")]
    }

    #[test]
    fn an_sd_card_with_sync_is_named() {
        let files = [
            (
                "proc/self/mountinfo",
                "22 1 179:2 / / ro,relatime - ext4 /dev/root ro\n30 22 179:3 / /var rw,noatime,sync - ext4 /dev/mmcblk0p3 rw,errors=continue\n",
            ),
            ("sys/devices/block/mmcblk0/mmcblk0p3/partition", "3\n"),
            ("sys/devices/block/mmcblk0/size", "31116288\n"),
            ("sys/devices/block/mmcblk0/device/type", "SD\n"),
            ("sys/devices/block/mmcblk0/device/name", "SU16G\n"),
            ("sys/devices/block/mmcblk0/queue/scheduler", "none [mq-deadline]\n"),
        ];
        let links = [
            ("sys/dev/block/179:3", "../../devices/block/mmcblk0/mmcblk0p3"),
            ("sys/class/block/mmcblk0", "../../devices/block/mmcblk0"),
            ("sys/class/block/mmcblk0p3", "../../devices/block/mmcblk0/mmcblk0p3"),
        ];
        let [system, disk] = told(&files, &links, "/var/log/runs/a.triptime");
        assert_eq!(
            system.as_deref(),
            Ok("ext4 on /dev/mmcblk0p3, mounted at /var with rw,noatime,sync,errors=continue")
        );
        assert_eq!(
            disk.as_deref(),
            Ok("mmcblk0: SD card, SU16G, 14.8 GiB, scheduler mq-deadline")
        );
        let [system, disk] = told(&files, &links, "/home/a.triptime");
        assert!(system.is_ok_and(|text| text.starts_with("ext4 on /dev/root, mounted at / with ro")));
        assert!(disk.is_err_and(|why| why.contains("names no disk")));
    }

    #[test]
    fn a_volume_is_on_the_disks_of_its_parts() {
        let files = [
            (
                "proc/self/mountinfo",
                "22 1 253:0 / / rw,relatime - xfs /dev/mapper/vg-root rw,noquota\n",
            ),
            ("sys/class/block/dm-0/size", "1\n"),
            ("sys/class/block/dm-0/slaves/nvme0n1/size", "2097152\n"),
            ("sys/class/block/dm-0/slaves/sda/size", "2097152\n"),
            ("sys/class/block/nvme0n1/size", "2097152\n"),
            ("sys/class/block/nvme0n1/device/model", "Fast\n"),
            ("sys/class/block/sda/size", "2097152\n"),
            ("sys/class/block/sda/queue/rotational", "0\n"),
        ];
        let links = [("sys/dev/block/253:0", "../../class/block/dm-0")];
        let [_, disk] = told(&files, &links, "/runs/a.triptime");
        assert_eq!(
            disk.as_deref(),
            Ok("nvme0n1: NVMe, Fast, 1.0 GiB; sda: not rotational, 1.0 GiB")
        );
    }

    #[test]
    fn memory_has_no_disk_and_a_share_of_another_machine_names_none() {
        let files = [(
            "proc/self/mountinfo",
            "22 1 0:30 / /dev/shm rw - tmpfs tmpfs rw\n23 1 0:44 / /srv rw - nfs4 store:/a rw\n24 1 0:45 / /srvx rw - ext4 x rw\n",
        )];
        let [system, disk] = told(&files, &[], "/dev/shm/a");
        assert_eq!(system.as_deref(), Ok("tmpfs on tmpfs, mounted at /dev/shm with rw"));
        assert_eq!(disk.as_deref(), Ok("none: it is in memory"));
        let [system, disk] = told(&files, &[], "/srv/a");
        assert!(
            system.is_ok_and(|text| text.starts_with("nfs4 on store:/a")),
            "not /srvx"
        );
        assert!(disk.is_err());
        let [system, disk] = told(&[], &[], "/srv/a");
        assert!(
            system.is_err() && disk.is_err(),
            "nothing is known without a list of mounts"
        );
    }
}
