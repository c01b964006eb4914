//! COMTRADE records: a single file, or a configuration, an octet 0 and the data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use waveform::comtrade::{Record, parse, parse_cff};
use waveform::replay::{Ending, Options, table};
use waveform::sample::Sampling;

/// Longest record that is replayed, in seconds: time stamps can stretch two samples over an hour.
const LONGEST_S: f64 = 1.0;

fuzz_target!(|octets: &[u8]| {
    if let Ok(record) = parse_cff(octets, "cff") {
        check(&record, octets.len());
    }
    if let Some(at) = octets.iter().position(|octet| *octet == 0) {
        if let Ok(record) = parse((&octets[..at], "cfg"), (&octets[at + 1..], "dat")) {
            check(&record, octets.len());
        }
    }
});

fn check(record: &Record, octets: usize) {
    let times = record.times_s();
    assert!(!times.is_empty() && times.len() <= octets);
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    for channel in 0..record.config.analog.len() {
        assert_eq!(record.analog(channel).len(), times.len());
    }
    let covered: usize = record.uniform().iter().map(|(range, _)| range.len()).sum();
    assert!(covered == 0 || covered == times.len());
    if times[times.len() - 1] - times[0] > LONGEST_S {
        return;
    }
    for ending in [Ending::Cycles, Ending::Mute(1_000_000), Ending::Once] {
        let options = Options { ending, ..Options::default() };
        if let Ok(replay) = table(record, &Sampling::new(1_000), &options) {
            assert_eq!(replay.table.seq_data(u64::MAX).len(), replay.table.stride());
        }
    }
}
