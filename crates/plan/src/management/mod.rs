//! The table `[management]` of a plan: a second network of the devices under test, and the traffic on it.

use super::value::Cpus;
use crate::refusal::Refusal;
use bed::load::{ManagementLoad, Rate};
use serde::Deserialize;

/// A management network in addition to the process bus, and its traffic. Without any key there is none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagementTable {
    /// Frames per second to each device.
    #[serde(default)]
    pub(super) rate: Option<Rate>,
    /// Bytes of a frame without FCS.
    #[serde(default)]
    bytes: Option<u64>,
    /// CPUs of the device that handle the frames; its housekeeping CPUs if none are named.
    #[serde(default)]
    pub(super) cpus: Option<Cpus>,
}

impl ManagementTable {
    /// True if there is no such network.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses impossible values in the table called `name`.
    pub(super) fn check(&self, name: &str) -> Result<(), Refusal> {
        if self.rate.is_none() && !self.is_none() {
            let problem = "missing: write frames a second, or \"max\"";
            return Err(Refusal::of(format!("{name}.rate"), problem));
        }
        let wrong = self.bytes.map(|bytes| (bytes, ManagementLoad::check_bytes(bytes)));
        match wrong {
            Some((bytes, Err(rule))) => Err(Refusal::of(format!("{name}.bytes"), format!("{bytes}: {rule}"))),
            _ => Ok(()),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let bytes = self.bytes.and_then(|bytes| usize::try_from(bytes).ok());
        bytes.unwrap_or(ManagementLoad::BYTES)
    }

    /// Traffic on it, in words: `500 frames/s of 1514 octets to each device, answered by its kernel`.
    pub fn words(&self) -> String {
        match self.rate {
            None => "no such network".to_owned(),
            Some(rate) => format!(
                "{rate} of {} octets to each device, answered by its kernel",
                self.bytes()
            ),
        }
    }
}

#[cfg(test)]
mod tests;
