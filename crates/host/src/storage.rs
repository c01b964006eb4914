//! Disks: a guest shows how it is given its storage, which holds up what writes to it.

use crate::error::HostError;
use crate::fact::Sheet;
use crate::mounts::{self, Mount};
use crate::reader::Reader;
use model::Fact;

const BLOCK: &str = "/sys/class/block";

/// Bytes of the unit in which the kernel states sizes of disks, whatever the disk's own sectors are.
const SECTOR: u64 = 512;

/// Facts about the disks, and about the file systems on them.
pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "storage");
    // A partition has no device of its own; loop and memory disks have none either.
    let disks = reader.names(BLOCK, |name| {
        reader.names(&format!("{BLOCK}/{name}/device"), |_| true).is_ok()
    });
    let disks = match disks {
        Ok(disks) => disks,
        Err(error) => {
            sheet.add("disks", BLOCK, Err(error));
            return sheet.finish();
        }
    };
    let listed = if disks.is_empty() {
        "none".to_owned()
    } else {
        disks.join(" ")
    };
    sheet.add("disks", BLOCK, Ok(listed));
    for disk in &disks {
        sheet.add(
            &format!("disk {disk}"),
            &format!("{BLOCK}/{disk}"),
            described(reader, disk),
        );
    }
    sheet.add("file system of /", mounts::PATH, root(reader));
    sheet.finish()
}

/// Such as `virtio_blk, 40.0 GiB, scheduler none`.
pub(crate) fn described(reader: &Reader, disk: &str) -> Result<String, HostError> {
    let folder = format!("{BLOCK}/{disk}");
    let line = |file: &str| reader.line(&format!("{folder}/{file}"));
    let driver = reader.target(&format!("{folder}/device/driver")).ok();
    let driver = driver.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let model = line("device/model").ok().filter(|model| !model.trim().is_empty());
    let vendor = line("device/vendor").ok().filter(|vendor| !vendor.starts_with("0x"));
    let name = [vendor, model].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let sectors: u64 = reader.parsed(&format!("{folder}/size"), "a number of sectors")?;
    let mut parts = Vec::new();
    parts.extend((!name.is_empty()).then_some(name));
    parts.extend(driver.map(|driver| format!("driver {driver}")));
    parts.push(format!("{:.1} GiB", (sectors * SECTOR) as f64 / f64::from(1 << 30)));
    parts.extend(
        line("queue/scheduler")
            .ok()
            .map(|line| format!("scheduler {}", chosen(&line))),
    );
    parts.extend(
        line("queue/rotational")
            .ok()
            .filter(|line| line == "1")
            .map(|_| "rotational".to_owned()),
    );
    Ok(parts.join(", "))
}

/// The scheduler in force, in square brackets if there are several.
fn chosen(line: &str) -> &str {
    let inside = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(line, |(chosen, _)| chosen)
}

fn root(reader: &Reader) -> Result<String, HostError> {
    let all = mounts::read(reader)?;
    // The last one mounted over a point hides the earlier ones.
    let root = all.iter().rev().find(|mount| mount.point == "/");
    root.map(shown)
        .ok_or_else(|| HostError::Undecided("no mount of / is listed".to_owned()))
}

fn shown(mount: &Mount) -> String {
    format!("{} on {}", mount.kind, mount.source)
}

#[cfg(test)]
mod tests {
    use super::facts;
    use crate::reader::Reader;
    use std::path::Path;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
    }

    fn value(root: &Path, name: &str) -> Result<String, String> {
        let facts = facts(&Reader::new(root));
        facts.into_iter().find(|fact| fact.name == name).expect(name).value
    }

    #[test]
    fn disks_and_the_file_system_of_the_root() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        write(
            root,
            &[
                ("sys/class/block/vda/size", "83886080\n"),
                ("sys/class/block/vda/device/vendor", "0x1af4\n"),
                ("sys/class/block/vda/queue/scheduler", "[none] mq-deadline\n"),
                ("sys/class/block/vda/queue/rotational", "1\n"),
                ("sys/class/block/vda1/size", "83880000\n"),
                ("sys/class/block/sda/size", "2097152\n"),
                ("sys/class/block/sda/device/vendor", "VMware\n"),
                ("sys/class/block/sda/device/model", "Virtual disk\n"),
                ("sys/class/block/loop0/size", "0\n"),
                ("sys/bus/virtio/drivers/virtio_blk/module", "\n"),
                (
                    "proc/self/mountinfo",
                    "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard\n",
                ),
            ],
        );
        std::os::unix::fs::symlink(
            "../../../../bus/virtio/drivers/virtio_blk",
            root.join("sys/class/block/vda/device/driver"),
        )
        .expect("linked");
        assert_eq!(value(root, "disks").as_deref(), Ok("sda vda"));
        assert_eq!(
            value(root, "disk vda").as_deref(),
            Ok("driver virtio_blk, 40.0 GiB, scheduler none, rotational")
        );
        assert_eq!(value(root, "disk sda").as_deref(), Ok("VMware Virtual disk, 1.0 GiB"));
        assert!(value(root, "file system of /").is_ok_and(|text| text == "ext4 on /dev/vda1"));
    }

    #[test]
    fn without_files_everything_is_unknown() {
        let root = tempfile::tempdir().expect("a folder");
        assert!(value(root.path(), "disks").is_err());
        write(root.path(), &[("sys/class/block/loop0/size", "0\n")]);
        assert_eq!(value(root.path(), "disks").as_deref(), Ok("none"));
        assert!(value(root.path(), "file system of /").is_err());
    }
}
