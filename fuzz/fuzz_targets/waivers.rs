//! Waiver files: an accepted waiver has a reason and a name, and is valid on the day on which it is read.
#![no_main]

use audit::waiver;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let today = jiff::civil::date(2026, 11, 23);
    for waiver in waiver::read(text, today).unwrap_or_default() {
        assert!(!waiver.reason.trim().is_empty() && !waiver.by.trim().is_empty());
        assert!(waiver.until >= today);
    }
});
