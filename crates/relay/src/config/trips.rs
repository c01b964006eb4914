//! `[[trip]]` of a relay file.

use super::file::Problem;
use super::names::{self, free};
use super::{Config, TripMatrix};
use protection::Source;
use protection::breaker::{Rbrf, RbrfSettings};
use protection::trip::{Ptrc, PtrcSettings};
use serde::Deserialize;
use streamset::expand;
use toml::Spanned;
use units::{Refusal, Refuse, refusal};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TripKeys {
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

impl TripKeys {
    /// Makes the row of the trip matrix; its table begins at `start` in the text.
    pub(super) fn row(self, config: &Config, start: usize) -> Result<TripMatrix, Problem> {
        let here = |refusal: Refusal| (start, refusal.of(format_args!("trip \"{}\"", self.name)));
        let taken = config.trips.iter().map(|trip| &trip.name);
        free("trip", &self.name, taken).map_err(|problem| (start, problem))?;
        let names = config.functions.iter().map(|instance| instance.name.as_str());
        let find = |listed: &Spanned<String>| {
            let found = |name: String| names::find("function", &name, names.clone());
            let all =
                expand(listed.get_ref()).and_then(|all| all.into_iter().map(found).collect::<Result<Vec<_>, _>>());
            all.map_err(|problem| (listed.span().start, problem))
        };
        let functions = match &self.functions {
            Some(listed) => listed.iter().map(find).collect::<Result<Vec<_>, _>>()?.concat(),
            None => (0..config.functions.len()).collect(),
        };
        if functions.is_empty() {
            return Err(here(refusal!("no function operates it: list functions")));
        }
        let breaker_failure = self.breaker_failure.as_ref();
        let breaker_failure = breaker_failure.map(|keys| keys.settings(config, start, &self.name));
        let rated = config.rated(&config.streams[0], f64::from(config.rate));
        let conditioning = Ptrc::new(self.settings, &rated).refused().map_err(here)?;
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
        let here = |refusal: Refusal| (start, refusal.of(format_args!("trip \"{trip}\": breaker-failure")));
        if self.settings.source != Source::default() {
            return Err(here(refusal!(
                "settings has the number of a set: name the stream instead"
            )));
        }
        let Some(stream) = config.stream_or_only(self.stream.as_ref())? else {
            return Err(here(refusal!(
                "name the stream with the breaker's current: stream = \"…\""
            )));
        };
        let settings = RbrfSettings {
            source: Source::of(stream),
            ..self.settings
        };
        let rated = config.rated(&config.streams[stream], f64::from(config.rate));
        Rbrf::new(settings, &rated).refused().map_err(here)?;
        Ok(settings)
    }
}
