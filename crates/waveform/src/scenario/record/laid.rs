//! A record resampled for a stream, and its pre-fault cycle.

use crate::WaveformError;
use crate::sample::{MemberRole, Quantity, Sampling, Source};
use std::f64::consts::TAU;

/// The values of a record at the rate of a stream, cut to the played part. All positions are samples of the record at that rate.
#[derive(Debug, PartialEq)]
pub(super) struct Laid {
    /// The sampling of the stream.
    pub(super) sampling: Sampling,
    /// The sources of each member's values.
    pub(super) sources: Vec<Source>,
    /// The values of each member, in A or V.
    pub(super) columns: Vec<Vec<f64>>,
    /// Samples per cycle; not always an integer.
    pub(super) cycle: f64,
    /// The first played sample.
    pub(super) begin: usize,
    /// The first sample of the fault.
    pub(super) inception: usize,
    /// The sample after the last played one.
    pub(super) end: usize,
    /// Phase of the frequency at the inception in degrees: 0 is the crest of phase a's voltage.
    pub(super) point_deg: f64,
}

/// Largest difference between the ends of the repeated cycle, as a share of the largest value of their quantity in it.
const FURTHEST: f64 = 0.25;

/// Share of the record's largest value below which a quantity counts as absent before the fault, with only noise.
const NOISE: f64 = 0.05;

impl Laid {
    /// Number of played samples of the record's own pre-fault part.
    pub(super) fn own(&self) -> u64 {
        (self.inception - self.begin) as u64
    }

    /// Number of played samples of the record.
    pub(super) fn length(&self) -> u64 {
        (self.end - self.begin) as u64
    }

    pub(super) fn frequency_hz(&self) -> f64 {
        f64::from(self.sampling.rate) / self.cycle
    }

    /// Phase of the frequency at the first played sample, in degrees.
    pub(super) fn begin_deg(&self) -> f64 {
        self.point_deg - 360.0 * self.own() as f64 / self.cycle
    }

    /// Value of a member in the steady state at this phase of the frequency. It is the value of the first cycle, corrected by a slope for the
    /// difference of its ends, so that the cycle repeats and the record follows without a jump.
    pub(super) fn steady(&self, member: usize, phase_deg: f64) -> f64 {
        let part = ((phase_deg - self.begin_deg()) / 360.0).rem_euclid(1.0);
        let begin = self.begin as f64;
        let values = &self.columns[member];
        at(values, begin + part * self.cycle) - part * self.gap(member)
    }

    /// Difference between the first cycle's end and its start.
    fn gap(&self, member: usize) -> f64 {
        let values = &self.columns[member];
        at(values, self.begin as f64 + self.cycle) - values[self.begin]
    }

    /// Finds the phase of phase a's voltage at the inception, in degrees after the crest, from the last cycle before it; without a voltage, that of
    /// its current. Returns which of them was used, if any.
    pub(super) fn find_point(&mut self) -> Option<&'static str> {
        let found = [(Quantity::Voltage, "voltage"), (Quantity::Current, "current")]
            .into_iter()
            .find_map(|(quantity, what)| Some((self.fundamental_deg(quantity)?, what)));
        let (point_deg, what) = found?;
        self.point_deg = point_deg;
        Some(what)
    }

    fn fundamental_deg(&self, quantity: Quantity) -> Option<f64> {
        let members = self.sampling.dataset.members();
        let is_a = |member: &crate::sample::Member| member.quantity == quantity && member.place == MemberRole::Phase(0);
        let values = &self.columns[members.iter().position(is_a)?];
        let from = self.inception.checked_sub(self.cycle.round() as usize)?;
        let [re, im] = fundamental(values, from, self.inception, self.cycle);
        (re.hypot(im) > f64::from(f32::EPSILON)).then(|| im.atan2(re).to_degrees())
    }

    /// Largest difference between the ends of the repeated cycle, as a share of the largest value.
    ///
    /// # Errors
    /// The difference is too large for a cycle of a steady state.
    pub(super) fn check_steady(&self) -> Result<f64, WaveformError> {
        let members = self.sampling.dataset.members().iter().enumerate();
        let phases = members.filter(|(_, member)| matches!(member.place, MemberRole::Phase(_)));
        let mut worst = (0.0, "");
        for (index, member) in phases {
            let apart = self.gap(index).abs() / self.scale(member.quantity);
            if apart > worst.0 {
                worst = (apart, member.name.as_str());
            }
        }
        if worst.0 <= FURTHEST {
            return Ok(worst.0);
        }
        Err(WaveformError::setting(format!(
            "record: the first cycle that is played is not steady, so it cannot be repeated: {} at its end differs from its begin \
             by {:.0} % of the largest value: is the frequency {:.1} Hz (record.frequency_hz), and is the record steady there (a \
             shorter record.prefault plays less of it)?",
            worst.1,
            100.0 * worst.0,
            self.frequency_hz()
        )))
    }

    /// The reference value for differences of a quantity.
    fn scale(&self, quantity: Quantity) -> f64 {
        let members = self.sampling.dataset.members().iter().zip(&self.columns);
        let of_quantity = members.filter(|(member, _)| member.quantity == quantity);
        let cycle = self.begin..self.begin + self.cycle.ceil() as usize;
        let peaks = of_quantity.map(|(_, values)| {
            let whole = super::inception::peak(values);
            super::inception::peak(&values[cycle.clone()]).max(NOISE * whole)
        });
        peaks.fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// Fundamental phasor, as a peak value, of the cycle that starts at `from`; its angle refers to `zero`.
pub(super) fn fundamental(values: &[f64], from: usize, zero: usize, cycle: f64) -> [f64; 2] {
    let samples = cycle.round() as usize;
    let (mut re, mut im) = (0.0, 0.0);
    for (value, sample) in values[from..].iter().zip(from..from + samples) {
        let angle = TAU * (sample as f64 - zero as f64) / cycle;
        re += value * angle.cos();
        im -= value * angle.sin();
    }
    [re, im].map(|part| 2.0 * part / samples as f64)
}

/// The value at a position between samples: a cubic through the two samples on either side. The position must be inside the values.
pub(super) fn at(values: &[f64], position: f64) -> f64 {
    let last = values.len() - 1;
    let place = (position.max(0.0) as usize).min(last);
    let part = position - place as f64;
    if part < 1e-6 {
        return values[place];
    }
    let of = |index: usize| values[index.min(last)];
    let [before, left, right, behind] = [of(place.saturating_sub(1)), of(place), of(place + 1), of(place + 2)];
    let slopes = [(right - before) / 2.0, (behind - left) / 2.0];
    let rise = right - left;
    let square = 3.0 * rise - 2.0 * slopes[0] - slopes[1];
    let cube = slopes[0] + slopes[1] - 2.0 * rise;
    left + part * (slopes[0] + part * (square + part * cube))
}
