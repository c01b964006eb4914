//! Limit profiles: the limits on the figures of series, and the source of each limit.
//!
//! A profile is a TOML file. Some are embedded in the program (`substation`, `seapath`, `avb`, `vpac`); a site's own file has
//! the same keys. The format is described in `docs/formats/limits.md`.

mod class;
mod counted;
mod decision;
mod file;
mod requirement;
#[cfg(test)]
mod tests;
mod unmatched;

pub use class::{Class, Until};
pub(crate) use counted::quantities;
pub use decision::{Decision, Guard, Rule};
use model::{Counter, Figure};
pub(crate) use requirement::word_of;
pub use requirement::{Compared, Requirement, Wanted};
use std::path::{Path, PathBuf};

/// The embedded profiles as (name, text). The text is that of the file in `limits/`.
const EMBEDDED: [(&str, &str); 4] = [
    ("substation", include_str!("../../../../limits/substation.toml")),
    ("seapath", include_str!("../../../../limits/seapath.toml")),
    ("avb", include_str!("../../../../limits/avb.toml")),
    ("vpac", include_str!("../../../../limits/vpac.toml")),
];

/// A named set of limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name used in output.
    pub name: String,
    /// The kind of host that it is for.
    pub what: String,
    /// Its limits, in the order of the file.
    pub limits: Vec<Limit>,
    /// Its requirements on the facts, in the order of the file.
    pub requirements: Vec<Requirement>,
    /// How a figure near its limit is decided.
    pub decision: Decision,
}

/// One limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Unique in its profile, such as `wakeup.max`.
    pub id: String,
    /// Name for people, such as `wake-up latency`; the id if the file gives none.
    pub name: String,
    /// The series it judges.
    pub series: Pattern,
    /// The judged figure.
    pub quantity: Quantity,
    /// Maximum (for [`Sense::AtMost`]) or minimum (for [`Sense::AtLeast`]) that passes: in ns for a duration, otherwise
    /// a count.
    pub allowed: u64,
    /// The source of the limit.
    pub source: String,
    /// One sentence on the purpose of the limit; empty if the file gives none.
    pub why: String,
    /// The source's names for hosts by this figure, in ascending order; may be empty.
    pub classes: Vec<Class>,
    /// Minimum number of samples with which a series passes; `None` if there is no minimum.
    pub samples: Option<u64>,
    /// Minimum measured time in ns with which a series passes; `None` if there is no minimum.
    pub exposure_ns: Option<u64>,
    /// True if the limit needs a capture whose time stamps are known to come from an accurate enough source.
    pub needs_known_stamps: bool,
    /// True if only what was measured under a load of the tool's own passes.
    pub needs_load: bool,
}

impl Limit {
    /// The source's name for a host with this figure, which has an uncertainty of `uncertain_ns`. `None` without
    /// classes.
    pub fn class_of(&self, ns: f64, uncertain_ns: f64) -> Option<String> {
        class::of(&self.classes, ns, uncertain_ns)
    }

    /// The allowed value as text for people: `120 µs`, or a count.
    pub fn allowed_text(&self) -> String {
        match self.quantity.unit() {
            Unit::Ns => units::Ns(self.allowed).to_string(),
            Unit::Count => crate::text::count(self.allowed),
        }
    }
}

/// A pattern for series names, in which `*` matches any text and `|` separates alternatives: `wakeup/*`, `rtt/*|age/*`.
/// Blanks around an alternative are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Creates the pattern from the text in the file.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text it was made from.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first of the alternatives, for output with little space: `rtt/* …`.
    pub fn shortened(&self) -> String {
        match self.0.split_once('|') {
            Some((first, _)) => format!("{} …", first.trim()),
            None => self.0.clone(),
        }
    }

    /// The patterns one by one.
    pub fn alternatives(&self) -> impl Iterator<Item = &str> {
        self.0.split('|').map(str::trim)
    }

    /// True if the pattern matches a series' name.
    pub fn matches(&self, name: &str) -> bool {
        self.alternatives().any(|one| fits(one, name))
    }
}

/// True if a name matches a pattern without alternatives.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The unit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Samples, frames, periods.
    Count,
}

impl Unit {
    /// The word used in the result document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Count => "count",
        }
    }
}

/// The side of the limit on which a measured value passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// The limit or less passes.
    AtMost,
    /// The limit or more passes.
    AtLeast,
}

/// A figure of a series that a limit can judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Largest sample.
    Max,
    /// For gaps between frames: difference between the largest gap and the interval of the stream.
    Excess,
    /// Arithmetic mean of the samples.
    Mean,
    /// Median.
    P50,
    /// 99 % quantile.
    P99,
    /// 99.9 % quantile.
    P999,
    /// 99.99 % quantile.
    P9999,
    /// 99.999 % quantile.
    P99999,
    /// Measured samples; the limit is the minimum.
    Received,
    /// Samples that were due but never arrived.
    Lost,
    /// Samples that arrived after their deadline.
    Late,
    /// Samples that arrived again.
    Duplicate,
    /// Samples with a number seen before, but other contents.
    Conflicting,
    /// Samples that arrived after a later one.
    Reordered,
    /// Periods skipped because the thread overran.
    Missed,
    /// Samples over the series' own threshold.
    Overflow,
    /// Trips without a fault.
    Unwanted,
    /// Trips with the wrong phase or zone.
    Wrong,
    /// Cycles of a relay's task that took longer than their interval, or were skipped, during the shots of the series.
    Overruns,
}

