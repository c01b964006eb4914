//! Writes flights as a trace for ui.perfetto.dev and chrome://tracing, in Chrome's Trace Event Format.
//!
//! There is a process for each CPU, with a thread for each track: late samples of a series with their explanations, the running
//! thread, interrupts, softirqs. Instants are `CLOCK_MONOTONIC`.

mod slices;

use crate::event::Event;
use crate::snapshot::Snapshot;
use model::{Explanation, Extent};
use serde_json::{Value, json};
use slices::slices;
use std::collections::BTreeSet;
use std::io::{self, Write};
use units::{Monotonic, Ns};

/// Events further than this from a late sample belong to another sample, in ns; no flight reaches further.
const REACH_NS: i64 = 2_000_000;

/// A late sample and the events around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spike {
    /// Series of the sample.
    pub series: String,
    /// The CPU on which it was measured.
    pub cpu: u32,
    /// Due instant, or start of the gap.
    pub from: Monotonic,
    /// The sample's instant, or end of the gap.
    pub to: Monotonic,
    /// How its time was spent.
    pub explanation: Option<Explanation>,
    /// The events around it, of every watched CPU, as returned by [`crate::flight::decode`].
    pub events: Vec<Event>,
}

/// Position of a track below its CPU. Tracks of series follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Track {
    cpu: u32,
    place: usize,
}

const RUNNING: usize = 1;
const INTERRUPTS: usize = 2;
const SOFTIRQS: usize = 3;
const FIRST_SERIES: usize = 4;

impl Track {
    /// A separate process for each CPU; viewers show process 0 as the kernel's idle threads.
    fn process(self) -> u64 {
        u64::from(self.cpu) + 1
    }

    /// Different from all other threads and processes: viewers treat a thread with the number of its process as the main one.
    fn thread(self) -> u64 {
        self.process() * 100_000 + self.place as u64
    }
}

/// Phases of events, with the names of the format.
const BEGIN: &str = "B";
const END: &str = "E";
const INSTANT: &str = "i";

/// An event on a track.
#[derive(Debug, Clone)]
struct TrackEvent {
    at: Monotonic,
    track: Track,
    phase: &'static str,
    /// Empty for an end.
    name: String,
    /// More details, by name.
    arguments: Value,
}

/// Writes a trace of these late samples.
///
/// # Errors
/// Writing failed.
pub fn write(spikes: &[Spike], out: &mut impl Write) -> io::Result<()> {
    let mut spikes: Vec<&Spike> = spikes.iter().collect();
    spikes.sort_by_key(|spike| spike.from);
    let cpus: BTreeSet<u32> = spikes.iter().flat_map(|spike| cpus_of(spike)).collect();
    let series: BTreeSet<(u32, &str)> = spikes.iter().map(|spike| (spike.cpu, spike.series.as_str())).collect();
    let series: Vec<(u32, &str)> = series.into_iter().collect();
    let mut events: Vec<TrackEvent> = spikes.iter().flat_map(|spike| latency(spike, &series)).collect();
    for group in groups(&spikes) {
        events.extend(cpus.iter().flat_map(|cpu| on_cpu(*cpu, group)));
    }
    // A stable sort: events on one track keep their order.
    events.sort_by_key(|event| event.at);
    let names = cpus.iter().flat_map(|cpu| names(*cpu, &series));
    let lines: Vec<String> = names.chain(events.iter().map(line)).collect();
    let head = r#"{"displayTimeUnit":"ns","otherData":{"clock":"CLOCK_MONOTONIC"},"traceEvents":["#;
    writeln!(out, "{head}\n{}\n]}}", lines.join(",\n"))
}

fn cpus_of(spike: &Spike) -> BTreeSet<u32> {
    let cpus = spike.events.iter().map(|event| event.cpu);
    cpus.chain(std::iter::once(spike.cpu)).collect()
}

fn series_track(cpu: u32, index: usize) -> Track {
    let place = FIRST_SERIES + index;
    Track { cpu, place }
}

/// The names of a CPU and of its tracks, late samples first.
fn names(cpu: u32, series: &[(u32, &str)]) -> Vec<String> {
    let own = series.iter().enumerate().filter(|(_, (of_cpu, _))| *of_cpu == cpu);
    let own = own.map(|(index, (_, name))| (series_track(cpu, index), format!("latency {name}"), 0));
    let fixed = [(RUNNING, "running"), (INTERRUPTS, "interrupts"), (SOFTIRQS, "softirqs")];
    let fixed = fixed.map(|(place, name)| (Track { cpu, place }, name.to_owned(), place));
    let named = |track: Track, what: &str, arguments: Value| {
        json!({"ph": "M", "pid": track.process(), "tid": track.thread(), "name": what, "args": arguments}).to_string()
    };
    let group = Track { cpu, place: RUNNING };
    let mut lines = vec![
        named(group, "process_name", json!({"name": format!("CPU {cpu}")})),
        named(group, "process_sort_index", json!({"sort_index": cpu})),
    ];
    for (track, name, rank) in own.chain(fixed) {
        lines.push(named(track, "thread_name", json!({"name": name})));
        lines.push(named(track, "thread_sort_index", json!({"sort_index": rank})));
    }
    lines
}

