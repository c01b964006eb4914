//! The trace as JSON, read back.

use super::{Spike, write};
use crate::event::{Event, Left, Name, Thread, Vector, What};
use crate::flight::tests::any_event;
use model::{Cause, Explanation, Extent, Part};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use units::Monotonic;

/// A trace as a list of tracks, by process and thread, and a list of events.
struct Trace {
    tracks: BTreeMap<(u64, u64), Named>,
    events: Vec<Shown>,
}

/// A track: its name below its CPU's, and its position among CPUs and among the tracks of its CPU.
#[derive(Debug, Default)]
struct Named {
    name: String,
    rank: (u64, u64),
}

#[derive(Debug)]
struct Shown {
    at: u64,
    track: String,
    phase: String,
    name: String,
    arguments: Value,
}

fn number(of: &Value) -> u64 {
    of.as_u64().unwrap_or_else(|| panic!("{of} is no number"))
}

fn trace_of(spikes: &[Spike]) -> Trace {
    let mut octets = Vec::new();
    write(spikes, &mut octets).expect("memory");
    let document: Value = serde_json::from_slice(&octets).expect("JSON");
    assert_eq!(document["otherData"]["clock"], "CLOCK_MONOTONIC");
    let all = document["traceEvents"].as_array().expect("events");
    let (named, events): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|one| one["ph"] == "M");
    let tracks = tracks(&named);
    let events = events.into_iter().map(|event| shown(&tracks, event)).collect();
    Trace { tracks, events }
}

fn tracks(named: &[&Value]) -> BTreeMap<(u64, u64), Named> {
    let mut processes: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    let mut tracks: BTreeMap<(u64, u64), Named> = BTreeMap::new();
    for one in named {
        let (process, thread) = (number(&one["pid"]), number(&one["tid"]));
        let arguments = &one["args"];
        let name = || arguments["name"].as_str().expect("a name").to_owned();
        match one["name"].as_str().expect("what it names") {
            "process_name" => {
                let known = processes.insert(process, (name(), 0));
                assert!(known.is_none(), "process {process} is named twice");
            }
            "process_sort_index" => processes.get_mut(&process).expect("named").1 = number(&arguments["sort_index"]),
            "thread_name" => {
                let (group, rank) = &processes[&process];
                let name = format!("{group}/{}", name());
                let known = tracks.insert((process, thread), Named { name, rank: (*rank, 0) });
                assert!(known.is_none(), "track {thread} is named twice");
            }
            "thread_sort_index" => {
                tracks.get_mut(&(process, thread)).expect("named").rank.1 = number(&arguments["sort_index"]);
            }
            other => panic!("{other}"),
        }
    }
    tracks
}

fn shown(tracks: &BTreeMap<(u64, u64), Named>, event: &Value) -> Shown {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    assert_eq!(text("ph") == "i", event["s"] == "t", "an instant of a thread: {event}");
    Shown {
        at: (event["ts"].as_f64().expect("an instant in µs") * 1e3).round() as u64,
        track: tracks[&(number(&event["pid"]), number(&event["tid"]))].name.clone(),
        phase: text("ph"),
        name: text("name"),
        arguments: event["args"].clone(),
    }
}

/// `at track begin|end|instant name` of every event.
fn lines(trace: &Trace) -> Vec<String> {
    let phase = |event: &Shown| match event.phase.as_str() {
        "B" => "begin",
        "E" => "end",
        "i" => "instant",
        other => panic!("{other}"),
    };
    let events = trace.events.iter();
    let lines = events.map(|event| format!("{} {} {} {}", event.at, event.track, phase(event), event.name));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

fn event(at: i64, cpu: u32, what: What) -> Event {
    Event {
        at: Monotonic::from_ns(at),
        cpu,
        what,
    }
}

fn switch(previous: u16, pid: i32, name: &str) -> What {
    What::Switch {
        next: Thread {
            pid,
            priority: 9,
            name: Name::from(name),
        },
        left: Left::CouldRun,
        left_with: None,
        previous,
    }
}

fn explanation() -> Explanation {
    Explanation {
        cause: Cause::Thread,
        text: "thread blocker had the CPU".to_owned(),
        extent: Extent::OneCpu,
        stages: vec![Part {
            what: "switch-in".to_owned(),
            ns: 300,
        }],
        occupants: vec![Part {
            what: "thread blocker (pid 7, real-time priority 90)".to_owned(),
            ns: 290,
        }],
        unexplained_ns: 10,
        around: vec!["steal time 0 ns".to_owned()],
    }
}

fn spike(from: i64, to: i64, events: Vec<Event>) -> Spike {
    Spike {
        series: "wakeup/cpu1".to_owned(),
        cpu: 1,
        from: Monotonic::from_ns(from),
        to: Monotonic::from_ns(to),
        explanation: Some(explanation()),
        events,
    }
}

#[test]
fn a_spike_is_a_slice_with_its_explanation_over_the_slices_of_its_cpu() {
    let events = vec![
        // Long before the others: it shows the occupant of the CPU when the other tracks begin.
        event(10, 1, switch(5, 0, "swapper/1")),
        event(10_000_000, 1, What::VectorEntry(Vector::LocalTimer)),
        event(
            10_000_010,
            1,
            What::TimerEntry {
                due_ns: Some(9_999_000),
            },
        ),
        event(10_000_020, 1, What::TimerExit),
        event(10_000_030, 1, What::VectorExit(Vector::LocalTimer)),
        event(10_000_040, 1, What::SoftirqEntry(3)),
        event(10_000_050, 1, What::SoftirqExit(3)),
        event(10_000_060, 1, switch(0, 7, "blocker")),
        event(10_000_070, 0, What::IdleExit),
        event(10_000_360, 1, switch(7, 99, "wakeup/1")),
    ];
    let trace = trace_of(&[spike(10_000_005, 10_000_365, events)]);
    let mut named: Vec<&Named> = trace.tracks.values().collect();
    named.sort_by_key(|track| track.rank);
    let names: Vec<&str> = named.iter().map(|track| track.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "CPU 0/running",
            "CPU 0/interrupts",
            "CPU 0/softirqs",
            "CPU 1/latency wakeup/cpu1",
            "CPU 1/running",
            "CPU 1/interrupts",
            "CPU 1/softirqs",
        ]
    );
    assert_eq!(
        lines(&trace),
        [
            "10000000 CPU 1/running begin idle",
            "10000000 CPU 1/interrupts begin local timer",
            "10000005 CPU 1/latency wakeup/cpu1 begin late by 360 ns",
            "10000010 CPU 1/interrupts begin timer",
            "10000020 CPU 1/interrupts end",
            "10000030 CPU 1/interrupts end",
            "10000040 CPU 1/softirqs begin NET_RX",
            "10000050 CPU 1/softirqs end",
            "10000060 CPU 1/running end",
            "10000060 CPU 1/running begin blocker",
            "10000070 CPU 0/running instant leaves idle state",
            "10000360 CPU 1/running end",
            "10000360 CPU 1/running begin wakeup/1",
            "10000365 CPU 1/latency wakeup/cpu1 end",
            "10000365 CPU 1/running end",
        ]
    );
    let late = json!({
        "latency_ns": 360,
        "cause": "thread",
        "text": "thread blocker had the CPU",
        "extent": "one CPU",
        "stages": [{"what": "switch-in", "ns": 300}],
        "occupants": [{"what": "thread blocker (pid 7, real-time priority 90)", "ns": 290}],
        "unexplained_ns": 10,
        "around": ["steal time 0 ns"],
    });
    assert_eq!(trace.events[2].arguments, late);
    assert_eq!(
        trace.events[3].arguments,
        json!({"due_ns (the timer's clock)": 9_999_000})
    );
    assert_eq!(trace.events[9].arguments, json!({"pid": 7, "kernel priority": 9}));
}

