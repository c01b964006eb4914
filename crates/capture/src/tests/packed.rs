//! Captures compressed with gzip.

use super::making::{Octets, pcap, pcapng};
use super::read;
use crate::CaptureError;
use std::io::Write;

pub(super) fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(octets).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn packed_captures_in_one_and_in_several_members() {
    for file in [pcapng(true), pcap(false, 0xa1b2_3c4d, 1)] {
        let (whole, none) = read(&file);
        assert!(none.is_none());
        let (begin, end) = file.split_at(30);
        for packed in [gzip(&file), [gzip(begin), gzip(end)].concat()] {
            let (frames, error) = read(&packed);
            assert!(error.is_none(), "{error:?}");
            assert_eq!(frames, whole);
        }
    }
}

#[test]
fn packed_captures_cut_or_damaged_give_their_whole_frames() {
    let mut file = Octets::new(false);
    file.section().interface(1, 0, &[]);
    for number in 0..2_000_u64 {
        // Bytes that do not compress well, so that the compressed file is long.
        let data: Vec<u8> = (0..100)
            .map(|at| ((number * 7919 + at * 104_729) % 251) as u8)
            .collect();
        file.enhanced(0, number, &data, 100);
    }
    let whole = read(&file.out).0;
    let packed = gzip(&file.out);
    let mut frames_at_half = 0;
    for cut in [packed.len() / 2, packed.len() - 9, packed.len() - 3] {
        let (frames, error) = read(&packed[..cut]);
        assert_eq!(frames, whole[..frames.len()], "cut at {cut}");
        match error {
            Some(CaptureError::Unpack { frame, .. }) => assert_eq!(frame, frames.len() as u64 + 1),
            other => panic!("cut at {cut}: {other:?}"),
        }
        frames_at_half = if frames_at_half == 0 {
            frames.len()
        } else {
            frames_at_half
        };
    }
    assert!((500..2_000).contains(&frames_at_half), "{frames_at_half}");
    let mut damaged = packed;
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    let (frames, error) = read(&damaged);
    assert_eq!(frames.len(), 2_000, "every frame is whole");
    assert!(
        matches!(error, Some(CaptureError::Unpack { frame: 2_001, .. })),
        "{error:?}"
    );
}
