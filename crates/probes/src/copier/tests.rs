//! Tests which frames are kept and which are written.

use super::entry::{BYTES, EntryKind, RingEntry};
use super::keeper::Keeper;
use super::{Extent, FrameCopier, MOST_KEPT, both_ends, scatter};
use capture::{PcapngWriter, Reader};
use rtrb::RingBuffer;
use run::SpikeSignal;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::packet::VlanTag;
use tempfile::NamedTempFile;
use units::Monotonic;

const SECOND: i64 = 1_000_000_000;

/// A copier and its keeper, and the signal that the keeper listens to.
fn copied(extent: Extent, file: &NamedTempFile) -> (FrameCopier, Keeper<File>, SpikeSignal) {
    copied_with(extent, file, MOST_KEPT)
}

fn copied_with(extent: Extent, file: &NamedTempFile, most_kept: usize) -> (FrameCopier, Keeper<File>, SpikeSignal) {
    let (copier, sources) = both_ends();
    let writer = PcapngWriter::new(file.reopen().expect("a file"), "test", "eth0").expect("written");
    let signal = SpikeSignal::default();
    (
        copier,
        Keeper::new(sources, writer, extent, signal.clone(), most_kept),
        signal,
    )
}

/// First bytes of the frames in a capture.
fn first_octets(file: &NamedTempFile) -> Vec<u8> {
    let mut reader = Reader::open(file.path()).expect("a capture");
    let mut first = Vec::new();
    while let Some(frame) = reader.next_frame().expect("a frame") {
        first.push(frame.data[0]);
    }
    first
}

/// One frame a second, from a minute after boot; the real clock may not have reached that time.
fn at(frame: u8) -> Monotonic {
    Monotonic::from_ns((60 + i64::from(frame)) * SECOND)
}

#[test]
fn everything_or_what_is_around_a_spike_and_before_the_end() {
    let around = Extent::Around(2_500_000_000);
    let all: Vec<u8> = (0..20).collect();
    // The last frame is from two seconds ago: the span before the end counts from the last frame.
    for (extent, wanted) in [(Extent::All, &all[..]), (around, &[5, 6, 7, 8, 9, 17, 18, 19])] {
        let file = NamedTempFile::new().expect("a file");
        let (mut copier, mut keeper, signal) = copied(extent, &file);
        for frame in 0..20 {
            copier.sent(at(frame), &[frame; 60]);
            keeper.take().expect("taken");
            if frame == 7 {
                signal.set(at(7));
                keeper.take().expect("taken");
            }
        }
        let kept = keeper.finish(0).expect("finished");
        assert_eq!((kept.written, kept.left_out), (wanted.len() as u64, 0));
        assert_eq!(first_octets(&file), wanted, "{extent:?}");
        let marked = std::fs::read(file.path()).expect("read");
        assert!(
            marked.windows(8).any(|octets| octets == b"a sample"),
            "the spike is marked"
        );
    }
}

/// Times in ms of the frames `order` as they leave the ring, with one call of `take` after each `batch`.
fn written_of(extent: Extent, order: &[u64], batch: usize) -> (Vec<u8>, u64, u64) {
    let file = NamedTempFile::new().expect("a file");
    let (mut copier, mut keeper, signal) = copied(extent, &file);
    signal.set(at(0));
    for some in order.chunks(batch) {
        for &ms in some {
            copier.sent(at(0) + ms as i64 * 1_000_000, &[(ms / 10) as u8; 60]);
        }
        keeper.take().expect("taken");
    }
    let kept = keeper.finish(0).expect("finished");
    (first_octets(&file), kept.written, kept.out_of_order)
}

