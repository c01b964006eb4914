//! What is kept and what is written.

use super::entry::{BYTES, Entry, Kind};
use super::keeper::Keeper;
use super::{Extent, RING_BYTES, Tap, scatter};
use crate::record::SpikeSignal;
use capture::{PcapngWriter, Reader};
use rtrb::RingBuffer;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::packet::VlanTag;
use tempfile::NamedTempFile;
use units::Monotonic;

const SECOND: i64 = 1_000_000_000;

/// A tap and its keeper, and what the keeper listens to.
fn tapped(extent: Extent, file: &NamedTempFile) -> (Tap, Keeper<File>, SpikeSignal) {
    let (ring, source) = RingBuffer::new(RING_BYTES);
    let missed = Arc::new(AtomicU64::new(0));
    let writer = PcapngWriter::new(file.reopen().expect("a file"), "test", "eth0").expect("written");
    let signal = SpikeSignal::default();
    (
        Tap { ring, missed },
        Keeper::new(source, writer, extent, signal.clone()),
        signal,
    )
}

/// The first octets of the frames in a capture.
fn first_octets(file: &NamedTempFile) -> Vec<u8> {
    let mut reader = Reader::open(file.path()).expect("a capture");
    let mut first = Vec::new();
    while let Some(frame) = reader.next_frame().expect("a frame") {
        first.push(frame.data[0]);
    }
    first
}

/// A second ago it was frame 20.
fn at(frame: u8) -> Monotonic {
    sys::clock::monotonic() + (i64::from(frame) - 21) * SECOND
}

#[test]
fn everything_or_what_is_around_a_spike_and_before_the_end() {
    let around = Extent::Around(2_500_000_000);
    let all: Vec<u8> = (0..20).collect();
    for (extent, wanted) in [(Extent::All, &all[..]), (around, &[5, 6, 7, 8, 9, 19])] {
        let file = NamedTempFile::new().expect("a file");
        let (mut tap, mut keeper, signal) = tapped(extent, &file);
        for frame in 0..20 {
            tap.sent(at(frame), &[frame; 60]);
            keeper.take().expect("taken");
            if frame == 7 {
                signal.set(at(7));
                keeper.take().expect("taken");
            }
        }
        assert_eq!(keeper.finish(0).expect("finished"), wanted.len() as u64);
        assert_eq!(first_octets(&file), wanted, "{extent:?}");
        let marked = std::fs::read(file.path()).expect("read");
        assert!(
            marked.windows(8).any(|octets| octets == b"a sample"),
            "the spike is marked"
        );
    }
}

#[test]
fn what_does_not_fit_is_counted() {
    let (ring, _source) = RingBuffer::new(3 * (BYTES + 60));
    let missed = Arc::new(AtomicU64::new(0));
    let mut tap = Tap {
        ring,
        missed: Arc::clone(&missed),
    };
    for _ in 0..5 {
        tap.sent(Monotonic::from_ns(0), &[0; 60]);
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
        for kind in [Kind::Sent, Kind::Received, Kind::ReceivedAt] {
            let entry = Entry::of(kind, -5, tag, 60, 64);
            assert_eq!(Entry::from_bytes(entry.to_bytes()), entry);
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
