//! Serialization of CPU lists, in the form of the command line.

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use units::CpuList;

/// Writes a list.
///
/// # Errors
/// An error of the serializer.
pub fn serialize<S: Serializer>(cpus: &CpuList, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(cpus)
}

/// Reads a list.
///
/// # Errors
/// The text is not a list.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<CpuList, D::Error> {
    String::deserialize(from)?.parse().map_err(Error::custom)
}

/// Serialization of optional lists.
pub mod maybe {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use units::CpuList;

    /// Writes a list or `None`.
    ///
    /// # Errors
    /// An error of the serializer.
    pub fn serialize<S: Serializer>(cpus: &Option<CpuList>, to: S) -> Result<S::Ok, S::Error> {
        match cpus {
            Some(cpus) => to.collect_str(cpus),
            None => to.serialize_none(),
        }
    }

    /// Reads a list, if there is one.
    ///
    /// # Errors
    /// The text is not a list.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<CpuList>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(Error::custom)).transpose()
    }
}
