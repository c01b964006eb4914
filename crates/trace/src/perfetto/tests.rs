//! The trace, decoded by a reader that shares nothing with the writer.

use super::{Spike, write};
use crate::event::{Event, Left, Name, Thread, Vector, What};
use crate::flight::tests::any_event;
use model::{Cause, Explanation, Extent, Part};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use std::collections::BTreeMap;
use units::Monotonic;

/// A field of a message: its number, and its value.
type Field<'a> = (u64, Value<'a>);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value<'a> {
    Number(u64),
    Octets(&'a [u8]),
}

/// Splits a message into its fields.
fn fields(mut octets: &[u8]) -> Vec<Field<'_>> {
    fn number(octets: &mut &[u8]) -> u64 {
        let length = octets.iter().position(|octet| octet & 0x80 == 0).expect("an end") + 1;
        let (mine, rest) = octets.split_at(length);
        *octets = rest;
        let groups = mine.iter().enumerate();
        groups
            .map(|(index, octet)| u64::from(octet & 0x7f) << (7 * index))
            .sum()
    }
    let mut found = Vec::new();
    while !octets.is_empty() {
        let key = number(&mut octets);
        let value = match key & 7 {
            0 => Value::Number(number(&mut octets)),
            2 => {
                let length = usize::try_from(number(&mut octets)).expect("small");
                let (mine, rest) = octets.split_at(length);
                octets = rest;
                Value::Octets(mine)
            }
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, value));
    }
    found
}

fn number(message: &[u8], field: u64) -> Option<u64> {
    fields(message).into_iter().find_map(|(found, value)| match value {
        Value::Number(number) if found == field => Some(number),
        _ => None,
    })
}

fn messages(message: &[u8], field: u64) -> Vec<&[u8]> {
    let found = fields(message).into_iter().filter(|(found, _)| *found == field);
    let octets = found.map(|(_, value)| match value {
        Value::Octets(octets) => octets,
        Value::Number(_) => panic!("field {field} is a number"),
    });
    octets.collect()
}

fn text(message: &[u8], field: u64) -> String {
    let found = messages(message, field);
    found
        .first()
        .map_or_else(String::new, |octets| String::from_utf8(octets.to_vec()).expect("UTF-8"))
}

/// A trace as a list of track names and of events.
struct Trace {
    tracks: BTreeMap<u64, (String, Option<u64>)>,
    events: Vec<Shown>,
}

#[derive(Debug)]
struct Shown {
    at: u64,
    track: String,
    kind: u64,
    name: String,
    notes: Vec<(String, String)>,
}

fn trace_of(spikes: &[Spike]) -> Trace {
    let mut octets = Vec::new();
    write(spikes, &mut octets).expect("memory");
    let mut trace = Trace {
        tracks: BTreeMap::new(),
        events: Vec::new(),
    };
    let packets = messages(&octets, 1);
    let clock = messages(packets[0], 6);
    assert_eq!(number(clock[0], 2), Some(3), "the trace's clock is CLOCK_MONOTONIC");
    for packet in &packets[1..] {
        assert_eq!(number(packet, 10), Some(1));
        for track in messages(packet, 60) {
            let uuid = number(track, 1).expect("an identifier");
            let known = trace.tracks.insert(uuid, (text(track, 2), number(track, 5)));
            assert!(known.is_none(), "track {uuid} is announced twice");
        }
        for event in messages(packet, 11) {
            assert_eq!(number(packet, 58), Some(3), "an instant of CLOCK_MONOTONIC");
            trace.events.push(shown(&trace.tracks, packet, event));
        }
    }
    trace
}

fn shown(tracks: &BTreeMap<u64, (String, Option<u64>)>, packet: &[u8], event: &[u8]) -> Shown {
    let uuid = number(event, 11).expect("a track");
    let (track, parent) = &tracks[&uuid];
    let parent = parent.map_or_else(String::new, |parent| tracks[&parent].0.clone() + "/");
    let notes = messages(event, 4).into_iter().map(|note| {
        let as_number = number(note, 3)
            .or_else(|| number(note, 4))
            .map(|value| value.to_string());
        (text(note, 10), as_number.unwrap_or_else(|| text(note, 6)))
    });
    Shown {
        at: number(packet, 8).expect("an instant"),
        track: format!("{parent}{track}"),
        kind: number(event, 9).expect("a kind"),
        name: text(event, 23),
        notes: notes.collect(),
    }
}

/// `at track begin|end|instant name` of every event.
fn lines(trace: &Trace) -> Vec<String> {
    let kinds = ["", "begin", "end", "instant"];
    let events = trace.events.iter();
    let lines = events.map(|event| {
        let kind = kinds[usize::try_from(event.kind).expect("small")];
        format!("{} {} {kind} {}", event.at, event.track, event.name)
    });
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
        // Long before: it tells who has the CPU when the others begin.
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
    let names: Vec<&str> = trace.tracks.values().map(|(name, _)| name.as_str()).collect();
    for name in [
        "CPU 0",
        "CPU 1",
        "latency wakeup/cpu1",
        "running",
        "interrupts",
        "softirqs",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
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
    let late = &trace.events[2];
    let note = |name: &str| {
        late.notes
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(note("latency (ns)"), Some("360"));
    assert_eq!(note("cause"), Some("thread"));
    assert_eq!(note("text"), Some("thread blocker had the CPU"));
    assert_eq!(note("extent"), Some("one CPU"));
    assert_eq!(note("stage: switch-in (ns)"), Some("300"));
    let occupant = "occupant: thread blocker (pid 7, real-time priority 90) (ns)";
    assert_eq!(note(occupant), Some("290"));
    assert_eq!(note("unexplained (ns)"), Some("10"));
    assert_eq!(note("around"), Some("steal time 0 ns"));
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
            *depth += match event.kind { 1 => 1, 2 => -1, _ => 0 };
            prop_assert!(*depth >= 0, "{} ends what did not begin", event.track);
        }
        prop_assert_eq!(depths.values().filter(|depth| **depth != 0).count(), 0);
    }
}
