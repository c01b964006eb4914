//! Benchmarks: their lines of figures can be compared over time, and a ratio to a peer of the same run stays within its bound.

use capture::write::PcapWriter;
use serde_json::{Value, json};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testing::skip;
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

/// Number of frames in the capture: enough for tshark to need a second.
const FRAMES: u64 = 60_000;
const STREAMS: u64 = 4;
const SPACING_NS: u64 = 1_000_000_000 / 4_800;

fn bench(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench").join(file)
}

fn over_time(file: &Path) -> Output {
    Command::new("python3")
        .arg(bench("over_time.py"))
        .arg(file)
        .output()
        .expect("python3")
}

fn capture_of_streams(file: &Path) {
    let mut templates: Vec<Template> = (0..STREAMS).map(template).collect();
    let mut writer = PcapWriter::new(BufWriter::new(File::create(file).expect("a file"))).expect("a capture");
    for frame in 0..FRAMES {
        let (sample, stream) = (frame / STREAMS, frame % STREAMS);
        let template = &mut templates[stream as usize];
        let mut asdu = template.asdu_mut(0).expect("an ASDU");
        asdu.set_smp_cnt((sample % 4_800) as u16);
        let at_ns = 1_790_000_000_000_000_000 + (sample * SPACING_NS + stream * 1_000) as i64;
        writer.write(at_ns, template.bytes()).expect("written");
    }
    writer.finish().expect("written");
}

fn template(stream: u64) -> Template {
    Template::new(&Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, stream as u8]),
        src: Mac([2, 0, 0, 0, 0, stream as u8]),
        tags: vec![VlanTag::new(4, false, 1)],
        appid: 0x4000 + stream as u16,
        simulate: false,
        asdus: vec![OwnedAsdu::new(
            &format!("MU{:02}", stream + 1),
            1,
            2,
            &[(0, SvQuality(0)); 8],
        )],
    })
    .expect("a frame")
}

#[test]
fn reading_a_capture_takes_a_fraction_of_what_tshark_takes() {
    if Command::new("tshark").arg("--version").output().is_err() {
        return skip(
            "reading_a_capture_takes_a_fraction_of_what_tshark_takes",
            "tshark is missing",
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (capture, figures) = (folder.path().join("sv.pcap"), folder.path().join("figures.jsonl"));
    capture_of_streams(&capture);
    let mut peer = Command::new("python3");
    peer.arg(bench("peers/pcap.py")).env("TRIPTIME_BIN", support::binary());
    let output = peer
        .arg("--capture")
        .arg(&capture)
        .arg("--figures")
        .arg(&figures)
        .output()
        .expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&figures).expect("figures");
    let line: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        [&line["bench"], &line["figure"], &line["peer"]],
        ["pcap", "cpu", "tshark"]
    );
    let told = over_time(&figures);
    let said = String::from_utf8_lossy(&told.stdout);
    assert_eq!(told.status.code(), Some(0), "{said}");
    assert!(said.contains("within"), "{said}");
}

#[test]
fn a_ratio_over_its_bound_and_a_line_that_is_none_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("figures.jsonl");
    let line = |at: &str, ratio: f64| {
        let line =
            json!({"bench": "wakeup", "figure": "p50", "at": at, "ratio": ratio, "commit": "c", "peer": "cyclictest"});
        format!("{line}\n")
    };
    // The newest line counts, in any order of the lines.
    let (old, new) = (
        line("2026-11-01T00:00:00+00:00", 9.0),
        line("2026-11-02T00:00:00+00:00", 1.0),
    );
    for (text, status, said) in [
        (format!("{new}{old}"), 0, "before: 9.000"),
        (
            format!("{old}{}", line("2026-11-03T00:00:00+00:00", 9.5)),
            1,
            "over its bound",
        ),
        (format!("{old}made up\n"), 2, "no figure of a bench"),
        (String::new(), 2, "no figures"),
    ] {
        std::fs::write(&file, text).expect("written");
        let told = over_time(&file);
        let all = [told.stdout, told.stderr].concat();
        let all = String::from_utf8_lossy(&all);
        assert_eq!(told.status.code(), Some(status), "{all}");
        assert!(all.contains(said), "{said}: {all}");
    }
}
