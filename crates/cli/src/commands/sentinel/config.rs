//! From the file of a sentinel to what is watched and kept.

use super::unread;
use crate::failure::Failure;
use crate::run_file::judged_by;
use observation::Rule;
use probes::observe::{ObserveOptions, ObservedRelay, limits_of};
use sentinel::{BlockKeys, Config, File, RelayKeys, WatchedBlock, WatchedRelay, WatchedStream};
use std::fmt::Write as _;
use std::path::Path;
use streamset::{SclChoice, StreamSet};
use units::Ns;
use wire::goose::Expectation;

/// Time that a problem's frames stay in the ring beyond what is needed, in ns: the rounds of the logbook.
const SPARE_NS: u64 = 2_000_000_000;

/// The configuration of the watch.
///
/// # Errors
/// A member, a rule or a file that cannot be used.
pub(super) fn of(file: &File, name: &str) -> Result<Config, Failure> {
    // First of all: a file that is not there yet is no mistake in another one.
    let sets = sets(file)?;
    let relays = file.relays.iter().map(|keys| relay(file, keys, name));
    let relays = relays.collect::<Result<Vec<_>, _>>()?;
    let mut streams: Vec<WatchedStream> = file
        .streams
        .iter()
        .map(|keys| WatchedStream {
            sv_id: keys.sv_id.clone(),
            rate: keys.rate,
            conf_rev: keys.conf_rev,
            within_ns: keys.within.map(|within| within.0),
        })
        .collect();
    let mut blocks: Vec<WatchedBlock> = file.blocks.iter().map(block).collect();
    for set in &sets {
        add_set(set, &mut streams, &mut blocks);
    }
    for relay in relays.iter().filter(|relay| relay.observed.rule.is_of_samples()) {
        if !streams.iter().any(|stream| stream.sv_id == relay.observed.sv_id) {
            streams.push(WatchedStream {
                sv_id: relay.observed.sv_id.clone(),
                rate: None,
                conf_rev: None,
                within_ns: None,
            });
        }
    }
    let longest_ns = relays.iter().map(|relay| relay.observed.deadline_ns).max().unwrap_or(0);
    Ok(Config {
        relays,
        streams,
        blocks,
        never_ns: file.first.0,
        ring_octets: usize::try_from(file.ring.memory()).unwrap_or(usize::MAX),
        // A failure to trip is known when its deadline is over.
        ring_ns: file.ring.before_ns() + file.ring.after_ns() + longest_ns + SPARE_NS,
        alarms_an_hour: file.alarm.most_an_hour,
        wakeup_ns: file.wakeup.map(|keys| keys.interval.0),
        wakeup_within_ns: file.wakeup.and_then(|keys| keys.within).map(|within| within.0),
    })
}

fn relay(file: &File, keys: &RelayKeys, name: &str) -> Result<WatchedRelay, Failure> {
    let refused = |problem: String| Failure::Usage(format!("{name}: [[relay]] {}: {problem}", keys.name));
    let (trip, start) = (keys.trip.parse(), keys.start.as_deref().map(str::parse).transpose());
    let observed = ObservedRelay {
        observe: ObserveOptions {
            observe: None,
            trip_deadline: keys.deadline.0,
            within: None,
            nominal_frequency: keys.frequency,
        },
        goose: Some(keys.goose.clone()),
        trip_member: trip.map_err(|error: wire::goose::MemberError| refused(format!("trip: {error}")))?,
        start_member: start.map_err(|error: wire::goose::MemberError| refused(format!("start: {error}")))?,
        scl: file.scl.as_ref().map(|path| path.display().to_string()),
        sv_id: keys.stream.clone().unwrap_or_default(),
    };
    let relay = observed.under_test()?;
    let rule: Rule = match (&keys.fault, relay.start) {
        (Some(fault), _) => fault.parse().map_err(|error| refused(format!("fault: {error}")))?,
        (None, Some(member)) => Rule::Contact {
            gocb_ref: keys.goose.clone(),
            member,
        },
        (None, None) => return Err(refused("no fault and no start".into())),
    };
    let options = ObserveOptions {
        observe: Some(rule),
        ..observed.observe.clone()
    };
    let Some(config) = options.config(&relay, &observed.sv_id, stated_rate(file, keys))? else {
        return Err(refused("nothing to observe".into()));
    };
    Ok(WatchedRelay {
        name: keys.name.clone(),
        within_ns: keys.within.map(|within| within.0),
        // A relay starts for faults elsewhere, and rightly does not trip for them.
        must_trip: keys.must_trip.unwrap_or(keys.fault.is_some()),
        observed: config,
    })
}

