//! The samples of one bay, and their phasors.

mod admission;

use crate::complex::Complex;
use crate::error::SettingError;
use crate::measure::correlator::{CHANNELS, Correlator, Ends, Squares};
use crate::measure::dc;
use crate::measure::health::{Blocks, Channels};
use crate::measure::reference::{FURTHEST, ORDERS, Reference, Window};
use crate::measure::set::{Channel, Measured};
use crate::measure::settings::{BaySettings, Residual, Substitute};
use crate::measure::spikes::Suspects;
use crate::rated::Rated;

/// A sample above this, in A or V, cannot be a measurement.
const IMPLAUSIBLE: f64 = 1e9;

/// Time constant of the second half-cycle filter, as a share of that of the first.
const FAST: f64 = 1.0 / 3.0;

/// Time in ms between two tasks at most, for functions that look at samples.
pub const LONGEST_TASK_MS: f64 = 20.0;

/// Indices of the residuals among the channels.
const RESIDUALS: [usize; 2] = [Channel::IN.index(), Channel::UN.index()];

/// True if all values of a sample are plausible.
#[inline]
fn are_plausible(sample: &[f64; CHANNELS]) -> bool {
    // No `all`, so that there is no branch per channel.
    sample
        .iter()
        .fold(true, |all, value| all & (value.abs() <= IMPLAUSIBLE))
}

/// The residuals of a sample.
#[inline]
fn residuals(sample: &[f64; CHANNELS]) -> [f64; 2] {
    RESIDUALS.map(|channel| sample[channel])
}

/// The window of samples of one bay: eight channels, primary A and V, in the order of [`Channel`].
#[derive(Debug, Clone)]
pub struct Bay {
    /// Indices into [`ORDERS`] that are measured for all channels, and their sums.
    orders: Box<[(usize, Correlator<CHANNELS>)]>,
    /// Correlators for the residuals only.
    residual_orders: Box<[(usize, Correlator<2>)]>,
    squares: Squares,
    ring: Box<[[f64; CHANNELS]]>,
    window: Window,
    tuned: u32,
    /// Samples in the fresh sums.
    fresh: usize,
    next: u64,
    since: u64,
    bad_until: [u64; CHANNELS],
    /// The largest value of these.
    clean_from: u64,
    lost_in_a_row: u32,
    suspects: Suspects,
    spikes: u64,
    phase_spikes: u64,
    /// Last sample whose residual was replaced.
    residual_spiked_at: [Option<u64>; 2],
    dc_samples: f64,
    weights: [Complex; ORDERS.len()],
    /// Rotation of a phasor by one sample, and the inverse gain of the two half-cycle filters.
    half_cycle_filter: (Complex, Complex),
    residual_current: Residual,
    residual_voltage: Residual,
    substitute: Substitute,
}