/// An event as an object of the format, whose instants are in µs.
fn line(event: &TrackEvent) -> String {
    // An instant before boot, which no event has, is shown as boot.
    let ns = event.at.as_ns().max(0);
    let mut object = json!({
        "ph": event.phase,
        "ts": ns as f64 / 1e3,
        "pid": event.track.process(),
        "tid": event.track.thread(),
    });
    if event.phase == INSTANT {
        object["s"] = json!("t");
    }
    if !event.name.is_empty() {
        object["name"] = json!(event.name);
    }
    if !event.arguments.is_null() {
        object["args"] = event.arguments.clone();
    }
    object.to_string()
}

/// The late sample, from its due instant to the sample.
fn latency(spike: &Spike, series: &[(u32, &str)]) -> [TrackEvent; 2] {
    let index = series.iter().position(|of| *of == (spike.cpu, spike.series.as_str()));
    let track = series_track(spike.cpu, index.unwrap_or(0));
    let ns = u64::try_from(spike.to - spike.from).unwrap_or(0);
    let mut arguments = spike.explanation.as_ref().map_or_else(|| json!({}), explained);
    arguments["latency_ns"] = json!(ns);
    let begin = TrackEvent {
        at: spike.from,
        track,
        phase: BEGIN,
        name: format!("late by {}", Ns(ns)),
        arguments,
    };
    [begin, end(spike.to, track)]
}

fn end(at: Monotonic, track: Track) -> TrackEvent {
    TrackEvent {
        at,
        track,
        phase: END,
        name: String::new(),
        arguments: Value::Null,
    }
}

/// An explanation as arguments.
fn explained(explanation: &Explanation) -> Value {
    json!({
        "cause": explanation.cause.word(),
        "text": explanation.text,
        "extent": match explanation.extent {
            Extent::OneCpu => "one CPU",
            Extent::AllCpus => "all watched CPUs",
            Extent::Unknown => "unknown",
        },
        "stages": explanation.stages,
        "occupants": explanation.occupants,
        "unexplained_ns": explanation.unexplained_ns,
        "around": explanation.around,
    })
}

/// Groups late samples whose flights overlap, in order of time, so that their events are written once.
fn groups<'a>(spikes: &'a [&'a Spike]) -> impl Iterator<Item = &'a [&'a Spike]> {
    let mut end = Monotonic::from_ns(i64::MIN);
    spikes.chunk_by(move |before, next| {
        end = end.max(before.to);
        next.from - REACH_NS <= end + REACH_NS
    })
}

fn on_cpu(cpu: u32, group: &[&Spike]) -> Vec<TrackEvent> {
    let events = merged(cpu, group);
    let earliest = group.iter().map(|spike| spike.from).min();
    let latest = group.iter().map(|spike| spike.to).max();
    let (Some(earliest), Some(latest)) = (earliest, latest) else {
        return Vec::new();
    };
    // The switch before a flight may be long ago, so the stretch begins with the other events.
    let (from, to) = (earliest - REACH_NS, latest + REACH_NS);
    let near = |event: &&Event| (from..=to).contains(&event.at);
    let first = events
        .iter()
        .find(near)
        .map_or(earliest, |event| event.at.min(earliest));
    let last = events
        .iter()
        .rev()
        .find(near)
        .map_or(latest, |event| event.at.max(latest));
    slices(&Snapshot::of(cpu, first, last, &events, true), cpu)
}

/// The events of a CPU in all of these flights, in order of time. Neighbouring flights share events; each is kept once.
fn merged(cpu: u32, group: &[&Spike]) -> Vec<Event> {
    let mut kept: Vec<Event> = Vec::new();
    let mut seen: BTreeSet<Event> = BTreeSet::new();
    for spike in group {
        let of_cpu = || spike.events.iter().filter(|event| event.cpu == cpu);
        // Within one flight no event occurs twice, even if microsecond clocks make it look so.
        kept.extend(of_cpu().filter(|event| !seen.contains(event)));
        seen.extend(of_cpu());
    }
    kept.sort_by_key(|event| event.at);
    kept
}

#[cfg(test)]
mod tests;
