//! Single implausible samples.
//!
//! The current and voltage of a phase do not leave their course for one sample and return: a fault stays. So a sample far off both its neighbours, on
//! the same side, is no measurement. A measured residual may: an earth fault that strikes again is a pulse of 250 us, one sample at 4000/s, and functions
//! count these. So of a residual only a sample beyond such pulses is no measurement. It is known as such when the next sample is there. Until then the window holds the sample before it; afterwards
//! the mean of its neighbours, or, if the next sample confirms it, the sample itself. So a fault waits one sample at most, and only if it begins with
//! a jump.

use super::correlator::CHANNELS;
use super::health::Channels;
use super::settings::{BaySettings, Residual};
use crate::rated::Rated;

/// A jump is suspicious if it exceeds the previous step by this factor, and the least jump on top: the steps of a sine grow slowly.
const STEP: f64 = 3.0;

/// The neighbours of a spike differ by at most this share of it.
const RETURN: f64 = 0.5;

/// Least spike of a measured residual, as a multiple of that of a phase: beyond the pulses of restriking earth faults.
const RESIDUAL: f64 = 20.0;

/// Samples of a cycle from which spikes can be told from harmonics.
const LEAST_PER_CYCLE: f64 = 32.0;

/// A sample of all channels.
type Eight = [f64; CHANNELS];

/// Suspects of the last sample.
#[derive(Debug, Clone)]
pub(super) struct Suspects {
    /// Least jump by channel, in A and V; infinite if the channel is not checked.
    least: Eight,
    channels: Channels,
    /// The last sample as it came.
    came: Eight,
}

impl Suspects {
    pub(super) fn new(settings: &BaySettings, rated: &Rated) -> Self {
        let peak = std::f64::consts::SQRT_2;
        let is_slow = rated.samples_per_second < LEAST_PER_CYCLE * rated.frequency_hz;
        let least = |setting: f64, base: f64| match setting == 0.0 || is_slow {
            true => f64::INFINITY,
            false => setting * base * peak,
        };
        let (current, voltage) = (
            least(settings.spikes.current, rated.current_a),
            least(settings.spikes.voltage, rated.phase_voltage_v()),
        );
        // A sum follows its phases.
        let residual = |least: f64, source: Residual| match source {
            Residual::Measured => RESIDUAL * least,
            Residual::Sum => least,
        };
        let (earth, open) = (
            residual(current, settings.residual_current),
            residual(voltage, settings.residual_voltage),
        );
        Self {
            least: [current, current, current, earth, voltage, voltage, voltage, open],
            channels: Channels::NONE,
            came: [0.0; CHANNELS],
        }
    }

    /// True if a channel of `sample` that is not in `bad` jumps; the two samples before it are `before` and `earlier`.
    #[inline]
    pub(super) fn jumps(&self, sample: &Eight, before: &Eight, earlier: &Eight, bad: Channels) -> bool {
        // No `any`, so that there is no branch per channel.
        (0..CHANNELS).fold(false, |any, channel| {
            any | (self.is_jump(channel, sample, before, earlier) & !bad.meets(Channels(1 << channel)))
        })
    }

    #[inline]
    fn is_jump(&self, channel: usize, sample: &Eight, before: &Eight, earlier: &Eight) -> bool {
        let step = (before[channel] - earlier[channel]).abs();
        (sample[channel] - before[channel]).abs() > self.least[channel] + STEP * step
    }

    /// Holds back the jumps of a sample on channels that are not in `bad`: they become the value before.
    #[cold]
    pub(super) fn hold(&mut self, sample: &mut Eight, before: &Eight, earlier: &Eight, bad: Channels) {
        self.came = *sample;
        for channel in 0..CHANNELS {
            if !bad.meets(Channels(1 << channel)) && self.is_jump(channel, &self.came, before, earlier) {
                self.channels = self.channels | Channels(1 << channel);
                sample[channel] = before[channel];
            }
        }
    }

    pub(super) fn any(&self) -> bool {
        self.channels != Channels::NONE
    }

    /// Forgets the suspects: their values stay those before them.
    pub(super) fn forget(&mut self) {
        self.channels = Channels::NONE;
    }

    /// Decides on the suspects by the next sample. `held` is the last sample as it is in the window; returned is the sample that belongs there, and
    /// the channels that were spikes.
    #[cold]
    pub(super) fn decided(&mut self, held: &Eight, next: &Eight) -> (Eight, Channels) {
        let suspects = std::mem::replace(&mut self.channels, Channels::NONE);
        let (mut sample, mut spikes) = (*held, Channels::NONE);
        for channel in 0..CHANNELS {
            if !suspects.meets(Channels(1 << channel)) {
                continue;
            }
            // A suspect is held at the value before it.
            let before = held[channel];
            let jump = (self.came[channel] - before).abs();
            let is_spike = (next[channel] - before).abs() <= RETURN * jump;
            sample[channel] = if is_spike {
                0.5 * (before + next[channel])
            } else {
                self.came[channel]
            };
            spikes = spikes | Channels(1 << channel).when(is_spike);
        }
        (sample, spikes)
    }
}
