//! The four rings that an AF_XDP socket shares with the kernel: of descriptors (received, to send) and of addresses
//! (empty chunks to fill, sent chunks to use again).
//!
//! One side produces, the other consumes; each writes only its own counter, after the entries that it covers.

use crate::error::SysError;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One mapped ring of `T`. `own` is this side's counter, `theirs` the last known value of the other side's.
#[derive(Debug)]
pub(super) struct Ring<T> {
    memory: NonNull<u8>,
    bytes: usize,
    offsets: libc::xdp_ring_offset,
    mask: u32,
    own: u32,
    theirs: u32,
    entries: PhantomData<T>,
}

// SAFETY: the mapping belongs to this value alone; the kernel, the only other party, synchronises through the counters.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: through a shared reference only the atomic counters and flags are read.
unsafe impl<T: Sync> Sync for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// Maps a ring of `entries` (a power of two) that the kernel has made; `page_offset` selects it.
    pub(super) fn map(
        fd: &OwnedFd,
        name: &Arc<str>,
        offsets: libc::xdp_ring_offset,
        page_offset: u64,
        entries: u32,
    ) -> Result<Self, SysError> {
        let refused = |errno| SysError::refused("map a ring of", Arc::clone(name), errno);
        let entries_at = usize::try_from(offsets.desc).map_err(|_| refused(Errno::OVERFLOW))?;
        let bytes = entries_at + entries as usize * size_of::<T>();
        // SAFETY: a new mapping at an address that the kernel chooses; its length is that of the new ring.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                fd,
                page_offset,
            )
        }
        .map_err(refused)?;
        Ok(Self {
            memory: NonNull::new(memory.cast()).expect("mmap does not return null"),
            bytes,
            offsets,
            mask: entries - 1,
            own: 0,
            theirs: 0,
            entries: PhantomData,
        })
    }

    /// Takes the oldest entry, if this side consumes: one read of memory if there is none.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.own == self.theirs {
            self.theirs = self.word(self.offsets.producer).load(Ordering::Acquire);
            if self.own == self.theirs {
                return None;
            }
        }
        // SAFETY: the entry is inside the mapping, and the producer's counter showed that it is written.
        let entry = unsafe { self.entry(self.own).read() };
        self.own = self.own.wrapping_add(1);
        self.word(self.offsets.consumer).store(self.own, Ordering::Release);
        Some(entry)
    }

    /// Appends an entry, if this side produces. Returns false if the ring is full.
    #[inline]
    pub(super) fn push(&mut self, entry: T) -> bool {
        if self.own.wrapping_sub(self.theirs) > self.mask {
            self.theirs = self.word(self.offsets.consumer).load(Ordering::Acquire);
            if self.own.wrapping_sub(self.theirs) > self.mask {
                return false;
            }
        }
        // SAFETY: the entry is inside the mapping, and the consumer's counter showed that it is free.
        unsafe { self.entry(self.own).write(entry) };
        self.own = self.own.wrapping_add(1);
        self.word(self.offsets.producer).store(self.own, Ordering::Release);
        true
    }

    /// Number of appended entries that the kernel has not taken yet.
    #[inline]
    pub(super) fn waiting(&self) -> u32 {
        self.own
            .wrapping_sub(self.word(self.offsets.consumer).load(Ordering::Acquire))
    }

    /// True if the kernel has taken all appended entries.
    #[inline]
    pub(super) fn drained(&self) -> bool {
        self.waiting() == 0
    }

    /// Changes the entries that the kernel has not visibly taken, if this side produces. Use it only if the kernel takes entries in
    /// system calls of this side, and none is running: a driver without copying takes entries at any time.
    pub(super) fn change_waiting(&mut self, mut change: impl FnMut(&mut T)) {
        for back in 1..=self.waiting() {
            let at = self.entry(self.own.wrapping_sub(back));
            // SAFETY: the entry is inside the mapping, this side wrote it, and the kernel is not reading it.
            unsafe {
                let mut entry = at.read();
                change(&mut entry);
                at.write(entry);
            }
        }
    }

    /// Number of entries that there is room for.
    pub(super) fn entries(&self) -> usize {
        self.mask as usize + 1
    }

    /// True if the kernel continues only when a system call wakes it (`XDP_RING_NEED_WAKEUP`).
    #[inline]
    pub(super) fn needs_wakeup(&self) -> bool {
        self.word(self.offsets.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn entry(&self, counter: u32) -> *mut T {
        let index = (counter & self.mask) as usize;
        // SAFETY: the index is below the number of entries, and the mapping was made for that number.
        unsafe {
            self.memory
                .as_ptr()
                .add(self.offsets.desc as usize)
                .cast::<T>()
                .add(index)
        }
    }

    fn word(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: the kernel provided the offset: an aligned word inside the mapping that both sides access atomically.
        unsafe { AtomicU32::from_ptr(self.memory.as_ptr().add(offset as usize).cast()) }
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and no borrow of it is left.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}
