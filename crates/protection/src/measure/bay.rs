//! The samples of one bay, and the phasors in them.

use serde::Deserialize;

use super::correlator::{CHANNELS, Correlator};
use super::dc;
use super::health::{Blocks, Channels};
use super::reference::{FURTHEST, ORDERS, Reference, Window};
use super::set::{Channel, Measured};
use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::rated::Rated;

/// A sample above this, in A or V, is no measurement.
const IMPLAUSIBLE: f64 = 1e9;

/// Places of the residuals among the channels.
const RESIDUALS: [usize; 2] = [Channel::IN.index(), Channel::UN.index()];

/// The residuals of a sample.
#[inline]
fn residuals(sample: &[f64; CHANNELS]) -> [f64; 2] {
    RESIDUALS.map(|channel| sample[channel])
}

/// Where a residual comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Residual {
    /// Its own channel of the stream.
    #[default]
    Measured,
    /// The sum of the three phases, sample by sample.
    Sum,
}

/// What stands in for a lost sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Substitute {
    /// The sample before it (zero-order hold).
    #[default]
    Hold,
    /// A straight line through the two before it; after a second loss in a row, the sample before.
    Linear,
}

/// What a bay measures, and how.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BaySettings {
    /// Harmonics to measure, of 2, 3, 5, 7 and 9. Each costs as much as the fundamental.
    pub harmonics: Vec<u32>,
    /// Harmonics to measure of the two residuals alone: a quarter of the work.
    #[serde(skip)]
    pub residual_harmonics: Vec<u32>,
    /// Time constant in ms of the decaying DC component that is removed from currents, 5 to 500; 0 removes none.
    pub dc_time_constant_ms: f64,
    /// Where the residual current comes from.
    pub residual_current: Residual,
    /// Where the residual voltage comes from.
    pub residual_voltage: Residual,
    /// What stands in for a lost sample.
    pub substitute: Substitute,
}

impl Default for BaySettings {
    /// Fundamental only; DC of 45 ms removed; residuals measured; zero-order hold.
    fn default() -> Self {
        Self {
            harmonics: Vec::new(),
            residual_harmonics: Vec::new(),
            dc_time_constant_ms: 45.0,
            residual_current: Residual::Measured,
            residual_voltage: Residual::Measured,
            substitute: Substitute::Hold,
        }
    }
}

impl BaySettings {
    /// Whether the settings lie in their ranges.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), SettingError> {
        let check = Check("measurement");
        for order in self.harmonics.iter().chain(&self.residual_harmonics) {
            check.together(ORDERS[1..].contains(order), || {
                format!("harmonics has {order}; it may have 2, 3, 5, 7 and 9")
            })?;
        }
        if self.dc_time_constant_ms != 0.0 {
            check.range("dc-time-constant-ms", self.dc_time_constant_ms, "ms", 5.0..=500.0)?;
        }
        Ok(())
    }
}

/// The window of samples of one bay: eight channels, primary A and V, in the order of [`Channel`].
#[derive(Debug, Clone)]
pub struct Bay {
    /// Rows of [`ORDERS`] that are measured of all channels, and their sums.
    orders: Box<[(usize, Correlator<CHANNELS>)]>,
    /// Those of the residuals alone.
    residual_orders: Box<[(usize, Correlator<2>)]>,
    squares: [f64; CHANNELS],
    fresh_squares: [f64; CHANNELS],
    ring: Box<[[f64; CHANNELS]]>,
    window: Window,
    tuned: u32,
    /// Samples in the fresh sums.
    fresh: usize,
    next: u64,
    since: u64,
    bad_until: [u64; CHANNELS],
    lost_in_a_row: u32,
    dc_samples: f64,
    weights: [Complex; ORDERS.len()],
    residual_current: Residual,
    residual_voltage: Residual,
    substitute: Substitute,
}

