//! Records with octets changed, cut and repeated: read or refused, never a panic.

use proptest::prelude::{any, prop, proptest};
use proptest::sample::Index;
use std::path::Path;
use waveform::comtrade::{Record, parse, parse_cff};
use waveform::replay::{Options, table};
use waveform::sample::Sampling;

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).expect("a file")
}

fn check(record: &Record) {
    let times = record.times_s();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    assert!((0..record.config.analog.len()).all(|channel| record.analog(channel).len() == times.len()));
    if times[times.len() - 1] - times[0] < 1.0 {
        let _ = table(record, &Sampling::new(1_000), &Options::default());
    }
}

/// The octets with some of them replaced, cut at an end.
fn changed(mut octets: Vec<u8>, changes: &[(Index, u8)], end: Option<Index>) -> Vec<u8> {
    for (at, octet) in changes {
        let at = at.index(octets.len());
        octets[at] = *octet;
    }
    if let Some(end) = end {
        octets.truncate(end.index(octets.len()));
    }
    octets
}

proptest! {
    #[test]
    fn changed_files(
        file in 0..4usize,
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..8),
        text in prop::collection::vec((any::<Index>(), prop::sample::select(&b"0123456789,.-eNa\r\n"[..])), 0..8),
        end in any::<Option<Index>>(),
    ) {
        let cff = ["ascii.cff", "binary.cff", "binary32.cff", "float32.cff"][file];
        if let Ok(record) = parse_cff(&changed(data(cff), &changes, end), "cff") {
            check(&record);
        }
        let name = ["ascii_1999", "ascii_1991", "binary32_2013", "stamps"][file];
        let config = changed(data(&format!("{name}.cfg")), &text, None);
        let octets = changed(data(&format!("{name}.dat")), &changes, end);
        if let Ok(record) = parse((&config, "cfg"), (&octets, "dat")) {
            check(&record);
        }
    }
}
