//! Captures made from bytes, complete and cut at every byte.

mod making;
mod packed;

use making::{FIRST, Octets, SECOND, pcap, pcapng, pcapng_frames};
use packed::gzip;
use std::io::{self, Read};

use proptest::prelude::{any, prop};
use proptest::proptest;

use crate::write::PcapWriter;
use crate::{CaptureError, LinkType, Reader};

/// The parts of a frame that a test compares.
type Kept = (u64, Option<i64>, Vec<u8>, u32, LinkType);

/// Every frame, and the error at the end if there was one.
fn read(octets: &[u8]) -> (Vec<Kept>, Option<CaptureError>) {
    read_from(octets)
}

fn read_from(input: impl Read) -> (Vec<Kept>, Option<CaptureError>) {
    let mut frames = Vec::new();
    let mut reader = match Reader::new(input) {
        Ok(reader) => reader,
        Err(error) => return (frames, Some(error)),
    };
    loop {
        match reader.next_frame() {
            Ok(Some(f)) => frames.push((f.number, f.time_ns, f.data.to_vec(), f.original_len, f.link_type)),
            Ok(None) => return (frames, None),
            Err(error) => {
                assert!(
                    matches!(reader.next_frame(), Ok(None)),
                    "the reader ends after an error"
                );
                return (frames, Some(error));
            }
        }
    }
}

#[test]
fn pcap_in_every_form() {
    for big in [false, true] {
        for (magic, unit, ns) in [(0xa1b2_c3d4, 7, 35_000), (0xa1b2_3c4d, 7, 35)] {
            let (frames, error) = read(&pcap(big, magic, unit));
            assert!(error.is_none(), "{error:?}");
            let first = (
                1,
                Some(1_790_000_001_000_000_000 + ns),
                FIRST.to_vec(),
                11,
                LinkType::ETHERNET,
            );
            let second = (
                2,
                Some(1_790_000_002_000_000_000),
                SECOND.to_vec(),
                1514,
                LinkType::ETHERNET,
            );
            assert_eq!(frames, [first, second]);
        }
    }
}

#[test]
fn pcapng_in_every_form() {
    for big in [false, true] {
        let (frames, error) = read(&pcapng(big));
        assert!(error.is_none(), "{error:?}");
        assert_eq!(frames, pcapng_frames(), "big-endian first: {big}");
    }
}

#[test]
fn every_time_resolution() {
    let stamp = |resolution: u8, stamp: u64| {
        let mut file = Octets::new(false);
        file.section()
            .interface(1, 0, &[(9, &[resolution])])
            .enhanced(0, stamp, FIRST, 11);
        read(&file.out).0[0].1.unwrap()
    };
    assert_eq!(stamp(0, 3), 3_000_000_000);
    assert_eq!(stamp(6, 1_500_000), 1_500_000_000);
    assert_eq!(stamp(12, 1_999), 1);
    assert_eq!(stamp(127, u64::MAX), 0);
    assert_eq!(stamp(0x80 | 32, 1 << 31), 500_000_000);
    assert_eq!(stamp(0xff, u64::MAX), 0);
    assert_eq!(stamp(0, u64::MAX), i64::MAX);
}

/// Cuts a capture at every byte: the whole frames must come, then an error that names frame, block and end, unless the cut is between blocks.
fn cut_everywhere(octets: &[u8], whole: &[Kept]) {
    for len in 0..octets.len() {
        let (frames, error) = read(&octets[..len]);
        assert_eq!(frames, whole[..frames.len()], "cut at {len}");
        match error {
            None => {}
            Some(CaptureError::Truncated { frame, offset, end }) => {
                assert_eq!((frame, end), (frames.len() as u64 + 1, len as u64));
                assert!(offset < end);
                let (again, none) = read(&octets[..offset as usize]);
                assert_eq!(again, frames);
                assert!(
                    none.is_none() || offset == 0,
                    "what stands before the cut block is whole"
                );
            }
            Some(CaptureError::Empty) => assert_eq!(len, 0),
            Some(CaptureError::NotACapture { .. }) => assert!(len < 4),
            Some(other) => panic!("cut at {len}: {other}"),
        }
    }
    assert_eq!(read(octets).0, whole);
}

