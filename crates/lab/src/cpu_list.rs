//! Lists of CPUs in files, as they are written on the command line.

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use units::CpuList;

pub(crate) fn serialize<S: Serializer>(cpus: &CpuList, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(cpus)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<CpuList, D::Error> {
    String::deserialize(from)?.parse().map_err(Error::custom)
}

/// Of a list that may be none.
pub(crate) mod maybe {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use units::CpuList;

    pub(crate) fn serialize<S: Serializer>(cpus: &Option<CpuList>, to: S) -> Result<S::Ok, S::Error> {
        match cpus {
            Some(cpus) => to.collect_str(cpus),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<CpuList>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(Error::custom)).transpose()
    }
}
