//! The trace as Perfetto's own message definitions read it (PyPI's `perfetto`, module `perfetto_trace_pb2`).
//!
//! `trace_processor` itself is not in that package: it fetches the program from a server that is no package registry.

use model::{Cause, Explanation, Extent, Part};
use std::io::Write;
use std::process::Command;
use trace::perfetto::{Spike, write};
use trace::{Event, Left, Name, Thread, What};
use units::Monotonic;

/// Prints a trace, one line each: tracks, and events with track, kind, instant, name and notes. Unknown fields are an error.
const DECODE: &str = r#"
import sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

def known(message):
    assert len(UnknownFieldSet(message)) == 0, message
    for field, value in message.ListFields():
        if field.message_type:
            for inner in (value if field.is_repeated else [value]):
                known(inner)

trace = pb.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
known(trace)
clock = trace.packet[0].clock_snapshot
print("clock", pb.BuiltinClock.Name(clock.primary_trace_clock))
names = {}
for packet in trace.packet[1:]:
    assert packet.trusted_packet_sequence_id == 1
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        names[track.uuid] = track.name
        print("track", names.get(track.parent_uuid, "-"), "|", track.name, "|", track.sibling_order_rank)
    else:
        event = packet.track_event
        notes = [f"{note.name}={getattr(note, note.WhichOneof('value'))}" for note in event.debug_annotations]
        kind = pb.TrackEvent.Type.Name(event.type)
        print(names[event.track_uuid], "|", kind, packet.timestamp, packet.timestamp_clock_id, event.name, "|", "; ".join(notes))
"#;

fn switch(previous: u16, pid: i32, name: &str) -> What {
    What::Switch {
        next: Thread {
            pid,
            priority: -1,
            name: Name::from(name),
        },
        left: Left::CouldRun,
        left_with: None,
        previous,
    }
}

fn spike() -> Spike {
    let event = |at: i64, what: What| Event {
        at: Monotonic::from_ns(at),
        cpu: 1,
        what,
    };
    Spike {
        series: "wakeup/cpu1".to_owned(),
        cpu: 1,
        from: Monotonic::from_ns(5_000_000_000),
        to: Monotonic::from_ns(5_000_003_000),
        explanation: Some(Explanation {
            cause: Cause::Thread,
            text: "thread é had the CPU".to_owned(),
            extent: Extent::AllCpus,
            stages: Vec::new(),
            occupants: vec![Part {
                what: "thread é".to_owned(),
                ns: 2_990,
            }],
            unexplained_ns: 10,
            around: Vec::new(),
        }),
        events: vec![
            event(4_999_999_000, switch(0, 7, "é")),
            event(4_999_999_500, What::SoftirqEntry(1)),
            event(5_000_000_500, What::SoftirqExit(1)),
            event(5_000_002_990, switch(7, 99, "wakeup/1")),
        ],
    }
}

#[test]
fn perfettos_own_definitions_read_it() {
    let Some(python) = testing::python("perfetto") else {
        return;
    };
    let has_package = Command::new(&python)
        .args(["-c", "import perfetto, google.protobuf"])
        .output();
    if !has_package.is_ok_and(|output| output.status.success()) {
        return testing::skip(
            "perfetto",
            "the Python packages perfetto and protobuf are not installed",
        );
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    write(&[spike()], &mut file).expect("written");
    file.flush().expect("written");
    let output = Command::new(python)
        .args(["-c", DECODE])
        .arg(file.path())
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
    assert_eq!(
        lines,
        [
            "clock BUILTIN_CLOCK_MONOTONIC",
            "track - | CPU 1 | 1",
            "track CPU 1 | latency wakeup/cpu1 | 0",
            "track CPU 1 | running | 1",
            "track CPU 1 | interrupts | 2",
            "track CPU 1 | softirqs | 3",
            "running | TYPE_SLICE_BEGIN 4999999000 3 é | pid=7; kernel priority=-1",
            "softirqs | TYPE_SLICE_BEGIN 4999999500 3 TIMER |",
            "latency wakeup/cpu1 | TYPE_SLICE_BEGIN 5000000000 3 late by 3.00 µs | latency (ns)=3000; cause=thread; \
             text=thread é had the CPU; extent=all watched CPUs; occupant: thread é (ns)=2990; unexplained (ns)=10",
            "softirqs | TYPE_SLICE_END 5000000500 3  |",
            "running | TYPE_SLICE_END 5000002990 3  |",
            "running | TYPE_SLICE_BEGIN 5000002990 3 wakeup/1 | pid=99; kernel priority=-1",
            "latency wakeup/cpu1 | TYPE_SLICE_END 5000003000 3  |",
            "running | TYPE_SLICE_END 5000003000 3  |",
        ]
    );
}
