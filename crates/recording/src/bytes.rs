//! Reads untrusted bytes.

use crate::error::SegmentError;

const ENDS_EARLY: SegmentError = SegmentError::Contradiction("a field reaches beyond the end");

/// Bytes not yet read.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], SegmentError> {
        let (head, rest) = self.0.split_at_checked(count).ok_or(ENDS_EARLY)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], SegmentError> {
        self.take(N)?.try_into().map_err(|_| ENDS_EARLY)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, SegmentError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, SegmentError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, SegmentError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, SegmentError> {
        self.array().map(i64::from_le_bytes)
    }

    /// A name, with its length before it.
    pub(crate) fn name(&mut self) -> Result<String, SegmentError> {
        let length = usize::from(self.u8()?);
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}

/// Writes a name of at most 255 bytes; the rest of a longer one is left out.
pub(crate) fn put_name(out: &mut Vec<u8>, name: &str) {
    let mut end = name.len().min(255);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    out.push(end as u8);
    out.extend_from_slice(&name.as_bytes()[..end]);
}
