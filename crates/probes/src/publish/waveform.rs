//! The samples: three symmetrical phases and their sums, one second of them.

use std::f64::consts::TAU;
use wire::quality::SvQuality;

/// Members of the 4I4U dataset: Ia Ib Ic In Ua Ub Uc Un.
const MEMBERS: usize = 8;

/// Octets of seqData: each member is an INT32 and a quality word.
const SEQ_DATA: usize = MEMBERS * wire::sv::MEMBER;

const FREQUENCY_HZ: f64 = 50.0;
/// 400 A RMS; 1 LSB is 1 mA, instantaneous primary values (9-2LE).
const CURRENT_PEAK: f64 = 400.0 * std::f64::consts::SQRT_2 * 1_000.0;
/// The current lags the voltage by 30 degrees.
const CURRENT_ANGLE: f64 = -TAU / 12.0;
/// 20 kV between phases; 1 LSB is 10 mV.
const VOLTAGE_PEAK: f64 = 20_000.0 / 1.732_050_807_568_877_2 * std::f64::consts::SQRT_2 * 100.0;

/// seqData of every smpCnt of a second, so that the hot thread only copies.
#[derive(Debug)]
pub struct Waveform(Vec<[u8; SEQ_DATA]>);

impl Waveform {
    /// One second at `rate` samples a second, 50 Hz.
    pub fn new(rate: u32) -> Self {
        Self(
            (0..rate)
                .map(|count| octets(&members(f64::from(count) / f64::from(rate))))
                .collect(),
        )
    }

    /// seqData of a sample, counted from the first second.
    #[inline]
    pub fn seq_data(&self, sample: u64) -> &[u8] {
        &self.0[(sample % self.0.len() as u64) as usize]
    }
}

/// The eight members at `seconds` after the top of the second.
fn members(seconds: f64) -> [i32; MEMBERS] {
    let angle = TAU * FREQUENCY_HZ * seconds;
    let phase = |peak: f64, shift: f64, n: f64| (peak * (angle + shift - n * TAU / 3.0).cos()).round() as i32;
    let three = |peak, shift| {
        [
            phase(peak, shift, 0.0),
            phase(peak, shift, 1.0),
            phase(peak, shift, 2.0),
        ]
    };
    let [ia, ib, ic] = three(CURRENT_PEAK, CURRENT_ANGLE);
    let [ua, ub, uc] = three(VOLTAGE_PEAK, 0.0);
    [ia, ib, ic, ia + ib + ic, ua, ub, uc, ua + ub + uc]
}

fn octets(members: &[i32; MEMBERS]) -> [u8; SEQ_DATA] {
    let mut octets = [0; SEQ_DATA];
    for (place, member) in octets.chunks_exact_mut(wire::sv::MEMBER).zip(members) {
        place[..4].copy_from_slice(&member.to_be_bytes());
        place[4..].copy_from_slice(&SvQuality::GOOD.0.to_be_bytes());
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::{Waveform, members};

    #[test]
    fn the_first_sample_of_the_second() {
        // 20 kV and 400 A lagging by 30 degrees, worked out by hand: 565685.4 * cos(-30 deg) and so on.
        assert_eq!(
            members(0.0),
            [489_898, -489_898, 0, 0, 1_632_993, -816_497, -816_497, -1]
        );
    }

    #[test]
    fn a_second_closes() {
        let wave = Waveform::new(4_800);
        assert_eq!(wave.seq_data(0), wave.seq_data(96), "96 samples a cycle at 50 Hz");
        assert_ne!(wave.seq_data(0), wave.seq_data(48));
    }
}
