//! Files of this machine that are read many times a second: finding and opening a file takes longer than reading it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Buffer size, for the text from the beginning of the file.
const ROOM_BYTES: usize = 4096;

/// An open file, and the text read last.
#[derive(Debug)]
pub(crate) struct OpenText {
    file: File,
    text: String,
}

impl OpenText {
    /// Opens the file on this machine, whatever root other readers use.
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
            text: String::with_capacity(ROOM_BYTES),
        })
    }

    /// Current text; `None` if it cannot be read.
    pub(crate) fn read(&mut self) -> Option<&str> {
        self.text.clear();
        self.file.seek(SeekFrom::Start(0)).ok()?;
        self.file.read_to_string(&mut self.text).ok()?;
        Some(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::OpenText;
    use std::fs;

    #[test]
    fn the_text_is_the_one_of_now() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("counter");
        fs::write(&path, "12").expect("written");
        let mut open = OpenText::open(path.to_str().expect("a name")).expect("opened");
        assert_eq!(open.read(), Some("12"));
        fs::write(&path, "7").expect("written");
        assert_eq!(open.read(), Some("7"));
        assert_eq!(open.read(), Some("7"), "from the beginning each time");
    }

    #[test]
    fn counters_of_this_machine_grow() {
        let mut stat = OpenText::open("/proc/stat").expect("opened");
        let first = stat.read().expect("read").to_owned();
        assert!(first.starts_with("cpu "), "{first}");
        assert!(
            stat.read()
                .is_some_and(|again| again.lines().count() == first.lines().count())
        );
    }
}
