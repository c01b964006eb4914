//! The relay file as it is written; `docs/formats/relay-file.md` describes it.

use super::values::{Cpus, Span};
use super::{Config, Instance, Load, Order, RESIDUALS, RatedValues, Stream, TripMatrix, goose, names};
use crate::error::ConfigError;
use protection::breaker::{Rbrf, RbrfSettings};
use protection::measure::{Bay, BaySettings, Residual};
use protection::supervision::{Lsvs, Questionable, SampleSupervision};
use protection::trip::{Ptrc, PtrcSettings};
use protection::{FunctionSettings, Rated, Source};
use serde::Deserialize;
use std::ops::RangeInclusive;
use streamset::{Content, Keys};
use toml::Spanned;
use waveform::sample::Dataset;

const MS: u64 = 1_000_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    relay: Spanned<RelayKeys>,
    #[serde(default)]
    rated: RatedKeys,
    #[serde(default, rename = "stream")]
    streams: Vec<Spanned<StreamKeys>>,
    #[serde(default, rename = "function")]
    functions: Vec<Spanned<FunctionKeys>>,
    #[serde(default, rename = "trip")]
    trips: Vec<Spanned<TripKeys>>,
    #[serde(default, rename = "goose")]
    gooses: Vec<Spanned<streamset::goose::Block>>,
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
    #[serde(default)]
    cpus: Cpus,
    #[serde(default)]
    simulation: bool,
    #[serde(default)]
    test: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RatedKeys {
    current_a: Option<f64>,
    voltage_v: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct StreamKeys {
    name: String,
    sv: Keys,
    order: Option<Vec<String>>,
    #[serde(default)]
    rated: RatedKeys,
    #[serde(default)]
    measuring: BaySettings,
    #[serde(default)]
    supervision: SampleSupervision,
    #[serde(default)]
    questionable: Questionable,
    #[serde(default)]
    clock: u16,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FunctionKeys {
    name: String,
    stream: Option<Spanned<String>>,
    current_stream: Option<Spanned<String>>,
    voltage_stream: Option<Spanned<String>>,
    sides: Option<Spanned<Vec<String>>>,
    settings: FunctionSettings,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct TripKeys {
    name: String,
    #[serde(default)]
    settings: PtrcSettings,
    functions: Option<Vec<Spanned<String>>>,
    breaker_failure: Option<BreakerKeys>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BreakerKeys {
    stream: Option<Spanned<String>>,
    #[serde(default)]
    settings: RbrfSettings,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LoadKeys {
    instances: Option<u32>,
    working_set_mib: Option<u32>,
    busy: Option<Span>,
}

/// Where in the text something is wrong, and what.
type Problem = (usize, String);

/// Reads a relay file; `name` is what it is called in errors.
///
/// # Errors
/// The first thing that is wrong, with line and key.
pub fn parse(text: &str, name: &str) -> Result<Config, ConfigError> {
    let file: File = toml::from_str(text).map_err(|error| ConfigError::File {
        file: name.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })?;
    file.config(text, name).map_err(|(offset, problem)| ConfigError::Line {
        file: name.to_owned(),
        line: line_of(text, offset),
        problem,
    })
}

/// The line on which an octet of a text is, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|octet| **octet == b'\n').count()
}

impl File {
    fn config(self, text: &str, file: &str) -> Result<Config, Problem> {
        let start = self.relay.span().start;
        let relay = self.relay.into_inner();
        let mut config = relay.config().map_err(|problem| (start, problem))?;
        config.load = self.load.map_or(Ok(LoadKeys::NONE), LoadKeys::load)?;
        for entry in self.streams {
            let start = entry.span().start;
            let origin = format!("{file}, line {}", line_of(text, start));
            let stream = entry.into_inner().stream(&mut config, self.rated, &origin);
            let stream = stream.map_err(|problem| (start, problem))?;
            config.streams.push(stream);
        }
        if config.streams.is_empty() {
            return Err((start, "no stream: add [[stream]] with name and sv".into()));
        }
        for entry in self.functions {
            let start = entry.span().start;
            let instance = entry.into_inner().instance(&config, start)?;
            config.functions.push(instance);
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
        Ok(config)
    }
}

impl RelayKeys {
    /// The relay, with nothing in it yet.
    fn config(self) -> Result<Config, String> {
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
            cpus: self.cpus.0,
            simulation: self.simulation,
            in_test: self.test,
            streams: Vec::new(),
            functions: Vec::new(),
            trips: Vec::new(),
            gooses: Vec::new(),
            load: LoadKeys::NONE,
        })
    }
}

impl LoadKeys {
    const NONE: Load = Load {
        instances: 1,
        working_set_mib: 0,
        busy_ns: 0,
    };

    fn load(keys: Spanned<Self>) -> Result<Load, Problem> {
        let start = keys.span().start;
        let keys = keys.into_inner();
        let load = Load {
            instances: keys.instances.unwrap_or(1),
            working_set_mib: keys.working_set_mib.unwrap_or(0),
            busy_ns: keys.busy.map_or(0, |busy| busy.0),
        };
        let check = || {
            ranged("instances", u64::from(load.instances), 1..=1000)?;
            ranged("working-set-mib", u64::from(load.working_set_mib), 0..=65_536)?;
            ranged("busy in ms", load.busy_ns / MS, 0..=20)
        };
        check().map_err(|problem| (start, format!("[load]: {problem}")))?;
        Ok(load)
    }
}

fn ranged(what: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    let (low, high) = (range.start(), range.end());
    Err(format!("{what} is {value}; it must be {low} to {high}"))
}

/// Whether a name is still free, and can be told from the text around it.
fn free<'a>(what: &str, name: &str, mut taken: impl Iterator<Item = &'a String>) -> Result<(), String> {
    if name.is_empty() || name.contains(['.', ':', ',']) || name.chars().any(char::is_control) {
        return Err(format!(
            "{what} \"{name}\": a name has no dot, colon, comma or control character, and is not empty"
        ));
    }
    match taken.any(|other| other == name) {
        true => Err(format!(
            "{what} \"{name}\" stands in the file twice: give each its own name"
        )),
        false => Ok(()),
    }
}

impl StreamKeys {
    fn stream(self, config: &mut Config, relay: RatedKeys, origin: &str) -> Result<Stream, String> {
        free("stream", &self.name, config.streams.iter().map(|stream| &stream.name))?;
        let named = |problem: String| format!("stream \"{}\": {problem}", self.name);
        let spec = self
            .sv
            .stream(origin)
            .map_err(|problem| named(format!("sv: {problem}")))?;
        let Content::Channels { currents, voltages } = spec.content else {
            return Err(named("its members are not currents and voltages".into()));
        };
        let dataset =
            Dataset::new(usize::from(currents), usize::from(voltages)).map_err(|error| named(error.to_string()))?;
        let order = self
            .order
            .map_or_else(|| Ok(Order::usual(&dataset)), |order| Order::of_names(&order, &dataset));
        let order = order.map_err(named)?;
        if let Some(first) = config.streams.first().filter(|first| first.spec.rate != spec.rate) {
            return Err(named(format!(
                "{} samples a second, and stream \"{}\" has {}: all streams of a relay have one rate",
                spec.rate, first.name, first.spec.rate
            )));
        }
        config.rate = spec.rate;
        let usual = Rated::default();
        let mut measuring = self.measuring;
        if !order.has(RESIDUALS[0]) {
            measuring.residual_current = Residual::Sum;
        }
        if !order.has(RESIDUALS[1]) {
            measuring.residual_voltage = Residual::Sum;
        }
        let stream = Stream {
            rated: RatedValues {
                current_a: self.rated.current_a.or(relay.current_a).unwrap_or(usual.current_a),
                voltage_v: self.rated.voltage_v.or(relay.voltage_v).unwrap_or(usual.voltage_v),
            },
            name: self.name.clone(),
            spec,
            dataset,
            order,
            measuring,
            supervision: self.supervision,
            questionable: self.questionable,
            clock: self.clock,
        };
        let rated = config.rated(&stream, f64::from(config.rate));
        Bay::new(&stream.measuring, &rated).map_err(|error| named(error.to_string()))?;
        Lsvs::new(stream.supervision, &rated).map_err(|error| named(error.to_string()))?;
        Ok(stream)
    }
}

impl Config {
    /// Streams measure what their functions need.
    fn measure_harmonics(&mut self) {
        for instance in &self.functions {
            for set in instance.settings.sets() {
                let harmonics = &mut self.streams[set].measuring.harmonics;
                harmonics.extend(instance.settings.harmonics());
                harmonics.sort_unstable();
                harmonics.dedup();
            }
        }
    }

    fn stream_named(&self, name: &Spanned<String>) -> Result<usize, Problem> {
        let names = self.streams.iter().map(|stream| stream.name.as_str());
        names::find("stream", name.get_ref(), names).map_err(|problem| (name.span().start, problem))
    }

    /// The stream of that name; without one the only stream there is.
    fn stream_or_only(&self, name: Option<&Spanned<String>>) -> Result<Option<usize>, Problem> {
        match name {
            Some(name) => self.stream_named(name).map(Some),
            None => Ok((self.streams.len() == 1).then_some(0)),
        }
    }
}

impl FunctionKeys {
    fn instance(self, config: &Config, start: usize) -> Result<Instance, Problem> {
        let here = |problem: String| (start, format!("function \"{}\": {problem}", self.name));
        let taken = config.functions.iter().map(|instance| &instance.name);
        free("function", &self.name, taken).map_err(|problem| (start, problem))?;
        let is_differential = matches!(self.settings, FunctionSettings::Pdif(_));
        let unbound = if is_differential { [0, 1] } else { [0, 0] };
        if self.settings.sets() != unbound {
            return Err(here(
                "settings has the number of a set: name its stream instead (stream, or sides of pdif)".into(),
            ));
        }
        let sets = match is_differential {
            true => self.two_sides(config, start)?,
            false => self.one_source(config, start)?,
        };
        let settings = self.settings.of_sets(sets);
        let rated = config.rated_of(&settings, f64::from(config.rate));
        let function = settings.make(&rated).map_err(|error| here(error.to_string()))?;
        Ok(Instance {
            name: self.name,
            settings,
            node: function.node(),
        })
    }

    fn two_sides(&self, config: &Config, start: usize) -> Result<[usize; 2], Problem> {
        let problem = |what: &str| (start, format!("function \"{}\": {what}", self.name));
        if self.stream.is_some() || self.current_stream.is_some() || self.voltage_stream.is_some() {
            return Err(problem(
                "pdif takes sides = [\"one stream\", \"another\"], and no stream",
            ));
        }
        let Some(sides) = &self.sides else {
            return Err(problem("pdif needs sides = [\"one stream\", \"another\"]"));
        };
        let [one, other] = sides.get_ref().as_slice() else {
            return Err(problem("sides has two streams"));
        };
        let names = config.streams.iter().map(|stream| stream.name.as_str());
        let find = |name: &str| names::find("stream", name, names.clone()).map_err(|why| (sides.span().start, why));
        let found = [find(one)?, find(other)?];
        if found[0] == found[1] {
            return Err(problem(
                "both sides are one stream: a differential function compares two",
            ));
        }
        Ok(found)
    }

    fn one_source(&self, config: &Config, start: usize) -> Result<[usize; 2], Problem> {
        if self.sides.is_some() {
            return Err((
                start,
                format!("function \"{}\": sides is for pdif only: write stream", self.name),
            ));
        }
        let both = config.stream_or_only(self.stream.as_ref())?;
        let own = |name: &Option<Spanned<String>>| name.as_ref().map(|name| config.stream_named(name)).transpose();
        let current = own(&self.current_stream)?.or(both);
        let voltage = own(&self.voltage_stream)?.or(both);
        // One of the two alone is that of a function that needs only one.
        let source = match (current.or(voltage), voltage.or(current)) {
            (Some(current), Some(voltage)) => Source { current, voltage },
            _ => {
                let have: Vec<&str> = config.streams.iter().map(|stream| stream.name.as_str()).collect();
                let have = have.join(", ");
                return Err((
                    start,
                    format!("function \"{}\": say its stream (have: {have})", self.name),
                ));
            }
        };
        Ok([source.current, source.voltage])
    }
}

impl TripKeys {
    fn row(self, config: &Config, start: usize) -> Result<TripMatrix, Problem> {
        let here = |problem: String| (start, format!("trip \"{}\": {problem}", self.name));
        let taken = config.trips.iter().map(|trip| &trip.name);
        free("trip", &self.name, taken).map_err(|problem| (start, problem))?;
        let names = config.functions.iter().map(|instance| instance.name.as_str());
        let find = |name: &Spanned<String>| {
            names::find("function", name.get_ref(), names.clone()).map_err(|problem| (name.span().start, problem))
        };
        let functions = match &self.functions {
            Some(listed) => listed.iter().map(find).collect::<Result<Vec<_>, _>>()?,
            None => (0..config.functions.len()).collect(),
        };
        if functions.is_empty() {
            return Err(here("no function operates it: list functions".into()));
        }
        let breaker_failure = self.breaker_failure.as_ref();
        let breaker_failure = breaker_failure.map(|keys| keys.settings(config, start, &self.name));
        let rated = config.rated(&config.streams[0], f64::from(config.rate));
        let conditioning = Ptrc::new(self.settings, &rated).map_err(|error| here(error.to_string()))?;
        Ok(TripMatrix {
            settings: self.settings,
            node: conditioning.node(),
            functions,
            breaker_failure: breaker_failure.transpose()?,
            name: self.name,
        })
    }
}

impl BreakerKeys {
    fn settings(&self, config: &Config, start: usize, trip: &str) -> Result<RbrfSettings, Problem> {
        let here = |problem: String| (start, format!("trip \"{trip}\": breaker-failure: {problem}"));
        if self.settings.source != Source::default() {
            return Err(here("settings has the number of a set: name the stream instead".into()));
        }
        let Some(stream) = config.stream_or_only(self.stream.as_ref())? else {
            return Err(here("say whose current the breaker carries: stream = \"…\"".into()));
        };
        let settings = RbrfSettings {
            source: Source::of(stream),
            ..self.settings
        };
        let rated = config.rated(&config.streams[stream], f64::from(config.rate));
        Rbrf::new(settings, &rated).map_err(|error| here(error.to_string()))?;
        Ok(settings)
    }
}
