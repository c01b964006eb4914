//! Options of probes. Each is a type that both the command line and plans read, with values written in the same way.

use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::str::FromStr;

/// A duration such as `250us`, in nanoseconds.
///
/// # Errors
/// No duration, with what would be one.
pub fn duration(text: &str) -> Result<u64, units::DurationError> {
    units::parse_ns(text)
}

/// A duration that is not zero, in nanoseconds.
///
/// # Errors
/// Zero or no duration, with what would do.
pub fn positive_duration(text: &str) -> Result<u64, String> {
    match units::parse_ns(text) {
        Ok(0) => Err("must be more than 0".into()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

/// The options of a command line that names none.
///
/// # Panics
/// When an option has no default, which would be a defect of its declaration.
pub fn defaults<T: clap::Args>() -> T {
    let command = T::augment_args(clap::Command::new("options").no_binary_name(true));
    let matches = command.try_get_matches_from([""; 0]);
    let options = matches.and_then(|matches| T::from_arg_matches(&matches));
    options.expect("every option has a default")
}

/// A key of a plan, written as on the command line.
pub(crate) fn text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// As [`duration`].
pub(crate) fn ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    duration(&text).map_err(serde::de::Error::custom)
}

/// As [`duration`], of a key that may be left out.
pub(crate) fn some_ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    ns(deserializer).map(Some)
}

/// As [`positive_duration`].
pub(crate) fn positive_ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    positive_duration(&text).map_err(serde::de::Error::custom)
}

/// As [`positive_duration`], of a key that may be left out.
pub(crate) fn some_positive_ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    positive_ns(deserializer).map(Some)
}
