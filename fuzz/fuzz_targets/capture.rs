//! Captures.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(mut reader) = capture::Reader::new(octets) else {
        return;
    };
    let mut number = 0;
    while let Ok(Some(frame)) = reader.next_frame() {
        number += 1;
        assert_eq!(frame.number, number);
        assert!(frame.data.len() <= octets.len());
    }
    assert!(matches!(reader.next_frame(), Ok(None)));
});
