//! Flights as a trace in Perfetto's format, which ui.perfetto.dev and `trace_processor` open.
//!
//! Per CPU a group of tracks: who runs, interrupts, softirqs, and for each series of that CPU its late samples, with
//! their explanations. Instants are `CLOCK_MONOTONIC`.

mod message;
mod packet;
mod slices;

use crate::event::Event;
use crate::snapshot::Snapshot;
use model::Explanation;
use packet::{Note, TrackEvent, TrackEventType, notes_of};
use slices::{Tracks, slices};
use std::collections::BTreeSet;
use std::io::{self, Write};
use units::{Monotonic, format_ns};

/// Events further than this from a late sample are those of another, in ns; a flight reaches no further.
const REACH_NS: i64 = 2_000_000;

/// A late sample and the events around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spike {
    /// The series it is of.
    pub series: String,
    /// The CPU it was measured on.
    pub cpu: u32,
    /// Due instant, or begin of the gap.
    pub from: Monotonic,
    /// The sample's instant, or end of the gap.
    pub to: Monotonic,
    /// Where the time went.
    pub explanation: Option<Explanation>,
    /// The events around it, of every watched CPU, as [`crate::flight::decode`] gives them.
    pub events: Vec<Event>,
}

/// Writes a trace of these late samples.
///
/// # Errors
/// Writing fails.
pub fn write(spikes: &[Spike], out: &mut impl Write) -> io::Result<()> {
    let mut spikes: Vec<&Spike> = spikes.iter().collect();
    spikes.sort_by_key(|spike| spike.from);
    let begin = spikes.first().map_or(Monotonic::from_ns(0), |spike| spike.from);
    out.write_all(packet::clock(begin).octets())?;
    let cpus: BTreeSet<u32> = spikes.iter().flat_map(|spike| cpus_of(spike)).collect();
    let series: BTreeSet<(u32, &str)> = spikes.iter().map(|spike| (spike.cpu, spike.series.as_str())).collect();
    let series: Vec<(u32, &str)> = series.into_iter().collect();
    announce(&cpus, &series, out)?;
    let mut events: Vec<TrackEvent> = spikes.iter().flat_map(|spike| latency(spike, &series)).collect();
    for group in groups(&spikes) {
        events.extend(cpus.iter().flat_map(|cpu| on_cpu(*cpu, group)));
    }
    // Stable: what was in order on a track stays so.
    events.sort_by_key(|event| event.at);
    for event in &events {
        out.write_all(packet::event(event).octets())?;
    }
    Ok(())
}

fn cpus_of(spike: &Spike) -> BTreeSet<u32> {
    let cpus = spike.events.iter().map(|event| event.cpu);
    cpus.chain(std::iter::once(spike.cpu)).collect()
}

/// Tracks of a CPU: its group, and below it one for each of these.
fn group_track(cpu: u32) -> u64 {
    (u64::from(cpu) + 1) << 8
}

fn tracks(cpu: u32) -> Tracks {
    let group = group_track(cpu);
    Tracks {
        running: group + 1,
        interrupts: group + 2,
        softirqs: group + 3,
    }
}

/// Tracks of series lie above those of every CPU (CPU numbers have 32 bits).
fn series_track(index: usize) -> u64 {
    (1 << 48) + index as u64
}

fn announce(cpus: &BTreeSet<u32>, series: &[(u32, &str)], out: &mut impl Write) -> io::Result<()> {
    for cpu in cpus {
        let group = group_track(*cpu);
        let of = tracks(*cpu);
        let mut packets = vec![packet::track(group, None, &format!("CPU {cpu}"), u64::from(*cpu))];
        let named = series.iter().enumerate().filter(|(_, (of_cpu, _))| of_cpu == cpu);
        packets.extend(
            named.map(|(index, (_, name))| {
                packet::track(series_track(index), Some(group), &format!("latency {name}"), 0)
            }),
        );
        for (rank, (track, name)) in [
            (of.running, "running"),
            (of.interrupts, "interrupts"),
            (of.softirqs, "softirqs"),
        ]
        .into_iter()
        .enumerate()
        {
            packets.push(packet::track(track, Some(group), name, rank as u64 + 1));
        }
        for packet in packets {
            out.write_all(packet.octets())?;
        }
    }
    Ok(())
}

/// The late sample itself, from due instant to sample.
fn latency(spike: &Spike, series: &[(u32, &str)]) -> [TrackEvent; 2] {
    let index = series.iter().position(|of| *of == (spike.cpu, spike.series.as_str()));
    let track = series_track(index.unwrap_or(0));
    let ns = u64::try_from(spike.to - spike.from).unwrap_or(0);
    let mut notes = vec![Note::number("latency (ns)", ns)];
    notes.extend(spike.explanation.iter().flat_map(notes_of));
    let event = |at, kind, name, notes| TrackEvent {
        at,
        track,
        kind,
        name,
        notes,
    };
    [
        event(
            spike.from,
            TrackEventType::Begin,
            format!("late by {}", format_ns(ns as f64)),
            notes,
        ),
        event(spike.to, TrackEventType::End, String::new(), Vec::new()),
    ]
}

/// Late samples whose flights overlap, in order of time: their events go on the tracks once.
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
    // The switch before a flight may be long ago: the stretch begins where the others do.
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
    slices(&Snapshot::of(cpu, first, last, &events, true), tracks(cpu))
}

/// The events of a CPU in all of these flights, in order of time. Neighbours share events; each is kept once.
fn merged(cpu: u32, group: &[&Spike]) -> Vec<Event> {
    let mut kept: Vec<Event> = Vec::new();
    let mut seen: BTreeSet<Event> = BTreeSet::new();
    for spike in group {
        let of_cpu = || spike.events.iter().filter(|event| event.cpu == cpu);
        // Within one flight nothing is there twice, though clocks of microseconds may make it look so.
        kept.extend(of_cpu().filter(|event| !seen.contains(event)));
        seen.extend(of_cpu());
    }
    kept.sort_by_key(|event| event.at);
    kept
}

#[cfg(test)]
mod tests;
