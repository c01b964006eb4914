//! Performance classes of IEC 61850-5, each with its edition, since P1 of one edition is not P1 of the other.

use std::fmt;

/// Share of the transfer time for sender and receiver together, in percent: IEC 61850-10 gives 40 % to each, and 20 % to the
/// network.
pub(super) const SHARE_PERCENT: u64 = 80;

/// A performance class of transfer times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Class {
    /// P1 of edition 1: 10 ms
    #[value(name = "p1-ed1")]
    P1Edition1,
    /// P2 and P3 of edition 1: 3 ms
    #[value(name = "p2-ed1")]
    P2Edition1,
    /// P1 of edition 2: a quarter of a cycle
    #[value(name = "p1-ed2")]
    P1Edition2,
    /// P2 of edition 2: half a cycle
    #[value(name = "p2-ed2")]
    P2Edition2,
    /// P3 of edition 2: a cycle
    #[value(name = "p3-ed2")]
    P3Edition2,
}

impl Class {
    /// All classes; within each edition the shortest time is first.
    pub(super) const ALL: [Self; 5] = [
        Self::P2Edition1,
        Self::P1Edition1,
        Self::P1Edition2,
        Self::P2Edition2,
        Self::P3Edition2,
    ];

    /// Longest transfer in ns, at this many cycles a second.
    pub(super) fn transfer_ns(self, frequency_hz: u32) -> u64 {
        let cycle_ns = 1_000_000_000 / u64::from(frequency_hz.max(1));
        match self {
            Self::P1Edition1 => 10_000_000,
            Self::P2Edition1 => 3_000_000,
            Self::P1Edition2 => cycle_ns / 4,
            Self::P2Edition2 => cycle_ns / 2,
            Self::P3Edition2 => cycle_ns,
        }
    }

    /// Longest answer of a device of this class in ns: its share of a transfer, there and back, plus the time of its application.
    pub(super) fn answer_ns(self, frequency_hz: u32, application_ns: u64) -> u64 {
        self.transfer_ns(frequency_hz) * SHARE_PERCENT / 100 + application_ns
    }

    /// Name of the class in options.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::P1Edition1 => "p1-ed1",
            Self::P2Edition1 => "p2-ed1",
            Self::P1Edition2 => "p1-ed2",
            Self::P2Edition2 => "p2-ed2",
            Self::P3Edition2 => "p3-ed2",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::P1Edition1 => "P1 of edition 1",
            Self::P2Edition1 => "P2/P3 of edition 1",
            Self::P1Edition2 => "P1 of edition 2",
            Self::P2Edition2 => "P2 of edition 2",
            Self::P3Edition2 => "P3 of edition 2",
        })
    }
}

/// Names of the classes whose time an answer of `longest_ns` keeps.
pub(super) fn met(longest_ns: u64, frequency_hz: u32, application_ns: u64) -> String {
    let is_met = |class: &Class| longest_ns <= class.answer_ns(frequency_hz, application_ns);
    let names: Vec<String> = Class::ALL
        .iter()
        .filter(|class| is_met(class))
        .map(Class::to_string)
        .collect();
    match names.is_empty() {
        true => "none of edition 1 and 2".into(),
        false => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, met};

    #[test]
    fn a_class_is_that_of_its_edition() {
        assert_eq!(Class::P1Edition1.answer_ns(50, 0), 8_000_000);
        assert_eq!(Class::P1Edition2.answer_ns(50, 0), 4_000_000);
        assert_eq!(Class::P1Edition2.answer_ns(50, 1_000_000), 5_000_000);
        assert_eq!(Class::P1Edition2.transfer_ns(60), 4_166_666);
        assert_eq!(
            met(4_000_001, 50, 0),
            "P1 of edition 1, P2 of edition 2, P3 of edition 2"
        );
        assert!(met(2_400_000, 50, 0).starts_with("P2/P3 of edition 1, P1 of edition 1, P1 of edition 2"));
        assert_eq!(met(17_000_000, 50, 0), "none of edition 1 and 2");
    }
}
