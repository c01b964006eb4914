//! The samples: three symmetrical phases and their sums, one second of them.

use std::f64::consts::TAU;
use wire::quality::SvQuality;

/// Periods a second of every waveform.
const FREQUENCY_HZ: f64 = 50.0;
/// 400 A RMS; 1 LSB is 1 mA, instantaneous primary values (9-2LE).
const CURRENT_PEAK: f64 = 400.0 * std::f64::consts::SQRT_2 * 1_000.0;
/// The current lags the voltage by 30 degrees.
const CURRENT_ANGLE: f64 = -TAU / 12.0;
/// 20 kV between phases; 1 LSB is 10 mV.
const VOLTAGE_PEAK: f64 = 20_000.0 / 1.732_050_807_568_877_2 * std::f64::consts::SQRT_2 * 100.0;

/// seqData of every smpCnt of a second, so that the hot thread only copies.
#[derive(Debug)]
pub struct Waveform {
    octets: Vec<u8>,
    /// Octets of one seqData.
    stride: usize,
}

impl Waveform {
    /// One second of 4 currents and 4 voltages, of good quality, at `rate` samples a second, 50 Hz.
    pub fn new(rate: u32) -> Self {
        Self::of(rate, 4, 4, SvQuality::GOOD)
    }

    /// The same with `currents` and `voltages`: of each the phases a, b and c, their sum, and zero beyond.
    pub fn of(rate: u32, currents: u8, voltages: u8, quality: SvQuality) -> Self {
        let octets = (0..rate)
            .flat_map(|count| members(f64::from(count) / f64::from(rate), currents, voltages))
            .flat_map(|value| [value.to_be_bytes(), quality.0.to_be_bytes()])
            .flatten()
            .collect();
        Self {
            octets,
            stride: (usize::from(currents) + usize::from(voltages)) * wire::sv::MEMBER,
        }
    }

    /// Samples by which a waveform at `rate` samples a second runs ahead that is `degrees` ahead.
    pub fn ahead(rate: u32, degrees: f64) -> u32 {
        let cycle = f64::from(rate) / FREQUENCY_HZ;
        ((degrees / 360.0).rem_euclid(1.0) * cycle).round() as u32
    }

    /// seqData of a sample, counted from the first second.
    #[inline]
    pub fn seq_data(&self, sample: u64) -> &[u8] {
        let samples = (self.octets.len() / self.stride) as u64;
        let at = (sample % samples) as usize * self.stride;
        &self.octets[at..at + self.stride]
    }
}

/// The members at `seconds` after the top of the second.
fn members(seconds: f64, currents: u8, voltages: u8) -> Vec<i32> {
    let angle = TAU * FREQUENCY_HZ * seconds;
    let phase = |peak: f64, shift: f64, n: f64| (peak * (angle + shift - n * TAU / 3.0).cos()).round() as i32;
    let of = |count: u8, peak, shift| {
        let [a, b, c] = [0.0, 1.0, 2.0].map(|n| phase(peak, shift, n));
        let all = [a, b, c, a + b + c].into_iter().chain(std::iter::repeat(0));
        all.take(usize::from(count))
    };
    of(currents, CURRENT_PEAK, CURRENT_ANGLE)
        .chain(of(voltages, VOLTAGE_PEAK, 0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Waveform, members};
    use wire::quality::SvQuality;

    #[test]
    fn the_first_sample_of_the_second() {
        // 20 kV and 400 A lagging by 30 degrees, worked out by hand: 565685.4 * cos(-30 deg) and so on.
        assert_eq!(
            members(0.0, 4, 4),
            [489_898, -489_898, 0, 0, 1_632_993, -816_497, -816_497, -1]
        );
        assert_eq!(
            members(0.0, 6, 3),
            [489_898, -489_898, 0, 0, 0, 0, 1_632_993, -816_497, -816_497]
        );
    }

    #[test]
    fn a_second_closes() {
        let wave = Waveform::of(4_800, 6, 3, SvQuality(0x0800));
        assert_eq!(wave.seq_data(0).len(), 72);
        assert_eq!(&wave.seq_data(0)[4..8], [0, 0, 8, 0], "the quality");
        assert_eq!(wave.seq_data(0), wave.seq_data(96), "96 samples a cycle at 50 Hz");
        assert_eq!(wave.seq_data(0), wave.seq_data(4_800));
        assert_ne!(wave.seq_data(0), wave.seq_data(48));
        assert_eq!(
            [90.0, -90.0, 450.0].map(|degrees| Waveform::ahead(4_800, degrees)),
            [24, 72, 24]
        );
    }
}
