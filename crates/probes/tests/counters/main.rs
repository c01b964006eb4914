//! What is injected is what is counted: `subscribe` and `reflect` against a far end that loses, doubles and swaps on purpose.

mod bench;
mod no_allocation;
mod reflect;
mod subscribe;

/// Counts what the measuring threads allocate.
#[global_allocator]
static ALLOCATOR: sys::alloc::CountingAllocator = sys::alloc::CountingAllocator;
