//! Values of a stream-set file for which TOML has no type.

use serde::Deserialize;
use units::{Refusal, refusal};
use wire::ether::Mac;
use wire::quality::SvQuality;
use wire::sv::Profile;

/// Priority of a tag without a stated priority (IEC 61850-9-2).
pub(crate) const DEFAULT_PRIORITY: u8 = 4;

/// A MAC address.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct MacValue(pub(crate) Mac);

impl TryFrom<String> for MacValue {
    type Error = wire::ether::MacError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// A profile by name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct ProfileValue(pub(crate) Profile);

impl TryFrom<String> for ProfileValue {
    type Error = wire::sv::ProfileError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// A VLAN identifier, or `"none"`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(crate) enum VlanValue {
    Untagged,
    Vid(u16),
}

impl TryFrom<toml::Value> for VlanValue {
    type Error = Refusal;

    fn try_from(value: toml::Value) -> Result<Self, Refusal> {
        match &value {
            toml::Value::String(text) if text == "none" => Ok(Self::Untagged),
            toml::Value::Integer(vid) if (0..=4_095).contains(vid) => Ok(Self::Vid(*vid as u16)),
            _ => Err(refusal!(
                "{value} is not a VLAN: write 0 to 4095, or \"none\" for frames without a tag"
            )),
        }
    }
}

/// A priority.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "i64")]
pub(crate) struct PcpValue(pub(crate) u8);

impl TryFrom<i64> for PcpValue {
    type Error = Refusal;

    fn try_from(pcp: i64) -> Result<Self, Refusal> {
        u8::try_from(pcp)
            .ok()
            .filter(|pcp| *pcp <= 7)
            .map(Self)
            .ok_or_else(|| refusal!("{pcp} is not a priority: write 0 to 7"))
    }
}

/// A quality word: a number, or names.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(crate) struct QualityValue(pub(crate) SvQuality);

impl TryFrom<toml::Value> for QualityValue {
    type Error = Refusal;

    fn try_from(value: toml::Value) -> Result<Self, Refusal> {
        match &value {
            toml::Value::Integer(word) => u32::try_from(*word)
                .map(|word| Self(SvQuality(word)))
                .map_err(|_| refusal!("{word} is not a quality word: it has 32 bits")),
            toml::Value::String(names) => names
                .parse()
                .map(Self)
                .map_err(|error: wire::quality::QualityError| Refusal::new(error)),
            _ => Err(refusal!(
                "{value} is not a quality: write \"good\", \"invalid, test\" or 0x0801"
            )),
        }
    }
}