#[test]
fn frames_dealt_with_after_a_stall_are_written_where_they_belong() {
    // The thread stalls from 100 ms to 400 ms; then it takes the frames received meanwhile, ten for each two that it sends.
    let mut order: Vec<u64> = (0..100).step_by(10).collect();
    for (turn, missed) in (100..400).step_by(10).collect::<Vec<u64>>().chunks(10).enumerate() {
        order.push(400 + 10 * turn as u64);
        order.extend(missed);
    }
    order.extend((430..2_000).step_by(10));
    let sorted: Vec<u8> = (0..200).collect();
    for extent in [Extent::All, Extent::Around(10 * SECOND as u64)] {
        for batch in [1, 7, 1_000] {
            let written = written_of(extent, &order, batch);
            assert_eq!(written, (sorted.clone(), 200, 0), "{extent:?}, {batch} at once");
        }
    }
}

#[test]
fn a_frame_that_comes_too_late_to_be_put_in_order_is_written_and_counted() {
    let order: Vec<u64> = (0..2_000)
        .step_by(10)
        .filter(|ms| *ms != 500)
        .chain([500, 2_000, 2_010])
        .collect();
    for extent in [Extent::All, Extent::Around(10 * SECOND as u64)] {
        let (octets, written, out_of_order) = written_of(extent, &order, 1);
        assert_eq!((written, out_of_order), (202, 1), "{extent:?}");
        assert_eq!(octets.iter().filter(|octet| **octet == 50).count(), 1);
        assert_eq!(octets.windows(2).filter(|pair| pair[1] < pair[0]).count(), 1);
    }
}

#[test]
fn no_more_is_held_for_the_order_than_there_is_room_for() {
    let file = NamedTempFile::new().expect("a file");
    let (mut copier, mut keeper, _signal) = copied_with(Extent::All, &file, 10 * (BYTES + 60));
    // All within a ms, so that none is written because of its age.
    for frame in 0..100_u8 {
        copier.sent(at(0) + i64::from(frame) * 10_000, &[frame; 60]);
    }
    keeper.take().expect("taken");
    assert!(
        std::fs::metadata(file.path()).expect("a file").len() > 90 * 60,
        "all but ten are written"
    );
    assert_eq!(keeper.finish(0).expect("finished").written, 100);
    assert_eq!(first_octets(&file), (0..100).collect::<Vec<u8>>());
}

#[test]
fn of_two_spikes_apart_only_what_is_around_each_is_written() {
    let file = NamedTempFile::new().expect("a file");
    let (mut copier, mut keeper, signal) = copied(Extent::Around(20_000_000), &file);
    for frame in 0..200_u8 {
        copier.sent(at(0) + i64::from(frame) * 10_000_000, &[frame; 60]);
        if frame == 80 || frame == 100 {
            // Both spikes are known before the frames around the first one are old enough to be written.
            signal.set(at(0) + i64::from(frame - 10) * 10_000_000);
        }
        keeper.take().expect("taken");
    }
    let kept = keeper.finish(0).expect("finished");
    assert_eq!((kept.left_out, kept.out_of_order), (0, 0));
    let expected: Vec<u8> = (68..=72).chain(88..=92).chain(197..200).collect();
    assert_eq!(first_octets(&file), expected);
    let file = std::fs::read(file.path()).expect("read");
    let marks = file.windows(8).filter(|octets| *octets == b"a sample").count();
    assert_eq!(marks, 2, "each spike is marked");
}

#[test]
fn of_several_spikes_noticed_at_once_none_is_left_out() {
    let file = NamedTempFile::new().expect("a file");
    let (mut copier, mut keeper, signal) = copied(Extent::Around(1_100_000_000), &file);
    for frame in 0..12 {
        // All of them are within the kept span.
        copier.sent(at(0) + i64::from(frame) * SECOND / 10, &[frame; 60]);
    }
    keeper.take().expect("taken");
    let file_2 = NamedTempFile::new().expect("a file");
    let (mut copier_2, mut keeper_2, signal_2) = copied(Extent::Around(150_000_000), &file_2);
    for frame in 0..5 {
        copier_2.sent(at(0) + i64::from(frame) * SECOND / 10, &[frame; 60]);
    }
    keeper_2.take().expect("taken");
    // The recorder checks at intervals, so it reports both at once.
    for signal in [&signal, &signal_2] {
        signal.set(at(0) + SECOND / 10);
        signal.set(at(0) + 3 * SECOND / 10);
    }
    for keeper in [&mut keeper, &mut keeper_2] {
        keeper.take().expect("taken");
    }
    keeper.finish(0).expect("finished");
    keeper_2.finish(0).expect("finished");
    assert_eq!(first_octets(&file), (0..12).collect::<Vec<u8>>());
    assert_eq!(first_octets(&file_2), [0, 1, 2, 3, 4]);
}

