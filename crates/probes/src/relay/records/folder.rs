//! The folder of disturbance records.

use ::relay::Config;
use ::relay::disturbance::Disturbance;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use units::Realtime;
use waveform::comtrade::WriteError;

/// Folder for the records of one relay.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    relay: String,
    /// End of the file names of this relay.
    name: String,
    most: u64,
    records: u64,
}

/// Error for a folder that records cannot be written to.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot keep records there: {why}", path.display())]
pub struct FolderError {
    path: PathBuf,
    why: io::Error,
}

impl Folder {
    /// Makes the folder if it is missing, and counts the relay's records in it: old and new ones together are limited to the
    /// number in the relay's file.
    ///
    /// # Errors
    /// The folder cannot be made, or no file can be written in it.
    pub fn open(path: &Path, relay: &Config) -> Result<Self, FolderError> {
        let failed = |why| FolderError {
            path: path.to_owned(),
            why,
        };
        let name = file_name(&relay.name);
        std::fs::create_dir_all(path).map_err(failed)?;
        let probe = path.join(format!(".{name}.{}", std::process::id()));
        File::create(&probe).map_err(failed)?;
        std::fs::remove_file(&probe).map_err(failed)?;
        let ending = format!("-{name}.cfg");
        let mut records = 0;
        for entry in std::fs::read_dir(path).map_err(failed)? {
            records += u64::from(entry.map_err(failed)?.file_name().to_string_lossy().ends_with(&ending));
        }
        Ok(Self {
            path: path.to_owned(),
            relay: relay.name.clone(),
            name,
            most: u64::from(relay.recording.most),
            records,
        })
    }

    /// Writes a record, if there is room for one more; returns the text for the event.
    pub fn write(&mut self, record: &Disturbance) -> String {
        let what = format!("{}: {} at {}", self.relay, record.trigger, instant(record.at()));
        if self.records >= self.most {
            return format!(
                "{what}: no disturbance record: {} has {} already, as many as `most` of [record] allows: move them elsewhere, or allow more",
                self.path.display(),
                self.records
            );
        }
        match self.files(record) {
            Ok(path) => {
                self.records += 1;
                format!("{what}: disturbance record {}, {}", path.display(), contents(record))
            }
            Err(error) => format!("{what}: no disturbance record in {}: {error}", self.path.display()),
        }
    }

    /// Writes both files of a record. The configuration comes last, so that a record with a configuration also has its data.
    fn files(&self, record: &Disturbance) -> Result<PathBuf, WriteError> {
        let (data, mut path) = self.fresh(record.at())?;
        let written = write(record, data, &path.with_extension("cfg"));
        if let Err(error) = written {
            // Half a record is useless, so it is removed; if that fails as well, the error above names the cause.
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::remove_file(path.with_extension("cfg"));
            return Err(error);
        }
        path.set_extension("cfg");
        Ok(path)
    }

    /// A data file with a new name.
    fn fresh(&self, at: Realtime) -> io::Result<(File, PathBuf)> {
        let at = at_name(at);
        let mut number = 1;
        loop {
            let again = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let path = self.path.join(format!("{at}{again}-{}.dat", self.name));
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                created => return created.map(|file| (file, path)),
            }
        }
    }
}

fn write(record: &Disturbance, data: File, config: &Path) -> Result<(), WriteError> {
    let mut data = BufWriter::with_capacity(1 << 16, data);
    let mut text = Vec::new();
    record.write(&mut text, &mut data)?;
    data.flush()?;
    File::create_new(config)?.write_all(&text)?;
    Ok(())
}

fn contents(record: &Disturbance) -> String {
    let mut text = format!("{} samples from {}", record.samples(), instant(record.start()));
    if record.missing > 0 {
        text += &format!("; {} samples of streams are missing", record.missing);
    }
    if record.unrecorded > 0 {
        text += &format!(
            "; {} instants are not recorded, since there was no time",
            record.unrecorded
        );
    }
    text
}

/// Name of a relay, made safe for use in a file name.
fn file_name(relay: &str) -> String {
    let plain = |letter: char| {
        if letter.is_alphanumeric() || "._".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    let name: String = relay.chars().map(plain).collect();
    // A file name has at most 255 bytes, with the time and its ending.
    name[..name.floor_char_boundary(128)].to_owned()
}

fn stamp(at: Realtime, format: &str) -> String {
    // Every 64-bit number of ns is a valid instant.
    let at = jiff::Timestamp::from_nanosecond(i128::from(at.as_ns())).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime(format).to_string()
}

fn at_name(at: Realtime) -> String {
    stamp(at, "%Y%m%dT%H%M%S%.6f")
}

fn instant(at: Realtime) -> String {
    stamp(at, "%Y-%m-%dT%H:%M:%S%.6fZ")
}

#[cfg(test)]
mod tests {
    use super::{at_name, file_name, instant};
    use units::Realtime;

    #[test]
    fn names_of_files() {
        assert_eq!(file_name("FEEDER 1/../x"), "FEEDER_1_.._x");
        let at = Realtime::from_ns(1_709_251_199_000_001_999);
        assert_eq!(at_name(at), "20240229T235959.000001");
        assert_eq!(instant(at), "2024-02-29T23:59:59.000001Z");
    }
}
