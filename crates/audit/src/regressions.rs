//! Known kernel regressions: releases, affected machines, and remedies.

use std::fmt;

use serde::{Deserialize, Deserializer};

use super::condition::Condition;

/// A release of Linux, 6.18.44, or of its real-time patches, 5.10.90-rt61, which follows the release it is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release([u32; 3], u32);

impl Release {
    /// Parses the numbers at the beginning of a text: `6.18.44-rt1`, `6.12`.
    pub fn parse(text: &str) -> Option<Self> {
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let mut numbers = text[..end].trim_end_matches('.').split('.');
        let (major, minor) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        let patch = numbers.next().map_or(Some(0), |patch| patch.parse().ok())?;
        Some(Self([major, minor, patch], patches(&text[end..])))
    }

    /// True for a mainline release: 6.18, but not 6.18.44.
    pub(super) fn is_mainline(self) -> bool {
        self.0[2] == 0
    }
}

/// Number of the real-time patches after a release: `-rt61`, `-rc1-rt2`; 0 if none is named.
fn patches(rest: &str) -> u32 {
    let digits = |text: &str| {
        text.split(|c: char| !c.is_ascii_digit())
            .next()
            .unwrap_or_default()
            .parse()
    };
    let named = rest.split("-rt").skip(1);
    named.filter_map(|text| digits(text).ok()).next().unwrap_or_default()
}

/// The release without its patches.
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("\"{text}\" is not a release of Linux")))
    }
}

/// One regression.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regression {
    /// Identifier of the row.
    pub id: String,
    /// First release that has it, or in which it was seen; `None`: independent of the release.
    pub from: Option<Release>,
    /// First later release about which nothing is known; `None`: all later ones have it.
    pub until: Option<Release>,
    /// First release without it; `None`: unknown.
    pub fixed: Option<Release>,
    /// Condition of the machine, over facts; `None`: any machine.
    pub when: Option<Condition>,
    /// Profiles whose own set-up causes it: there it is tolerated, and reported.
    #[serde(default)]
    pub profiles: Vec<String>,
    /// The condition as text.
    pub configuration: String,
    /// The symptom.
    pub symptom: String,
    /// Affected machines and programs.
    pub affects: String,
    /// Remedy.
    pub fix: String,
    /// Source of the report.
    pub source: String,
}

impl Regression {
    /// True if a release has it, as far as known.
    pub fn concerns(&self, release: Release) -> bool {
        let begun = self.from.is_none_or(|from| release >= from);
        let below = |end: Option<Release>| end.is_none_or(|end| release < end);
        begun && below(self.until) && below(self.fixed)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    regression: Vec<Regression>,
}

/// Every row of the table.
///
/// # Panics
/// The embedded file is invalid; a test reads it.
pub fn known() -> Vec<Regression> {
    let file: File = toml::from_str(include_str!("../rules/regressions.toml"))
        .unwrap_or_else(|error| panic!("rules/regressions.toml: {error}"));
    file.regression
}

/// Rows that affect one of two kernels but not the other: they may explain a difference between two runs. The texts have the form of
/// `/proc/sys/kernel/osrelease`; a text that is not a release gives no rows.
pub fn between(before: &str, after: &str) -> Vec<Regression> {
    let (Some(before), Some(after)) = (Release::parse(before), Release::parse(after)) else {
        return Vec::new();
    };
    let differs = |row: &Regression| row.concerns(before) != row.concerns(after);
    known().into_iter().filter(differs).collect()
}
