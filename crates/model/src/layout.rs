//! The layouts of publications that results are printed in.

use serde::Deserialize;

/// A published layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// VMware's.
    Vm,
    /// ABB's and University of Torino's.
    Jitter,
    /// Sienda's.
    Avb,
    /// The round trip by network.
    Networks,
    /// ABB's and University of Torino's, of a virtual relay.
    Vpc,
}

impl Layout {
    /// The word for it on a command line and in a plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Vm => "vm",
            Self::Jitter => "jitter",
            Self::Avb => "avb",
            Self::Networks => "networks",
            Self::Vpc => "vpc",
        }
    }

    /// Its publisher and its figures, for a person.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Vm => "VMware ESXi real-time guide: samples, minimum, average, maximum, overflows per CPU",
            Self::Jitter => "ABB and University of Torino, table 2: max (avg) per environment and load",
            Self::Avb => "Sienda: classes for AVB",
            Self::Networks => "ABB and University of Torino: the round trip over each network beside the others",
            Self::Vpc => "ABB and University of Torino: the task of a virtual relay, and the age of its samples",
        }
    }
}
