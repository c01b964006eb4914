//! A record laid out on the samples of a stream, and its pre-fault cycle.

use crate::WaveformError;
use crate::sample::{MemberRole, Quantity, Sampling, Source};
use std::f64::consts::TAU;

/// The values of a record at the rate of a stream, cut to what is played. All positions are samples of the record at that rate.
#[derive(Debug, PartialEq)]
pub(super) struct Laid {
    /// The samples that it is laid out for.
    pub(super) sampling: Sampling,
    /// The sources of each member's values.
    pub(super) sources: Vec<Source>,
    /// Of each member its values, in A or V.
    pub(super) columns: Vec<Vec<f64>>,
    /// Samples of a cycle; not always a whole number.
    pub(super) cycle: f64,
    /// The first sample that is played.
    pub(super) begin: usize,
    /// The first one of the fault.
    pub(super) inception: usize,
    /// The first one that is not played any more.
    pub(super) end: usize,
    /// Phase of the frequency at the inception in degrees: 0 is the crest of phase a's voltage.
    pub(super) point_deg: f64,
}

/// How far the ends of the cycle that is repeated may be apart, as a part of the largest value of their quantity in it.
const FURTHEST: f64 = 0.25;

/// Below this part of the record's largest value a quantity is not there before the fault, and is noise.
const NOISE: f64 = 0.05;

impl Laid {
    /// Samples of the record's own pre-fault that are played.
    pub(super) fn own(&self) -> u64 {
        (self.inception - self.begin) as u64
    }

    /// Samples of the record that are played.
    pub(super) fn length(&self) -> u64 {
        (self.end - self.begin) as u64
    }

    pub(super) fn frequency_hz(&self) -> f64 {
        f64::from(self.sampling.rate) / self.cycle
    }

    /// Phase of the frequency at the first sample that is played, in degrees.
    pub(super) fn begin_deg(&self) -> f64 {
        self.point_deg - 360.0 * self.own() as f64 / self.cycle
    }

    /// Value of a member in the steady state, where the phase of the frequency is this: that of the first cycle, turned by what its ends
    /// are apart, so that it follows itself, and the record follows it, without a jump.
    pub(super) fn steady(&self, member: usize, phase_deg: f64) -> f64 {
        let part = ((phase_deg - self.begin_deg()) / 360.0).rem_euclid(1.0);
        let begin = self.begin as f64;
        let values = &self.columns[member];
        at(values, begin + part * self.cycle) - part * self.gap(member)
    }

    /// By how much the first cycle's end is off its begin.
    fn gap(&self, member: usize) -> f64 {
        let values = &self.columns[member];
        at(values, self.begin as f64 + self.cycle) - values[self.begin]
    }

    /// The phase of phase a's voltage at the inception, in degrees from the crest on, by the last cycle before it; of its current where
    /// there is no voltage. Tells which one, if any.
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

    /// How far the ends of the repeated cycle are apart at the most, as a part of the largest value.
    ///
    /// # Errors
    /// Too far: it is no cycle of a steady state.
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
            "record: the first cycle that is played is no steady state that could be repeated: {} at its end is {:.0} % of the largest value off \
             its begin: is the frequency {:.1} Hz (record.frequency_hz), and is the record settled there (record.prefault plays less of \
             it)?",
            worst.1,
            100.0 * worst.0,
            self.frequency_hz()
        )))
    }

    /// The measure for gaps of a quantity.
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

/// Fundamental phasor, as a peak, of the cycle of so many samples that begins with `from`; its angle is that at `zero`.
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

/// The value at a position between samples: a cubic through the two on either side. What is asked for is inside the values.
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
