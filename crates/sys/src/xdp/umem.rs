//! The memory for the frames: one mapping, cut into chunks of equal size. The first chunks receive and the rest send.

use crate::error::SysError;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes that the kernel leaves free before a received frame (`XDP_PACKET_HEADROOM`).
const HEADROOM_OCTETS: usize = 256;

/// The chunk sizes of AF_XDP that every driver takes: a power of two from 2048 bytes up to a page.
const CHUNK_OCTETS: [usize; 2] = [2048, 4096];

/// Shortest frame to make room for: an Ethernet header.
const LEAST_FRAME_OCTETS: usize = 14;

/// Longest frame AF_XDP receives in one chunk, in octets without FCS: 3840.
pub const MOST_FRAME_BYTES: usize = CHUNK_OCTETS[1] - HEADROOM_OCTETS;

/// The smallest chunk that holds a frame of `frame_bytes`; errors if none does.
pub(super) fn chunk_for(frame_bytes: usize) -> Result<usize, SysError> {
    let fits = |chunk: &usize| frame_bytes.saturating_add(HEADROOM_OCTETS) <= *chunk;
    match CHUNK_OCTETS.into_iter().find(fits) {
        Some(chunk) if frame_bytes >= LEAST_FRAME_OCTETS => Ok(chunk),
        _ => Err(SysError::Invalid {
            what: format!(
                "frames of {frame_bytes} bytes: AF_XDP accepts {LEAST_FRAME_OCTETS} to {MOST_FRAME_BYTES} bytes (a page minus \
                 {HEADROOM_OCTETS}); for longer ones use the packet socket"
            ),
        }),
    }
}

/// The mapped memory.
#[derive(Debug)]
pub(super) struct Umem {
    memory: NonNull<u8>,
    chunk: usize,
    chunks: usize,
}

// SAFETY: the mapping belongs to this value alone and can be read, written and unmapped from any thread; the kernel, the only other
// party, gets chunks through the rings.
unsafe impl Send for Umem {}
// SAFETY: through a shared reference, bytes are only read, from chunks whose owner got them from a ring.
unsafe impl Sync for Umem {}

impl Umem {
    /// Maps `chunks` chunks, all of them present.
    pub(super) fn new(name: &Arc<str>, chunks: usize, chunk: usize) -> Result<Self, SysError> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let memory = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                chunks * chunk,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }
        .map_err(|errno| SysError::refused("map memory for frames of", Arc::clone(name), errno))?;
        Ok(Self {
            memory: NonNull::new(memory.cast()).expect("mmap does not return null"),
            chunk,
            chunks,
        })
    }

    pub(super) fn registration(&self) -> libc::xdp_umem_reg_v1 {
        libc::xdp_umem_reg_v1 {
            addr: self.memory.as_ptr().addr() as u64,
            len: (self.chunks * self.chunk) as u64,
            chunk_size: u32::try_from(self.chunk).unwrap_or(u32::MAX),
            headroom: 0,
        }
    }

    /// Bytes per chunk.
    pub(super) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Address of chunk `index`, as descriptors give it.
    pub(super) fn address(&self, index: usize) -> u64 {
        (index * self.chunk) as u64
    }

    /// The start of the chunk that contains an address.
    pub(super) fn chunk_of(&self, address: u64) -> u64 {
        address & !(self.chunk as u64 - 1)
    }

    /// The bytes at an address, limited to the mapping whatever the descriptor says.
    ///
    /// # Safety
    /// The chunk must have been received from a ring and not yet returned, for as long as the result lives.
    pub(super) unsafe fn octets(&self, address: u64, length: usize) -> &[u8] {
        let (start, length) = self.clamp(address, length);
        // SAFETY: the range is inside the mapping, and the kernel does not write to a chunk that it has passed on.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(start), length) }
    }

    /// Copies a frame to the beginning of a chunk.
    ///
    /// # Safety
    /// This side must own the chunk: it is neither in a ring nor being sent.
    pub(super) unsafe fn write(&mut self, address: u64, frame: &[u8]) {
        let (start, length) = self.clamp(address, frame.len());
        // SAFETY: the range is inside the mapping, and the frame is not part of the mapping, which is borrowed exclusively.
        unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), self.memory.as_ptr().add(start), length) };
    }

    fn clamp(&self, address: u64, length: usize) -> (usize, usize) {
        let bytes = self.chunks * self.chunk;
        let start = usize::try_from(address).unwrap_or(bytes).min(bytes);
        (start, length.min(bytes - start))
    }
}

impl Drop for Umem {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and frames borrow it, so none is left. The kernel holds
        // its own references to the pages.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), self.chunks * self.chunk) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::chunk_for;

    #[test]
    fn a_frame_gets_the_smallest_chunk_that_holds_it_or_is_refused() {
        for (octets, chunk) in [(14, 2048), (1518, 2048), (1792, 2048), (1793, 4096), (3840, 4096)] {
            assert_eq!(chunk_for(octets).expect("a chunk"), chunk);
        }
        for octets in [0, 13, 3841, 9018, usize::MAX] {
            let error = chunk_for(octets).expect_err("no chunk").to_string();
            assert!(error.contains("14 to 3840 bytes"), "{error}");
        }
    }
}
