//! Touches stack pages before they are needed.

use std::mem::MaybeUninit;

/// Bytes left untouched at the end of the stack: room for a signal handler, the guard page, and the frames of the touching
/// functions, which in an unoptimised build are larger than the page that each contains.
const MARGIN_BYTES: usize = 64 << 10;

/// One step down the stack; no Linux page is smaller.
const PAGE_BYTES: usize = 4096;

/// Writes to the next `bytes` of the calling thread's stack, as far as the stack reaches.
pub(super) fn touch(bytes: usize) {
    // A frame contains a page and some words; three quarters of the room is safe for frames of up to 5461 bytes.
    let room = left().saturating_sub(MARGIN_BYTES) / 4 * 3;
    touch_pages(bytes.min(room) / PAGE_BYTES);
}

/// One frame per page, so that the writes hit the same addresses as later calls.
#[inline(never)]
fn touch_pages(pages: usize) {
    if pages == 0 {
        return;
    }
    let mut page = [0_u8; PAGE_BYTES];
    std::hint::black_box(&mut page);
    touch_pages(pages - 1);
    // Used after the call, so that the call cannot become a jump that reuses this frame.
    std::hint::black_box(&page);
}

/// Bytes between here and the end of the calling thread's stack; 0 if the C library cannot report it.
fn left() -> usize {
    let here = 0_u8;
    let here = (&raw const here).addr();
    lowest().map_or(0, |lowest| here.saturating_sub(lowest))
}

/// Lowest address of the calling thread's stack.
fn lowest() -> Option<usize> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: attributes are initialised by pthread_getattr_np before they are read, only when it returned 0, and destroyed
    // once after the last use; both out-pointers are to locals.
    let known = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let known = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut size) == 0;
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            known
        }
    };
    known.then(|| lowest.addr())
}

#[cfg(test)]
mod tests {
    use super::{left, touch};

    #[test]
    fn asking_for_more_than_the_stack_has_touches_what_there_is() {
        let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(|| {
            let before = left();
            touch(usize::MAX);
            before
        });
        // The C library may reuse a larger stack of a thread that has ended.
        let before = thread.expect("a thread").join().expect("no overflow");
        assert!((448 << 10..64 << 20).contains(&before), "{before}");
    }

    #[test]
    fn touched_pages_do_not_fault_again() {
        // Larger than any other stack here, so that it is a new stack, which no other thread has used.
        let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(|| {
            let faults = |bytes| {
                let before = crate::thread::usage().minor_faults;
                touch(bytes);
                crate::thread::usage().minor_faults - before
            };
            (faults(512 << 10), faults(384 << 10))
        });
        let (first, second) = thread.expect("a thread").join().expect("no panic");
        assert!(first > 0, "a new stack has pages to fault in");
        // Not exactly zero: the kernel may move a page of a busy machine at any moment, unless memory is locked.
        assert!(second * 10 <= first, "{second} faults after {first}");
    }
}
