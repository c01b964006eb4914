//! SCL files: no panic on any bytes, and a document that is read keeps its own rules.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scl::parse_bytes;
use streamset::{SclChoice, from_scl};

fuzz_target!(|octets: &[u8]| {
    let Ok(document) = parse_bytes(octets) else {
        return;
    };
    for block in &document.sampled_values {
        assert!(document.ieds.contains(&block.place.ied));
        if let (Ok(layout), Some(octets)) = (block.data_set.layout(), block.data_set.sv_octets()) {
            assert_eq!(layout.0.len() * wire::sv::MEMBER, octets);
        }
    }
    let all = SclChoice {
        ieds: &[],
        frequency_hz: None,
        goose_alone: false,
    };
    if let Ok(selection) = from_scl(&document, "fuzz.scd", all) {
        assert!(!selection.streams.is_empty());
        for stream in &selection.streams {
            let _ = stream.profile();
        }
    }
});
