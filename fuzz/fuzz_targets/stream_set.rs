//! Stream-set files: no panic on any text, and no two streams that cannot be distinguished.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;

fuzz_target!(|text: &str| {
    let Ok(streams) = streamset::parse(text, "fuzz.toml") else {
        return;
    };
    let mut seen = HashSet::new();
    for stream in &streams {
        assert!(stream.profile().is_ok());
        assert!(seen.insert((
            stream.destination,
            stream.vlan.map(|tag| tag.vid()),
            stream.appid,
            &stream.sv_id
        )));
    }
});
