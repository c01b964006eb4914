//! The sums of samples times factors, over a window that slides.

use crate::complex::Complex;

/// Channels of a bay.
pub(super) const CHANNELS: usize = 8;

/// Sums of one order, one for each of `N` channels.
///
/// Every sample is added once and taken away once, which leaves the rounding of both behind. Beside the sliding sums a second
/// row of sums begins anew every cycle; after a cycle it holds exactly the window, and replaces the sliding ones. So no error
/// is older than two cycles, and every sample costs the same.
#[derive(Debug, Clone)]
pub(super) struct Correlator<const N: usize> {
    re: [f64; N],
    im: [f64; N],
    fresh_re: [f64; N],
    fresh_im: [f64; N],
}

impl<const N: usize> Correlator<N> {
    /// Of an empty window.
    pub(super) const EMPTY: Self = Self {
        re: [0.0; N],
        im: [0.0; N],
        fresh_re: [0.0; N],
        fresh_im: [0.0; N],
    };

    /// Takes a sample in, and the one that leaves the window out.
    #[inline]
    pub(super) fn slide(&mut self, sample: &[f64; N], factor: Complex, leaving: &[f64; N], left: Complex) {
        for channel in 0..N {
            let re = sample[channel] * factor.re;
            let im = sample[channel] * factor.im;
            self.re[channel] += re - leaving[channel] * left.re;
            self.im[channel] += im - leaving[channel] * left.im;
            self.fresh_re[channel] += re;
            self.fresh_im[channel] += im;
        }
    }

    /// Makes the window longer (`sign` 1) or shorter (-1) by the sample at its old end.
    pub(super) fn resize(&mut self, sample: &[f64; N], factor: Complex, sign: f64) {
        for (channel, value) in sample.iter().enumerate() {
            self.re[channel] += sign * value * factor.re;
            self.im[channel] += sign * value * factor.im;
        }
    }

    /// A cycle is over. The fresh sums replace the sliding ones if they hold exactly the window, and begin anew.
    pub(super) fn over(&mut self, exact: bool) {
        if exact {
            self.re = self.fresh_re;
            self.im = self.fresh_im;
        }
        self.fresh_re = [0.0; N];
        self.fresh_im = [0.0; N];
    }

    pub(super) fn sum(&self, channel: usize) -> Complex {
        Complex::new(self.re[channel], self.im[channel])
    }
}