#[test]
fn captures_cut_at_every_octet() {
    let file = pcap(false, 0xa1b2_3c4d, 1);
    cut_everywhere(&file, &read(&file).0);
    let file = pcap(true, 0xa1b2_c3d4, 1);
    cut_everywhere(&file, &read(&file).0);
    for big in [false, true] {
        cut_everywhere(&pcapng(big), &pcapng_frames());
    }
}

/// An input that returns one byte at a time, with interruptions, and can fail at its end.
struct Trickle<'a> {
    octets: &'a [u8],
    interrupted: bool,
    fails: bool,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.octets.is_empty() && self.fails {
            return Err(io::Error::other("the disk is gone"));
        }
        let len = self.octets.len().min(1);
        buffer[..len].copy_from_slice(&self.octets[..len]);
        self.octets = &self.octets[len..];
        Ok(len)
    }
}

#[test]
fn blocks_longer_than_the_buffer() {
    let long: Vec<u8> = (0..700_000).map(|at| (at % 251) as u8).collect();
    let mut file = Octets::new(false);
    file.section().interface(1, 0, &[]).enhanced(0, 1, FIRST, 11);
    file.enhanced(0, 2, &long, 700_000).enhanced(0, 3, SECOND, 10);
    let (frames, error) = read(&file.out);
    assert!(error.is_none());
    let lengths: Vec<usize> = frames.iter().map(|frame| frame.2.len()).collect();
    assert_eq!(lengths, [11, 700_000, 10]);
    assert_eq!(frames[1].2, long);
}

#[test]
fn dropped_frames_are_told() {
    let dropped = |octets: &[u8]| {
        let mut reader = Reader::new(octets).unwrap();
        while reader.next_frame().unwrap().is_some() {}
        reader.dropped()
    };
    for big in [false, true] {
        let mut file = Octets::new(big);
        let statistics = |file: &mut Octets, counts: &[(u16, u64)]| {
            file.block(5, |b| {
                b.u32(0).u32(0).u32(0);
                for (code, count) in counts {
                    b.u16(*code).u16(8);
                    b.raw(&if big { count.to_be_bytes() } else { count.to_le_bytes() });
                }
                b.u32(0);
            });
        };
        file.section().interface(1, 0, &[]).enhanced(0, 1, FIRST, 11);
        assert_eq!(dropped(&file.out), None);
        statistics(&mut file, &[(4, 1000)]);
        assert_eq!(dropped(&file.out), None, "frames received are not frames dropped");
        statistics(&mut file, &[(4, 1000), (5, 3), (7, 4)]);
        file.section().interface(1, 0, &[]);
        statistics(&mut file, &[(5, 5)]);
        assert_eq!(dropped(&file.out), Some(12), "the sections add up");
    }
    assert_eq!(dropped(&pcap(false, 0xa1b2_3c4d, 1)), None);
}

#[test]
fn slow_and_failing_inputs() {
    let file = pcapng(true);
    let (frames, error) = read_from(Trickle {
        octets: &file,
        interrupted: false,
        fails: false,
    });
    assert!(error.is_none());
    assert_eq!(frames, pcapng_frames());
    let (frames, error) = read_from(Trickle {
        octets: &file[..file.len() - 3],
        interrupted: false,
        fails: true,
    });
    assert_eq!(frames.len(), 4);
    let error = error.unwrap().to_string();
    assert_eq!(
        error,
        format!("reading failed at octet {}: the disk is gone", file.len() - 3)
    );
}

#[test]
fn other_files_are_named() {
    let message = |octets: &[u8]| read(octets).1.unwrap().to_string();
    assert_eq!(message(b""), "the file is empty: not a capture");
    assert!(message(&[0x1f, 0x8b, 8, 0]).starts_with("the gzip file is cut or damaged: it unpacks to 0 bytes"));
    assert_eq!(message(&gzip(b"")), "the file is empty: not a capture");
    assert!(message(&gzip(&gzip(b"x"))).contains("gzip, twice"));
    assert!(message(&[0x28, 0xb5, 0x2f, 0xfd]).contains("zstd"));
    assert!(message(&[0x34, 0xcd, 0xb2, 0xa1, 0, 0, 0, 0]).contains("modified pcap"));
    assert_eq!(
        message(b"SQLite format 3\0more"),
        "not a capture: it begins with 53 51 4c 69 74 65 20 66 6f 72 6d 61 74 20 33 00 \"SQLite format 3.\", where a pcap or \
         pcapng file has its magic number"
    );
    let missing = Reader::open("/nonexistent/file.pcap".as_ref())
        .err()
        .unwrap()
        .to_string();
    assert!(missing.starts_with("/nonexistent/file.pcap: No such file"), "{missing}");
}

