//! Bytes of the capture, counted, one block at a time, borrowed from one large buffer.

use std::io::{self, Read};

use crate::CaptureError;
use crate::input::{Input, Octets};

/// Length of the longest block that is read. Frames are far shorter; a longer block is damage, and must not fill the memory.
pub(crate) const MAX_BLOCK: usize = 16 << 20;

/// Size of the buffer in bytes, and the largest amount requested from the operating system at a time. It is large enough that the cost of the system
/// call does not matter, and small enough that the data stay in the second-level cache between the kernel's copy and the reading.
const BUFFER: usize = 256 * 1024;

/// A capture and the block at its current place.
pub(crate) struct Source<'a> {
    input: Input<'a>,
    /// Number of bytes of the decompressed capture before the block.
    offset: u64,
    buffer: Vec<u8>,
    /// Position of the block in the buffer.
    at: usize,
    /// Number of bytes of the block that were requested and are in the buffer.
    len: usize,
    /// End of the bytes in the buffer.
    filled: usize,
    /// Number of frames delivered so far.
    pub(crate) frames: u64,
}

impl<'a> Source<'a> {
    pub(crate) fn new(input: Octets<'a>) -> Self {
        Self {
            input: Input::Plain(input),
            offset: 0,
            buffer: vec![0; BUFFER],
            at: 0,
            len: 0,
            filled: 0,
            frames: 0,
        }
    }

    /// Restarts with the decompressed form of the bytes read so far and of those that follow.
    pub(crate) fn unpack(self) -> Self {
        let mut packed = self.buffer;
        packed.truncate(self.filled);
        Self {
            input: self.input.unpack(packed),
            buffer: vec![0; BUFFER],
            at: 0,
            len: 0,
            filled: 0,
            ..self
        }
    }

    /// Moves on to the next block.
    #[inline]
    pub(crate) fn next_block(&mut self) {
        self.offset += self.len as u64;
        self.at += self.len;
        self.len = 0;
    }

    /// The bytes of the block that were requested so far.
    #[inline]
    pub(crate) fn block(&self) -> &[u8] {
        self.buffer.get(self.at..self.at + self.len).unwrap_or_default()
    }

    /// Reads the first `len` bytes of the block. Returns false if the file ends before the first byte.
    #[inline]
    pub(crate) fn extend_to(&mut self, len: usize) -> Result<bool, CaptureError> {
        if self.filled - self.at >= len {
            self.len = len;
            return Ok(true);
        }
        if self.try_extend_to(len)? {
            return Ok(true);
        }
        if self.len == 0 {
            Ok(false)
        } else {
            Err(self.truncated())
        }
    }

    /// The same; also returns false if the file ends later, with the existing bytes in the block.
    pub(crate) fn try_extend_to(&mut self, len: usize) -> Result<bool, CaptureError> {
        while self.filled - self.at < len {
            self.make_room();
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.len = self.filled - self.at;
                    return Ok(false);
                }
                Ok(octets) => self.filled += octets,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        self.len = len;
        Ok(true)
    }

    /// Moves the rest of the block to the front, and enlarges the buffer for a block that fills it. It grows only by as much as was read, so a wrong
    /// length cannot take more memory than the size of the file.
    fn make_room(&mut self) {
        if self.at > 0 {
            self.buffer.copy_within(self.at..self.filled, 0);
            self.filled -= self.at;
            self.at = 0;
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
    }

    fn failed(&self, source: io::Error) -> CaptureError {
        let offset = self.offset + (self.filled - self.at) as u64;
        let frame = self.frames + 1;
        match self.input {
            Input::Plain(_) => CaptureError::Read { offset, source },
            Input::Gzip(_) => CaptureError::Unpack { frame, offset, source },
        }
    }

    fn truncated(&self) -> CaptureError {
        CaptureError::Truncated {
            frame: self.frames + 1,
            offset: self.offset,
            end: self.offset + self.len as u64,
        }
    }

    #[cold]
    pub(crate) fn damaged(&self, why: impl Into<String>) -> CaptureError {
        CaptureError::Damaged {
            frame: self.frames + 1,
            offset: self.offset,
            why: why.into(),
        }
    }
}
