//! The reader against tshark, on captures that editcap converted.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use capture::Reader;
use capture::write::PcapWriter;

/// Number, stamp, octets on the wire, octets kept of each frame.
type Row = (u64, i64, u64, u64);

fn ours(path: &Path) -> Vec<Row> {
    let mut reader = Reader::open(path).unwrap();
    let mut rows = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        rows.push((
            frame.number,
            frame.time_ns.unwrap(),
            u64::from(frame.original_len),
            frame.data.len() as u64,
        ));
    }
    rows
}

fn tshark(path: &Path) -> Vec<Row> {
    let fields = ["frame.number", "frame.time_epoch", "frame.len", "frame.cap_len"];
    let output = Command::new("tshark")
        .args(["-T", "fields"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .arg("-r")
        .arg(path)
        .output()
        .expect("tshark is the oracle of this test: apt-get install tshark");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let (seconds, fraction) = cells[1].split_once('.').unwrap();
        assert_eq!(fraction.len(), 9);
        let time_ns = seconds.parse::<i64>().unwrap() * 1_000_000_000 + fraction.parse::<i64>().unwrap();
        (
            cells[0].parse().unwrap(),
            time_ns,
            cells[2].parse().unwrap(),
            cells[3].parse().unwrap(),
        )
    };
    String::from_utf8(output.stdout).unwrap().lines().map(row).collect()
}

#[test]
fn numbers_stamps_and_lengths_are_those_of_tshark() {
    let directory = tempfile::tempdir().unwrap();
    let written = directory.path().join("written");
    let mut writer = PcapWriter::new(File::create(&written).unwrap()).unwrap();
    for index in 0..50u8 {
        let frame = vec![index; 60 + usize::from(index)];
        writer
            .write(1_790_000_000_999_999_990 + i64::from(index) * 7, &frame)
            .unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(ours(&written), tshark(&written));
    assert_eq!(ours(&written).len(), 50);
    for options in [
        &["-F", "pcapng"][..],
        &["-F", "nsecpcap"],
        &["-F", "pcap"],
        &["-F", "pcapng", "-s", "64"],
    ] {
        let converted = directory.path().join("converted");
        let status = Command::new("editcap")
            .args(options)
            .args([&written, &converted])
            .status();
        assert!(
            status
                .expect("editcap comes with tshark: apt-get install tshark")
                .success()
        );
        let rows = ours(&converted);
        assert_eq!(rows, tshark(&converted), "{options:?}");
        assert_eq!(rows.len(), 50, "{options:?}");
    }
}
