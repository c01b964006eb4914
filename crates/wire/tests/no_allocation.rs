//! Decoding allocates nothing, well-formed or not.

mod common;

use common::vectors;
use sys::alloc::{CountingAllocator, counted, watch};
use wire::ether::EthernetView;
use wire::{goose, sv};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Walks everything in a frame as a receiver does; returns how much there was, so that nothing is optimised away.
fn decode(frame: &[u8]) -> usize {
    let Ok(ethernet) = EthernetView::parse(frame) else {
        return 0;
    };
    let samples = sv::Frame::parse(&ethernet).map_or(0, |frame| {
        frame
            .asdus()
            .map(|asdu| asdu.sv_id().len() + asdu.seq_data().len())
            .sum()
    });
    let entries = goose::Frame::parse(&ethernet).map_or(0, |frame| frame.all_data().count());
    samples + entries
}

#[test]
fn no_vector_makes_a_decoder_allocate() {
    let frames: Vec<Vec<u8>> = vectors().into_iter().map(|vector| vector.frame).collect();
    let before = counted();
    watch(true);
    let walked: usize = frames.iter().map(|frame| decode(frame)).sum();
    watch(false);
    assert_eq!(counted() - before, 0);
    assert!(walked > 1_000, "only {walked} octets and entries in all vectors");
}

#[test]
fn the_count_notices_an_allocation() {
    watch(true);
    let before = counted();
    drop(std::hint::black_box(vec![1_u8]));
    watch(false);
    assert!(counted() - before >= 2);
}
