//! A series: a named stream of samples in ns.

use crate::counters::Counter;
use crate::kind::Kind;
use crate::setting;

/// The clock that a series' samples are differences of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesClock {
    /// Both instants come from `CLOCK_MONOTONIC`: a clock step cannot affect the values.
    Monotonic,
    /// At least one instant comes from `CLOCK_REALTIME`: a clock step in a window makes its values doubtful.
    Realtime,
}

/// A named stream of samples in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSpec {
    /// Name such as `wakeup/cpu1` or `age/MU01`.
    pub name: String,
    /// The kind of its samples; `None` if this version does not know the kind.
    pub kind: Option<&'static Kind>,
    /// One sentence: the two instants that a sample lies between.
    pub what: String,
    /// Clock of the two instants.
    pub clock: SeriesClock,
    /// Nominal time between samples, if the series is periodic.
    pub interval_ns: Option<f64>,
    /// Samples above this are counted as `overflow` and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// Settings of the measurement (policy, priority, CPU, engine…), in the order to show.
    pub settings: Vec<(String, String)>,
}

/// Number of a series in its run, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u32);

impl SeriesSpec {
    /// Makes a series of a kind, named after the measured object: `label` is `cpu1` in `wakeup/cpu1`. `what` describes the two
    /// instants that a sample lies between. Unless the caller changes it, both instants are on the monotonic clock, and the series
    /// has no period and no threshold.
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

    /// Makes a series of which only the name is known; the first part of the name gives its kind.
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

    /// True if the series counts this: its kind does, and its probe could see it. False for an unknown kind, as there is no way to
    /// know.
    pub fn counts(&self, counter: Counter) -> bool {
        let left_out = self.setting(setting::NOT_COUNTED).unwrap_or_default();
        let is_left_out = left_out.split(", ").any(|name| name == counter.name());
        !is_left_out && self.kind.is_some_and(|kind| kind.counts(counter))
    }

    /// True if a 0 of this counter says that there was none: the series counts it, and `lacks`, the counters that are newer than its file, does not
    /// name it. Samples over a threshold are counted where one is set.
    pub fn knows(&self, counter: Counter, lacks: &[Counter]) -> bool {
        match counter {
            Counter::Overflow => self.threshold_ns.is_some(),
            counter => self.counts(counter) && !lacks.contains(&counter),
        }
    }

    /// Returns the series without these counters of its kind, which its source cannot see.
    #[must_use]
    pub fn not_counting(mut self, counters: &[Counter]) -> Self {
        let names: Vec<&str> = counters.iter().map(|counter| counter.name()).collect();
        self.settings.push((setting::NOT_COUNTED.into(), names.join(", ")));
        self
    }

    /// The name of its kind; for an unknown kind, the first part of the series' own name.
    pub fn family(&self) -> &str {
        let unknown = || self.name.split('/').next().unwrap_or_default();
        self.kind.map_or_else(unknown, |kind| kind.name)
    }

    /// Its name without the kind.
    pub fn label(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(_, label)| label)
    }
}

/// Prefixes the label of a series with another name, such as that of a load: `hackbench/cpu1`.
pub fn under(above: Option<&str>, label: &str) -> String {
    above.map_or_else(|| label.to_owned(), |above| format!("{above}/{label}"))
}

#[cfg(test)]
mod tests {
    use super::SeriesSpec;
    use crate::counters::Counter;

    #[test]
    fn a_series_counts_what_its_kind_does_unless_it_says_otherwise() {
        let spacing = SeriesSpec::named("spacing/MU01");
        assert!(spacing.counts(Counter::Lost) && spacing.counts(Counter::Conflicting));
        assert!(!spacing.counts(Counter::Late));
        let of_a_log = spacing.not_counting(&[Counter::Conflicting, Counter::Lost]);
        assert!(!of_a_log.counts(Counter::Conflicting) && !of_a_log.counts(Counter::Lost));
        assert!(of_a_log.counts(Counter::Duplicate));
        assert!(!SeriesSpec::named("of-another-version/MU01").counts(Counter::Lost));
    }
}
