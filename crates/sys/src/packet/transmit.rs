//! Sends one frame, or a batch with one system call.

use crate::error::{SysError, last_errno};
use libc::{iovec, mmsghdr};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};

/// Frames to be sent together, in memory that is allocated once.
#[derive(Debug)]
pub struct TxBatch {
    frames: Box<[u8]>,
    frame_bytes: usize,
    lengths: Box<[usize]>,
    count: usize,
    vectors: Box<[iovec]>,
    headers: Box<[mmsghdr]>,
}

// SAFETY: the pointers inside vectors and headers are written before each system call that reads them, from boxes that this value
// owns, and are not used in between; so the value may move to any thread, and any thread may read it.
unsafe impl Send for TxBatch {}
// SAFETY: as above; a shared reference writes nothing.
unsafe impl Sync for TxBatch {}

impl TxBatch {
    /// Makes room for `count` frames of up to `frame_bytes` octets each (without FCS). Initially all frames are zeros of full
    /// length, and all are sent.
    pub fn new(count: usize, frame_bytes: usize) -> Self {
        let vector = iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        };
        // SAFETY: an mmsghdr is pointers and integers, for which all-zero is a valid value: no address, no vector, no control.
        let header: mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            frames: vec![0; count * frame_bytes].into_boxed_slice(),
            frame_bytes,
            lengths: vec![frame_bytes; count].into_boxed_slice(),
            count,
            vectors: vec![vector; count].into_boxed_slice(),
            headers: vec![header; count].into_boxed_slice(),
        }
    }

    /// The whole buffer of frame `index`, to write the frame into. Panics if there is no such frame.
    #[inline]
    pub fn frame_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.frames[index * self.frame_bytes..][..self.frame_bytes]
    }

    /// The bytes of frame `index` that are sent. Panics if there is no such frame.
    #[inline]
    pub fn frame(&self, index: usize) -> &[u8] {
        &self.frames[index * self.frame_bytes..][..self.lengths[index]]
    }

    /// Sets how many bytes of frame `index` are sent. Panics if there is no such frame, or not that much room.
    #[inline]
    pub fn set_len(&mut self, index: usize, octets: usize) {
        assert!(
            octets <= self.frame_bytes,
            "{octets} bytes in room for {}",
            self.frame_bytes
        );
        self.lengths[index] = octets;
    }

    /// Sets how many frames are sent: the first `count`. Panics if there is no room for that many.
    #[inline]
    pub fn set_count(&mut self, count: usize) {
        assert!(
            count <= self.capacity(),
            "{count} frames in room for {}",
            self.capacity()
        );
        self.count = count;
    }

    /// Number of frames that are sent.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if no frame is sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of frames that there is room for.
    pub fn capacity(&self) -> usize {
        self.lengths.len()
    }

    /// Room for one frame, in bytes.
    pub fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// Number of bytes of frame `index` that are sent.
    pub(super) fn octets(&self, index: usize) -> usize {
        self.lengths[index]
    }

    /// Points the headers at the frames from `first` on and returns them, ready for sendmmsg(2).
    fn prepare(&mut self, first: usize) -> &mut [mmsghdr] {
        // A move of the boxes, or a caller's `frame_mut`, invalidates earlier pointers, so they are set again.
        let frames = self.frames.as_mut_ptr();
        let range = first..self.count;
        for index in range.clone() {
            self.vectors[index] = iovec {
                iov_base: frames.wrapping_add(index * self.frame_bytes).cast(),
                iov_len: self.lengths[index],
            };
        }
        let vectors = self.vectors.as_mut_ptr();
        for index in range.clone() {
            let header = &mut self.headers[index].msg_hdr;
            header.msg_iov = vectors.wrapping_add(index);
            header.msg_iovlen = 1;
        }
        &mut self.headers[range]
    }
}

/// A batch of which only the beginning was sent.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{cause} (after {sent} frames of the batch)")]
pub struct PartialSend {
    /// Number of frames sent, from the first.
    pub sent: usize,
    /// Why the next frame was not sent.
    pub cause: SysError,
}

impl PartialSend {
    /// True if the frame that was not sent used up a number for [`TxStamp::id`](super::TxStamp::id).
    pub fn is_numbered(&self) -> bool {
        super::is_numbered(&self.cause)
    }
}

/// Sends one frame, without waiting for room.
#[inline]
pub(super) fn send(fd: &OwnedFd, frame: &[u8]) -> Result<(), Errno> {
    rustix::net::send(fd, frame, rustix::net::SendFlags::DONTWAIT).map(|_| ())
}

/// Sends the frames of `batch` from `first` on with one sendmmsg(2), without waiting for room; returns the number sent.
pub(super) fn send_many(fd: &OwnedFd, batch: &mut TxBatch, first: usize) -> Result<usize, Errno> {
    let headers = batch.prepare(first);
    if headers.is_empty() {
        return Ok(0);
    }
    let count = libc::c_uint::try_from(headers.len()).unwrap_or(libc::c_uint::MAX);
    // SAFETY: there are `count` headers at the pointer; each points to one vector, and each vector to a frame within the batch's
    // own boxes, none of which is touched during the call.
    let sent = unsafe { libc::sendmmsg(fd.as_raw_fd(), headers.as_mut_ptr(), count, libc::MSG_DONTWAIT) };
    usize::try_from(sent).map_err(|_| last_errno())
}

#[cfg(test)]
mod tests {
    use super::TxBatch;

    #[test]
    fn frames_are_apart_and_keep_what_is_written() {
        let mut batch = TxBatch::new(3, 64);
        for index in 0..3 {
            batch.frame_mut(index).fill(index as u8 + 1);
            batch.set_len(index, 60 + index);
        }
        batch.set_count(2);
        assert_eq!(
            (batch.len(), batch.capacity(), batch.frame_bytes(), batch.is_empty()),
            (2, 3, 64, false)
        );
        for (index, header) in batch.prepare(0).iter().enumerate() {
            // SAFETY: prepare has pointed the header at one vector of the batch, which is alive.
            let vector = unsafe { *header.msg_hdr.msg_iov };
            assert_eq!(vector.iov_len, 60 + index);
            // SAFETY: the vector points into the batch's frames, of which this is the first byte.
            assert_eq!(unsafe { *vector.iov_base.cast::<u8>() }, index as u8 + 1);
        }
        assert_eq!(batch.prepare(1).len(), 1);
        assert_eq!(batch.prepare(2).len(), 0);
    }

    #[test]
    #[should_panic(expected = "65 bytes in room for 64")]
    fn a_frame_longer_than_its_room_is_a_defect_of_the_caller() {
        TxBatch::new(1, 64).set_len(0, 65);
    }
}
