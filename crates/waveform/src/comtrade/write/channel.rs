//! Channels of a record to write.

use super::{WriteError, above_zero, refuse};
use crate::comtrade::config::{FileType, Values};

/// An analog channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Analog {
    /// Name.
    pub name: String,
    /// Phase: `A`, `B`, `C`, `N` or nothing.
    pub phase: String,
    /// Monitored circuit.
    pub component: String,
    /// Unit: `A`, `kV`, …
    pub unit: String,
    /// Conversion of values to the file's numbers.
    pub scale: Scale,
    /// Primary side of the transformer's ratio.
    pub primary: f64,
    /// Secondary side of the transformer's ratio.
    pub secondary: f64,
    /// Side that the values refer to.
    pub values: Values,
}

/// A digital channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digital {
    /// Name.
    pub name: String,
    /// Phase, or nothing.
    pub phase: String,
    /// Monitored circuit, or nothing.
    pub component: String,
    /// Normal state.
    pub normal: bool,
}

/// Conversion of values to the file's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// The largest value of the record uses the whole range; in FLOAT32, values are unchanged.
    Automatic,
    /// A value is `gain` times the number plus `offset`, both in the channel's unit. Values beyond its range are clipped.
    Given {
        /// Above 0.
        gain: f64,
        /// Value of the number 0.
        offset: f64,
    },
}

impl Analog {
    pub(super) fn check(&self) -> Result<(), WriteError> {
        for text in [&self.name, &self.phase, &self.component, &self.unit] {
            check_text("a field of an analog channel", text)?;
        }
        let name = &self.name;
        above_zero(&format!("the primary side of {name}"), self.primary)?;
        above_zero(&format!("the secondary side of {name}"), self.secondary)?;
        match self.scale {
            Scale::Given { offset, .. } if !offset.is_finite() => {
                refuse(format!("the offset of {name} is {offset}: it must be a number"))
            }
            Scale::Given { gain, .. } => above_zero(&format!("the multiplier of {name}"), gain),
            Scale::Automatic => Ok(()),
        }
    }
}

impl Digital {
    pub(super) fn check(&self) -> Result<(), WriteError> {
        let texts = [&self.name, &self.phase, &self.component];
        texts
            .into_iter()
            .try_for_each(|text| check_text("a field of a digital channel", text))
    }
}

/// Longest text of a field, in bytes (C37.111-2013: 64 for most).
const MOST_OCTETS: usize = 64;

/// Checks a field's text. Fields are separated by commas, and readers remove the blanks around them.
pub(super) fn check_text(what: &str, text: &str) -> Result<(), WriteError> {
    if text.len() > MOST_OCTETS {
        return refuse(format!(
            "{what} `{text}` has {} octets: {MOST_OCTETS} are possible",
            text.len()
        ));
    }
    if text.contains(',') || text.contains(char::is_control) || text.trim() != text {
        return refuse(format!(
            "{what} `{}` has a comma, a control character, or a space at its beginning or end: remove it",
            text.escape_debug()
        ));
    }
    Ok(())
}

/// The conversion of one channel's values, and the range of its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) gain: f64,
    pub(super) offset: f64,
    /// Largest number; the smallest is its negative.
    pub(super) most: f64,
}

impl Range {
    /// The range for a channel whose largest finite magnitude is `largest`.
    pub(super) fn of(scale: Scale, file_type: FileType, largest: f64) -> Self {
        let most = most(file_type);
        let (gain, offset) = match scale {
            Scale::Given { gain, offset } => (gain, offset),
            Scale::Automatic if file_type == FileType::Float32 => (1.0, 0.0),
            // A smaller quotient would lose digits, or be 0.
            Scale::Automatic if largest / most < f64::MIN_POSITIVE => (1.0, 0.0),
            Scale::Automatic => (largest / most, 0.0),
        };
        Self { gain, offset, most }
    }
}

/// The largest number of a file type. The range is symmetrical, so that it excludes the markers of missing values.
fn most(file_type: FileType) -> f64 {
    match file_type {
        // 99999 means missing.
        FileType::Ascii => 99_998.0,
        FileType::Binary => f64::from(i16::MAX),
        FileType::Binary32 => f64::from(i32::MAX),
        FileType::Float32 => f64::from(f32::MAX),
    }
}
