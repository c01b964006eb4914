//! `[[stream]]` of a relay file.

use super::names::free;
use super::{Config, Order, RESIDUALS, RatedValues, Stream};
use protection::Rated;
use protection::measure::{Bay, BaySettings, Residual};
use protection::supervision::{Lsvs, Questionable, SampleSupervision};
use serde::Deserialize;
use streamset::{Content, Keys, StreamSpec, expand};
use waveform::sample::Dataset;

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RatedKeys {
    pub(super) current_a: Option<f64>,
    pub(super) voltage_v: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StreamKeys {
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

impl StreamKeys {
    /// Puts the streams that these keys stand for behind those that `config` has; `origin` says where they are from.
    pub(super) fn add_to(&self, config: &mut Config, relay: RatedKeys, origin: &str) -> Result<(), String> {
        let named = |problem: String| format!("stream \"{}\": {problem}", self.name);
        let names = expand(&self.name).map_err(named)?;
        let specs = self
            .sv
            .streams(origin)
            .map_err(|problem| named(format!("sv: {problem}")))?;
        if names.len() != specs.len() {
            return Err(named(format!(
                "the name stands for {}, and the svID for {}: write ranges of one length",
                names.len(),
                specs.len()
            )));
        }
        for (name, spec) in names.into_iter().zip(specs) {
            let stream = self.stream(&name, spec, config, relay)?;
            config.rate = stream.spec.rate;
            config.streams.push(stream);
        }
        Ok(())
    }

    /// The stream of this name, which is to stand behind those that `config` has.
    fn stream(&self, name: &str, spec: StreamSpec, config: &Config, relay: RatedKeys) -> Result<Stream, String> {
        free("stream", name, config.streams.iter().map(|stream| &stream.name))?;
        let named = |problem: String| format!("stream \"{name}\": {problem}");
        let Content::Channels { currents, voltages } = spec.content else {
            return Err(named("its members are not currents and voltages".into()));
        };
        let dataset =
            Dataset::new(usize::from(currents), usize::from(voltages)).map_err(|error| named(error.to_string()))?;
        let order = match &self.order {
            Some(order) => Order::of_names(order, &dataset).map_err(named)?,
            None => Order::usual(&dataset),
        };
        if let Some(first) = config.streams.first().filter(|first| first.spec.rate != spec.rate) {
            return Err(named(format!(
                "{} samples a second, and stream \"{}\" has {}: all streams of a relay have one rate",
                spec.rate, first.name, first.spec.rate
            )));
        }
        let usual = Rated::default();
        let mut measuring = self.measuring.clone();
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
            name: name.to_owned(),
            spec,
            dataset,
            order,
            measuring,
            supervision: self.supervision,
            questionable: self.questionable,
            clock: self.clock,
        };
        let rated = config.rated(&stream, f64::from(stream.spec.rate));
        Bay::new(&stream.measuring, &rated).map_err(|error| named(error.to_string()))?;
        Lsvs::new(stream.supervision, &rated).map_err(|error| named(error.to_string()))?;
        Ok(stream)
    }
}
