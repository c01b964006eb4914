//! Limit profiles: how large which figure of which series may be, and where each limit comes from.
//!
//! A profile is a TOML file. Two are part of the program (`substation`, `avb`); a site's own file has the same keys. The
//! format is described in `docs/formats/limits.md`.

mod class;
mod counted;
mod file;
mod requirement;
#[cfg(test)]
mod tests;
mod unmatched;

pub use class::{Class, Until};
pub(crate) use counted::quantities;
use model::{Counter, Figure};
pub(crate) use requirement::word_of;
pub use requirement::{Compared, Requirement, Wanted};
use std::path::{Path, PathBuf};

/// The profiles inside the program, as (name, text). The text is the file in `limits/`.
const EMBEDDED: [(&str, &str); 3] = [
    ("substation", include_str!("../../../../limits/substation.toml")),
    ("seapath", include_str!("../../../../limits/seapath.toml")),
    ("avb", include_str!("../../../../limits/avb.toml")),
];

/// A named set of limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name it is shown under.
    pub name: String,
    /// The kind of host it is for.
    pub what: String,
    /// Its limits, in the order of the file.
    pub limits: Vec<Limit>,
    /// Its requirements of the facts, in the order of the file.
    pub requirements: Vec<Requirement>,
}

/// One limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Unique in its profile, such as `wakeup.max`.
    pub id: String,
    /// The series it judges.
    pub series: Pattern,
    /// The judged figure.
    pub quantity: Quantity,
    /// The most (for [`Sense::AtMost`]) or the fewest (for [`Sense::AtLeast`]) that passes: ns for a duration, else a count.
    pub allowed: u64,
    /// The source of the limit.
    pub source: String,
    /// The purpose of the limit, in a sentence; empty when the file gives none.
    pub why: String,
    /// The source's names for hosts by this figure, in ascending order; empty where it has none.
    pub classes: Vec<Class>,
    /// The fewest samples of a series with which it passes; `None` where any number does.
    pub samples: Option<u64>,
    /// True if stamps of a capture must be known to come from where they are made well enough for this limit.
    pub needs_known_stamps: bool,
}

impl Limit {
    /// The source's name for a host with this figure, known to `uncertain_ns`. `None` where it has no classes.
    pub fn class_of(&self, ns: f64, uncertain_ns: f64) -> Option<String> {
        class::of(&self.classes, ns, uncertain_ns)
    }

    /// The allowed value for a person: `120 µs`, or a count.
    pub fn allowed_text(&self) -> String {
        match self.quantity.unit() {
            Unit::Ns => units::Ns(self.allowed).to_string(),
            Unit::Count => crate::text::count(self.allowed),
        }
    }
}

/// Series names in which `*` stands for any text, and `|` stands between alternatives: `wakeup/*`, `rtt/*|age/*`. Blanks around an
/// alternative are none of the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern as the file has it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text it was made from.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first of the alternatives, for where there is little room: `rtt/* …`.
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

    /// True if a series' name fits.
    pub fn matches(&self, name: &str) -> bool {
        self.alternatives().any(|one| fits(one, name))
    }
}

/// True if a name fits one pattern without alternatives.
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
    /// The word for it in the result document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Count => "count",
        }
    }
}

/// On which side of the limit a measured value passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// The limit itself or less passes.
    AtMost,
    /// The limit itself or more passes.
    AtLeast,
}

/// A figure of a series that a limit can judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Largest sample.
    Max,
    /// Of gaps between frames: how much longer the largest is than the interval of the stream.
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
    /// Samples measured: the limit is the fewest.
    Received,
    /// Samples that were due and never came.
    Lost,
    /// Samples after their deadline.
    Late,
    /// Samples that came again.
    Duplicate,
    /// Samples with a number seen before, but other contents.
    Conflicting,
    /// Samples that came after a later one.
    Reordered,
    /// Periods skipped because the thread overran.
    Missed,
    /// Samples over the series' own threshold.
    Overflow,
    /// Trips without a fault.
    Unwanted,
    /// Trips with the wrong phase or zone.
    Wrong,
}

