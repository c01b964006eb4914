//! Records with bytes changed, cut and repeated: they are read or refused, without a panic.

use proptest::prelude::{any, prop, proptest};
use proptest::sample::Index;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use waveform::comtrade::{ComtradeRecord, parse, parse_cff};
use waveform::replay::{Options, describe, table};
use waveform::sample::{Dataset, Sampling};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).expect("a file")
}

fn check(record: &ComtradeRecord) {
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

/// A record of three samples, all zero, with channels of these phase fields, names and units.
fn record(channels: &[(String, String, &str)]) -> ComtradeRecord {
    let count = channels.len();
    let mut config = format!("s,d,1999\n{count},{count}A,0D\n");
    for ((field, name, unit), number) in channels.iter().zip(1..) {
        // The place behind the name tells channels of one name apart.
        let _ = writeln!(config, "{number},{name}.{number},{field},,{unit},1,0,0,-9,9,1,1,P");
    }
    config.push_str("50\n1\n1000,3\n1/1/24,0:0:0\n1/1/24,0:0:0\nASCII\n1\n");
    let data: String = (1..=3)
        .map(|number| format!("{number},0{}\n", ",0".repeat(count)))
        .collect();
    parse((config.as_bytes(), "cfg"), (data.as_bytes(), "dat")).expect("a record")
}

proptest! {
    #[test]
    fn no_channel_is_two_members(
        channels in prop::collection::vec(
            ("|[ABCN]|[0-9]|L[123]|[A-Z]{1,3}", "3?[IUV]?[_ ]?(L[123]|[A-EN]|[0-3]{1,2}|[A-Z]{0,3})[12]?", prop::sample::select(vec!["A", "kV", "", "Hz"])),
            1..12,
        ),
    ) {
        if let Ok(said) = describe(&record(&channels), &Dataset::default(), &Options::default()) {
            let fed: Vec<&str> = said.iter().filter_map(|line| line.split_once(" from ")?.1.split_once(" [")).map(|(name, _)| name).collect();
            let distinct: HashSet<&str> = fed.iter().copied().collect();
            assert!(!fed.is_empty() && distinct.len() == fed.len(), "{said:?}");
        }
    }

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
