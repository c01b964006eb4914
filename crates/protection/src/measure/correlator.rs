//! Sums of samples times factors, over a sliding window.

use crate::complex::Complex;

/// Channels of a bay.
pub(super) const CHANNELS: usize = 8;

/// Sums of one order for `N` channels.
///
/// Every sample is added once and subtracted once, and both operations leave a rounding error. So there are two rows of sums, which together are the
/// sums of the window: samples are added to the fresh row and subtracted from the worn one. After a cycle the fresh row covers exactly the window,
/// and replaces the worn one. So no error is older than two cycles, and every sample costs the same.
///
/// Real and imaginary parts are in separate arrays, so that a processor can work on two channels at a time.
#[derive(Debug, Clone)]
pub(super) struct Correlator<const N: usize> {
    worn: Parts<N>,
    fresh: Parts<N>,
}

/// Sums of all channels.
#[derive(Debug, Clone)]
struct Parts<const N: usize> {
    re: [f64; N],
    im: [f64; N],
}

impl<const N: usize> Parts<N> {
    const ZERO: Self = Self {
        re: [0.0; N],
        im: [0.0; N],
    };

    #[inline]
    fn of(&self, channel: usize) -> Complex {
        Complex::new(self.re[channel], self.im[channel])
    }

    /// Adds `sample` times `factor`.
    #[inline]
    fn add(&mut self, sample: &[f64; N], factor: Complex) {
        for ((re, im), value) in self.re.iter_mut().zip(&mut self.im).zip(sample) {
            *re += value * factor.re;
            *im += value * factor.im;
        }
    }
}

impl<const N: usize> Correlator<N> {
    /// The sums of an empty window.
    pub(super) const EMPTY: Self = Self {
        worn: Parts::ZERO,
        fresh: Parts::ZERO,
    };

    /// Adds a sample, and subtracts the one that leaves the window.
    #[inline]
    pub(super) fn slide(&mut self, sample: &[f64; N], factor: Complex, leaving: &[f64; N], left: Complex) {
        self.fresh.add(sample, factor);
        self.worn.add(leaving, -left);
    }

    /// Makes the window longer (`sign` 1) or shorter (-1) by the sample at its older end.
    pub(super) fn resize(&mut self, sample: &[f64; N], factor: Complex, sign: f64) {
        self.worn.add(sample, factor * sign);
    }

    /// Corrects a sample in the window by `change`; `is_fresh` if it has come since the last end of a cycle.
    pub(super) fn amend(&mut self, change: &[f64; N], factor: Complex, is_fresh: bool) {
        let sums = if is_fresh { &mut self.fresh } else { &mut self.worn };
        sums.add(change, factor);
    }

    /// At the end of a cycle the fresh sums replace the worn ones if they cover exactly the window, otherwise they are added to them; then fresh sums
    /// start from zero.
    pub(super) fn over(&mut self, exact: bool) {
        for channel in 0..N {
            let sum = if exact { Complex::ZERO } else { self.worn.of(channel) } + self.fresh.of(channel);
            (self.worn.re[channel], self.worn.im[channel]) = (sum.re, sum.im);
        }
        self.fresh = Parts::ZERO;
    }

    /// The phasors of all channels. `factors` are those of the reference for three samples: the newest, the one that left the window last, and its
    /// predecessor. The first half of the channels are currents, from which the mimic filter with this `weight` removes DC.
    #[inline]
    pub(super) fn phasors(&self, ends: &Ends<N>, factors: [Complex; 3], weight: Complex, scale: f64) -> [Complex; N] {
        let [new, old, older] = factors;
        let weight = weight * scale;
        let mut phasors = [Complex::ZERO; N];
        for (channel, phasor) in phasors.iter_mut().enumerate() {
            *phasor = (self.sum(channel) + old * ends.part[channel]) * scale;
        }
        for (channel, phasor) in phasors.iter_mut().enumerate().take(N / 2) {
            let change = new * ends.new[channel] - old * ends.gone[channel] - older * ends.before[channel];
            *phasor += weight * change;
        }
        phasors
    }

    /// The sum over the window.
    #[inline]
    fn sum(&self, channel: usize) -> Complex {
        self.worn.of(channel) + self.fresh.of(channel)
    }
}

/// The samples at the ends of the window and of the previous window, as far as they are included.
pub(super) struct Ends<const N: usize> {
    /// The newest sample. It is in this window but not in the previous one.
    new: [f64; N],
    /// Part of the sample that left last: the fraction of a sample by which a cycle exceeds its whole samples.
    part: [f64; N],
    /// The rest of that sample, which has left the window.
    gone: [f64; N],
    /// Part of the sample before that, which was in the previous window.
    before: [f64; N],
}

impl<const N: usize> Ends<N> {
    /// From the newest sample, the one that left the window last, and the one before that; `part` as in [`super::reference::Window`].
    #[inline]
    pub(super) fn of([new, old, older]: [&[f64; N]; 3], part: f64) -> Self {
        Self {
            new: *new,
            part: old.map(|value| value * part),
            gone: old.map(|value| value * (1.0 - part)),
            before: older.map(|value| value * part),
        }
    }
}

/// The sums of the squares of samples over the window, in two rows as in [`Correlator`].
#[derive(Debug, Clone)]
pub(super) struct Squares {
    worn: [f64; CHANNELS],
    fresh: [f64; CHANNELS],
}

impl Squares {
    /// The sums of an empty window.
    pub(super) const EMPTY: Self = Self {
        worn: [0.0; CHANNELS],
        fresh: [0.0; CHANNELS],
    };

    /// Adds a sample, and subtracts the one that leaves the window.
    #[inline]
    pub(super) fn slide(&mut self, sample: &[f64; CHANNELS], leaving: &[f64; CHANNELS]) {
        for (sum, value) in self.fresh.iter_mut().zip(sample) {
            *sum += value * value;
        }
        for (sum, value) in self.worn.iter_mut().zip(leaving) {
            *sum -= value * value;
        }
    }

    /// Makes the window longer (`sign` 1) or shorter (-1) by the sample at its older end.
    pub(super) fn resize(&mut self, sample: &[f64; CHANNELS], sign: f64) {
        for (square, value) in self.worn.iter_mut().zip(sample) {
            *square += sign * value * value;
        }
    }

    /// Puts `right` in the place of the sample `wrong`, as in [`Correlator::amend`].
    pub(super) fn amend(&mut self, wrong: &[f64; CHANNELS], right: &[f64; CHANNELS], is_fresh: bool) {
        let sums = if is_fresh { &mut self.fresh } else { &mut self.worn };
        for ((sum, wrong), right) in sums.iter_mut().zip(wrong).zip(right) {
            *sum += right * right - wrong * wrong;
        }
    }

    /// Ends a cycle, as in [`Correlator::over`].
    pub(super) fn over(&mut self, exact: bool) {
        for (worn, fresh) in self.worn.iter_mut().zip(&mut self.fresh) {
            *worn = if exact { *fresh } else { *worn + *fresh };
            *fresh = 0.0;
        }
    }

    /// RMS of each channel over a window of `length` samples: the whole samples, and `part` of `old`, the one before them.
    #[inline]
    pub(super) fn rms(&self, old: &[f64; CHANNELS], part: f64, length: f64) -> [f64; CHANNELS] {
        let share = 1.0 / length;
        let mut rms = [0.0; CHANNELS];
        for channel in 0..CHANNELS {
            let sum = self.worn[channel] + self.fresh[channel] + part * old[channel] * old[channel];
            rms[channel] = (sum * share).max(0.0).sqrt();
        }
        rms
    }
}
