//! Channels of a record to be written.

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
    /// How values become numbers of the file.
    pub scale: Scale,
    /// Primary side of the transformer's ratio.
    pub primary: f64,
    /// Secondary side of the transformer's ratio.
    pub secondary: f64,
    /// Side that the values are of.
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
    /// State when nothing happens.
    pub normal: bool,
}

/// How values become numbers of the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// So that the largest value of the record takes the whole range; in FLOAT32, as they are.
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

/// Longest text of a field, in octets (C37.111-2013: 64 for most).
const MOST_OCTETS: usize = 64;

/// Fields stand between commas on a line, and readers take the blanks around them away.
pub(super) fn check_text(what: &str, text: &str) -> Result<(), WriteError> {
    if text.len() > MOST_OCTETS {
        return refuse(format!(
            "{what} `{text}` has {} octets: {MOST_OCTETS} are possible",
            text.len()
        ));
    }
    if text.contains(',') || text.contains(char::is_control) || text.trim() != text {
        return refuse(format!(
            "{what} `{}` has a comma, a control character or a blank at an end: take it out",
            text.escape_debug()
        ));
    }
    Ok(())
}

/// How the values of one channel are written, and which numbers may stand for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) gain: f64,
    pub(super) offset: f64,
    /// Largest number, and smallest but for its sign.
    pub(super) most: f64,
}

impl Range {
    /// For a channel whose largest finite value is `largest`, but for its sign.
    pub(super) fn of(scale: Scale, file_type: FileType, largest: f64) -> Self {
        let most = most(file_type);
        let (gain, offset) = match scale {
            Scale::Given { gain, offset } => (gain, offset),
            Scale::Automatic if file_type == FileType::Float32 => (1.0, 0.0),
            // A quotient below this would lose digits, or be 0.
            Scale::Automatic if largest / most < f64::MIN_POSITIVE => (1.0, 0.0),
            Scale::Automatic => (largest / most, 0.0),
        };
        Self { gain, offset, most }
    }
}

/// The largest number of a file type; of both signs, so that no marker of missing values is one.
fn most(file_type: FileType) -> f64 {
    match file_type {
        // 99999 is missing.
        FileType::Ascii => 99_998.0,
        FileType::Binary => f64::from(i16::MAX),
        FileType::Binary32 => f64::from(i32::MAX),
        FileType::Float32 => f64::from(f32::MAX),
    }
}