fn stated_rate(file: &File, keys: &RelayKeys) -> Option<u32> {
    let its = |stream: &&sentinel::StreamKeys| Some(&stream.sv_id) == keys.stream.as_ref();
    file.streams.iter().find(its).and_then(|stream| stream.rate)
}

fn block(keys: &BlockKeys) -> WatchedBlock {
    WatchedBlock {
        gocb_ref: keys.gocb_ref.clone(),
        expectation: Expectation {
            conf_rev: keys.conf_rev,
            dat_set: keys.dat_set.as_ref().map(|text| text.as_bytes().to_vec()),
            go_id: keys.go_id.as_ref().map(|text| text.as_bytes().to_vec()),
            entries: keys.entries,
        },
        tal_factor: keys.tal_factor,
    }
}

fn sets(file: &File) -> Result<Vec<StreamSet>, Failure> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| unread(path, &error));
    let mut sets = Vec::new();
    if let Some(path) = &file.set {
        sets.push(StreamSet::of_toml(read(path)?, path.display().to_string())?);
    }
    if let Some(path) = &file.scl {
        let choice = SclChoice {
            ieds: &file.ieds,
            frequency_hz: None,
            goose_alone: true,
        };
        sets.push(StreamSet::of_scl(&read(path)?, path.display().to_string(), choice)?);
    }
    Ok(sets)
}

/// Adds the streams and control blocks of a set that the file does not name itself.
fn add_set(set: &StreamSet, streams: &mut Vec<WatchedStream>, blocks: &mut Vec<WatchedBlock>) {
    for spec in &set.selection.streams {
        if !streams.iter().any(|stream| stream.sv_id == spec.sv_id) {
            streams.push(WatchedStream {
                sv_id: spec.sv_id.clone(),
                rate: Some(spec.rate),
                conf_rev: Some(spec.conf_rev),
                within_ns: None,
            });
        }
    }
    for expected in set.expected_blocks() {
        let gocb_ref = String::from_utf8_lossy(&expected.gocb_ref).into_owned();
        if !blocks.iter().any(|block| block.gocb_ref == gocb_ref) {
            blocks.push(WatchedBlock {
                gocb_ref,
                expectation: expected.expectation,
                tal_factor: 1.0,
            });
        }
    }
}

/// Settings of the logbook.
pub(super) fn settings(file: &File, text: &str) -> Result<logbook::Settings, Failure> {
    let relays = file
        .relays
        .iter()
        .map(|relay| (relay.name.as_str(), relay.within.map(|within| within.0)));
    let limits = (!file.relays.is_empty()).then(|| limits_of(relays));
    let (_, mut documents) = judged_by(None, limits.as_deref())?;
    documents.push(("sentinel".to_owned(), text.to_owned()));
    Ok(logbook::Settings {
        name: file.name.clone(),
        folder: file.folder.clone(),
        interface: file.interface.clone(),
        before_ns: file.ring.before_ns(),
        after_ns: file.ring.after_ns(),
        captures_octets: file.ring.disk(),
        runs_octets: file.run.disk(),
        file_budget: file.run.file_budget(),
        window_ns: file.run.window_ns(),
        documents,
        arguments: std::env::args().skip(1).collect(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        metrics: file.alarm.metrics.clone(),
    })
}

/// The configuration, for a person.
pub(super) fn described(file: &File, config: &Config) -> String {
    let mut text = format!("{} on {}, in {}\n", file.name, file.interface, file.folder.display());
    for relay in &config.relays {
        let within = relay
            .within_ns
            .map_or_else(|| "no limit".to_owned(), |ns| format!("within {}", Ns(ns)));
        let trips = if relay.must_trip {
            "each needs a trip"
        } else {
            "a start may end without a trip"
        };
        let _ = writeln!(
            text,
            "relay {}: fault where {}; trip is member {} of {}, {within}; {trips}",
            relay.name, relay.observed.rule, relay.observed.trip, relay.observed.gocb_ref
        );
    }
    for stream in &config.streams {
        let rate = stream
            .rate
            .map_or_else(|| "rate learned".to_owned(), |rate| format!("{rate} samples/s"));
        let _ = writeln!(text, "samples {}: {rate}", stream.sv_id);
    }
    for block in &config.blocks {
        let _ = writeln!(text, "goose {}", block.gocb_ref);
    }
    text
}
