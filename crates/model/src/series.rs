//! A series: a named stream of samples in ns.

use crate::kind::Kind;

/// Which clock a series' values are differences of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesClock {
    /// Both instants from `CLOCK_MONOTONIC`: a clock step cannot touch the values.
    Monotonic,
    /// At least one instant from `CLOCK_REALTIME`: a clock step in a window makes its values doubtful.
    Realtime,
}

/// A named stream of samples in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSpec {
    /// Name such as `wakeup/cpu1` or `age/MU01`.
    pub name: String,
    /// What its samples are; `None` of a kind that this version does not know.
    pub kind: Option<&'static Kind>,
    /// One sentence: between which two instants a sample lies.
    pub what: String,
    /// Clock of the two instants.
    pub clock: SeriesClock,
    /// Nominal time between samples, if the series is periodic.
    pub interval_ns: Option<f64>,
    /// Samples above this are counted as `overflow` and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// What the series was measured with (policy, priority, CPU, engine…), in the order to show.
    pub settings: Vec<(String, String)>,
}

/// Number of a series in its run, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u32);

impl SeriesSpec {
    /// A series of a kind, named after what it is of: `label` is `cpu1` in `wakeup/cpu1`. `what` says between which two instants a
    /// sample lies. Both instants are of the monotonic clock, it has no period and no threshold, unless the caller says otherwise.
    pub fn of(kind: &'static Kind, label: &str, what: impl Into<String>) -> Self {
        Self {
            name: format!("{}/{label}", kind.name),
            kind: Some(kind),
            what: what.into(),
            clock: SeriesClock::Monotonic,
            interval_ns: None,
            threshold_ns: None,
            settings: Vec::new(),
        }
    }

    /// A series of which nothing but its name is known: its kind is what the first part of the name says.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: Kind::of_series(name),
            what: String::new(),
            clock: SeriesClock::Monotonic,
            interval_ns: None,
            threshold_ns: None,
            settings: Vec::new(),
        }
    }

    /// The value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The name of its kind; of one that is not known, the first part of its own name.
    pub fn family(&self) -> &str {
        let unknown = || self.name.split('/').next().unwrap_or_default();
        self.kind.map_or_else(unknown, |kind| kind.name)
    }

    /// What it is of: its name without the kind.
    pub fn label(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(_, label)| label)
    }
}

/// The label of a series under another name, such as that of a load: `hackbench/cpu1`.
pub fn under(above: Option<&str>, label: &str) -> String {
    above.map_or_else(|| label.to_owned(), |above| format!("{above}/{label}"))
}
