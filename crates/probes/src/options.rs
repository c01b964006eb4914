//! Options of probes. The command line and plans use the same types and the same notation of values.

use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::str::FromStr;
use wire::ether::{Mac, VlanTag};

/// Parses a duration such as `250us`, in nanoseconds.
///
/// # Errors
/// The text is no duration; the error shows a valid one.
pub fn duration(text: &str) -> Result<u64, units::DurationError> {
    units::parse_ns(text)
}

/// Parses a duration above zero, in nanoseconds.
///
/// # Errors
/// The duration is zero, or the text is no duration; the error shows a valid one.
pub fn positive_duration(text: &str) -> Result<u64, String> {
    match units::parse_ns(text) {
        Ok(0) => Err("must be more than 0".into()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a VLAN such as `100` or `100:4`: identifier and priority (default 4).
///
/// # Errors
/// The text is no VLAN; the error shows a valid one.
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

/// Parses a MAC address such as `01:0c:cd:04:00:01`.
///
/// # Errors
/// The text is no address; the error shows the wrong part.
pub fn mac(text: &str) -> Result<Mac, String> {
    Mac::from_str(text).map_err(|error| error.to_string())
}

/// Parses an APPID such as `0x4000` or `16384`.
///
/// # Errors
/// The text is no APPID; the error shows a valid one.
pub fn appid(text: &str) -> Result<u16, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("\"{text}\" is not an APPID: write it as 0x4000"))
}

/// Default options, as of a command line without arguments.
///
/// # Panics
/// An option has no default, which would be a defect of its declaration.
pub fn defaults<T: clap::Args>() -> T {
    of_words("")
}

/// Options parsed from `words`; options that are not given have their defaults.
pub(crate) fn of_words<T: clap::Args>(words: &str) -> T {
    let command = T::augment_args(clap::Command::new("options").no_binary_name(true));
    let matches = command.try_get_matches_from(words.split_whitespace());
    let options = matches.and_then(|matches| T::from_arg_matches(&matches));
    options.expect("every option has a default")
}

/// Same as [`vlan`], for a key that may be left out.
pub(crate) fn some_vlan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<VlanTag>, D::Error> {
    let text = String::deserialize(deserializer)?;
    vlan(&text).map(Some).map_err(serde::de::Error::custom)
}

/// Parses the value of a plan's key, in the notation of the command line.
///
/// # Errors
/// The same error as on the command line.
pub fn text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

/// Same as [`text`], for a key that may be left out.
pub fn some_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    text(deserializer).map(Some)
}

/// Same as [`duration`].
pub(crate) fn ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    duration(&text).map_err(serde::de::Error::custom)
}

/// Same as [`duration`], for a key that may be left out.
pub(crate) fn some_ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    ns(deserializer).map(Some)
}

/// Same as [`positive_duration`].
pub(crate) fn positive_ns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    positive_duration(&text).map_err(serde::de::Error::custom)
}

/// Same as [`positive_duration`], for a key that may be left out.
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
