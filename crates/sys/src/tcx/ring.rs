//! The memory that the program writes and this side reads: a map of slots, and one of counters.

use super::Shape;
use crate::bpf;
use crate::error::SysError;
use crate::mapping::Mapping;
use crate::packet::VlanTag;
use rustix::mm::ProtFlags;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter with a cache line of its own, since different CPUs write them.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Counter(AtomicU64);

/// What the program and this side count.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Control {
    /// Slots taken.
    pub(super) head: Counter,
    /// Frames read.
    pub(super) tail: Counter,
    /// Frames without room.
    pub(super) dropped: Counter,
}

/// A slot, up to its frame.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Slot {
    /// One more than the frame's; 0 before the first.
    pub(super) number: AtomicU64,
    /// Of the frame.
    pub(super) length: u32,
    pub(super) tag: Tag,
}

/// A VLAN tag; 0 for none.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Tag {
    pub(super) tci: u16,
    /// In the network's order.
    pub(super) protocol: u16,
}

const CONTROL_OCTETS: usize = size_of::<Control>();
const _: () = assert!(size_of::<Counter>() == LINE && CONTROL_OCTETS == 3 * LINE);

/// Slots begin at cache lines.
const LINE: usize = 64;

const MOST_RING_FRAMES: usize = 32_768;
const FRAME_BYTES: std::ops::RangeInclusive<usize> = 14..=65_535;

/// The program hears of this share of the ring at once that it is free: each time would cost it the line the counter is in.
const TOLD_SHARE: u64 = 8;

#[derive(Debug)]
pub(super) struct Ring {
    control: Mapping,
    slots: Mapping,
    control_fd: OwnedFd,
    slots_fd: OwnedFd,
    stride: usize,
    mask: u32,
    room: u32,
    frame_bytes: usize,
    /// Frames read, and how many of them the program knows of.
    read: u64,
    told: u64,
}

impl Ring {
    pub(super) fn new(name: &Arc<str>, ring_frames: usize, frame_bytes: usize) -> Result<Self, SysError> {
        if !(1..=MOST_RING_FRAMES).contains(&ring_frames) || !FRAME_BYTES.contains(&frame_bytes) {
            return Err(SysError::Invalid {
                what: format!(
                    "a ring of {ring_frames} frames of {frame_bytes} octets: 1 to {MOST_RING_FRAMES} of 14 to 65535"
                ),
            });
        }
        // Every CPU may have found room before any of them took it.
        let cpus = crate::thread::online_cpus().iter().count();
        let slots_at_least = ring_frames + ring_frames / 4 + 2 + cpus;
        let slots = slots_at_least.next_power_of_two();
        let stride = (size_of::<Slot>() + frame_bytes).next_multiple_of(LINE);
        let (slots, octets) = (word(slots), word(stride));
        let refused = |errno| bpf::refused("make maps for frames of", name, errno);
        let control_fd = bpf::array(word(CONTROL_OCTETS), 1).map_err(refused)?;
        let slots_fd = bpf::array(octets, slots).map_err(refused)?;
        let mapped = |map: &OwnedFd, octets| {
            Mapping::of(map, octets, ProtFlags::READ | ProtFlags::WRITE)
                .map_err(|errno| SysError::refused("map memory for frames of", Arc::clone(name), errno))
        };
        Ok(Self {
            control: mapped(&control_fd, CONTROL_OCTETS)?,
            slots: mapped(&slots_fd, slots as usize * stride)?,
            control_fd,
            slots_fd,
            stride,
            mask: slots - 1,
            room: slots - word(cpus),
            frame_bytes,
            read: 0,
            told: 0,
        })
    }

    pub(super) fn shape(&self) -> Shape {
        Shape::of(
            &self.control_fd,
            &self.slots_fd,
            self.mask,
            self.room,
            word(self.frame_bytes),
        )
    }

    pub(super) fn room(&self) -> usize {
        self.room as usize - self.room as usize / TOLD_SHARE as usize
    }

    pub(super) fn dropped(&self) -> u64 {
        self.control().dropped.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn has_one(&self) -> bool {
        // SAFETY: the slot lies inside the mapping, and both sides access its number atomically.
        let number = unsafe { &(*self.slot()).number };
        number.load(Ordering::Acquire) == self.read + 1
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<TcxFrame<'_>> {
        self.has_one().then(|| TcxFrame { ring: self })
    }

    /// The slot of the oldest frame not yet read.
    #[inline]
    fn slot(&self) -> *const Slot {
        let octets = (self.read as u32 & self.mask) as usize * self.stride;
        // SAFETY: the mapping has a slot for each number up to the mask; each begins at a cache line, as the mapping does.
        unsafe { self.slots.memory.as_ptr().add(octets).cast() }
    }

    #[inline]
    fn control(&self) -> &Control {
        // SAFETY: the mapping begins with it, lives as long as this, and both sides access the counters atomically.
        unsafe { self.control.memory.cast::<Control>().as_ref() }
    }

    #[inline]
    fn release(&mut self) {
        self.read += 1;
        if (self.read - self.told) * TOLD_SHARE > u64::from(self.room) {
            self.told = self.read;
            self.control().tail.0.store(self.read, Ordering::Release);
        }
    }
}

/// A received frame, in the ring; its place is free when this is dropped.
#[derive(Debug)]
pub struct TcxFrame<'a> {
    ring: &'a mut Ring,
}

impl TcxFrame<'_> {
    /// The frame from its destination address, without FCS and without the tag that is in [`TcxFrame::vlan`]; cut to
    /// [`TcxOptions::frame_bytes`](super::TcxOptions::frame_bytes).
    #[inline]
    pub fn data(&self) -> &[u8] {
        let octets = self.original_len().min(self.ring.frame_bytes);
        // SAFETY: a slot holds as many octets behind its head; the program wrote them before the number that was seen, and does not
        // write them again before it is told that the slot is free.
        unsafe { std::slice::from_raw_parts(self.ring.slot().add(1).cast(), octets) }
    }

    /// Octets the frame had when it was received.
    #[inline]
    pub fn original_len(&self) -> usize {
        // SAFETY: inside the mapping, written as the frame was.
        unsafe { (*self.ring.slot()).length as usize }
    }

    /// The outer VLAN tag, which the kernel has taken out of the data.
    #[inline]
    pub fn vlan(&self) -> Option<VlanTag> {
        // SAFETY: inside the mapping, written as the frame was, and not again before the slot is free.
        let tag = unsafe { &(*self.ring.slot()).tag };
        (tag.protocol != 0).then(|| VlanTag {
            tpid: u16::from_be(tag.protocol),
            tci: tag.tci,
        })
    }
}

impl Drop for TcxFrame<'_> {
    #[inline]
    fn drop(&mut self) {
        self.ring.release();
    }
}

fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