#[test]
fn damage_is_named_after_the_whole_frames() {
    let damage = |octets: &[u8]| match read(octets) {
        (frames, Some(CaptureError::Damaged { frame, offset, why })) => {
            assert_eq!(frame, frames.len() as u64 + 1);
            (frame, offset, why)
        }
        other => panic!("{other:?}"),
    };
    let mut file = pcap(false, 0xa1b2_3c4d, 1);
    let second = 24 + 16 + 11;
    file[second + 8..second + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        damage(&file),
        (2, second as u64, "a frame of 4294967295 octets".to_owned())
    );

    let mut file = Octets::new(false);
    file.section().interface(1, 0, &[]);
    let at = file.out.len() as u64;
    let with = |fill: &dyn Fn(&mut Octets)| {
        let mut damaged = Octets {
            big: false,
            out: file.out.clone(),
        };
        fill(&mut damaged);
        damage(&damaged.out)
    };
    let why = "a frame names interface 1, but the section describes only 1".to_owned();
    assert_eq!(with(&|f| _ = f.enhanced(1, 0, FIRST, 11)), (1, at, why));
    assert_eq!(
        with(&|f| _ = f.u32(6).u32(10).u32(0)),
        (1, at, "a block of 10 octets".to_owned())
    );
    assert_eq!(
        with(&|f| _ = f.u32(6).u32(12).u32(16)),
        (1, at, "a block whose two lengths differ".to_owned())
    );
    let empty = |kind| with(&move |f: &mut Octets| _ = f.block(kind, |_| {}));
    assert_eq!(empty(6), (1, at, "a block of type 6 that cannot be read".to_owned()));
    assert_eq!(empty(3), (1, at, "a block of type 3 that cannot be read".to_owned()));
    assert_eq!(empty(1), (1, at, "a block of type 1 that cannot be read".to_owned()));
    assert_eq!(empty(2), (1, at, "a block of type 2 that cannot be read".to_owned()));
    for kind in [2, 6] {
        let long = with(&|f| _ = f.block(kind, |b| _ = b.raw(&[0; 12]).u32(9).u32(9).raw(&[0; 8])));
        assert_eq!(long, (1, at, "a frame longer than its block".to_owned()));
    }
}

#[test]
fn what_the_writer_writes_is_read() {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    writer.write(1_790_000_001_000_000_007, FIRST).unwrap();
    writer.write(0, b"").unwrap();
    assert!(writer.write(-1, FIRST).is_err());
    assert!(writer.write(0, &vec![0; 262_145]).is_err());
    let (frames, error) = read(&writer.finish().unwrap());
    assert!(error.is_none());
    let first = (
        1,
        Some(1_790_000_001_000_000_007),
        FIRST.to_vec(),
        11,
        LinkType::ETHERNET,
    );
    assert_eq!(frames, [first, (2, Some(0), Vec::new(), 0, LinkType::ETHERNET)]);
}

proptest! {
    #[test]
    fn arbitrary_octets_never_panic(which in 0..4usize, tail in prop::collection::vec(any::<u8>(), 0..300)) {
        let head: &[u8] = [&[0xd4, 0xc3, 0xb2, 0xa1][..], &[0x0a, 0x0d, 0x0d, 0x0a], &[0xa1, 0xb2, 0x3c, 0x4d], &[]][which];
        read(&[head, &tail].concat());
    }

    #[test]
    fn damaged_captures_never_panic(big: bool, ng: bool, at: prop::sample::Index, octet: u8) {
        let mut file = if ng { pcapng(big) } else { pcap(big, 0xa1b2_c3d4, 1) };
        let at = at.index(file.len());
        file[at] = octet;
        read(&file);
    }
}
