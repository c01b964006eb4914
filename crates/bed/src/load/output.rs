//! The last lines that a program wrote, read without blocking.

use std::collections::VecDeque;
use std::io::Read;
use std::process::ChildStderr;

/// Number of lines that are kept.
const LINES: usize = 3;
/// Number of characters shown of each line.
const CHARACTERS: usize = 200;

/// Reads a program's standard error and keeps the last part.
pub(super) struct LastLines {
    pipe: Option<ChildStderr>,
    tail: VecDeque<u8>,
}

impl LastLines {
    pub(super) fn of(pipe: Option<ChildStderr>) -> Self {
        // A blocking pipe is not read at all, because the keeper must receive stop requests.
        let pipe = pipe.filter(|pipe| rustix::io::ioctl_fionbio(pipe, true).is_ok());
        Self {
            pipe,
            tail: VecDeque::new(),
        }
    }

    /// Reads the available output.
    pub(super) fn read(&mut self) {
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
    pub(super) fn lines(&self) -> String {
        let bytes: Vec<u8> = self.tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        let shown = last.iter().map(|line| {
            line.chars()
                .filter(|c| !c.is_control())
                .take(CHARACTERS)
                .collect::<String>()
        });
        shown.collect::<Vec<_>>().join(" / ")
    }
}
