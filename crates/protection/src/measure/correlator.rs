//! The sums of samples times factors, over a window that slides.

use crate::complex::Complex;

/// Channels of a bay.
pub(super) const CHANNELS: usize = 8;

/// Eight sums of one order.
///
/// Every sample is added once and taken away once, which leaves the rounding of both behind. Beside the sliding sums a second
/// row of sums begins anew every cycle; after a cycle it holds exactly the window, and replaces the sliding ones. So no error
/// is older than two cycles, and every sample costs the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Correlator {
    re: [f64; CHANNELS],
    im: [f64; CHANNELS],
    fresh_re: [f64; CHANNELS],
    fresh_im: [f64; CHANNELS],
}

impl Correlator {
    /// Takes a sample in, and the one that leaves the window out.
    #[inline]
    pub(super) fn slide(
        &mut self,
        sample: &[f64; CHANNELS],
        factor: Complex,
        leaving: &[f64; CHANNELS],
        left: Complex,
    ) {
        for channel in 0..CHANNELS {
            let re = sample[channel] * factor.re;
            let im = sample[channel] * factor.im;
            self.re[channel] += re - leaving[channel] * left.re;
            self.im[channel] += im - leaving[channel] * left.im;
            self.fresh_re[channel] += re;
            self.fresh_im[channel] += im;
        }
    }

    /// Makes the window longer (`sign` 1) or shorter (-1) by the sample at its old end.
    pub(super) fn resize(&mut self, sample: &[f64; CHANNELS], factor: Complex, sign: f64) {
        for (channel, value) in sample.iter().enumerate() {
            self.re[channel] += sign * value * factor.re;
            self.im[channel] += sign * value * factor.im;
        }
    }

    /// The fresh sums hold the whole window: they replace the sliding ones.
    pub(super) fn renew(&mut self) {
        self.re = self.fresh_re;
        self.im = self.fresh_im;
        self.begin();
    }

    /// Begins the fresh sums anew.
    pub(super) fn begin(&mut self) {
        self.fresh_re = [0.0; CHANNELS];
        self.fresh_im = [0.0; CHANNELS];
    }

    pub(super) fn sum(&self, channel: usize) -> Complex {
        Complex::new(self.re[channel], self.im[channel])
    }
}