#[test]
fn names_that_are_no_ascii_and_long_uptimes_are_kept() {
    let day = 86_400_000_000_000;
    let events = vec![event(50 * day + 1, 1, switch(0, -1, "é\""))];
    let trace = trace_of(&[spike(50 * day + 3, 50 * day + 4, events)]);
    let running = "CPU 1/running";
    let begun = trace
        .events
        .iter()
        .find(|event| event.track == running)
        .expect("a turn");
    assert_eq!((begun.at, begun.name.as_str()), (50 * day.cast_unsigned() + 1, "é\""));
}

#[test]
fn neighbours_share_their_events_and_distant_ones_have_stretches_of_their_own() {
    let shared = vec![
        event(10_000_000, 1, switch(0, 7, "a")),
        event(10_000_100, 1, switch(7, 8, "b")),
    ];
    let missing = event(90_000_010, 1, switch(77, 0, "swapper/1"));
    let far = vec![event(90_000_000, 1, switch(8, 9, "c")), missing];
    let trace = trace_of(&[
        spike(10_000_000, 10_000_050, shared.clone()),
        spike(10_000_060, 10_000_150, shared),
        spike(90_000_000, 90_000_050, far),
    ]);
    let running: Vec<String> = lines(&trace)
        .into_iter()
        .filter(|line| line.contains("/running"))
        .collect();
    assert_eq!(
        running,
        [
            "10000000 CPU 1/running begin a",
            "10000100 CPU 1/running end",
            "10000100 CPU 1/running begin b",
            "10000150 CPU 1/running end",
            "90000000 CPU 1/running begin c, then unknown",
            "90000010 CPU 1/running end",
            "90000010 CPU 1/running begin idle",
            "90000050 CPU 1/running end",
        ]
    );
}

#[test]
fn no_spikes_make_an_empty_trace() {
    assert!(trace_of(&[]).events.is_empty());
}

proptest! {
    #[test]
    fn every_slice_ends_on_its_track_whatever_the_events(
        mut events in proptest::collection::vec(any_event(), 0..60),
        instants in proptest::collection::vec(0_i64..9_000_000, 60),
        spans in proptest::collection::vec((0_i64..9_000_000, 0_i64..100_000), 1..4),
    ) {
        for (event, at) in events.iter_mut().zip(instants) {
            event.at = Monotonic::from_ns(at);
            event.cpu %= 3;
        }
        events.sort_by_key(|event| event.at);
        let spikes: Vec<Spike> = spans.iter().enumerate().map(|(index, (from, length))| Spike {
            series: format!("series {index}"),
            ..spike(*from, from + length, events.clone())
        }).collect();
        let trace = trace_of(&spikes);
        let mut depths: BTreeMap<&str, i64> = BTreeMap::new();
        let mut last = 0;
        for event in &trace.events {
            prop_assert!(event.at >= last);
            last = event.at;
            let depth = depths.entry(&event.track).or_default();
            *depth += match event.phase.as_str() { "B" => 1, "E" => -1, _ => 0 };
            prop_assert!(*depth >= 0, "{} ends what did not begin", event.track);
        }
        prop_assert_eq!(depths.values().filter(|depth| **depth != 0).count(), 0);
    }
}
