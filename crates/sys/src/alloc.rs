//! A global allocator that counts its calls, to prove that a measuring loop does not allocate.
//!
//! ```no_run
//! #[global_allocator]
//! static ALLOCATOR: sys::alloc::CountingAllocator = sys::alloc::CountingAllocator;
//!
//! sys::alloc::watch(true);
//! // The loop under test.
//! sys::alloc::watch(false);
//! assert_eq!(sys::alloc::counted(), 0);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

static COUNTED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Const-initialised and without a destructor: reading it neither allocates nor registers anything.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// Starts or stops counting the calling thread's use of the allocator.
pub fn watch(on: bool) {
    WATCHED.set(on);
}

/// Number of calls to allocate, grow or free that watched threads have made so far, over all threads of the process.
///
/// Stays 0 unless [`CountingAllocator`] is the global allocator.
pub fn counted() -> u64 {
    COUNTED.load(Ordering::Relaxed)
}

/// The system allocator, with a counter of the calls that watched threads make.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

impl CountingAllocator {
    #[inline]
    fn note() {
        if WATCHED.get() {
            COUNTED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: every call is passed unchanged to `System`, which keeps the contract of GlobalAlloc; counting touches no memory of the
// allocator and does not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note();
        // SAFETY: the caller's promises are the ones that System::alloc requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        Self::note();
        // SAFETY: `memory` came from this allocator, hence from System, with this layout, as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::note();
        // SAFETY: the caller's promises are the ones that System::alloc_zeroed requires.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        Self::note();
        // SAFETY: `memory` came from this allocator, hence from System, with this layout, as the caller promises.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}
