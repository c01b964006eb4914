//! Memory shared with eBPF programs: the values of one of their arrays, mapped into this process (`BPF_F_MMAPABLE`, Linux 5.5).

use crate::error::SysError;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of a map. The values follow each other, each at a multiple of eight bytes.
#[derive(Debug)]
struct Mapping {
    memory: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and every user of its memory states how it is synchronised with the programs.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives only an address; any access through it is unsafe and has its own reason.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `octets` bytes of the map, for reading. The kernel refuses more bytes than the map has.
    fn of(map: impl AsFd, octets: usize) -> Result<Self, Errno> {
        let bytes = octets.next_multiple_of(rustix::param::page_size());
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping, at an address that the kernel chooses, of a map that has that many pages.
        let memory = unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, flags, map, 0) }?;
        Ok(Self {
            memory: NonNull::new(memory.cast()).expect("mmap does not return null"),
            bytes,
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and no borrow of it is left.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// The words of a map that programs write, read in place: no system call, no copy.
#[derive(Debug)]
pub struct Words {
    mapping: Mapping,
    count: usize,
}

impl Words {
    /// Maps the first `count` words of 64 bits of the array `name`, which must be mappable. The words stay mapped when the map is
    /// closed.
    ///
    /// # Errors
    /// The array has fewer words, it is not mappable, or the kernel refuses the mapping.
    pub fn of(name: &str, map: BorrowedFd<'_>, count: usize) -> Result<Self, SysError> {
        let mapping = Mapping::of(map, count * size_of::<u64>())
            .map_err(|errno| SysError::refused("map the memory of", name, errno))?;
        Ok(Self { mapping, count })
    }

    /// Loads the word of this number as it is now; `None` beyond the last. Programs may write it at any time. Anything that the
    /// caller loads afterwards is at least as new.
    #[inline]
    pub fn load(&self, number: usize) -> Option<u64> {
        self.all().get(number).map(|word| word.load(Ordering::Acquire))
    }

    /// The words, for loading only: the memory cannot be written.
    #[inline]
    fn all(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has that many words, begins at a page, and lives as long as `self`; its other users access it by
        // whole words.
        unsafe { std::slice::from_raw_parts(self.mapping.memory.cast().as_ptr(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use crate::bpf;
    use std::os::fd::{AsFd, AsRawFd};

    #[test]
    fn words_are_those_of_the_map_and_no_more_than_it_has() {
        if !crate::privilege::has(crate::privilege::Capability::SysAdmin) {
            return testing::skip("mapped words", "needs root");
        }
        let page = rustix::param::page_size() / size_of::<u64>();
        let map = bpf::array(4, u32::try_from(page).expect("small")).expect("a map");
        let words = Words::of("numbers", map.as_fd(), page).expect("mapped");
        assert_eq!((words.load(3), words.load(page)), (Some(0), None));
        bpf::insert(&map, 3, &map).expect("the number of a descriptor");
        let number = u64::from(map.as_raw_fd().cast_unsigned());
        assert_eq!([2, 3, 4].map(|place| words.load(place)), [0, number, 0].map(Some));
        let refused = Words::of("numbers", map.as_fd(), page + 1).expect_err("too many");
        assert!(
            refused.to_string().starts_with("map the memory of numbers: "),
            "{refused}"
        );
    }
}
