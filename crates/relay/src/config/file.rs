//! The keys of a relay file; `docs/formats/relay-file.md` describes them.

use super::functions::FunctionKeys;
use super::inputs::InputKeys;
use super::scl::{SclKeys, Station};
use super::streams::{RatedKeys, StreamKeys};
use super::trips::TripKeys;
use super::values::{Span, Text};
use super::{Config, Cpus, Recording, TaskLoad, goose};
use crate::ptp::PtpLoss;
use serde::Deserialize;
use std::ops::RangeInclusive;
use toml::Spanned;
use units::{Refusal, line_of, refusal};

const MS: u64 = 1_000_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    relay: Spanned<RelayKeys>,
    #[serde(default)]
    rated: RatedKeys,
    scl: Option<Spanned<SclKeys>>,
    #[serde(default, rename = "stream")]
    streams: Vec<Spanned<StreamKeys>>,
    #[serde(default, rename = "input")]
    inputs: Vec<Spanned<InputKeys>>,
    #[serde(default, rename = "function")]
    functions: Vec<Spanned<FunctionKeys>>,
    #[serde(default, rename = "trip")]
    trips: Vec<Spanned<TripKeys>>,
    #[serde(default, rename = "goose")]
    gooses: Vec<Spanned<streamset::goose::Block>>,
    record: Option<Spanned<RecordKeys>>,
    load: Option<Spanned<LoadKeys>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RelayKeys {
    name: String,
    frequency: Option<f64>,
    task: Option<Span>,
    wait: Option<Span>,
    priority: Option<u8>,
    cpus: Option<Text<Cpus>>,
    #[serde(default)]
    ptp_loss: PtpLoss,
    #[serde(default)]
    simulation: bool,
    #[serde(default)]
    test: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordKeys {
    pre: Option<Span>,
    post: Option<Span>,
    most: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LoadKeys {
    instances: Option<u32>,
    working_set_mib: Option<u32>,
    busy: Option<Span>,
}

/// Part of the error of a table that has none or several of the keys of which it takes one; it names none of them.
const ONE_KEY: &str = "exactly 1 element";

/// Position of an error in the text, and the error.
pub(super) type Problem = (usize, Refusal);

/// Reads a relay file without further files; errors refer to it as `name`.
///
/// # Errors
/// The first error, with line and key. A file that takes streams from another file is also an error.
pub fn parse(text: &str, name: &str) -> Result<Config, Refusal> {
    parse_with(text, name, &mut |file| {
        Err(refusal!("{file}: no other file can be read here"))
    })
}

/// Reads a relay file; errors refer to it as `name`. `read` returns the bytes of an SCL file named in it, or the reason why it
/// cannot.
///
/// # Errors
/// The first error, with line and key.
pub fn parse_with(
    text: &str,
    name: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, Refusal>,
) -> Result<Config, Refusal> {
    let file: File = toml::from_str(text).map_err(|error| refused(text, &error.to_string()).of(name))?;
    file.config(text, name, read)
        .map_err(|(offset, refusal)| refusal.at_line(line_of(text, offset)).of(name))
}

/// The error of a text that is not a relay file. A table of settings that is not that of one function is named with its keys.
fn refused(text: &str, error: &str) -> Refusal {
    let of_one_key = error.contains(ONE_KEY).then(|| super::kinds::refused(text)).flatten();
    of_one_key.unwrap_or_else(|| refusal!("{}", error.trim_end()))
}

impl File {
    fn config(
        self,
        text: &str,
        file: &str,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, Refusal>,
    ) -> Result<Config, Problem> {
        let start = self.relay.span().start;
        let relay = self.relay.into_inner();
        let mut config = relay.config().map_err(|problem| (start, problem))?;
        config.recording = self.record.map_or(Ok(RecordKeys::USUAL), RecordKeys::recording)?;
        config.load = self.load.map_or(Ok(LoadKeys::NONE), LoadKeys::load)?;
        let frequency_hz = config.frequency_hz;
        let station = self.scl.map(|keys| Station::of(keys, frequency_hz, read)).transpose()?;
        if let (Some(station), []) = (&station, &self.streams[..]) {
            for spec in station.subscribed()? {
                let added = StreamKeys::plain(&spec.sv_id).add_one(&mut config, self.rated, spec);
                added.map_err(|problem| {
                    (
                        start,
                        refusal!("[scl] {problem}: or write a [[stream]] with name and scl for each"),
                    )
                })?;
            }
        }
        for entry in self.streams {
            let start = entry.span().start;
            let origin = format!("{file}, line {}", line_of(text, start));
            let added = entry
                .into_inner()
                .add_to(&mut config, self.rated, &origin, station.as_ref());
            added.map_err(|problem| (start, problem))?;
        }
        if config.streams.is_empty() {
            return Err((start, refusal!("no stream: add [[stream]] with name and sv, or [scl]")));
        }
        for entry in self.inputs {
            let start = entry.span().start;
            let input = entry.into_inner().input(&config, start)?;
            config.inputs.push(input);
        }
        for entry in self.functions {
            let start = entry.span().start;
            for keys in entry.into_inner().each(start)? {
                let instance = keys.instance(&config, start)?;
                config.functions.push(instance);
            }
        }
        config.measure_harmonics();
        for entry in self.trips {
            let start = entry.span().start;
            let row = entry.into_inner().row(&config, start)?;
            config.trips.push(row);
        }
        for entry in &self.gooses {
            let output = goose::output(entry.get_ref(), entry.span().start, &config)?;
            config.gooses.push(output);
        }
        if let Some(station) = station {
            let outputs = station.outputs(&config)?;
            config.gooses.extend(outputs);
        }
        Ok(config)
    }
}

impl RelayKeys {
    /// Makes the relay without streams, functions and outputs.
    fn config(self) -> Result<Config, Refusal> {
        let task_ns = self.task.map_or(MS, |task| task.0);
        let wait_ns = self.wait.map_or(2 * MS, |wait| wait.0);
        let priority = self.priority.unwrap_or(80);
        ranged("task in us", task_ns / 1000, 100..=20_000)?;
        ranged("wait in ms", wait_ns / MS, 0..=20)?;
        ranged("priority", u64::from(priority), 1..=98)?;
        Ok(Config {
            name: self.name,
            frequency_hz: self.frequency.unwrap_or(50.0),
            rate: 0,
            task_ns,
            wait_ns,
            priority,
            cpus: self.cpus.map_or(Cpus::One(None), |cpus| cpus.0),
            ptp_loss: self.ptp_loss,
            simulation: self.simulation,
            in_test: self.test,
            streams: Vec::new(),
            inputs: Vec::new(),
            functions: Vec::new(),
            trips: Vec::new(),
            gooses: Vec::new(),
            recording: RecordKeys::USUAL,
            load: LoadKeys::NONE,
        })
    }
}

impl RecordKeys {
    const USUAL: Recording = Recording {
        pre_ns: 200 * MS,
        post_ns: 500 * MS,
        most: 100,
    };

    fn recording(keys: Spanned<Self>) -> Result<Recording, Problem> {
        let start = keys.span().start;
        let keys = keys.into_inner();
        let recording = Recording {
            pre_ns: keys.pre.map_or(Self::USUAL.pre_ns, |pre| pre.0),
            post_ns: keys.post.map_or(Self::USUAL.post_ns, |post| post.0),
            most: keys.most.unwrap_or(Self::USUAL.most),
        };
        let check = || {
            ranged("pre in ms", recording.pre_ns / MS, 20..=2000)?;
            ranged("post in ms", recording.post_ns / MS, 20..=2000)?;
            ranged("most", u64::from(recording.most), 1..=100_000)
        };
        check().map_err(|refusal: Refusal| (start, refusal.of_key("[record]")))?;
        Ok(recording)
    }
}

impl LoadKeys {
    const NONE: TaskLoad = TaskLoad {
        instances: 1,
        working_set_mib: 0,
        busy_ns: 0,
    };

    fn load(keys: Spanned<Self>) -> Result<TaskLoad, Problem> {
        let start = keys.span().start;
        let keys = keys.into_inner();
        let load = TaskLoad {
            instances: keys.instances.unwrap_or(1),
            working_set_mib: keys.working_set_mib.unwrap_or(0),
            busy_ns: keys.busy.map_or(0, |busy| busy.0),
        };
        let check = || {
            ranged("instances", u64::from(load.instances), 1..=1000)?;
            ranged("working-set-mib", u64::from(load.working_set_mib), 0..=65_536)?;
            ranged("busy in ms", load.busy_ns / MS, 0..=20)
        };
        check().map_err(|refusal: Refusal| (start, refusal.of_key("[load]")))?;
        Ok(load)
    }
}

fn ranged(what: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), Refusal> {
    if range.contains(&value) {
        return Ok(());
    }
    let (low, high) = (range.start(), range.end());
    Err(refusal!("{what} is {value}; it must be {low} to {high}"))
}
