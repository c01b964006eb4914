//! Threads that write to a disk.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, OFlags, fallocate, fcntl_getfl, fcntl_setfl, fdatasync, fstatfs};
use rustix::io::Errno;
use units::CpuList;

use super::error::{AmountError, LoadError};
use super::kind::{ThreadLoad, check_bytes, check_count, given, threads_text};
use super::request::LoadRequestError;
use super::settings::{Settings, size_text, word_of};
use super::workers::{Turn, Workers, placed};

/// Threads that each write a file of their own from end to end, for ever. The file has no name from the start, so the file
/// system removes it however this process ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskLoad {
    /// Where the files are: on the disk to be loaded.
    pub dir: PathBuf,
    /// Size of each file, in octets.
    pub size: u64,
    /// Octets of one write, a multiple of 4 KiB.
    pub bytes: u64,
    /// How writes reach the disk.
    pub mode: DiskMode,
    /// Most octets a second of each thread; `None`: as fast as the disk takes them.
    pub rate: Option<u64>,
    /// Threads with a file each, which take turns over the CPUs; `None`: one per CPU.
    pub threads: Option<usize>,
}

/// How writes reach the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiskMode {
    /// Past the page cache (`O_DIRECT`), with an fdatasync(2) at the end of the file.
    #[default]
    Direct,
    /// Through the page cache, with an fdatasync(2) after each write.
    Sync,
}

const MODES: [(&str, DiskMode); 2] = [("direct", DiskMode::Direct), ("sync", DiskMode::Sync)];
/// On a disk, and for files of any size, by the Filesystem Hierarchy Standard; `/tmp` is often in memory.
const DIR: &str = "/var/tmp";
const SIZE: u64 = 64 << 20;
const BYTES: u64 = 64 << 10;
/// A week of it writes 10 TB, which a flash disk survives; a week at full speed it may not.
const RATE: u64 = 16 << 20;
/// More than any disk takes.
const MOST_RATE: u64 = 1 << 40;
/// A file for a load, not a full disk.
const MOST_SIZE: u64 = 64 << 30;
/// What `O_DIRECT` wants addresses, offsets and lengths to be multiples of, on any disk so far.
const ALIGN: usize = 4096;
/// A longer write would keep a thread from seeing that the load stops.
const MOST_BYTES: u64 = 1 << 20;
/// Longest sleep without a look at whether to stop.
const NAP: Duration = Duration::from_millis(20);
/// A thread further behind its rate than this does not catch up: that would be a burst.
const BEHIND: Duration = Duration::from_millis(200);
/// File systems in memory (linux/magic.h): `TMPFS_MAGIC`, `RAMFS_MAGIC`.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

impl Default for DiskLoad {
    /// 16 MiB a second in direct writes of 64 KiB to a file of 64 MiB in `/var/tmp`.
    fn default() -> Self {
        Self {
            dir: DIR.into(),
            size: SIZE,
            bytes: BYTES,
            mode: DiskMode::Direct,
            rate: Some(RATE),
            threads: None,
        }
    }
}

impl DiskLoad {
    pub(super) const NAME: &str = "disk";

    pub(super) fn read(settings: &mut Settings) -> Result<Self, LoadRequestError> {
        Ok(Self {
            dir: settings.path("dir")?.unwrap_or_else(|| DIR.into()),
            size: settings.bytes("size")?.unwrap_or(SIZE),
            bytes: settings.bytes("bytes")?.unwrap_or(BYTES),
            mode: settings.word("mode", &MODES)?.unwrap_or_default(),
            rate: settings.bytes_or("rate", "max")?.unwrap_or(Some(RATE)),
            threads: settings.count("threads")?,
        })
    }

    fn rate_text(&self) -> String {
        self.rate.map_or_else(|| "max".to_owned(), size_text)
    }
}

impl ThreadLoad for DiskLoad {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let settings = [
            ("dir", self.dir.display().to_string()),
            ("size", size_text(self.size)),
            ("bytes", size_text(self.bytes)),
            ("mode", word_of(&MODES, &self.mode).to_owned()),
            ("rate", self.rate_text()),
        ];
        settings.into_iter().chain(given("threads", self.threads)).collect()
    }

    fn check(&self) -> Result<(), AmountError> {
        check_count(Self::NAME, "threads", self.threads.unwrap_or(1))?;
        check_bytes(Self::NAME, "bytes", self.bytes, ALIGN as u64..=MOST_BYTES)?;
        check_bytes(Self::NAME, "size", self.size, self.bytes..=MOST_SIZE)?;
        if let Some(rate) = self.rate {
            check_bytes(Self::NAME, "rate", rate, 1..=MOST_RATE)?;
        }
        if self.bytes.is_multiple_of(ALIGN as u64) {
            return Ok(());
        }
        Err(AmountError {
            load: Self::NAME,
            key: "bytes",
            value: size_text(self.bytes),
            rule: "give a multiple of 4KiB".to_owned(),
        })
    }

    fn describe(&self) -> String {
        let how = match self.mode {
            DiskMode::Direct => "direct writes",
            DiskMode::Sync => "synced writes",
        };
        let rate = match self.rate {
            Some(rate) => format!("at {} a second", size_text(rate)),
            None => "as fast as it goes".to_owned(),
        };
        format!(
            "{}, {how} of {} {rate} to {} each in {}",
            threads_text(self.threads),
            size_text(self.bytes),
            size_text(self.size),
            self.dir.display()
        )
    }

    fn unit(&self) -> &'static str {
        "octets"
    }

    fn extra_unit(&self) -> Option<&'static str> {
        Some("syncs")
    }

    fn start(&self, cpus: &CpuList) -> Result<Workers, LoadError> {
        let mut workers = Workers::new(Self::NAME);
        for cpu in placed(self.threads, cpus) {
            let mut writer = Writer::new(self)?;
            workers.spawn(cpu, move |turn| writer.run(turn).map_err(|error| error.to_string()))?;
        }
        Ok(workers)
    }
}

