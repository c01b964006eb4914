//! Faults that open61850 injects: another program's frames, whose first faulted sample that program names.

use crate::injector::{MS, RELAY, START_NS, publisher};
use crate::{events, observed, write_capture};
use support::{json, series};

/// Seconds of the stream, and where in a second its faults begin: every other second, for half a second.
const SECONDS: i64 = 5;
const FIRST_FAULTED: u64 = 1_237;

/// Frames of open61850, one a line: second, first sample, octets. `ROWS` is rate, ASDUs, layout.
const SCRIPT: &str = r#"
import sys
from open61850 import sv_publisher as p
rate, asdus, layout, begin, seconds, first = sys.stdin.read().split()
rate, asdus, begin, seconds, first = int(rate), int(asdus), int(begin), int(seconds), int(first)
waves = dict(v_peak=8e4, freq_hz=50.0, i_lag_deg=20.0, layout=layout)
fault = p.Fault(p.three_phase(i_peak=500.0, ia_peak=6000.0, ia_lag_deg=75.0, va_peak=3e4, **waves), cycle_s=2, offset_s=1,
                start_smp=first, duration_s=0.5)
stream = p.SvStream(sv_id="OPEN01", app_id=0x4001, dst_mac="01:0c:cd:04:00:01", src_mac="02:00:00:00:00:01",
                    waves=p.three_phase(i_peak=500.0, **waves), smp_synch=2, fault=fault)
template = p.build_template(stream, asdus, rate)
for second in range(begin, begin + seconds):
    for smp in range(0, rate, asdus):
        print(second, smp, p.render_frame(template, stream, second, smp, rate).hex())
"#;

/// Frames of open61850 with their stamps: "a frame goes out at the time of its first sample", as that program says.
fn frames(test: &str, rate: i64, asdus: i64, layout: &str) -> Option<Vec<(i64, Vec<u8>)>> {
    let begin = START_NS / 1_000_000_000;
    let order = format!("{rate} {asdus} {layout} {begin} {SECONDS} {FIRST_FAULTED}");
    let text = testing::read_by_python(test, SCRIPT, &order)?;
    let frame = |line: &str| {
        let mut words = line.split(' ');
        let mut number = || words.next().expect("a number").parse::<i64>().expect("a number");
        let (second, sample) = (number(), number());
        let octets = testing::vectors::unhex(words.next().expect("octets"));
        (second * 1_000_000_000 + sample * 1_000_000_000 / rate, octets)
    };
    Some(text.lines().map(frame).collect())
}

#[test]
fn faults_of_open61850_are_timed_within_one_sample_of_the_truth() {
    let test = "faults_of_open61850_are_timed_within_one_sample_of_the_truth";
    let directory = tempfile::tempdir().expect("a directory");
    let (capture, out) = (
        directory.path().join("open.pcap"),
        directory.path().join("out.triptime"),
    );
    for (rate, asdus, layout) in [(4_800, 1, "4I4U"), (4_800, 2, "6I3U"), (4_000, 1, "4I4U")] {
        let Some(frames) = frames(test, rate, asdus, layout) else {
            return;
        };
        // Its faults begin in the odd seconds since 1970: the truth.
        let begin = START_NS / 1_000_000_000;
        let faulted = (begin..begin + SECONDS).filter(|second| second % 2 == 1);
        let instants = faulted.map(|second| second * 1_000_000_000 + FIRST_FAULTED as i64 * 1_000_000_000 / rate);
        let instants: Vec<i64> = instants.collect();
        let changes = instants
            .iter()
            .flat_map(|at| [(at + 21 * MS, true), (at + 400 * MS, false)]);
        let changes: Vec<(i64, bool)> = changes.collect();
        let relay = publisher(RELAY, &changes, START_NS + SECONDS * 1_000_000_000);
        write_capture(&capture, &[&frames, &relay]);
        for rule in ["above:2500A", "change:50%"] {
            let output = observed(
                &capture,
                &out,
                &format!("--observe {rule} --sv-id OPEN01 --within 30ms"),
            );
            let document = json(&output);
            assert_eq!(output.status.code(), Some(0), "{rule}: {document}");
            let trips = series(&document, "trip/observed");
            assert_eq!(trips["received"], instants.len(), "{rule}: {document}");
            let one_sample = 1_000_000_000 / rate;
            for figure in ["min", "max"] {
                let off = trips[figure].as_i64().expect("a time") - 21 * MS;
                assert!(off.abs() <= one_sample, "{rule} of {rate}, {asdus} ASDUs: {off} ns off");
            }
            let named = events(&document, &format!("fault from smpCnt {FIRST_FAULTED} on"));
            assert_eq!(
                named.len(),
                instants.len(),
                "{rule} of {rate}, {asdus} ASDUs: {document}"
            );
        }
    }
}
