//! The machine that is changed: this one, or a copy of its files for tests.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use units::CpuList;

use super::operation::Target;
use crate::stat::ThreadStat;

/// A machine below a root directory. Threads can only be changed on the live one.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
    live: bool,
}

impl Machine {
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

    /// The value of a target now; `None`: a folder that is not there.
    ///
    /// # Errors
    /// It cannot be read; a thread has ended.
    pub fn read(&self, target: &Target) -> io::Result<Option<String>> {
        match target {
            Target::File(path) => Ok(Some(fs::read_to_string(self.place(path))?.trim().to_owned())),
            Target::Folder(path) => Ok(self.place(path).is_dir().then(String::new)),
            Target::Thread { tid, started, .. } => {
                self.check_thread(*tid, *started)?;
                let cpus = sys::thread::affinity_of(*tid).map_err(io::Error::other)?;
                Ok(Some(cpus.to_string()))
            }
        }
    }

    /// Gives a target a value; `None` takes a folder away.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn write(&self, target: &Target, value: Option<&str>) -> io::Result<()> {
        match (target, value) {
            // One write call with the whole value: files of the kernel take nothing else. They exist already.
            (Target::File(path), Some(value)) => {
                let mut file = fs::OpenOptions::new()
                    .write(true)
                    .truncate(!self.live)
                    .open(self.place(path))?;
                file.write_all(format!("{value}\n").as_bytes())
            }
            (Target::File(_), None) => Ok(()),
            (Target::Folder(path), Some(_)) => fs::create_dir(self.place(path)),
            (Target::Folder(path), None) => fs::remove_dir(self.place(path)),
            (Target::Thread { tid, started, .. }, Some(value)) => {
                self.check_thread(*tid, *started)?;
                let cpus: CpuList = value.parse().map_err(io::Error::other)?;
                sys::thread::set_affinity_of(*tid, &cpus).map_err(io::Error::other)
            }
            (Target::Thread { .. }, None) => Ok(()),
        }
    }

    /// The thread of this number is still the one that was meant.
    fn check_thread(&self, tid: u32, started: u64) -> io::Result<()> {
        if !self.live {
            return Err(io::Error::other("threads of a recorded tree cannot be changed"));
        }
        let stat = fs::read_to_string(format!("/proc/{tid}/stat"))?;
        match ThreadStat::parse(&stat).map(|stat| stat.started_ticks) {
            Some(now) if now == started => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "the thread has ended")),
        }
    }
}
