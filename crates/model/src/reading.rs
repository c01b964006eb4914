//! Readings during a run: values that the kernel counts in units of their own, such as the bytes of a cache in use. They are no
//! samples in ns, and no limit is checked against them.

use units::format_octets;

/// The unit of a reading. The text form is part of the run file and of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingUnit {
    /// Bytes in use.
    Octets,
    /// Bytes per second.
    OctetsPerSecond,
    /// Occurrences per second.
    PerSecond,
}

impl ReadingUnit {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Octets => "octets",
            Self::OctetsPerSecond => "octets/s",
            Self::PerSecond => "1/s",
        }
    }

    /// The unit with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Octets, Self::OctetsPerSecond, Self::PerSecond]
            .into_iter()
            .find(|unit| unit.word() == word)
    }

    /// True if the value is a rate, so that a long span carries more weight than a short one.
    fn is_rate(self) -> bool {
        matches!(self, Self::OctetsPerSecond | Self::PerSecond)
    }

    /// Formats a value for a person: `3.0 MiB`, `12.5 MiB/s`, `250/s`.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Octets => format_octets(value),
            Self::OctetsPerSecond => format!("{}/s", format_octets(value)),
            Self::PerSecond if value < 10.0 => format!("{value:.1}/s"),
            Self::PerSecond => format!("{value:.0}/s"),
        }
    }
}

/// The readings of a span of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Readings {
    /// Number of values read.
    pub samples: u64,
    /// Smallest value. Like the mean and the maximum, `None` without any value.
    pub min: Option<f64>,
    /// Mean of the values. For a rate, the mean over the whole span, even if the counter was read at uneven intervals.
    pub mean: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Number of times that a value was missing or could not be trusted: unknown is not zero.
    pub unknown: u64,
    /// The reason, for the last such time.
    pub why: Option<String>,
}

impl Readings {
    /// Adds a value.
    pub fn value(&mut self, value: f64) {
        self.add(&Self {
            samples: 1,
            min: Some(value),
            mean: Some(value),
            max: Some(value),
            ..Self::default()
        });
    }

    /// Adds one attempt that gave no value.
    pub fn unknown(&mut self, why: String) {
        self.unknown += 1;
        self.why = Some(why);
    }

    /// Adds the readings of another, later span.
    pub fn add(&mut self, other: &Self) {
        let samples = self.samples + other.samples;
        let weighed = |of: &Self| of.mean.map_or(0.0, |mean| mean * of.samples as f64);
        let sum = weighed(self) + weighed(other);
        self.mean = (samples > 0).then(|| sum / samples as f64);
        self.samples = samples;
        self.min = self.min.into_iter().chain(other.min).reduce(f64::min);
        self.max = self.max.into_iter().chain(other.max).reduce(f64::max);
        self.unknown += other.unknown;
        if other.why.is_some() {
            self.why.clone_from(&other.why);
        }
    }
}

/// One window of one reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Name of the source: `cache/rt/L3:0/occupancy`.
    pub name: String,
    /// Unit of the values.
    pub unit: ReadingUnit,
    /// Start of the window.
    pub start_ns: u64,
    /// End of the window; the last one may be shorter than the rest.
    pub end_ns: u64,
    /// The values.
    pub values: Readings,
}

impl Reading {
    /// All windows by name, in the order in which the names first occur; each name with the sum of its windows.
    pub fn by_name(all: &[Self]) -> Vec<(Readings, Vec<&Self>)> {
        let mut found: Vec<Vec<&Self>> = Vec::new();
        for one in all {
            match found.iter_mut().find(|of| of[0].name == one.name) {
                Some(windows) => windows.push(one),
                None => found.push(vec![one]),
            }
        }
        let sums = found.into_iter();
        sums.map(|windows| (Self::sum(&windows), windows)).collect()
    }

    /// The sum of windows of one name.
    pub fn sum(windows: &[&Self]) -> Readings {
        let mut sum = Readings::default();
        windows.iter().for_each(|window| sum.add(&window.values));
        if windows.first().is_some_and(|first| first.unit.is_rate()) {
            sum.mean = mean_in_time(windows);
        }
        sum
    }
}

/// The mean of windows, each weighed by its length.
fn mean_in_time(windows: &[&Reading]) -> Option<f64> {
    let weighed = windows.iter().filter_map(|one| {
        let long = one.end_ns.saturating_sub(one.start_ns).max(1) as f64;
        one.values.mean.map(|mean| (mean * long, long))
    });
    let (sum, long) = weighed.reduce(|a, b| (a.0 + b.0, a.1 + b.1))?;
    Some(sum / long)
}

#[cfg(test)]
mod tests {
    use super::{Reading, ReadingUnit, Readings};

    fn window(name: &str, start_ns: u64, values: &[f64]) -> Reading {
        let mut of = Readings::default();
        values.iter().for_each(|value| of.value(*value));
        Reading {
            name: name.to_owned(),
            unit: ReadingUnit::Octets,
            start_ns,
            end_ns: start_ns + 1,
            values: of,
        }
    }

    #[test]
    fn a_rate_is_weighed_by_the_length_of_its_windows() {
        let mut long = window("a", 0, &[1.0]);
        let mut short = window("a", 9, &[11.0, 11.0, 11.0]);
        (long.unit, long.end_ns) = (ReadingUnit::PerSecond, 9);
        short.unit = ReadingUnit::PerSecond;
        let windows = [long, short];
        assert_eq!(Reading::by_name(&windows)[0].0.mean, Some(2.0));
    }

    #[test]
    fn windows_of_a_name_are_one_sum_weighed_by_their_values() {
        let mut empty = window("a", 2, &[]);
        empty.values.unknown("Unavailable".to_owned());
        let all = [
            window("a", 0, &[1.0, 2.0, 3.0]),
            window("b", 0, &[9.0]),
            window("a", 1, &[10.0]),
            empty,
        ];
        let found = Reading::by_name(&all);
        assert_eq!(found.len(), 2);
        let (sum, windows) = &found[0];
        assert_eq!(
            (sum.samples, sum.min, sum.mean, sum.max),
            (4, Some(1.0), Some(4.0), Some(10.0))
        );
        assert_eq!((sum.unknown, sum.why.as_deref()), (1, Some("Unavailable")));
        assert_eq!(windows.len(), 3);
    }

    #[test]
    fn nothing_read_is_not_zero() {
        let mut none = Readings::default();
        none.unknown("Error".to_owned());
        assert_eq!((none.min, none.mean, none.max), (None, None, None));
    }

    #[test]
    fn words_and_texts() {
        for unit in [ReadingUnit::Octets, ReadingUnit::OctetsPerSecond] {
            assert_eq!(ReadingUnit::from_word(unit.word()), Some(unit));
        }
        assert_eq!(ReadingUnit::from_word("ns"), None);
        assert_eq!(ReadingUnit::OctetsPerSecond.text(1_572_864.0), "1.50 MiB/s");
    }
}
