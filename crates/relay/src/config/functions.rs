//! `[[function]]` of a relay file.

use super::file::Problem;
use super::names::{self, free};
use super::{Config, Instance};
use protection::distance::{PdisSettings, check_zones};
use protection::{FunctionSettings, Source};
use serde::Deserialize;
use std::fmt::Display;
use streamset::expand;
use toml::Spanned;
use units::{Refusal, Refuse, refusal};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FunctionKeys {
    name: String,
    stream: Option<Spanned<String>>,
    current_stream: Option<Spanned<String>>,
    voltage_stream: Option<Spanned<String>>,
    sides: Option<Spanned<Vec<String>>>,
    settings: FunctionSettings,
}

impl Config {
    /// Adds to each stream the measurements that its functions need.
    pub(super) fn measure_harmonics(&mut self) {
        for instance in &self.functions {
            for set in instance.settings.sets() {
                let measuring = &mut self.streams[set].measuring;
                add(&mut measuring.harmonics, instance.settings.harmonics());
                add(
                    &mut measuring.residual_harmonics,
                    instance.settings.residual_harmonics(),
                );
            }
        }
    }

    /// Distance zones of the relay with the currents and voltages of `added`, and `added` itself; none if it is no zone.
    fn zones_with(&self, added: &FunctionSettings) -> Vec<PdisSettings> {
        let zone = |settings: &FunctionSettings| match settings {
            FunctionSettings::Pdis(zone) => Some(*zone),
            _ => None,
        };
        let Some(added) = zone(added) else {
            return Vec::new();
        };
        let others = self.functions.iter().filter_map(|instance| zone(&instance.settings));
        let same = others.filter(|other| other.source == added.source);
        same.chain([added]).collect()
    }

    fn stream_named(&self, name: &Spanned<String>) -> Result<usize, Problem> {
        let names = self.streams.iter().map(|stream| stream.name.as_str());
        names::find("stream", name.get_ref(), names).map_err(|problem| (name.span().start, problem))
    }

    /// The stream with that name; without a name, the only stream, if there is just one.
    pub(super) fn stream_or_only(&self, name: Option<&Spanned<String>>) -> Result<Option<usize>, Problem> {
        match name {
            Some(name) => self.stream_named(name).map(Some),
            None => Ok((self.streams.len() == 1).then_some(0)),
        }
    }
}

/// Adds further orders, each once.
fn add(orders: &mut Vec<u32>, more: &[u32]) {
    orders.extend(more);
    orders.sort_unstable();
    orders.dedup();
}

impl FunctionKeys {
    /// Makes one function for each number of the range in its name; its streams have the same number of names, or none.
    pub(super) fn each(self, start: usize) -> Result<Vec<Self>, Problem> {
        let wrong = |refusal: Refusal| (start, refusal.of(format_args!("function \"{}\"", self.name)));
        let names = expand(&self.name).map_err(wrong)?;
        let count = names.len();
        let numbered = |stream: &Option<Spanned<String>>| -> Result<Vec<Option<Spanned<String>>>, Problem> {
            let Some(stream) = stream else {
                return Ok(vec![None; count]);
            };
            let here = |refusal: Refusal| (stream.span().start, refusal);
            let found = expand(stream.get_ref()).map_err(here)?;
            if found.len() != 1 && found.len() != count {
                let problem = refusal!(
                    "{} streams for {count} functions: write ranges of the same length",
                    found.len()
                );
                return Err(here(problem));
            }
            let of = |number: usize| Some(Spanned::new(stream.span(), found[number % found.len()].clone()));
            Ok((0..count).map(of).collect())
        };
        let [streams, currents, voltages] = [&self.stream, &self.current_stream, &self.voltage_stream].map(numbered);
        let (streams, currents, voltages) = (streams?, currents?, voltages?);
        let one = |(number, name): (usize, String)| Self {
            name,
            stream: streams[number].clone(),
            current_stream: currents[number].clone(),
            voltage_stream: voltages[number].clone(),
            ..self.clone()
        };
        Ok(names.into_iter().enumerate().map(one).collect())
    }

    /// Makes the instance; its table begins at `start` in the text.
    pub(super) fn instance(self, config: &Config, start: usize) -> Result<Instance, Problem> {
        let here = |refusal: Refusal| (start, refusal.of(format_args!("function \"{}\"", self.name)));
        let taken = config.functions.iter().map(|instance| &instance.name);
        free("function", &self.name, taken).map_err(|problem| (start, problem))?;
        let is_differential = matches!(self.settings, FunctionSettings::Pdif(_));
        let unbound = if is_differential { [0, 1] } else { [0, 0] };
        if self.settings.sets() != unbound {
            return Err(here(refusal!(
                "settings has the number of a set: name its stream instead (stream, or sides of pdif)"
            )));
        }
        let sets = match is_differential {
            true => self.two_sides(config, start)?,
            false => self.one_source(config, start)?,
        };
        let settings = self.settings.of_sets(sets);
        let rated = config.rated_of(&settings, f64::from(config.rate));
        let function = settings.make(&rated).refused().map_err(here)?;
        check_zones(&config.zones_with(&settings)).refused().map_err(here)?;
        Ok(Instance {
            name: self.name,
            settings,
            node: function.node(),
        })
    }

    fn two_sides(&self, config: &Config, start: usize) -> Result<[usize; 2], Problem> {
        let problem = |what: &str| (start, self.refused(what));
        if self.stream.is_some() || self.current_stream.is_some() || self.voltage_stream.is_some() {
            return Err(problem(
                "pdif takes sides = [\"one stream\", \"another\"], and no stream",
            ));
        }
        let Some(sides) = &self.sides else {
            return Err(problem("pdif needs sides = [\"one stream\", \"another\"]"));
        };
        let [one, other] = sides.get_ref().as_slice() else {
            return Err(problem("sides needs two streams"));
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

    fn refused(&self, reason: impl Display) -> Refusal {
        Refusal::new(reason).of(format_args!("function \"{}\"", self.name))
    }

    fn one_source(&self, config: &Config, start: usize) -> Result<[usize; 2], Problem> {
        if self.sides.is_some() {
            return Err((start, self.refused("sides is for pdif only: write stream")));
        }
        let both = config.stream_or_only(self.stream.as_ref())?;
        let own = |name: &Option<Spanned<String>>| name.as_ref().map(|name| config.stream_named(name)).transpose();
        let current = own(&self.current_stream)?.or(both);
        let voltage = own(&self.voltage_stream)?.or(both);
        // If only one of the two is given, it belongs to a function that needs only one.
        let source = match (current.or(voltage), voltage.or(current)) {
            (Some(current), Some(voltage)) => Source { current, voltage },
            _ => {
                let have: Vec<&str> = config.streams.iter().map(|stream| stream.name.as_str()).collect();
                let have = have.join(", ");
                return Err((start, self.refused(format_args!("name its stream (have: {have})"))));
            }
        };
        Ok([source.current, source.voltage])
    }
}
