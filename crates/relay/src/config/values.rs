//! Values of a relay file that have no type in TOML.

use serde::Deserialize;
use std::fmt::Display;
use std::str::FromStr;

/// A duration in ns, written as `1ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Span(pub(super) u64);

impl TryFrom<String> for Span {
    type Error = units::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_ns(&text).map(Self)
    }
}

/// A value that is written as text in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
#[serde(bound = "T: FromStr<Err: Display>")]
pub(super) struct Text<T>(pub(super) T);

impl<T: FromStr> TryFrom<String> for Text<T> {
    type Error = T::Err;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}
