//! Values of a relay file that TOML has no type for.

use serde::Deserialize;
use units::CpuList;

/// A duration in ns: `1ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Span(pub(super) u64);

impl TryFrom<String> for Span {
    type Error = units::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        units::parse_ns(&text).map(Self)
    }
}

/// A CPU list: `2-3`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Cpus(pub(super) CpuList);

impl TryFrom<String> for Cpus {
    type Error = units::CpuListError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}
