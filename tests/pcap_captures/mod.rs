//! Captures for the tests of `triptime pcap`, and helpers to run it.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::{Command, Output};

use capture::write::PcapWriter;
use support::run;
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

/// Stamp of the first sample, ns since 1970.
pub(crate) const START_NS: i64 = 1_790_000_000_000_000_000;
/// 4000 samples a second.
pub(crate) const SPACING_NS: i64 = 250_000;

/// A frame of one stream.
pub(crate) fn template(stream: u8) -> Template {
    Template::new(&Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, stream]),
        src: Mac([2, 0, 0, 0, 0, stream]),
        tags: vec![VlanTag::new(4, false, 1)],
        appid: 0x4000 + u16::from(stream),
        simulate: false,
        asdus: vec![OwnedAsdu::new(&format!("MU{stream:02}"), 1, 2, &[(0, SvQuality(0)); 8])],
    })
    .expect("encodes")
}

/// A capture of `streams` streams of 4000 samples/s. `edit` gets stream and sample, and returns how often it is written and by how much its stamp is
/// moved.
pub(crate) fn capture_of(path: &Path, streams: u8, samples: i64, edit: impl Fn(u8, i64) -> (usize, i64)) {
    let mut writer = PcapWriter::new(BufWriter::new(File::create(path).unwrap())).unwrap();
    let mut templates: Vec<Template> = (0..streams).map(template).collect();
    for sample in 0..samples {
        for (stream, template) in (0..).zip(&mut templates) {
            template.asdu_mut(0).unwrap().set_smp_cnt((sample % 4_000) as u16);
            let (times, moved_ns) = edit(stream, sample);
            for time in 0..times as i64 {
                // An odd number of ns, so that every unit of stamps rounds.
                let jitter_ns = (sample * 7_919 + i64::from(stream) * 104_729) % 5_003 + time;
                let time_ns = START_NS + sample * SPACING_NS + i64::from(stream) * 10_000 + jitter_ns + moved_ns;
                writer.write(time_ns, template.bytes()).unwrap();
            }
        }
    }
    writer.finish().unwrap();
}

/// Runs `triptime pcap`.
pub(crate) fn pcap(arguments: &[&str]) -> Output {
    run(&[&["pcap"], arguments].concat())
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// True if a program exists; else the test is skipped.
pub(crate) fn have(test: &str, program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        testing::skip(test, &format!("no {program}: run scripts/need.sh test"));
    }
    found
}
