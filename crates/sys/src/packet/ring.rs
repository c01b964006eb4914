//! The TPACKET_V2 receive ring: slots shared with the kernel, each passed on by its status word
//! (Documentation/networking/packet_mmap.rst).

use super::socket::Socket;
use crate::error::SysError;
use libc::tpacket2_hdr;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use units::{Ptp, Realtime};

/// Room in a slot before the frame: header 32, `sockaddr_ll` 20, and the gap with which `tpacket_rcv` aligns the bytes after the
/// frame's header to 16. A frame with the usual header of 14 octets starts at 66, any other at 67 at the latest.
const SLOT_OVERHEAD: usize = 80;

/// Smallest block: large enough that few blocks make a ring, small enough that the kernel finds each in one piece.
const BLOCK_BYTES: usize = 64 << 10;

/// Largest ring: a larger one is a typing error, and its locked memory would be missing elsewhere.
const MOST_RING_BYTES: usize = 1 << 30;

/// Smallest and largest `frame_bytes`: an Ethernet header, and more than the jumbo frames of any NIC.
const FRAME_BYTES: std::ops::RangeInclusive<usize> = 14..=65_536;

/// Sizes of a ring. Slots and blocks are powers of two, so that slots follow each other without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    slot_bytes: usize,
    block_bytes: usize,
    blocks: usize,
}

impl Layout {
    fn new(frames: usize, frame_bytes: usize) -> Result<Self, SysError> {
        if !FRAME_BYTES.contains(&frame_bytes) {
            return Err(SysError::Invalid {
                what: format!(
                    "frames of {frame_bytes} bytes: {} to {}",
                    FRAME_BYTES.start(),
                    FRAME_BYTES.end()
                ),
            });
        }
        let slot_bytes = (frame_bytes + SLOT_OVERHEAD).next_power_of_two();
        let block_bytes = slot_bytes.max(BLOCK_BYTES);
        let blocks = frames.div_ceil(block_bytes / slot_bytes);
        if blocks
            .checked_mul(block_bytes)
            .is_none_or(|bytes| bytes > MOST_RING_BYTES)
        {
            return Err(SysError::Invalid {
                what: format!(
                    "a receive ring of {frames} frames of {frame_bytes} bytes is too large: at most {} frames",
                    MOST_RING_BYTES / slot_bytes
                ),
            });
        }
        Ok(Self {
            slot_bytes,
            block_bytes,
            blocks,
        })
    }

    fn slots(self) -> usize {
        self.blocks * (self.block_bytes / self.slot_bytes)
    }

    fn bytes(self) -> usize {
        self.blocks * self.block_bytes
    }

    fn request(self) -> libc::tpacket_req {
        let word = |value: usize| libc::c_uint::try_from(value).unwrap_or(libc::c_uint::MAX);
        libc::tpacket_req {
            tp_block_size: word(self.block_bytes),
            tp_block_nr: word(self.blocks),
            tp_frame_size: word(self.slot_bytes),
            tp_frame_nr: word(self.slots()),
        }
    }
}

