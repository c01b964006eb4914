//! Flights: the kernel's events around a late sample, as the run file has them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::flight::{Packer, decode};

fuzz_target!(|octets: &[u8]| {
    if let Ok(events) = decode(octets) {
        // Accepted bytes can be written again and are the same.
        assert_eq!(
            decode(&Packer::default().pack(&events)).expect("our own flight"),
            events
        );
    }
});