impl Bay {
    /// An empty window. This is the only function here that allocates.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: &BaySettings, rated: &Rated) -> Result<Self, SettingError> {
        settings.check()?;
        rated.check()?;
        let reference = Reference::new(rated, 0);
        let (whole, others): (Vec<usize>, Vec<usize>) =
            (0..ORDERS.len()).partition(|row| *row == 0 || settings.harmonics.contains(&ORDERS[*row]));
        let residual = others
            .into_iter()
            .filter(|row| settings.residual_harmonics.contains(&ORDERS[*row]));
        let longest = (rated.samples_per_second / (rated.frequency_hz * (1.0 - FURTHEST))) as usize + 3;
        let kept = longest + longest.max(rated.samples_in_ms(LONGEST_TASK_MS) as usize);
        let mut bay = Self {
            orders: whole.into_iter().map(|row| (row, Correlator::EMPTY)).collect(),
            residual_orders: residual.map(|row| (row, Correlator::EMPTY)).collect(),
            squares: Squares::EMPTY,
            ring: vec![[0.0; CHANNELS]; kept.next_power_of_two()].into_boxed_slice(),
            window: reference.window(),
            tuned: reference.tuned().wrapping_sub(1),
            fresh: 0,
            next: 0,
            since: 0,
            bad_until: [0; CHANNELS],
            clean_from: 0,
            lost_in_a_row: 0,
            suspects: Suspects::new(settings, rated),
            spikes: 0,
            phase_spikes: 0,
            residual_spiked_at: [None; 2],
            dc_samples: settings.dc_time_constant_ms * rated.samples_per_second / 1000.0,
            weights: [Complex::ZERO; ORDERS.len()],
            half_cycle_filter: (Complex::ONE, Complex::ONE),
            residual_current: settings.residual_current,
            residual_voltage: settings.residual_voltage,
            substitute: settings.substitute,
        };
        bay.tune(&reference);
        Ok(bay)
    }

    /// Adds sample number `at`; channels in `bad` are not trusted for one window. NaN, or a value beyond 10^9, is bad too, and is replaced by the
    /// previous sample.
    ///
    /// The reference must have reached `at`, and be at most 64 samples ahead. After a gap the window restarts.
    pub fn push(&mut self, reference: &Reference, at: u64, samples: &[f64; CHANNELS], bad: Channels) {
        self.lost_in_a_row = 0;
        let sums = self.residual_current == Residual::Sum || self.residual_voltage == Residual::Sum;
        let mut bad = bad;
        if sums || !are_plausible(samples) {
            let (sample, worse) = self.completed(at, samples, bad);
            bad = worse;
            self.admit(reference, at, &sample, bad);
        } else {
            self.admit(reference, at, samples, bad);
        }
        if bad != Channels::NONE {
            self.distrust(at, bad);
        }
    }

    /// A sample with computed residuals and with substitutes for bad values, and the channels that are bad.
    fn completed(&self, at: u64, samples: &[f64; CHANNELS], bad: Channels) -> ([f64; CHANNELS], Channels) {
        let (mut sample, mut bad) = (*samples, bad);
        let before = &self.ring[self.slot(at.wrapping_sub(1))];
        for (channel, value) in sample.iter_mut().enumerate() {
            if value.is_nan() || value.abs() > IMPLAUSIBLE {
                *value = before[channel];
                bad = bad | Channels(1 << channel);
            }
        }
        if self.residual_current == Residual::Sum {
            sample[3] = sample[0] + sample[1] + sample[2];
            bad = bad | Channels::RESIDUAL_CURRENT.when(bad.meets(Channels::PHASE_CURRENTS));
        }
        if self.residual_voltage == Residual::Sum {
            sample[7] = sample[4] + sample[5] + sample[6];
            bad = bad | Channels::RESIDUAL_VOLTAGE.when(bad.meets(Channels::PHASE_VOLTAGES));
        }
        (sample, bad)
    }

    /// Marks channels as not trusted while sample `at` is in the window.
    #[cold]
    fn distrust(&mut self, at: u64, bad: Channels) {
        let until = at + self.window.whole as u64 + 2;
        for channel in 0..CHANNELS {
            if bad.meets(Channels(1 << channel)) {
                self.bad_until[channel] = until;
            }
        }
        self.clean_from = self.bad_until.into_iter().fold(0, u64::max);
    }

    /// Adds a substitute for sample number `at`, which was lost.
    pub fn push_lost(&mut self, reference: &Reference, at: u64) {
        let before = self.ring[self.slot(at.wrapping_sub(1))];
        let mut sample = before;
        if self.substitute == Substitute::Linear && self.lost_in_a_row == 0 {
            let earlier = self.ring[self.slot(at.wrapping_sub(2))];
            for channel in 0..CHANNELS {
                sample[channel] = 2.0 * before[channel] - earlier[channel];
            }
        }
        self.lost_in_a_row = self.lost_in_a_row.saturating_add(1);
        // Without the next sample a suspect cannot be confirmed.
        self.suspects.forget();
        self.take(reference, at, &sample);
    }

    fn take(&mut self, reference: &Reference, at: u64, sample: &[f64; CHANNELS]) {
        if at != self.next || !reference.covers(at) {
            self.restart(at);
        }
        if self.tuned != reference.tuned() {
            self.tune(reference);
        }
        let whole = self.window.whole;
        let leaving = self.ring[self.slot(at.wrapping_sub(whole as u64))];
        let factors = reference.factors(at);
        let left = reference.factors(at.wrapping_sub(whole as u64));
        for (row, correlator) in &mut self.orders {
            correlator.slide(sample, factors[*row], &leaving, left[*row]);
        }
        let (pair, leaving_pair) = (residuals(sample), residuals(&leaving));
        for (row, correlator) in &mut self.residual_orders {
            correlator.slide(&pair, factors[*row], &leaving_pair, left[*row]);
        }
        self.squares.slide(sample, &leaving);
        let slot = self.slot(at);
        self.ring[slot] = *sample;
        self.next = at + 1;
        self.fresh += 1;
        if self.fresh >= whole {
            self.renew();
        }
    }

    /// At the end of a cycle the fresh sums replace the worn ones, if they cover exactly the window.
    fn renew(&mut self) {
        let exact = self.fresh == self.window.whole;
        self.fresh = 0;
        self.orders.iter_mut().for_each(|(_, sums)| sums.over(exact));
        self.residual_orders.iter_mut().for_each(|(_, sums)| sums.over(exact));
        self.squares.over(exact);
    }

    /// Clears the window: the next sample, `at`, starts a new one. Used after a jump of a publisher's counter, after which the phase of the wave is
    /// unknown.
    #[cold]
    pub fn restart(&mut self, at: u64) {
        self.ring.fill([0.0; CHANNELS]);
        self.orders.iter_mut().for_each(|(_, sums)| *sums = Correlator::EMPTY);
        self.residual_orders
            .iter_mut()
            .for_each(|(_, sums)| *sums = Correlator::EMPTY);
        self.squares = Squares::EMPTY;
        self.suspects.forget();
        self.fresh = 0;
        self.next = at;
        self.since = at;
    }

    /// Adapts window and weights to the reference.
    fn tune(&mut self, reference: &Reference) {
        self.tuned = reference.tuned();
        let wanted = reference.window();
        let last = self.next.wrapping_sub(1);
        while self.window.whole < wanted.whole {
            self.resize(reference, last.wrapping_sub(self.window.whole as u64), 1.0);
            self.window.whole += 1;
        }
        while self.window.whole > wanted.whole {
            self.window.whole -= 1;
            self.resize(reference, last.wrapping_sub(self.window.whole as u64), -1.0);
        }
        self.window = wanted;
        let radians = reference.radians();
        let gain = dc::gain(radians, self.dc_samples) * dc::gain(radians, self.dc_samples * FAST);
        self.half_cycle_filter = (Complex::polar(1.0, -radians), Complex::ONE / gain);
        if self.dc_samples > 0.0 {
            for (row, order) in ORDERS.into_iter().enumerate() {
                self.weights[row] = dc::weight(order, radians, self.dc_samples);
            }
        }
    }

    fn resize(&mut self, reference: &Reference, at: u64, sign: f64) {
        let sample = self.ring[self.slot(at)];
        let factors = reference.factors(at);
        for (row, correlator) in &mut self.orders {
            correlator.resize(&sample, factors[*row], sign);
        }
        for (row, correlator) in &mut self.residual_orders {
            correlator.resize(&residuals(&sample), factors[*row], sign);
        }
        self.squares.resize(&sample, sign);
    }

    /// Samples of one cycle with the present window.
    #[must_use]
    pub fn samples_per_cycle(&self) -> u64 {
        self.window.whole as u64
    }

    /// Number of the sample that follows the last one.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The phasors of the window that ends with the last sample. Writes all of `set` except the frequency, the stream's part of the health, and its
    /// synchronisation, which the tracker and the supervision set.
    pub fn measure(&self, reference: &Reference, set: &mut Measured) {
        let last = self.next.wrapping_sub(1);
        set.at = last;
        let Window { whole, part } = self.window;
        let oldest = last.wrapping_sub(whole as u64);
        let ends = [last, oldest, oldest.wrapping_sub(1)];
        let samples = ends.map(|at| &self.ring[self.slot(at)]);
        let [new, old, older] = ends.map(|at| reference.factors(at));
        let scale = std::f64::consts::SQRT_2 / self.window.length();
        set.orders = 0;
        set.residual_orders = 0;
        let ends = Ends::of(samples, part);
        for (row, correlator) in &self.orders {
            let factors = [new[*row], old[*row], older[*row]];
            set.orders |= 1 << *row;
            set.harmonics[*row] = correlator.phasors(&ends, factors, self.weights[*row], scale);
        }
        let [pair, old_pair, older_pair] = samples.map(residuals);
        let ends = Ends::of([&pair, &old_pair, &older_pair], part);
        for (row, correlator) in &self.residual_orders {
            let factors = [new[*row], old[*row], older[*row]];
            set.residual_orders |= 1 << *row;
            let phasors = correlator.phasors(&ends, factors, self.weights[*row], scale);
            for (channel, phasor) in RESIDUALS.into_iter().zip(phasors) {
                set.harmonics[*row][channel] = phasor;
            }
        }
        set.rms = self.squares.rms(samples[1], part, self.window.length());
        let [ia, ib, ic, residual_current, ua, ub, uc, residual_voltage] = set.harmonics[0];
        set.current = [ia, ib, ic];
        set.voltage = [ua, ub, uc];
        set.residual_current = residual_current;
        set.residual_voltage = residual_voltage;
        set.derive();
        set.half_cycle_current = None;
        set.health.bad = self.bad_at(last);
        set.health.stream = Blocks::SETTLING.when(!self.settled());
    }

    /// Sample `at`, primary A and V, while it is kept: for a cycle before the oldest sample of a task of 20 ms at least. A single implausible value may still be in the last one.
    #[must_use]
    pub fn sample(&self, at: u64) -> Option<&[f64; CHANNELS]> {
        let kept = at >= self.since && at < self.next && self.next - at < self.ring.len() as u64;
        kept.then(|| &self.ring[self.slot(at)])
    }

    /// Channels with a bad sample in the window that ends with sample `at`.
    fn bad_at(&self, at: u64) -> Channels {
        let mut bad = Channels::NONE;
        if at < self.clean_from {
            for channel in 0..CHANNELS {
                bad = bad | Channels(1 << channel).when(at < self.bad_until[channel]);
            }
        }
        bad
    }

    /// True if a whole window has been received since the start or the last gap.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.next - self.since > self.window.whole as u64 + 1
    }

    /// The phase currents over half a cycle, in A: they fall twice as fast. Used for [`Measured::half_cycle_current`] while a breaker failure
    /// function is started; this costs as much as all the rest of [`Self::measure`].
    ///
    /// Current transformers leave a decaying current after a breaker has opened, and one mimic filter removes too little of it over half a cycle. So
    /// there are two filters, the second with a third of the time constant.
    #[must_use]
    pub fn half_cycle(&self, reference: &Reference) -> [Complex; 3] {
        let half = (self.window.length() / 2.0).round() as u64;
        let last = self.next.wrapping_sub(1);
        let product = |back: u64, phase: usize| {
            let at = last.wrapping_sub(back);
            reference.factors(at)[0] * self.ring[self.slot(at)][phase]
        };
        let mut sums = [Complex::ZERO; 3];
        for back in 0..half {
            for (phase, sum) in sums.iter_mut().enumerate() {
                *sum += product(back, phase);
            }
        }
        // As with the full-cycle phasor: the sums one sample earlier are these sums, rotated, with other end samples.
        let (slow, fast) = (self.dc_samples, self.dc_samples * FAST);
        let (turn, gain) = self.half_cycle_filter;
        let scale = std::f64::consts::SQRT_2 / half as f64;
        let mut phases = [Complex::ZERO; 3];
        for (phase, filtered) in phases.iter_mut().enumerate() {
            let now = sums[phase];
            let before = now - product(0, phase) + product(half, phase);
            let earlier = before - product(1, phase) + product(half + 1, phase);
            let sum = now * ((1.0 + slow) * (1.0 + fast)) - turn * before * ((1.0 + slow) * fast + slow * (1.0 + fast))
                + turn * turn * earlier * (slow * fast);
            *filtered = sum * scale * gain;
        }
        phases
    }

    fn slot(&self, at: u64) -> usize {
        (at as usize) & (self.ring.len() - 1)
    }
}