/// The ring, mapped.
#[derive(Debug)]
pub(super) struct Ring {
    memory: NonNull<u8>,
    layout: Layout,
    /// Number of slots, from the layout. It takes a division, which must not delay a frame.
    slots: usize,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone and can be read and unmapped from any thread; the only other party is the kernel,
// which synchronises through the status words.
unsafe impl Send for Ring {}
// SAFETY: a shared reference gives no access to the mapping; `next` needs the ring exclusively.
unsafe impl Sync for Ring {}

impl Ring {
    /// Makes a ring on the socket for at least `frames` frames of `frame_bytes` octets.
    pub(super) fn new(socket: &Socket, frames: usize, frame_bytes: usize) -> Result<Self, SysError> {
        let layout = Layout::new(frames, frame_bytes)?;
        let version = libc::tpacket_versions::TPACKET_V2 as i32;
        socket.set_packet(libc::PACKET_VERSION, &version, "choose the ring format on")?;
        socket.set_packet(libc::PACKET_RX_RING, &layout.request(), "make a receive ring on")?;
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses; its length is that of the new ring.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                layout.bytes(),
                flags,
                MapFlags::SHARED,
                &socket.fd,
                0,
            )
        }
        .map_err(|errno| SysError::refused("map the receive ring of", Arc::clone(&socket.name), errno))?;
        let memory = NonNull::new(memory.cast()).expect("mmap does not return null");
        Ok(Self {
            memory,
            layout,
            slots: layout.slots(),
            next: 0,
        })
    }

    /// Number of frames that fit.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// The slot for the next frame.
    #[inline]
    fn slot(&self) -> NonNull<u8> {
        // SAFETY: `next` is below the number of slots, so the slot is inside the mapping.
        unsafe { self.memory.add(self.next * self.layout.slot_bytes) }
    }

    /// Stamp of the oldest frame not yet taken, in ns on the clock that made it. The frame stays.
    #[inline]
    pub(super) fn next_stamp_ns(&self) -> Option<i64> {
        let slot = self.slot().cast::<tpacket2_hdr>();
        if status_of(slot).load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the acquire load saw that the slot belongs to this side, so the kernel has filled the header and does not touch it
        // until the frame is taken and dropped, which needs an exclusive borrow; the copies are plain integers.
        let (seconds, ns) = unsafe { ((*slot.as_ptr()).tp_sec, (*slot.as_ptr()).tp_nsec) };
        Some(i64::from(seconds) * 1_000_000_000 + i64::from(ns))
    }

    /// Returns the oldest frame not yet taken, if any: one read of memory.
    #[inline]
    pub(super) fn next(&mut self) -> Option<RxFrame<'_>> {
        let slot = self.slot().cast::<tpacket2_hdr>();
        let status = status_of(slot).load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        self.next = if self.next + 1 == self.slots { 0 } else { self.next + 1 };
        fetch_ahead(self.slot());
        Some(RxFrame {
            slot,
            status,
            slot_bytes: self.layout.slot_bytes,
            ring: PhantomData,
        })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and frames borrow the ring, so none is left.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), self.layout.bytes()) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Bytes at the beginning of a slot that a frame of sampled values fills, header included.
const AHEAD_BYTES: usize = 192;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Has the processor fetch the next slot while the caller processes the current frame. The kernel wrote the slot on another CPU, so
/// after a sleep the caller would otherwise wait for it cache line by cache line.
#[inline]
fn fetch_ahead(slot: NonNull<u8>) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..AHEAD_BYTES).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint that reads nothing, whatever is at the address; every x86_64 processor has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slot.as_ptr().wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}

/// The status word of a slot, by which kernel and user pass the slot to each other.
fn status_of<'a>(slot: NonNull<tpacket2_hdr>) -> &'a AtomicU32 {
    // SAFETY: a slot starts on a 16-byte boundary with its status word, is only ever accessed atomically by this side, and the
    // result does not outlive the calls here that hold the ring.
    unsafe { AtomicU32::from_ptr(&raw mut (*slot.as_ptr()).tp_status) }
}

/// A VLAN tag that the kernel removed from the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlanTag {
    /// Tag protocol: 0x8100, or 0x88a8 for a service tag.
    pub tpid: u16,
    /// Priority (3 bits), drop eligible (1), VLAN identifier (12).
    pub tci: u16,
}

/// When a frame was received, and by whose stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RxStamp {
    /// Stamp of the NIC, on its own clock.
    Hardware(Ptp),
    /// Stamp of the kernel, when the driver delivered the frame.
    Software(Realtime),
    /// Stamp of the packet socket, when it copied the frame into the ring: later than the others by the path through the stack.
    Socket(Realtime),
}

/// A received frame in the ring; its slot returns to the kernel when this is dropped.
#[derive(Debug)]
pub struct RxFrame<'a> {
    slot: NonNull<tpacket2_hdr>,
    status: u32,
    slot_bytes: usize,
    ring: PhantomData<&'a mut Ring>,
}

