//! Segments of recordings with any contents. The checksum is corrected first, because otherwise no later code would be reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recording::{SegmentReader, Survey};

fuzz_target!(|octets: &[u8]| {
    let mut octets = octets.to_vec();
    if let Some(body) = octets.len().checked_sub(4).filter(|body| *body >= 12) {
        let whole = octets.len() as u32;
        octets[..8].copy_from_slice(b"TTSG\x01\x00\x00\x00");
        octets[8..12].copy_from_slice(&whole.to_le_bytes());
        let check = crc32fast::hash(&octets[..body]).to_le_bytes();
        octets[body..].copy_from_slice(&check);
    }
    let mut reader = SegmentReader::new();
    if let Ok(segment) = reader.read(&octets) {
        Survey::new((0, 1)).take(segment);
    }
});
