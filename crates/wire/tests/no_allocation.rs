//! Decoding allocates nothing, for valid and invalid frames.

use std::sync::{Mutex, MutexGuard, PoisonError};
use sys::alloc::{CountingAllocator, counted, watch};
use testing::vectors::vectors;
use wire::avtp::{AafStream, AafTemplate};
use wire::ether::{EthernetView, Mac};
use wire::routed::{Algorithm, Datagram, Key, Proof, Route, SpduNumbers, Unwrapper, Wrapper};
use wire::test_frame::{TestFrame, TestFrameKind};
use wire::{avtp, goose, sv, test_frame};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The count is shared by the whole process, so the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads everything in a frame, like a receiver; returns the number of octets and entries, so that nothing is optimised
/// away.
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
    let _turn = turn();
    let frames: Vec<Vec<u8>> = vectors().into_iter().map(|vector| vector.frame).collect();
    let before = counted();
    watch(true);
    let walked: usize = frames.iter().map(|frame| decode(frame)).sum();
    watch(false);
    assert_eq!(counted() - before, 0);
    assert!(walked > 1_000, "only {walked} octets and entries in all vectors");
}

#[test]
fn streams_are_patched_and_read_without_allocating() {
    let _turn = turn();
    let mut template = AafTemplate::new(&AafStream {
        dst: Mac([0x91, 0xe0, 0xf0, 0, 0xfe, 0]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        unique_id: 1,
    });
    let fields = TestFrame {
        kind: TestFrameKind::Stream,
        flags: 0,
        session: 1,
        sequence: 2,
        sent_ns: 3,
    };
    watch(true);
    let before = counted();
    template.set_sequence_num(9);
    template.set_timestamp_ns(8);
    template.data_mut()[..test_frame::HEADER].copy_from_slice(&fields.fields());
    let read = EthernetView::parse(template.bytes())
        .and_then(|ethernet| avtp::Frame::parse(&ethernet))
        .and_then(|frame| TestFrame::read(frame.data()));
    let after = counted();
    watch(false);
    assert_eq!((after - before, read), (0, Ok(fields)));
}

#[test]
fn datagrams_are_made_signed_checked_and_read_without_allocating() {
    let _turn = turn();
    let key = Key::new(7, Algorithm::HmacSha256_256, &[0x5a; 32]).expect("a key");
    let route = Route {
        source: [10, 0, 0, 1].into(),
        group: [239, 192, 0, 7].into(),
        ttl: 64,
        dscp: Route::EXPEDITED,
        key: Some(key.clone()),
    };
    let frames = vectors().into_iter().map(|vector| vector.frame);
    let frames: Vec<Vec<u8>> = frames
        .filter(|frame| matches!(Wrapper::new(route.clone()).wrap(frame), Ok(Some(_))))
        .collect();
    let (mut wrapper, mut unwrapper) = (Wrapper::new(route), Unwrapper::default());
    let (mut right, mut read) = (0, 0);
    let (keys, mut numbers) = ([key], SpduNumbers::default());
    watch(true);
    let before = counted();
    for frame in &frames {
        let Ok(Some(octets)) = wrapper.wrap(frame) else {
            continue;
        };
        let Ok(ethernet) = EthernetView::parse(octets) else {
            continue;
        };
        let Some(Ok(datagram)) = Datagram::within(&ethernet) else {
            continue;
        };
        right += usize::from(Proof::followed(&datagram, &keys, &mut numbers) == Proof::Right);
        for message in datagram.messages().flatten() {
            read += decode(unwrapper.frame(&message));
        }
    }
    let after = counted();
    watch(false);
    assert_eq!(after - before, 0);
    assert!(
        right > 5 && read > 100,
        "{right} signatures of {} frames, {read} octets",
        frames.len()
    );
}

#[test]
fn the_count_notices_an_allocation() {
    let _turn = turn();
    watch(true);
    let before = counted();
    drop(std::hint::black_box(vec![1_u8]));
    watch(false);
    assert!(counted() - before >= 2);
}
