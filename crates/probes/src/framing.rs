//! Streams of test frames: the format of their frames and their marks. `talk` sends them, `listen` receives them.

use serde::Deserialize;
use units::Period;
use wire::{ether, test_frame};

/// Flags of a test frame in a stream.
pub(crate) mod mark {
    /// Warm-up frame: not counted. The first counted frame has number 0.
    pub(crate) const BEGIN: u16 = 1;
    /// End mark, sent after the last frame: its sequence number is the number of frames sent.
    pub(crate) const END: u16 = 2;
}

/// Format of a stream's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Test frames, EtherType 0x88B5
    Test,
    /// AVTP (IEEE 1722): AAF PCM, 48 kHz, 2 channels, 6 samples in a frame
    Avtp,
    /// Sampled values: one stream, one ASDU
    Sv,
}

impl Framing {
    /// The name of the format on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Avtp => "avtp",
            Self::Sv => "sv",
        }
    }

    /// EtherType of the frames.
    pub fn ether_type(self) -> u16 {
        match self {
            Self::Test => test_frame::ETHER_TYPE,
            Self::Avtp => wire::avtp::ETHER_TYPE,
            Self::Sv => ether::SV,
        }
    }

    /// Description of the sent frames, in words for the report.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Test => "test frames, EtherType 0x88B5",
            Self::Avtp => "AVTP (IEEE 1722), AAF PCM 48 kHz, 2 channels, 6 samples in a frame",
            Self::Sv => "sampled values, one stream, one ASDU in a frame",
        }
    }
}

/// Number of periods in a second, if it is whole and smpCnt can count that far.
pub(crate) fn per_second(period: Period) -> Option<u64> {
    let (numerator_ns, denominator) = period.fraction();
    let second = denominator.checked_mul(1_000_000_000)?;
    let rate = second / numerator_ns;
    (second.is_multiple_of(numerator_ns) && (1..=65_536).contains(&rate)).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::per_second;

    #[test]
    fn only_whole_rates_that_smp_cnt_can_count() {
        let rate = |text: &str| per_second(text.parse().expect(text));
        assert_eq!(
            (rate("125us"), rate("4800/s"), rate("1s")),
            (Some(8_000), Some(4_800), Some(1))
        );
        assert_eq!((rate("130us"), rate("2s"), rate("65537/s")), (None, None, None));
    }
}
