//! A thread that writes a file over and over, and has every piece put on the disk.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use units::CpuList;

use super::LoadError;
use super::workers::{Turn, Workers};

const NAME: &str = "disk load";

/// Octets between two syncs.
const PIECE: usize = 256 << 10;

pub(super) fn start(directory: &Path, bytes: u64, cpus: &CpuList) -> Result<Workers, LoadError> {
    let pieces = bytes / PIECE as u64;
    if pieces == 0 {
        return Err(LoadError::Nothing {
            what: "the file size (less than 256KiB)",
        });
    }
    let file = unnamed(directory).map_err(|error| LoadError::System {
        load: NAME.to_owned(),
        operation: "make a file",
        why: format!("{}: {error} (choose another directory with dir=)", directory.display()),
    })?;
    let mut workers = Workers::new(NAME);
    let cpu = cpus.first().unwrap_or(0);
    workers.spawn(cpu, move |turn| write(&file, pieces, turn))?;
    Ok(workers)
}

/// A file without a name: the kernel frees it when it is closed, however this process ends.
fn unnamed(directory: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .custom_flags(OFlags::TMPFILE.bits().cast_signed())
        .open(directory)
}

fn write(file: &File, pieces: u64, turn: &Turn) -> Result<(), String> {
    let piece = vec![0x55; PIECE];
    for number in (0..pieces).cycle() {
        if !turn.goes_on() {
            break;
        }
        file.write_all_at(&piece, number * PIECE as u64)
            .and_then(|()| file.sync_data())
            .map_err(|error| error.to_string())?;
        turn.did(PIECE as u64);
    }
    Ok(())
}
