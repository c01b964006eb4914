//! The last lines that a program wrote, read without blocking.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

/// Number of lines that are kept.
const LINES: usize = 3;
/// Number of characters shown of each line.
const CHARACTERS: usize = 200;

/// Reads a pipe of a program and keeps the last part.
pub(crate) struct LastLines {
    pipe: Option<File>,
    tail: VecDeque<u8>,
}

impl LastLines {
    pub(crate) fn of(pipe: Option<OwnedFd>) -> Self {
        // A blocking pipe is not read at all, because the keeper must receive stop requests.
        let pipe = pipe.filter(|pipe| rustix::io::ioctl_fionbio(pipe, true).is_ok());
        Self {
            pipe: pipe.map(File::from),
            tail: VecDeque::new(),
        }
    }

    /// Reads the available output.
    pub(crate) fn read(&mut self) {
        let mut piece = [0; 4096];
        // At most as much as a pipe holds, so that a program that writes endlessly does not block this loop.
        for _ in 0..16 {
            match self.pipe.as_mut().map(|pipe| pipe.read(&mut piece)) {
                Some(Ok(count)) if count > 0 => self.tail.extend(&piece[..count]),
                _ => break,
            }
            let excess = self.tail.len().saturating_sub(piece.len());
            self.tail.drain(..excess);
        }
    }

    /// The last lines, in one.
    pub(crate) fn lines(&self) -> String {
        self.last(LINES)
    }

    /// The last line; empty if there is none.
    pub(crate) fn line(&self) -> String {
        self.last(1)
    }

    fn last(&self, count: usize) -> String {
        let bytes: Vec<u8> = self.tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(count)..];
        let shown = last.iter().map(|line| {
            line.chars()
                .filter(|c| !c.is_control())
                .take(CHARACTERS)
                .collect::<String>()
        });
        shown.collect::<Vec<_>>().join(" / ")
    }
}
