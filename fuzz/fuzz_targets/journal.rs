//! Journals of tune: a file that is refused is not changed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use tune::Journal;

fuzz_target!(|octets: &[u8]| {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("journal");
    fs::write(&file, octets).expect("a file");
    let opened = Journal::open(&file).is_ok();
    let after = fs::read(&file).expect("the file");
    match opened {
        true => assert!(octets.starts_with(&after)),
        false => assert_eq!(after, octets),
    }
});
