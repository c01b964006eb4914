//! Octets of the file, counted, one block at a time.

use std::io::{self, Read};

use crate::CaptureError;

/// Longest block that is read. Frames are far shorter; a longer block is damage, and must not fill the memory.
pub(crate) const MAX_BLOCK: usize = 16 << 20;

/// Octets by which the memory for a block grows: a length that lies costs no more memory than the file has octets.
const STEP: usize = 64 * 1024;

/// A file and the block at its current place.
#[derive(Debug)]
pub(crate) struct Source<R> {
    input: R,
    /// Octets of the file before the block.
    offset: u64,
    block: Vec<u8>,
    /// Frames delivered so far.
    pub(crate) frames: u64,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            offset: 0,
            block: Vec::with_capacity(4096),
            frames: 0,
        }
    }

    /// Leaves the block behind.
    pub(crate) fn next_block(&mut self) {
        self.offset += self.block.len() as u64;
        self.block.clear();
    }

    /// The octets of the block read so far.
    pub(crate) fn block(&self) -> &[u8] {
        &self.block
    }

    /// Reads until the block has `len` octets. `false` when the file ends before its first octet.
    pub(crate) fn extend_to(&mut self, len: usize) -> Result<bool, CaptureError> {
        if self.try_extend_to(len)? {
            return Ok(true);
        }
        if self.block.is_empty() {
            Ok(false)
        } else {
            Err(self.truncated())
        }
    }

    /// The same; `false` also when the file ends later.
    pub(crate) fn try_extend_to(&mut self, len: usize) -> Result<bool, CaptureError> {
        let mut filled = self.block.len();
        while filled < len {
            if filled == self.block.len() {
                self.block.resize(len.min(filled + STEP), 0);
            }
            match self.input.read(&mut self.block[filled..]) {
                Ok(0) => {
                    self.block.truncate(filled);
                    return Ok(false);
                }
                Ok(octets) => filled += octets,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(CaptureError::Read {
                        offset: self.offset + filled as u64,
                        source,
                    });
                }
            }
        }
        Ok(true)
    }

    fn truncated(&self) -> CaptureError {
        CaptureError::Truncated {
            frame: self.frames + 1,
            offset: self.offset,
            end: self.offset + self.block.len() as u64,
        }
    }

    pub(crate) fn damaged(&self, why: impl Into<String>) -> CaptureError {
        CaptureError::Damaged {
            frame: self.frames + 1,
            offset: self.offset,
            why: why.into(),
        }
    }
}
