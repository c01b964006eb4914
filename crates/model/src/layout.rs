//! Published table layouts in which results can be printed.

use serde::Deserialize;

/// A published layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// VMware's layout.
    Vm,
    /// The layout of ABB and University of Torino.
    Jitter,
    /// Sienda's layout.
    Avb,
    /// The round trip over each network.
    Networks,
    /// The layout of ABB and University of Torino for a virtual relay.
    Vpc,
    /// The figures of Welotec and Red Hat.
    Bench,
}

impl Layout {
    /// The word on a command line and in a plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Vm => "vm",
            Self::Jitter => "jitter",
            Self::Avb => "avb",
            Self::Networks => "networks",
            Self::Vpc => "vpc",
            Self::Bench => "bench",
        }
    }

    /// Its publisher and its figures, in words for a person.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Vm => "VMware ESXi real-time guide: samples, minimum, average, maximum, overflows per CPU",
            Self::Jitter => "ABB and University of Torino, table 2: max (avg) per environment and load",
            Self::Avb => "Sienda: classes for AVB",
            Self::Networks => "ABB and University of Torino: the round trip over each network next to the others",
            Self::Vpc => "ABB and University of Torino: the task of a virtual relay, and the age of its samples",
            Self::Bench => {
                "Welotec and Red Hat: max and mean of round trip and wake-up beside theirs, and the device's network card"
            }
        }
    }
}
