//! The machine to change: this one, or a copy of its files for tests.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::live;
use super::operation::Target;
use host::mounts;

/// Folders of kernel settings.
const SETTINGS: [&str; 3] = ["/proc/sys", "/proc/irq", "/sys"];
/// Usual folders of groups: control groups, and cache groups.
const GROUPS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/resctrl"];
/// Prefix of the names of triptime's own groups.
const OWN: &str = "triptime";

/// A machine below a root directory. Threads, interfaces and swap can be changed only on the live one.
#[derive(Debug)]
pub struct TunedMachine {
    root: PathBuf,
    live: bool,
}

impl TunedMachine {
    /// This machine.
    pub fn live() -> Self {
        Self {
            root: PathBuf::from("/"),
            live: true,
        }
    }

    /// The files below `root`.
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            live: false,
        }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Checked path of a kernel setting: a journal could name any other file, also through links and `..`.
    fn setting(&self, path: &str) -> io::Result<PathBuf> {
        let real = self.place(path).canonicalize()?;
        let inside = self.inside(&real)?;
        let is_setting = SETTINGS.iter().any(|place| inside.starts_with(place)) || self.is_in_groups(&inside);
        match is_setting {
            true => Ok(real),
            false => Err(no_place(
                path,
                "not a setting of the kernel (/proc/sys, /proc/irq, /sys, control groups)",
            )),
        }
    }

    /// Checked path of a group of triptime's own, which need not exist.
    fn group(&self, path: &str) -> io::Result<PathBuf> {
        let place = self.place(path);
        let name = place.file_name().filter(|name| name.to_string_lossy().starts_with(OWN));
        let (Some(name), Some(above)) = (name, place.parent()) else {
            return Err(no_place(path, "not a group of triptime"));
        };
        let above = above.canonicalize()?;
        match self.is_in_groups(&self.inside(&above)?) {
            true => Ok(above.join(name)),
            false => Err(no_place(path, "neither a control group nor a cache group")),
        }
    }

    /// A real path relative to the root.
    fn inside(&self, real: &Path) -> io::Result<PathBuf> {
        let root = self.root.canonicalize()?;
        let inside = real.strip_prefix(root).map_err(io::Error::other)?;
        Ok(Path::new("/").join(inside))
    }

    fn is_in_groups(&self, path: &Path) -> bool {
        let usual = GROUPS.iter().any(|place| path.starts_with(place));
        let text = || fs::read_to_string(self.place(mounts::PATH)).unwrap_or_default();
        usual
            || mounts::parse(&text()).iter().any(|mount| {
                ["cgroup", "cgroup2", "resctrl"].contains(&mount.kind.as_str()) && path.starts_with(&mount.point)
            })
    }

    /// Current value of a target; `None` for a folder that does not exist.
    ///
    /// # Errors
    /// It cannot be read; `NotFound` if the target does not exist, or no longer.
    pub fn read(&self, target: &Target) -> io::Result<Option<String>> {
        match target {
            Target::File(path) => Ok(Some(fs::read_to_string(self.setting(path)?)?.trim().to_owned())),
            Target::Folder(path) => Ok(self.group(path)?.is_dir().then(String::new)),
            other => self.check_live().and_then(|()| live::read(other)).map(Some),
        }
    }

    /// Sets a target to a value; `None` removes a folder.
    ///
    /// # Errors
    /// The kernel refuses the value.
    pub fn write(&self, target: &Target, value: Option<&str>) -> io::Result<()> {
        match (target, value) {
            // One write call with the whole value: kernel files accept nothing else. They exist already.
            (Target::File(path), Some(value)) => {
                let mut file = fs::OpenOptions::new()
                    .write(true)
                    .truncate(!self.live)
                    .open(self.setting(path)?)?;
                file.write_all(format!("{value}\n").as_bytes())
            }
            (Target::Folder(path), Some(_)) => fs::create_dir(self.group(path)?),
            (Target::Folder(path), None) => fs::remove_dir(self.group(path)?),
            (other, Some(value)) => self.check_live().and_then(|()| live::write(other, value)),
            (_, None) => Ok(()),
        }
    }

    /// Text equivalent to the empty set of CPUs, or of memory nodes, in a control group: everything that the parent has. The kernel refuses
    /// an empty set while a group of version 2 has members (ENOSPC), or while one of version 1 has children (EBUSY; `validate_change` of
    /// kernel/cgroup/cpuset.c). `None` if the target is another file.
    pub(super) fn as_good_as_empty(&self, target: &Target) -> Option<String> {
        let Target::File(path) = target else { return None };
        let sets = ["cpus", "mems"].into_iter();
        let of_group = |set: &'static str| Some((set, path.strip_suffix(&format!("/cpuset.{set}"))?));
        let (set, group) = sets.filter_map(of_group).next()?;
        let above = [format!("{set}.effective"), format!("effective_{set}")].into_iter();
        let mut above = above.map(|name| self.place(&format!("{group}/../cpuset.{name}")));
        let text = above.find_map(|file| fs::read_to_string(file).ok())?;
        Some(text.trim().to_owned())
    }

    /// True if the file's folder has gone, and its setting with it: somebody removed the group.
    pub(super) fn has_lost_folder_of(&self, target: &Target) -> bool {
        let Target::File(path) = target else { return false };
        self.place(path).parent().is_some_and(|folder| !folder.exists())
    }

    fn check_live(&self) -> io::Result<()> {
        match self.live {
            true => Ok(()),
            false => Err(io::Error::other("only files of a recorded tree can be changed")),
        }
    }
}

fn no_place(path: &str, what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("{path} is {what}: it is left alone"),
    )
}
