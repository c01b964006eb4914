//! Tests of the frames made from a capture, without a network.

use super::CapturedFrames;
use capture::write::PcapWriter;
use std::path::PathBuf;
use wire::ether::{EthernetView, Mac};
use wire::quality::SvQuality;
use wire::sv::{Frame, Message, OwnedAsdu};

fn frame(sv_id: &str, counts: &[u16]) -> Vec<u8> {
    let asdu = |smp_cnt: &u16| OwnedAsdu {
        smp_cnt: *smp_cnt,
        ..OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality::GOOD); 8])
    };
    let message = Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: counts.iter().map(asdu).collect(),
    };
    message.encode().expect("a frame")
}

fn capture(folder: &tempfile::TempDir, frames: &[(i64, Vec<u8>)]) -> PathBuf {
    let path = folder.path().join("frames.pcap");
    let mut writer = PcapWriter::new(std::fs::File::create(&path).expect("a file")).expect("a header");
    for (time_ns, octets) in frames {
        writer.write(*time_ns, octets).expect("a frame");
    }
    writer.finish().expect("a capture");
    path
}

fn counts(frames: &CapturedFrames, index: usize, round: u64) -> Vec<u16> {
    let mut octets = vec![0; frames.longest()];
    let length = frames.write(index, round, &mut octets);
    let ethernet = EthernetView::parse(&octets[..length]).expect("Ethernet");
    let sv = Frame::parse(&ethernet).expect("sampled values");
    sv.asdus().map(|asdu| asdu.smp_cnt()).collect()
}

const SECOND: i64 = 1_000_000_000;

#[test]
fn counters_go_on_from_round_to_round() {
    let folder = tempfile::tempdir().expect("a folder");
    let frames: Vec<_> = (0..2_500_i64)
        .map(|n| {
            let first = ((3_998 + 2 * n) % 4_800) as u16;
            (
                1_000 * SECOND + 250_000_000 + n * 416_666,
                frame("MU01", &[first, (first + 1) % 4_800]),
            )
        })
        .collect();
    let frames = CapturedFrames::load(&capture(&folder, &frames), None).expect("a capture");
    assert_eq!((frames.count(), frames.phase_ns()), (2_500, 250_000_000));
    assert_eq!(frames.period_ns(), 2_499 * 416_666 + 1_000_000_000 / 4_800);
    assert_eq!(counts(&frames, 0, 0), [3_998, 3_999]);
    let last = counts(&frames, 2_499, 0)[1];
    assert_eq!(counts(&frames, 0, 1), [(last + 1) % 4_800, (last + 2) % 4_800]);
    let last = counts(&frames, 2_499, 1)[1];
    assert_eq!(counts(&frames, 0, 2)[0], (last + 1) % 4_800);
}

#[test]
fn the_rate_of_a_short_capture_is_told_from_its_spacing_or_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let frames = |step_ns: i64| -> Vec<_> {
        (0..400_i64)
            .map(|n| (n * step_ns, frame("MU01", &[n as u16])))
            .collect()
    };
    let even = CapturedFrames::load(&capture(&folder, &frames(250_000)), None).expect("4000 a second");
    assert_eq!(counts(&even, 0, 10), [4_000 % 4_000]);
    let odd = capture(&folder, &frames(300_000));
    let error = CapturedFrames::load(&odd, None).expect_err("3333 a second").to_string();
    assert!(error.contains("stream MU01") && error.contains("--rate"), "{error}");
    let stated = CapturedFrames::load(&odd, Some(3_000)).expect("a stated rate");
    assert_eq!(counts(&stated, 0, 8), [200]);
}

#[test]
fn losses_and_other_frames_stay_as_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut frames: Vec<_> = (0..400_i64)
        .filter(|n| !(100..110).contains(n))
        .map(|n| (n * 250_000, frame("MU01", &[n as u16])))
        .collect();
    frames.push((125_000, vec![0xff; 60]));
    let frames = CapturedFrames::load(&capture(&folder, &frames), None).expect("a capture");
    assert_eq!(frames.count(), 391);
    let mut octets = vec![0; frames.longest()];
    assert_eq!(frames.write(1, 5, &mut octets), 60, "sorted by time");
    assert!(octets[..60].iter().all(|octet| *octet == 0xff));
    assert_eq!(counts(&frames, 101, 1), [510], "110 of the second round");
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = CapturedFrames::load(&capture(&folder, &[]), None)
        .expect_err("empty")
        .to_string();
    assert!(empty.contains("no frame"), "{empty}");
    let missing = folder.path().join("none.pcap");
    assert!(
        CapturedFrames::load(&missing, None)
            .expect_err("missing")
            .to_string()
            .contains("none.pcap")
    );
}
