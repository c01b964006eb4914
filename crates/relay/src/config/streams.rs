//! `[[stream]]` of a relay file.

use super::names::free;
use super::scl::Station;
use super::{Config, Order, RESIDUALS, RatedValues, Stream};
use crate::metering::MeteringSettings;
use protection::Rated;
use protection::measure::{Bay, BaySettings, Residual};
use protection::supervision::{FuseSettings, FuseSupervision, Lsvs, Questionable, SampleSupervision};
use protection::supervision::{SwingSettings, SwingSupervision};
use serde::Deserialize;
use streamset::{Content, Keys, StreamSpec, expand};
use units::{Refusal, Refuse, refusal};
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
    sv: Option<Keys>,
    scl: Option<String>,
    order: Option<Vec<String>>,
    #[serde(default)]
    rated: RatedKeys,
    #[serde(default)]
    measuring: BaySettings,
    #[serde(default)]
    supervision: SampleSupervision,
    fuse: Option<FuseSettings>,
    swing: Option<SwingSettings>,
    metering: Option<MeteringSettings>,
    #[serde(default)]
    questionable: Questionable,
    #[serde(default)]
    clock: u16,
}

impl StreamKeys {
    /// Appends the streams described by these keys to those of `config`; `origin` names their source.
    pub(super) fn add_to(
        &self,
        config: &mut Config,
        relay: RatedKeys,
        origin: &str,
        station: Option<&Station>,
    ) -> Result<(), Refusal> {
        let named = |refusal: Refusal| refusal.of(format_args!("stream \"{}\"", self.name));
        let names = expand(&self.name).map_err(named)?;
        let specs = self.specs(origin, station).map_err(named)?;
        if names.len() != specs.len() {
            return Err(named(refusal!(
                "the name covers {}, and the svID {}: write ranges of the same length",
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

    /// Addresses and contents of the streams: from `sv`, or from the station's file.
    fn specs(&self, origin: &str, station: Option<&Station>) -> Result<Vec<StreamSpec>, Refusal> {
        match (&self.sv, &self.scl, station) {
            (Some(sv), None, _) => sv.streams(origin).refused_of("sv"),
            (None, Some(wanted), Some(station)) => {
                let each = expand(wanted)?.into_iter().map(|wanted| station.stream(&wanted));
                each.collect::<Result<_, _>>().refused_of("scl")
            }
            (None, Some(_), None) => Err(refusal!("scl: name the file: [scl] with file and ied")),
            (Some(_), Some(_), _) => Err(refusal!("it has sv and scl: leave one of them out")),
            (None, None, _) => Err(Refusal::new(
                "give its source: sv = { svID = \"MU01\" }, or scl = \"MU01\" with [scl]",
            )),
        }
    }

    /// Keys of a stream that has only a name.
    pub(super) fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            sv: None,
            scl: None,
            order: None,
            rated: RatedKeys::default(),
            measuring: BaySettings::default(),
            supervision: SampleSupervision::default(),
            fuse: None,
            swing: None,
            metering: None,
            questionable: Questionable::default(),
            clock: 0,
        }
    }

    /// Appends one stream with this source to those of `config`.
    pub(super) fn add_one(&self, config: &mut Config, relay: RatedKeys, spec: StreamSpec) -> Result<(), Refusal> {
        let stream = self.stream(&self.name, spec, config, relay)?;
        config.rate = stream.spec.rate;
        config.streams.push(stream);
        Ok(())
    }

    /// Makes the stream with this name, to be appended to those of `config`.
    fn stream(&self, name: &str, spec: StreamSpec, config: &Config, relay: RatedKeys) -> Result<Stream, Refusal> {
        free("stream", name, config.streams.iter().map(|stream| &stream.name))?;
        let named = |refusal: Refusal| refusal.of(format_args!("stream \"{name}\""));
        let (currents, voltages) = match &spec.content {
            Content::Channels { currents, voltages } => (*currents, *voltages),
            Content::Other { why, .. } => {
                return Err(named(refusal!("its members are not currents and voltages: {why}")));
            }
        };
        let dataset = Dataset::new(usize::from(currents), usize::from(voltages))
            .refused()
            .map_err(named)?;
        let order = match &self.order {
            Some(order) => Order::of_names(order, &dataset).map_err(named)?,
            None => Order::usual(&dataset),
        };
        if let Some(first) = config.streams.first().filter(|first| first.spec.rate != spec.rate) {
            return Err(named(refusal!(
                "{} samples a second, and stream \"{}\" has {}: all streams of a relay have one rate",
                spec.rate,
                first.name,
                first.spec.rate
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
            fuse: self.fuse,
            swing: self.swing,
            metering: self.metering,
            questionable: self.questionable,
            clock: self.clock,
        };
        let rated = config.rated(&stream, f64::from(stream.spec.rate));
        Bay::new(&stream.measuring, &rated).refused().map_err(named)?;
        Lsvs::new(stream.supervision, &rated).refused().map_err(named)?;
        if let Some(fuse) = stream.fuse {
            FuseSupervision::new(fuse, &rated).refused().map_err(named)?;
        }
        let phases = [0, 1, 2, 4, 5, 6].into_iter().all(|channel| stream.order.has(channel));
        let needs = |key: &str| {
            let refusal =
                refusal!("{key} needs the currents and voltages of three phases: give them, or leave {key} out");
            if phases { Ok(()) } else { Err(named(refusal)) }
        };
        if let Some(metering) = stream.metering {
            needs("metering")?;
            metering.make(&rated).refused().map_err(named)?;
        }
        if let Some(swing) = stream.swing {
            needs("swing")?;
            let longest_us = (SwingSupervision::LONGEST_TASK * 1e6 / config.frequency_hz) as u64;
            if config.task_ns / 1000 > longest_us {
                return Err(named(refusal!(
                    "swing needs a task of a quarter of a cycle at most, {longest_us} us: shorten task, or leave swing out"
                )));
            }
            SwingSupervision::new(swing, &rated).refused().map_err(named)?;
        }
        Ok(stream)
    }
}
