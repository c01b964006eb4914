//! Names and meaning of the series of an observation, and its limits. The same live and of a capture.

use crate::nic::ReceiveStamps;
use crate::trip::{FAILURES, FALSE, within};
use model::{EventKind, SeriesSpec, kind, setting};
use observation::{Config, Rule, Series};
use run::Describe;
use units::Ns;

/// Name of what is observed: series are `trip/observed` and `start/observed`, and so shots are called.
pub const LABEL: &str = "observed";

/// Slot of a series: the trips come first.
pub(super) fn slot(of: Series) -> u16 {
    u16::from(of == Series::Starts)
}

/// Limits of a relay that is observed, as they stand in a profile: it trips for each fault, within the time that is required, if one is, and
/// for nothing else.
pub fn limits(within_ns: Option<u64>) -> String {
    let within = within_ns.map(|ns| within(LABEL, LABEL, ns, "--within"));
    [within.as_deref(), Some(FAILURES), Some(FALSE)]
        .into_iter()
        .flatten()
        .collect()
}

/// Limits of relays in service, each with its name and its required time, if it has one; as [`limits`].
pub fn limits_of<'a>(relays: impl Iterator<Item = (&'a str, Option<u64>)>) -> String {
    let required = relays.filter_map(|(name, ns)| Some(within(name, name, ns?, "the file of the sentinel")));
    required.chain([FAILURES.to_owned(), FALSE.to_owned()]).collect()
}

/// A series. `from` says where the frames come from: an interface, a capture.
pub fn series(config: &Config, of: Series, from: (&str, &str), within_ns: Option<u64>) -> SeriesSpec {
    let begin = match config.rule {
        Rule::Contact { .. } => "stamp of the first GOOSE frame with the injector's contact",
        _ => "stamp of the frame with the first faulted sample of another injector",
    };
    let (kind, bit) = match of {
        Series::Starts => (&kind::START, "start"),
        Series::Trips => (&kind::TRIP, "trip"),
    };
    let uncertain = match config.rule {
        Rule::Contact { .. } => "the injector's time from its fault to its contact is not known",
        _ => "each shot says how much earlier its fault may have begun",
    };
    let mut settings = vec![
        (from.0.to_owned(), from.1.to_owned()),
        (setting::FAULT_WHERE.into(), config.rule.to_string()),
        ("start".into(), uncertain.into()),
        ("relay".into(), config.gocb_ref.clone()),
        ("trip member".into(), config.trip.to_string()),
        ("deadline".into(), Ns(config.deadline_ns).to_string()),
        ("controls".into(), "none: the injector is not ours".into()),
    ];
    if config.rule.is_of_samples() {
        settings.push(("stream".into(), config.sv_id.clone()));
        settings.push(("frequency".into(), format!("{} Hz", config.frequency_hz)));
    }
    if let Some(ns) = within_ns.filter(|_| of == Series::Trips) {
        settings.push(("required within".into(), Ns(ns).to_string()));
    }
    SeriesSpec {
        settings,
        ..SeriesSpec::of(
            kind,
            LABEL,
            format!("{begin} -> that of the first GOOSE frame with the {bit} bit"),
        )
    }
}

/// The series of a live observation.
pub(super) struct Observed {
    pub(super) config: Config,
    pub(super) within_ns: Option<u64>,
    pub(super) interface: String,
    pub(super) how: Vec<(String, String)>,
    pub(super) stamps: ReceiveStamps,
}

impl Describe for Observed {
    fn series(&self, number: u16, _label: &str) -> SeriesSpec {
        let of = match number {
            0 => Series::Trips,
            _ => Series::Starts,
        };
        let mut spec = series(&self.config, of, ("interface", &self.interface), self.within_ns);
        spec.settings.extend(self.how.iter().cloned());
        if self.stamps == ReceiveStamps::Hardware {
            spec.settings.push((setting::STAMPS.into(), self.stamps.maker().into()));
        }
        spec
    }

    fn notice(&self, _code: u16, _name: &str, _a: u64, _b: u64) -> Option<(EventKind, String)> {
        None
    }
}
