//! Files of cyclictest.
#![no_main]

use interop::cyclictest::{Dialect, Measurement, read, write_json, write_text};
use interop::import::{Import, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Ok(mut measurement) = read(octets, None) else {
        return;
    };
    let beyond = |measurement: &Measurement| -> Vec<(u64, u64)> {
        let threads = measurement.threads.iter();
        threads.map(|thread| (thread.cycles, thread.overflows())).collect()
    };
    for (cycles, overflows) in beyond(&measurement) {
        assert!(overflows <= cycles);
    }
    // An accepted measurement can be written and keeps its meaning. The command line may state other buckets than the real ones.
    measurement.command_line = None;
    let mut json = Vec::new();
    write_json(&measurement, &mut json).expect("into memory");
    let back = read(&json, Some(measurement.bucket)).expect("our own JSON");
    assert_eq!(beyond(&back), beyond(&measurement));
    // It can be stored in a run, or there is a reason why not.
    let source = Source {
        file: String::new(),
        measurement: measurement.clone(),
    };
    if let Ok(import) = Import::of(&[source], Some(200_000), &Default::default()) {
        for window in &import.batch.windows {
            assert_eq!(window.histogram.count(), window.counters.received);
            assert_eq!(
                window.counters.expected,
                window.counters.received + window.counters.missed
            );
        }
    }
    // A row for every bucket would give much output for little input.
    let mut text = Vec::new();
    write_text(&measurement, Dialect::SparseRows, &mut text).expect("into memory");
});
