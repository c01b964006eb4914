//! Events of a relay as one JSON document; `docs/formats/relay-file.md` describes its fields.

use ::relay::config::Config;
use ::relay::events::{Change, Subject};
use ::relay::replay::{Replayed, Row, Tally};
use ::relay::words::{letters, state_name, who};
use protection::Direction;
use protection::measure::Blocks;
use serde::Serialize;
use std::path::Path;
use units::foreign;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tool: Tool,
    relay: &'a str,
    file: String,
    samples_per_second: f64,
    samples: u64,
    duration_s: f64,
    trigger_ns: Option<i64>,
    inputs: &'a [String],
    notes: &'a [String],
    events: Vec<Event<'a>>,
    events_left_out: u64,
    functions: Vec<Sum<'a>>,
    trips: Vec<Sum<'a>>,
    breaker_failures: Vec<Sum<'a>>,
    streams: Vec<StreamJson<'a>>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Event<'a> {
    at_ns: u64,
    sample: u64,
    kind: &'static str,
    name: &'a str,
    node: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_start_ns: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(rename = "smpSynch", skip_serializing_if = "Option::is_none")]
    smp_synch: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

#[derive(Serialize)]
struct Sum<'a> {
    name: &'a str,
    node: String,
    starts: u64,
    operates: u64,
    first_start_ns: Option<u64>,
    first_operate_ns: Option<u64>,
    blocked_ns: u64,
    reasons: Vec<&'static str>,
}

#[derive(Serialize)]
struct StreamJson<'a> {
    name: &'a str,
    #[serde(rename = "svID")]
    sv_id: &'a str,
    received: u64,
    lost: u64,
    implausible: u64,
    duplicate: u64,
    conflicting: u64,
    late: u64,
    stray: u64,
    restarts: u64,
}

/// The document, ending in a newline.
pub(super) fn document(config: &Config, file: &Path, replayed: &Replayed) -> String {
    let story = &replayed.story;
    let sums = |tallies: &[Tally], subject: fn(usize) -> Subject| {
        let tallies = tallies.iter().enumerate();
        tallies
            .map(|(number, tally)| sum(config, subject(number), tally))
            .collect::<Vec<_>>()
    };
    let document = Document {
        schema: "triptime.replay/1",
        tool: Tool {
            name: "triptime",
            version: env!("CARGO_PKG_VERSION"),
        },
        relay: &config.name,
        file: file.display().to_string(),
        samples_per_second: replayed.rate,
        samples: replayed.samples,
        duration_s: replayed.seconds(),
        trigger_ns: replayed.trigger_ns,
        inputs: &replayed.inputs,
        notes: &replayed.notes,
        events: story.rows.iter().map(|row| event(config, row)).collect(),
        events_left_out: story.left_out,
        functions: sums(&story.functions, Subject::Function),
        trips: sums(&story.trips, Subject::Trip),
        breaker_failures: sums(&story.breakers, Subject::Breaker)
            .into_iter()
            .zip(&config.trips)
            .filter_map(|(sum, trip)| trip.breaker_failure.map(|_| sum))
            .collect(),
        streams: streams(config, replayed),
    };
    // Cannot fail: plain structures of texts and numbers.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    foreign::json(text) + "\n"
}

fn event<'a>(config: &'a Config, row: &Row) -> Event<'a> {
    let (name, node) = who(config, row.event.subject);
    let mut event = Event {
        at_ns: row.at_ns,
        sample: row.event.at,
        kind: match row.event.subject {
            Subject::Function(_) => "function",
            Subject::Trip(_) => "trip",
            Subject::Breaker(_) => "breaker-failure",
            Subject::Stream(_) => "stream",
            Subject::Fuse(_) => "vt-fuse",
            Subject::Swing(_) => "power-swing",
            Subject::HostClock => "host-clock",
        },
        name,
        node,
        change: "",
        phases: None,
        direction: None,
        since_start_ns: row.since_start_ns,
        reasons: Vec::new(),
        state: None,
        smp_synch: None,
        count: None,
    };
    event.change = match row.event.change {
        Change::Start(phases, direction) => {
            event.phases = Some(letters(phases));
            event.direction = direction_name(direction);
            "start"
        }
        Change::Operate(phases) => {
            event.phases = Some(letters(phases));
            "operate"
        }
        Change::Backtrip => "back-trip",
        Change::Reset => "reset",
        Change::Blocked(blocks) => {
            event.reasons = reasons(blocks);
            "blocked"
        }
        Change::Released => "released",
        Change::Samples(state) => {
            event.state = Some(state_name(state));
            "samples"
        }
        Change::Restart => "restart",
        Change::Implausible(count) => {
            event.count = Some(count);
            "implausible"
        }
        Change::Synch(value) => {
            event.smp_synch = Some(value);
            "synch"
        }
        Change::Ptp(state) => {
            event.state = Some(state.name());
            "ptp"
        }
    };
    event
}

fn direction_name(direction: Direction) -> Option<&'static str> {
    match direction {
        Direction::Unknown => None,
        Direction::Forward => Some("forward"),
        Direction::Reverse => Some("reverse"),
        Direction::Both => Some("both"),
    }
}

fn reasons(blocks: Blocks) -> Vec<&'static str> {
    blocks.reasons().collect()
}

fn sum<'a>(config: &'a Config, subject: Subject, tally: &Tally) -> Sum<'a> {
    let (name, node) = who(config, subject);
    Sum {
        name,
        node,
        starts: tally.starts,
        operates: tally.operates,
        first_start_ns: tally.first_start_ns,
        first_operate_ns: tally.first_operate_ns,
        blocked_ns: tally.blocked_ns,
        reasons: reasons(tally.reasons),
    }
}

fn streams<'a>(config: &'a Config, replayed: &Replayed) -> Vec<StreamJson<'a>> {
    let streams = config.streams.iter().zip(&replayed.streams);
    let one = |(stream, received): (&'a ::relay::config::Stream, &::relay::replay::Received)| StreamJson {
        name: &stream.name,
        sv_id: &stream.spec.sv_id,
        received: received.status.received,
        lost: received.status.lost,
        implausible: received.status.implausible,
        duplicate: received.counters.duplicates,
        conflicting: received.counters.conflicting,
        late: received.counters.late,
        stray: received.counters.strays,
        restarts: received.counters.restarts,
    };
    streams.map(one).collect()
}
