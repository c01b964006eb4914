//! Options of probes. Each is a type that both the command line and plans read, with values written in the same way.

use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::str::FromStr;
use wire::ether::{Mac, VlanTag};

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

/// A VLAN such as `100` or `100:4`: identifier and priority (default 4).
///
/// # Errors
/// No VLAN, with what would be one.
pub fn vlan(text: &str) -> Result<VlanTag, String> {
    let error = || {
        format!(
            "\"{text}\" is not a VLAN: write its identifier, 0 to 4095, and its priority, 0 to 7, as 100:4, or 100 for \
             priority 4"
        )
    };
    let (vid, pcp) = text.split_once(':').unwrap_or((text, "4"));
    let vid: u16 = vid.parse().map_err(|_| error())?;
    let pcp: u8 = pcp.parse().map_err(|_| error())?;
    if vid > 4095 || pcp > 7 {
        return Err(error());
    }
    Ok(VlanTag::new(pcp, false, vid))
}

/// A MAC address such as `01:0c:cd:04:00:01`.
///
/// # Errors
/// No address, with what is wrong in it.
pub fn mac(text: &str) -> Result<Mac, String> {
    Mac::from_str(text).map_err(|error| error.to_string())
}

/// An APPID such as `0x4000` or `16384`.
///
/// # Errors
/// No APPID, with what would be one.
pub fn appid(text: &str) -> Result<u16, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("\"{text}\" is not an APPID: write it as 0x4000"))
}

/// The options of a command line that names none.
///
/// # Panics
/// When an option has no default, which would be a defect of its declaration.
pub fn defaults<T: clap::Args>() -> T {
    of_words("")
}

/// The options that `words` name, the others with their defaults.
pub(crate) fn of_words<T: clap::Args>(words: &str) -> T {
    let command = T::augment_args(clap::Command::new("options").no_binary_name(true));
    let matches = command.try_get_matches_from(words.split_whitespace());
    let options = matches.and_then(|matches| T::from_arg_matches(&matches));
    options.expect("every option has a default")
}

/// As [`vlan`], of a key that may be left out.
pub(crate) fn some_vlan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<VlanTag>, D::Error> {
    let text = String::deserialize(deserializer)?;
    vlan(&text).map(Some).map_err(serde::de::Error::custom)
}

/// A key of a plan, written as on the command line.
///
/// # Errors
/// Error that the command line would give.
pub fn text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// As [`text`], of a key that may be left out.
pub(crate) fn some_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    text(deserializer).map(Some)
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

#[cfg(test)]
mod tests {
    use super::{appid, mac, vlan};

    #[test]
    fn values_and_refusals() {
        let tag = vlan("100:6").expect("valid");
        assert_eq!((tag.vid(), tag.pcp()), (100, 6));
        assert_eq!(vlan("5").expect("valid").pcp(), 4);
        for wrong in ["5000", "1:9", "x"] {
            let error = vlan(wrong).expect_err(wrong);
            assert!(error.contains("0 to 4095") && error.contains("0 to 7"), "{error}");
        }
        assert_eq!(appid("0x4001"), Ok(0x4001));
        assert!(appid("40 01").is_err());
        assert!(mac("01:0c:cd:04:00:01").is_ok() && mac("01:0c:cd").is_err());
        assert_eq!(appid("0x4001"), Ok(0x4001));
        assert!(appid("40 01").is_err());
    }
}
