//! Values of members in a file.

use crate::goose::two_bits;
use serde::Deserialize;
use units::{Refusal, refusal};
use wire::goose::Value;
use wire::quality::GooseQuality;
use wire::time::{TimeQuality, UtcTime};

/// The type of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Type {
    /// `true` or `false`.
    Boolean,
    /// Double point: `off`, `on`, `intermediate`, `bad`.
    Dbpos,
    /// 13 bits: `good`, `invalid`, `questionable`, `reserved`, or a number whose lowest bit is the last of the 13.
    Quality,
    /// Time stamp that follows `t`.
    Timestamp,
    /// Signed integer.
    Integer,
    /// Unsigned integer.
    Unsigned,
    /// Floating-point number of 32 bits.
    Float32,
    /// Floating-point number of 64 bits.
    Float64,
    /// Text in ASCII.
    VisibleString,
}

impl Type {
    /// The default value of a member.
    pub(super) fn usual(self, quality: TimeQuality) -> Option<Value> {
        match self {
            Self::Boolean => Some(Value::Boolean(false)),
            Self::Dbpos => Some(two_bits(0b01)),
            Self::Quality => Some(quality13(0)),
            Self::Timestamp => Some(Value::UtcTime(UtcTime::from_ns(0, quality))),
            Self::Integer => Some(Value::Integer(0)),
            Self::Unsigned => Some(Value::Unsigned(0)),
            Self::Float32 => Some(Value::Float32(0.0)),
            Self::Float64 => Some(Value::Float64(0.0)),
            Self::VisibleString => None,
        }
    }

    /// Reads a value; the error lists the possible values.
    pub(super) fn value(self, written: &toml::Value) -> Result<Value, Refusal> {
        let found = match self {
            Self::Boolean => written.as_bool().map(Value::Boolean),
            Self::Dbpos => written.as_str().and_then(position).map(two_bits),
            Self::Quality => quality(written).map(quality13),
            Self::Timestamp => None,
            Self::Integer => written.as_integer().map(Value::Integer),
            Self::Unsigned => written
                .as_integer()
                .and_then(|number| u64::try_from(number).ok())
                .map(Value::Unsigned),
            Self::Float32 => number(written).map(|number| Value::Float32(number as f32)),
            Self::Float64 => number(written).map(Value::Float64),
            Self::VisibleString => text(written),
        };
        found.ok_or_else(|| refusal!("{written} is not possible: {}", self.wanted()))
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::Boolean => "use true or false",
            Self::Dbpos => "use \"off\", \"on\", \"intermediate\" or \"bad\"",
            Self::Quality => "use \"good\", \"invalid\", \"reserved\", \"questionable\", or a number from 0 to 0x1fff",
            Self::Timestamp => "a timestamp follows t: leave its value out",
            Self::Integer => "use a whole number",
            Self::Unsigned => "use a whole number of at least 0",
            Self::Float32 | Self::Float64 => "use a number",
            Self::VisibleString => "use a text of ASCII characters",
        }
    }
}

/// Number of octets of a value in a message whose numbers have constant width; for a number, by its size.
pub(super) fn octets(value: &Value) -> usize {
    match value {
        Value::VisibleString(text) => text.len(),
        Value::Integer(number) => 5 + 3 * usize::from(!(-(1 << 31)..1 << 32).contains(number)),
        Value::Unsigned(number) => 5 + 3 * usize::from(u32::try_from(*number).is_err()),
        _ => 0,
    }
}

fn position(text: &str) -> Option<u8> {
    match text {
        "intermediate" => Some(0b00),
        "off" => Some(0b01),
        "on" => Some(0b10),
        "bad" => Some(0b11),
        _ => None,
    }
}

/// The 13 bits, the first one the highest.
fn quality(written: &toml::Value) -> Option<u16> {
    let validity = |bits: u16| Some(bits << 11);
    match written.as_str() {
        Some("good") => validity(0b00),
        Some("invalid") => validity(0b01),
        Some("reserved") => validity(0b10),
        Some("questionable") => validity(0b11),
        Some(_) => None,
        None => written
            .as_integer()
            .and_then(|number| u16::try_from(number).ok())
            .filter(|bits| *bits <= 0x1fff),
    }
}

fn quality13(bits: u16) -> Value {
    Value::quality(GooseQuality(bits << 3))
}

fn number(written: &toml::Value) -> Option<f64> {
    written
        .as_float()
        .or_else(|| written.as_integer().map(|number| number as f64))
}

fn text(written: &toml::Value) -> Option<Value> {
    let text = written.as_str().filter(|text| text.is_ascii())?;
    Some(Value::VisibleString(text.as_bytes().to_vec()))
}
