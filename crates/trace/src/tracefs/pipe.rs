//! The `trace_pipe` of an instance. Reading removes the text from the kernel's buffer.

use crate::error::TraceError;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Number of bytes read at once.
const CHUNK: usize = 64 * 1024;

/// Most chunks in one look: some 10,000 events. With more, the reader would only fall behind; the kernel drops and counts the rest.
const CHUNKS: u32 = 16;

/// An open pipe, which is read without waiting.
pub(super) struct Pipe {
    path: PathBuf,
    file: File,
    /// Bytes read so far of an incomplete line: a line may come in two parts.
    octets: Vec<u8>,
}

impl Pipe {
    pub(super) fn open(path: PathBuf) -> Result<Self, TraceError> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0))
            .open(&path)
            .map_err(|error| TraceError::file(&path, error))?;
        Ok(Self {
            path,
            file,
            octets: Vec::new(),
        })
    }

    /// Passes on every complete line.
    pub(super) fn lines(&mut self, mut each: impl FnMut(&str)) -> Result<(), TraceError> {
        let mut chunk = vec![0; CHUNK];
        for _ in 0..CHUNKS {
            match self.file.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => self.octets.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::file(&self.path, error)),
            }
        }
        let whole = self
            .octets
            .iter()
            .rposition(|octet| *octet == b'\n')
            .map_or(0, |end| end + 1);
        let lines: Vec<u8> = self.octets.drain(..whole).collect();
        // A thread's name may be invalid UTF-8.
        String::from_utf8_lossy(&lines).lines().for_each(&mut each);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Pipe;
    use std::fs::OpenOptions;
    use std::io::Write;

    #[test]
    fn a_line_in_two_parts_is_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace_pipe");
        let mut writer = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .expect("a file");
        let mut pipe = Pipe::open(path).expect("a file");
        let mut seen = Vec::new();
        for part in ["", "first\nsec", "ond\n", "third"] {
            writer.write_all(part.as_bytes()).expect("written");
            pipe.lines(|line| seen.push(line.to_owned())).expect("read");
        }
        assert_eq!(seen, ["first", "second"]);
    }
}
