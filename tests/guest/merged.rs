//! The recordings of a host and of its guest as one run.

use crate::delivery::Runs;
use crate::runs::{counts, was_held_up};
use std::path::Path;
use support::{json, run, series, stderr};

/// Uncertainty of the guest's clock here: it is found from the arrival of the first frame, whose way also took some time.
const UNCERTAINTY: &str = "200ms";

/// Every frame that QEMU read and that came to the guest has the stamps of both sides, and frames that did not come are lost in the crossing.
pub(crate) fn assert_merged(runs: &Runs, streams: u32) {
    let (host, guest) = (runs.host(), runs.guest());
    let (handed, came) = (frames(&host), frames(&guest));
    let first = came.first().expect("a frame came to the guest");
    let same = |frame: &&Frame| (&frame.stream, &frame.smp_cnt) == (&first.stream, &first.smp_cnt);
    let before = handed.iter().find(same).expect("it came to the host, too");
    let offset_ns = first.first_ns.expect("the guest's network card") - before.last_ns.expect("taken by QEMU");

    let out = host.with_file_name("merged.triptime");
    let (host, guest) = (text(&host), text(&guest));
    let clock = format!("--clock=offset:{offset_ns}ns:{UNCERTAINTY}");
    let merged = run(&[
        "merge",
        host,
        guest,
        "--label",
        "host",
        "--label",
        "guest",
        &clock,
        "--json",
        "--out",
        text(&out),
    ]);
    assert_eq!(merged.status.code(), Some(0), "{}", stderr(&merged));
    let document = json(&merged);
    let (mut crossed, mut lost, mut lost_inside, mut due, mut unpaired) = (0, 0, 0, 0, 0);
    for number in 1..=streams {
        let name = format!("hop/host.taken-to-guest.nic/MU{number:02}");
        let (received, missing) = counts(&document, &name);
        crossed += received;
        lost += missing;
        due += series(&document, &name)["expected"].as_u64().expect("a count");
        unpaired += series(&document, &name)["unaccounted"].as_u64().expect("a count");
        lost_inside += counts(&document, &format!("hop/guest.nic-to-guest.app/MU{number:02}")).1;
        let uncertainty = series(&document, &name)["clock"]["uncertainty"].as_u64();
        assert!(uncertainty >= Some(200_000_000), "{uncertainty:?}");
    }
    if unpaired > 0 {
        // Counts wrap each second: frames that came more than half a second late cannot be identified. This is reported.
        assert!(was_held_up(&document), "{unpaired} of {due} frames are not paired");
        assert_eq!(crossed + lost + unpaired, due, "each frame is accounted for");
        let events = document["events"].as_array().expect("events");
        assert!(events.iter().any(|event| event["kind"] == "incomplete"), "{events:?}");
        return;
    }
    let taken = handed.iter().filter(|frame| frame.last_ns.is_some()).count() as u64;
    assert_eq!(
        crossed,
        came.len() as u64,
        "each frame in the guest is one that the host handed over"
    );
    // The guest traced from before the first frame until well after the last one.
    assert_eq!(due, taken, "each frame that was handed over was due");
    // The guest has no record of a frame that it lost between its own points.
    assert_eq!(
        lost + lost_inside,
        taken - crossed,
        "{lost} lost on the way, {lost_inside} in the guest; {crossed} of {taken} came"
    );
}

struct Frame {
    stream: String,
    smp_cnt: String,
    /// Instants at the first and the last point.
    first_ns: Option<i64>,
    last_ns: Option<i64>,
}

/// Frames that a run recorded.
fn frames(file: &Path) -> Vec<Frame> {
    let output = run(&["export", text(file), "--format", "frames"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let frame = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        Frame {
            stream: fields[0].to_owned(),
            smp_cnt: fields[1].to_owned(),
            first_ns: fields[4].parse().ok(),
            last_ns: fields[fields.len() - 1].parse().ok(),
        }
    };
    lines.lines().skip(1).map(frame).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