impl Quantity {
    /// Every quantity, in the order of the documentation.
    pub const ALL: [Self; 19] = [
        Self::Max,
        Self::Mean,
        Self::P50,
        Self::P99,
        Self::P999,
        Self::P9999,
        Self::P99999,
        Self::Received,
        Self::Lost,
        Self::Late,
        Self::Duplicate,
        Self::Conflicting,
        Self::Reordered,
        Self::Missed,
        Self::Overflow,
        Self::Unwanted,
        Self::Wrong,
        Self::Excess,
        Self::Overruns,
    ];

    /// The figure with the same meaning, if there is one.
    pub const fn figure(self) -> Option<Figure> {
        Some(match self {
            Self::Max => Figure::Max,
            Self::Mean => Figure::Mean,
            Self::P50 => Figure::P50,
            Self::P99 => Figure::P99,
            Self::P999 => Figure::P999,
            Self::P9999 => Figure::P9999,
            Self::P99999 => Figure::P99999,
            _ => return None,
        })
    }

    /// The counter with the same meaning, if there is one.
    pub const fn counter(self) -> Option<Counter> {
        Some(match self {
            Self::Received => Counter::Received,
            Self::Lost => Counter::Lost,
            Self::Late => Counter::Late,
            Self::Duplicate => Counter::Duplicate,
            Self::Conflicting => Counter::Conflicting,
            Self::Reordered => Counter::Reordered,
            Self::Missed => Counter::Missed,
            Self::Overflow => Counter::Overflow,
            Self::Unwanted => Counter::Unwanted,
            Self::Wrong => Counter::Wrong,
            _ => return None,
        })
    }

    /// The word used in a profile.
    pub fn word(self) -> &'static str {
        let of_figure = self.figure().map(Figure::name);
        let otherwise = if self == Self::Overruns { "overruns" } else { "excess" };
        of_figure.or(self.counter().map(Counter::name)).unwrap_or(otherwise)
    }

    /// The quantity with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.word() == word)
    }

    /// Its unit: a duration or a count.
    pub fn unit(self) -> Unit {
        match self.counter() {
            None if self != Self::Overruns => Unit::Ns,
            _ => Unit::Count,
        }
    }

    /// Only `received` must not fall below its limit.
    pub fn sense(self) -> Sense {
        if self == Self::Received {
            Sense::AtLeast
        } else {
            Sense::AtMost
        }
    }

    /// For quantiles, the fraction of samples at or below the value.
    pub fn quantile(self) -> Option<f64> {
        self.figure().and_then(Figure::quantile)
    }
}

/// Why a profile cannot be used. Each error names the file and the position, and suggests a correction.
#[derive(Debug, thiserror::Error)]
pub enum LimitsError {
    /// The name is neither that of an embedded profile nor that of a file.
    #[error("limit profile \"{0}\": neither a profile of this program ({known}) nor a file", known = Profile::embedded_names().join(", "))]
    Unknown(String),
    /// The file cannot be read.
    #[error("limit profile {path}: {error}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// Invalid TOML, or a key that is missing, unknown or of the wrong type. The text names line and key.
    #[error("limit profile {origin}: {message}")]
    Toml {
        /// File, or name of the embedded profile.
        origin: String,
        /// Line, column, the line itself and the error.
        message: String,
    },
    /// A value that is valid TOML but not valid in a limit.
    #[error("limit profile {origin}, line {line}: key \"{key}\": {problem}")]
    Value {
        /// File, or name of the embedded profile.
        origin: String,
        /// Line of the value, from 1.
        line: usize,
        /// Key of the value.
        key: &'static str,
        /// The error and a correction.
        problem: String,
    },
}

impl Profile {
    /// Names of the embedded profiles.
    pub fn embedded_names() -> Vec<&'static str> {
        EMBEDDED.iter().map(|(name, _)| *name).collect()
    }

    /// The text of an embedded profile, for printing as a template.
    pub fn embedded_text(name: &str) -> Option<&'static str> {
        EMBEDDED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Finds a profile by the name of an embedded one, or reads it from a file.
    ///
    /// # Errors
    /// The error in the name or the file, with line and key.
    pub fn find(name_or_path: &str) -> Result<Self, LimitsError> {
        if let Some(text) = Self::embedded_text(name_or_path) {
            return Self::parse_given(text, name_or_path);
        }
        let path = Path::new(name_or_path);
        if !path.exists() {
            return Err(LimitsError::Unknown(name_or_path.to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(|error| LimitsError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        Self::parse_given(&text, name_or_path)
    }

    /// The value in ns above which samples of the series `name` are counted as overflow and kept as spikes: the lowest
    /// limit on its maximum. `None` without such a limit.
    pub fn threshold_ns(&self, name: &str) -> Option<u64> {
        let of_series = |limit: &&Limit| limit.quantity == Quantity::Max && limit.series.matches(name);
        let limits = self.limits.iter().filter(of_series);
        limits.map(|limit| limit.allowed).min()
    }

    /// Reads a profile from its text. Errors name `origin`.
    ///
    /// # Errors
    /// The first error, with line and key.
    pub fn parse(text: &str, origin: &str) -> Result<Self, LimitsError> {
        file::parse(text, origin, false)
    }

    /// Like [`Profile::parse`], for a profile given to judge a measurement: none of its limits may be impossible to
    /// decide. In a profile stored in a run, such a limit is accepted and stays undecided.
    ///
    /// # Errors
    /// The errors of [`Profile::parse`], and a limit on a quantity that none of the named kinds of series has.
    pub fn parse_given(text: &str, origin: &str) -> Result<Self, LimitsError> {
        file::parse(text, origin, true)
    }
}
