//! Captures of the test vectors, listed and decoded.

mod avb;

use probes::options::defaults;
use std::path::{Path, PathBuf};

use crate::arguments::PageArgs;
use capture::write::PcapWriter;
use testing::vectors::vector;
use wire::ether::{EthernetView, Mac};
use wire::sv;

use super::analyse::list;
use super::{PcapArgs, PcapError, decode, run};

const START_NS: i64 = 1_790_000_000_000_000_000;

/// A capture file that is removed when the value is dropped.
struct TestCapture(PathBuf);

impl TestCapture {
    fn new(name: &str, octets: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("triptime-pcap-{}-{name}.pcap", std::process::id()));
        std::fs::write(&path, octets).unwrap();
        Self(path)
    }

    /// Frames 1 ms apart.
    fn of_frames<'a>(name: &str, frames: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut writer = PcapWriter::new(Vec::new()).unwrap();
        for (index, frame) in frames.into_iter().enumerate() {
            writer.write(START_NS + index as i64 * 1_000_000, frame).unwrap();
        }
        Self::new(name, &writer.finish().unwrap())
    }
}

fn args(file: &Path, decode: bool) -> PcapArgs {
    PcapArgs {
        observed: defaults(),
        file: file.to_owned(),
        decode,
        rate: None,
        port_rate: None,
        stamped_by: None,
        lan_b: None,
        lans: None,
        key: None,
        max_streams: 256,
        out: None,
        pages: PageArgs::default(),
        face: crate::face::FaceArgs::default(),
        limits: None,
        window: 20_000_000_000,
        file_budget: 32 << 20,
    }
}

impl Drop for TestCapture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn parsed(name: &str) -> sv::Message {
    let frame = vector(name);
    sv::Message::from(&sv::Frame::parse(&EthernetView::parse(&frame).unwrap()).unwrap())
}

#[test]
fn a_cut_capture_prints_what_came_before_and_says_where() {
    let frame = vector("sv_smpsynch_1");
    let whole = TestCapture::of_frames("whole", [&frame[..], &frame]);
    let mut octets = std::fs::read(&whole.0).unwrap();
    octets.truncate(octets.len() - 1);
    let cut = TestCapture::new("cut", &octets);
    for decode in [true, false] {
        let (mut out, mut messages) = (Vec::new(), Vec::new());
        let status = run(&args(&cut.0, decode), &mut out, &mut messages);
        assert_eq!(status, 2);
        let out = String::from_utf8(out).unwrap();
        if decode {
            assert_eq!(out.lines().count(), 1);
        } else {
            assert!(
                out.contains("cut.pcap: 1 frame in") && out.contains("ABCDMU0101"),
                "{out}"
            );
        }
        assert_eq!(
            String::from_utf8(messages).unwrap(),
            format!(
                "triptime pcap: {}: the capture is cut: it ends at octet 299, inside the block that begins at octet 162, \
                 before frame 2 is whole\n",
                cut.0.display()
            )
        );
    }
}

#[test]
fn files_that_are_not_captures_end_with_one_message() {
    let text = TestCapture::new("text", b"key,value\n");
    for (file, part) in [
        (text.0.as_path(), "not a capture"),
        (Path::new("/nonexistent.pcap"), "No such file"),
    ] {
        let (mut out, mut messages) = (Vec::new(), Vec::new());
        assert_eq!(run(&args(file, true), &mut out, &mut messages), 2);
        let messages = String::from_utf8(messages).unwrap();
        assert!(
            out.is_empty() && messages.lines().count() == 1 && messages.contains(part),
            "{messages}"
        );
        assert_eq!(messages.matches(&*file.to_string_lossy()).count(), 1, "{messages}");
    }
}

/// An output whose reader has closed it.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_output_ends_quietly() {
    let capture = TestCapture::of_frames("closed", [&vector("sv_smpsynch_1")[..]]);
    let mut messages = Vec::new();
    assert!(matches!(
        decode(&capture.0, &mut Closed, &mut messages),
        Err(PcapError::Output(_))
    ));
    assert_eq!(run(&args(&capture.0, true), &mut Closed, &mut messages), 0);
    assert!(messages.is_empty());
}

#[test]
fn the_listing_has_every_stream_and_what_is_wrong_with_it() {
    let mut message = parsed("sv_9_2le_4000_1asdu_vlan");
    let mut frames = Vec::new();
    for count in (3990..4000).chain([0, 1, 3]) {
        message.asdus[0].smp_cnt = count;
        frames.push(message.encode().unwrap());
    }
    message.dst = Mac([1, 0x0c, 0xcd, 4, 0, 9]);
    message.asdus[0].sv_id = b"other\x1b[2J".to_vec();
    frames.push(message.encode().unwrap());
    frames.push(vector("goose_initial"));
    frames.push(vector("bad_goose_utc_7"));
    let capture = TestCapture::of_frames("listing", frames.iter().map(Vec::as_slice));
    let mut out = Vec::new();
    assert_eq!(list(&args(&capture.0, false), &mut out).unwrap(), 0);
    let text = String::from_utf8(out).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split_whitespace().collect()).collect();
    let row = |name: &str| rows.iter().find(|row| row.get(1) == Some(&name)).unwrap();
    let sv = row("ABCDMU0101");
    assert_eq!(
        sv[..7],
        ["sv", "ABCDMU0101", "01:0c:cd:04:00:01", "0", "0x4000", "13", "4000/s"]
    );
    assert_eq!(sv[7..15], ["1.00", "ms"].repeat(4), "min p50 p99 max");
    assert_eq!(sv[15..], ["1", "0", "0", "0"], "lost duplicate late, stamps back");
    assert_eq!(row("other\\u{1b}[2J")[5..7], ["1", "-"]);
    let goose = row("IED1LD0/LLN0$GO$gcbTrip");
    assert_eq!(
        goose[..6],
        [
            "goose",
            "IED1LD0/LLN0$GO$gcbTrip",
            "01:0c:cd:01:00:01",
            "0",
            "0x0001",
            "1"
        ]
    );
    for part in [
        "listing.pcap: 16 frames in 15.0 ms from 2026-09-21T14:13:20.000000000Z; 3 streams",
        "1 frame breaking a rule of the protocol; the first is frame 16: ",
        "ABCDMU0101: 1.00 ms before frame 2, 1.00 ms before frame 3, 1.00 ms before frame 4",
        "ABCDMU0101: smpCnt had 1 gap",
        "first seen with stNum 1",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(!text.contains('\x1b'));
}