impl RxFrame<'_> {
    /// The frame from its destination address, without FCS and without the tag that is in [`RxFrame::vlan`]; cut to the port's
    /// `frame_bytes`, see [`RxFrame::truncated`].
    #[inline]
    pub fn data(&self) -> &[u8] {
        let header = self.header();
        let start = usize::from(header.tp_mac).min(self.slot_bytes);
        let length = (header.tp_snaplen as usize).min(self.slot_bytes - start);
        // SAFETY: start and length were limited to the slot, which is inside the mapping; the kernel does not write to it until
        // this value is dropped.
        unsafe { std::slice::from_raw_parts(self.slot.as_ptr().cast::<u8>().add(start), length) }
    }

    /// The outer VLAN tag of the frame; further tags are in the data.
    #[inline]
    pub fn vlan(&self) -> Option<VlanTag> {
        if self.status & libc::TP_STATUS_VLAN_VALID == 0 {
            return None;
        }
        let header = self.header();
        // Kernels before 3.14 do not report the protocol; there was only one then.
        let told = self.status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
        Some(VlanTag {
            tpid: if told { header.tp_vlan_tpid } else { 0x8100 },
            tci: header.tp_vlan_tci,
        })
    }

    /// When it was received.
    #[inline]
    pub fn stamp(&self) -> RxStamp {
        let header = self.header();
        let ns = i64::from(header.tp_sec) * 1_000_000_000 + i64::from(header.tp_nsec);
        if self.status & libc::TP_STATUS_TS_RAW_HARDWARE != 0 {
            RxStamp::Hardware(Ptp::from_ns(ns))
        } else if self.status & libc::TP_STATUS_TS_SOFTWARE != 0 {
            RxStamp::Software(Realtime::from_ns(ns))
        } else {
            RxStamp::Socket(Realtime::from_ns(ns))
        }
    }

    /// Length of the frame as received, without FCS and without the stripped tag.
    #[inline]
    pub fn original_len(&self) -> usize {
        self.header().tp_len as usize
    }

    /// True if [`RxFrame::data`] is only the beginning, because the frame is longer than a slot.
    #[inline]
    pub fn truncated(&self) -> bool {
        self.original_len() > self.data().len()
    }

    fn header(&self) -> &tpacket2_hdr {
        // SAFETY: the acquire load of the status word saw that the slot belongs to this side, so the kernel has filled the header
        // and does not touch it again until this value is dropped; this reference does not read the status word itself.
        unsafe { self.slot.as_ref() }
    }
}

impl Drop for RxFrame<'_> {
    #[inline]
    fn drop(&mut self) {
        status_of(self.slot).store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_BYTES, Layout, SLOT_OVERHEAD};

    #[test]
    fn slots_hold_the_frame_and_fill_their_blocks() {
        for (frames, frame_bytes, slot_bytes) in [
            (1, 64, 256),
            (1_024, 1_514, 2_048),
            (64, 9_014, 16_384),
            (3, 65_536, 131_072),
        ] {
            let layout = Layout::new(frames, frame_bytes).expect("a layout");
            assert_eq!(layout.slot_bytes, slot_bytes);
            assert!(layout.slot_bytes >= frame_bytes + SLOT_OVERHEAD);
            assert_eq!(layout.block_bytes % layout.slot_bytes, 0);
            assert!(layout.slots() >= frames && layout.slots() - frames < layout.block_bytes / layout.slot_bytes);
            assert!(layout.block_bytes >= BLOCK_BYTES && layout.block_bytes.is_power_of_two());
        }
    }

    #[test]
    fn sizes_that_cannot_be_are_refused_with_those_that_can() {
        assert!(
            Layout::new(1, 13)
                .expect_err("too short")
                .to_string()
                .contains("14 to 65536")
        );
        assert!(Layout::new(1, 65_537).is_err());
        let error = Layout::new(1 << 20, 1_514).expect_err("two gigabytes");
        assert!(error.to_string().contains("at most 524288 frames"), "{error}");
        assert!(Layout::new(usize::MAX, 64).is_err());
    }
}