impl Quantity {
    /// Every quantity, in the order they are documented.
    pub const ALL: [Self; 18] = [
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
    ];

    /// The figure that it is, if any.
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

    /// The counter that it is, if any.
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

    /// The word for it in a profile.
    pub fn word(self) -> &'static str {
        let of_figure = self.figure().map(Figure::name);
        of_figure.or(self.counter().map(Counter::name)).unwrap_or("excess")
    }

    /// The quantity a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.word() == word)
    }

    /// Its unit: a duration or a count.
    pub fn unit(self) -> Unit {
        match self.counter() {
            Some(_) => Unit::Count,
            None => Unit::Ns,
        }
    }

    /// Only `received` is judged from below.
    pub fn sense(self) -> Sense {
        if self == Self::Received {
            Sense::AtLeast
        } else {
            Sense::AtMost
        }
    }

    /// The fraction of samples that lies at or below the value, for quantiles.
    pub fn quantile(self) -> Option<f64> {
        self.figure().and_then(Figure::quantile)
    }
}

/// Why a profile cannot be used. Each says which file, where in it, and what to write instead.
#[derive(Debug, thiserror::Error)]
pub enum LimitsError {
    /// Neither a profile of the program nor a file.
    #[error("limit profile \"{0}\": neither a profile of this program ({known}) nor a file", known = Profile::embedded_names().join(", "))]
    Unknown(String),
    /// The file cannot be read.
    #[error("limit profile {path}: {error}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// Not TOML, or a key that is missing, unknown or of the wrong type. The text names line and key.
    #[error("limit profile {origin}: {message}")]
    Toml {
        /// File, or name of the embedded profile.
        origin: String,
        /// Line, column, the line itself and what is wrong.
        message: String,
    },
    /// A value that TOML accepts and a limit does not.
    #[error("limit profile {origin}, line {line}: key \"{key}\": {problem}")]
    Value {
        /// File, or name of the embedded profile.
        origin: String,
        /// Line of the value, from 1.
        line: usize,
        /// Key of the value.
        key: &'static str,
        /// The error, and what would be right.
        problem: String,
    },
}

impl Profile {
    /// Names of the profiles inside the program.
    pub fn embedded_names() -> Vec<&'static str> {
        EMBEDDED.iter().map(|(name, _)| *name).collect()
    }

    /// The text of a profile inside the program, for printing as a template of one's own.
    pub fn embedded_text(name: &str) -> Option<&'static str> {
        EMBEDDED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// A profile by the name of an embedded one, or from a file.
    ///
    /// # Errors
    /// Says what is wrong with the name or the file, with line and key.
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

    /// The value above which samples of the series `name` are counted as overflow and kept as spikes, in ns: the lowest limit on its
    /// maximum. `None` where there is no such limit.
    pub fn threshold_ns(&self, name: &str) -> Option<u64> {
        let of_series = |limit: &&Limit| limit.quantity == Quantity::Max && limit.series.matches(name);
        let limits = self.limits.iter().filter(of_series);
        limits.map(|limit| limit.allowed).min()
    }

    /// A profile from its text. `origin` is named in errors.
    ///
    /// # Errors
    /// The first thing wrong, with line and key.
    pub fn parse(text: &str, origin: &str) -> Result<Self, LimitsError> {
        file::parse(text, origin, false)
    }

    /// The same of one that is given to judge what is measured: it may have no limit that could judge nothing, whatever happens. One
    /// that a run keeps may, and is undecided.
    ///
    /// # Errors
    /// As [`Profile::parse`]; and a limit on a quantity that no kind of series that it names has.
    pub fn parse_given(text: &str, origin: &str) -> Result<Self, LimitsError> {
        file::parse(text, origin, true)
    }
}