impl Bay {
    /// An empty window. Allocates; nothing else here does.
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
        let mut bay = Self {
            orders: whole.into_iter().map(|row| (row, Correlator::EMPTY)).collect(),
            residual_orders: residual.map(|row| (row, Correlator::EMPTY)).collect(),
            squares: [0.0; CHANNELS],
            fresh_squares: [0.0; CHANNELS],
            ring: vec![[0.0; CHANNELS]; longest.next_power_of_two()].into_boxed_slice(),
            window: reference.window(),
            tuned: reference.tuned().wrapping_sub(1),
            fresh: 0,
            next: 0,
            since: 0,
            bad_until: [0; CHANNELS],
            lost_in_a_row: 0,
            dc_samples: settings.dc_time_constant_ms * rated.samples_per_second / 1000.0,
            weights: [Complex::ZERO; ORDERS.len()],
            residual_current: settings.residual_current,
            residual_voltage: settings.residual_voltage,
            substitute: settings.substitute,
        };
        bay.tune(&reference);
        Ok(bay)
    }

    /// Takes sample number `at` in; channels in `bad` are not believed for one window. What is not a number, or beyond 10^9,
    /// is bad too, and the sample before stands in for it.
    ///
    /// The reference must have reached `at`, and be at most 64 samples ahead. After a gap the window begins anew.
    pub fn push(&mut self, reference: &Reference, at: u64, samples: &[f64; CHANNELS], bad: Channels) {
        self.lost_in_a_row = 0;
        let mut bad = bad;
        let mut sample = *samples;
        let before = self.ring[self.slot(at.wrapping_sub(1))];
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
        self.take(reference, at, &sample);
        if bad != Channels::NONE {
            let until = at + self.window.whole as u64 + 2;
            for channel in 0..CHANNELS {
                if bad.meets(Channels(1 << channel)) {
                    self.bad_until[channel] = until;
                }
            }
        }
    }

    /// Sample number `at` was lost: a substitute takes its place.
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
        for channel in 0..CHANNELS {
            let square = sample[channel] * sample[channel];
            self.squares[channel] += square - leaving[channel] * leaving[channel];
            self.fresh_squares[channel] += square;
        }
        let slot = self.slot(at);
        self.ring[slot] = *sample;
        self.next = at + 1;
        self.fresh += 1;
        if self.fresh >= whole {
            self.renew();
        }
    }

    /// Replaces the sliding sums by the fresh ones, if these hold exactly the window.
    fn renew(&mut self) {
        let exact = self.fresh == self.window.whole;
        self.fresh = 0;
        self.orders.iter_mut().for_each(|(_, sums)| sums.over(exact));
        self.residual_orders.iter_mut().for_each(|(_, sums)| sums.over(exact));
        if exact {
            self.squares = self.fresh_squares;
        }
        self.fresh_squares = [0.0; CHANNELS];
    }

    /// Forgets the window: sample `at`, the next one, begins a new one. After a jump of a publisher's counter, behind which the
    /// wave may be any.
    pub fn restart(&mut self, at: u64) {
        self.ring.fill([0.0; CHANNELS]);
        self.orders.iter_mut().for_each(|(_, sums)| *sums = Correlator::EMPTY);
        self.residual_orders
            .iter_mut()
            .for_each(|(_, sums)| *sums = Correlator::EMPTY);
        self.squares = [0.0; CHANNELS];
        self.fresh_squares = [0.0; CHANNELS];
        self.fresh = 0;
        self.next = at;
        self.since = at;
    }

    /// Fits window and weights to the reference.
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
        if self.dc_samples > 0.0 {
            for (row, order) in ORDERS.into_iter().enumerate() {
                self.weights[row] = dc::weight(order, reference.radians(), self.dc_samples);
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
        for (square, value) in self.squares.iter_mut().zip(&sample) {
            *square += sign * value * value;
        }
    }

    /// Samples of one cycle, as the window is now.
    #[must_use]
    pub fn samples_per_cycle(&self) -> u64 {
        self.window.whole as u64
    }

    /// Number of the sample that follows the last one.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The phasors of the window that ends with the last sample. Writes all of `set` but the frequency, the stream's part of
    /// the health, and its synchronisation; those are the tracker's and the supervision's.
    pub fn measure(&self, reference: &Reference, set: &mut Measured) {
        let last = self.next.wrapping_sub(1);
        set.at = last;
        let Window { whole, part } = self.window;
        let oldest = last.wrapping_sub(whole as u64);
        let samples = [last, oldest, oldest.wrapping_sub(1)].map(|at| &self.ring[self.slot(at)]);
        let factors = [last, oldest, oldest.wrapping_sub(1)].map(|at| reference.factors(at));
        let scale = std::f64::consts::SQRT_2 / self.window.length();
        set.orders = 0;
        set.residual_orders = 0;
        let phasor = |row: usize, channel: usize, sum: Complex| {
            let [new, old, older] = [0, 1, 2].map(|each| factors[each][row] * samples[each][channel]);
            let phasor = (sum + old * part) * scale;
            match channel <= Channel::IN.index() {
                true => phasor + self.weights[row] * scale * (new - old * (1.0 - part) - older * part),
                false => phasor,
            }
        };
        for (row, correlator) in &self.orders {
            set.orders |= 1 << *row;
            for channel in 0..CHANNELS {
                set.harmonics[*row][channel] = phasor(*row, channel, correlator.sum(channel));
            }
        }
        for (row, correlator) in &self.residual_orders {
            set.residual_orders |= 1 << *row;
            for (place, channel) in RESIDUALS.into_iter().enumerate() {
                set.harmonics[*row][channel] = phasor(*row, channel, correlator.sum(place));
            }
        }
        for (channel, rms) in set.rms.iter_mut().enumerate() {
            let sum = self.squares[channel] + part * samples[1][channel] * samples[1][channel];
            *rms = (sum / self.window.length()).max(0.0).sqrt();
        }
        let [ia, ib, ic, residual_current, ua, ub, uc, residual_voltage] = set.harmonics[0];
        set.current = [ia, ib, ic];
        set.voltage = [ua, ub, uc];
        set.residual_current = residual_current;
        set.residual_voltage = residual_voltage;
        set.derive();
        set.half_cycle_current = None;
        let mut bad = 0;
        for channel in 0..CHANNELS {
            bad |= u8::from(last < self.bad_until[channel]) << channel;
        }
        set.health.bad = Channels(bad);
        set.health.stream = Blocks::SETTLING.when(!self.settled());
    }

    /// Whether a whole window has come since the start or the last gap.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.next - self.since > self.window.whole as u64 + 1
    }

    /// The phase currents over half a cycle, A: they fall twice as fast. For [`Measured::half_cycle_current`] while a breaker
    /// failure function is started; it costs as much as all else of [`Self::measure`].
    ///
    /// Of half a cycle of the current that transformers leave behind when a breaker has opened, one mimic filter leaves too
    /// much; so there are two, the second of a third of the time constant.
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
        // As with the phasor of a cycle: the sums over the samples before are these, turned, with other ends.
        let (slow, fast) = (self.dc_samples, self.dc_samples / 3.0);
        let turn = Complex::polar(1.0, -reference.radians());
        let gain = dc::gain(reference.radians(), slow) * dc::gain(reference.radians(), fast);
        let scale = std::f64::consts::SQRT_2 / half as f64;
        let mut phases = [Complex::ZERO; 3];
        for (phase, filtered) in phases.iter_mut().enumerate() {
            let now = sums[phase];
            let before = now - product(0, phase) + product(half, phase);
            let earlier = before - product(1, phase) + product(half + 1, phase);
            let sum = now * ((1.0 + slow) * (1.0 + fast)) - turn * before * ((1.0 + slow) * fast + slow * (1.0 + fast))
                + turn * turn * earlier * (slow * fast);
            *filtered = sum * scale / gain;
        }
        phases
    }

    fn slot(&self, at: u64) -> usize {
        (at as usize) & (self.ring.len() - 1)
    }
}