/// One file, and what is written to it.
struct Writer {
    file: File,
    /// Holds the aligned block somewhere.
    buffer: Vec<u8>,
    block: std::ops::Range<usize>,
    /// Octets of the file: whole blocks.
    end: u64,
    mode: DiskMode,
    rate: Option<u64>,
}

impl Writer {
    /// Makes the file and writes its first block, so that a file system that refuses does so now.
    fn new(load: &DiskLoad) -> Result<Self, LoadError> {
        let refused = |why: String| LoadError::Directory {
            dir: load.dir.clone(),
            why,
        };
        let file = nameless(&load.dir).map_err(|error| refused(error.to_string()))?;
        if fstatfs(&file).is_ok_and(|system| IN_MEMORY.contains(&(system.f_type as u64))) {
            return Err(refused(
                "this file system is in memory: give a directory that is on a disk".to_owned(),
            ));
        }
        if load.mode == DiskMode::Direct {
            past_the_cache(&file).map_err(&refused)?;
        }
        match fallocate(&file, FallocateFlags::empty(), 0, load.size) {
            // Without it the blocks are found as they are written.
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(errno) => {
                return Err(refused(format!("no room for {}: {errno}", size_text(load.size))));
            }
        }
        let length = load.bytes as usize;
        // Octets, not zeros: some file systems and disks do not store zeros.
        let buffer = vec![0x55; length + ALIGN];
        let start = buffer.as_ptr().align_offset(ALIGN);
        let writer = Self {
            file,
            buffer,
            block: start..start + length,
            end: load.size / load.bytes * load.bytes,
            mode: load.mode,
            rate: load.rate,
        };
        let first = writer.write(0).and_then(|()| Ok(fdatasync(&writer.file)?));
        first.map_err(|error| refused(format!("a {} of {length} octets: {error}", Self::act(load.mode))))?;
        Ok(writer)
    }

    fn act(mode: DiskMode) -> &'static str {
        match mode {
            DiskMode::Direct => "direct write (O_DIRECT)",
            DiskMode::Sync => "write with fdatasync",
        }
    }

    fn write(&self, at: u64) -> io::Result<()> {
        self.file.write_all_at(&self.buffer[self.block.clone()], at)
    }

    /// Writes block after block until the load stops.
    fn run(&mut self, turn: &Turn) -> io::Result<()> {
        let mut pace = Pace::new(self.rate);
        let step = self.block.len() as u64;
        while turn.goes_on() {
            for at in (0..self.end).step_by(self.block.len()) {
                self.write(at)?;
                turn.did(step);
                if self.mode == DiskMode::Sync || at + step == self.end {
                    fdatasync(&self.file)?;
                    turn.did_extra(1);
                }
                pace.wait(step, turn);
                if !turn.goes_on() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Keeps a thread at its rate.
struct Pace {
    rate: Option<u64>,
    due: Instant,
}

impl Pace {
    fn new(rate: Option<u64>) -> Self {
        Self {
            rate,
            due: Instant::now(),
        }
    }

    /// Waits as long as `octets` take at the rate, or until the load stops.
    fn wait(&mut self, octets: u64, turn: &Turn) {
        let Some(rate) = self.rate else {
            return;
        };
        self.due += Duration::from_secs_f64(octets as f64 / rate as f64);
        if self.due.elapsed() > BEHIND {
            self.due = Instant::now();
        }
        while turn.goes_on() {
            let left = self.due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

/// A new file without a name. Between its making and the removal of its name this process can be killed: an empty file stays
/// then.
fn nameless(dir: &Path) -> io::Result<File> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!(".triptime-load-{}-{number}", std::process::id()));
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn past_the_cache(file: &File) -> Result<(), String> {
    let set = fcntl_getfl(file).and_then(|flags| fcntl_setfl(file, flags | OFlags::DIRECT));
    set.map_err(|errno| match errno {
        Errno::INVAL => {
            "its file system takes no direct writes (O_DIRECT): use mode=sync, or another directory".to_owned()
        }
        errno => format!("choose direct writes (O_DIRECT): {errno}"),
    })
}