#[test]
fn frames_wanted_that_there_was_no_room_for_are_counted() {
    let file = NamedTempFile::new().expect("a file");
    // Room for ten.
    let (mut copier, mut keeper, signal) = copied_with(Extent::Around(2 * SECOND as u64), &file, 10 * (BYTES + 60));
    let when = |frame: u8| at(0) + i64::from(frame) * SECOND / 10;
    for frame in 0..40 {
        copier.sent(when(frame), &[frame; 60]);
        keeper.take().expect("taken");
    }
    // The two seconds before the newest frame contain frames 19 to 29, which are gone, and the ten kept ones.
    signal.set(when(39));
    let kept = keeper.finish(3).expect("finished");
    assert_eq!((kept.written, kept.left_out), (10, 11));
    assert_eq!(first_octets(&file), (30..40).collect::<Vec<u8>>());
}

#[test]
fn without_a_spike_only_what_is_wanted_at_the_end_is_missed() {
    let file = NamedTempFile::new().expect("a file");
    let (mut copier, mut keeper, _signal) = copied_with(Extent::Around(SECOND as u64 / 2), &file, 3 * (BYTES + 60));
    for frame in 0..40 {
        copier.sent(at(0) + i64::from(frame) * SECOND / 10, &[frame; 60]);
        keeper.take().expect("taken");
    }
    let kept = keeper.finish(0).expect("finished");
    assert_eq!((kept.written, kept.left_out), (3, 3), "34, 35 and 36 are gone");
}

#[test]
fn frames_of_two_threads_are_in_the_order_of_their_instants() {
    let file = NamedTempFile::new().expect("a file");
    let (mut copier, mut keeper, _signal) = copied(Extent::All, &file);
    copier.sent(at(0), &[0; 60]);
    keeper.take().expect("taken");
    let mut beside = copier.beside();
    copier.sent(at(3), &[3; 60]);
    beside.sent(at(2), &[2; 60]);
    copier.sent(at(1), &[1; 60]);
    keeper.finish(0).expect("finished");
    assert_eq!(first_octets(&file), [0, 1, 2, 3]);
}

#[test]
fn what_does_not_fit_is_counted() {
    let (ring, _source) = RingBuffer::new(3 * (BYTES + 60));
    let missed = Arc::new(AtomicU64::new(0));
    let (whole, _sources) = both_ends();
    let mut copier = FrameCopier {
        ring,
        missed: Arc::clone(&missed),
        ..whole
    };
    for _ in 0..5 {
        copier.sent(Monotonic::from_ns(0), &[0; 60]);
    }
    assert_eq!(missed.load(Ordering::Relaxed), 2);
}

#[test]
fn an_entry_is_read_back() {
    let tag = VlanTag {
        tpid: 0x88a8,
        tci: 0x8005,
    };
    for tag in [None, Some(tag)] {
        for kind in [EntryKind::Sent, EntryKind::Received, EntryKind::ReceivedAt] {
            let entry = RingEntry::of(kind, -5, tag, 60, 64);
            assert_eq!(RingEntry::from_bytes(entry.to_bytes()), entry);
        }
    }
}

#[test]
fn pieces_meet_at_every_seam() {
    let whole: Vec<u8> = (0..10).collect();
    for seam in 0..=10 {
        let mut place = [0; 10];
        let (first, second) = place.split_at_mut(seam);
        scatter(&whole[..4], &whole[4..], first, second);
        assert_eq!(place[..], whole);
    }
}
