//! The time at which a recorded fault starts.

use super::laid::{at, fundamental};
use crate::sample::{Dataset, MemberRole, Quantity};

/// Smallest difference from the cycle before that counts: this share of the largest value of the first cycle, or of the whole record if that is more.
const OF_FIRST_CYCLE: f64 = 0.2;
const OF_RECORD: f64 = 0.05;

/// A quantity whose fundamental is less than this share of its largest value counts as noise before the fault. A change must exceed that noise by
/// this factor.
const WAVE: f64 = 0.5;
const OF_NOISE: f64 = 4.0;

/// A change starts where the difference is still more than this share of the threshold.
const BEGINS: f64 = 0.2;

/// Minimum duration of a change, as a share of a cycle.
const LASTS: f64 = 1.0 / 16.0;

/// The first sample at which a phase current or voltage differs from its value a cycle (in samples) before, and the number of that member; `None` if
/// there is none. The columns must be interpolated without ringing.
pub(super) fn found(columns: &[Vec<f64>], dataset: &Dataset, cycle: f64) -> Option<(usize, usize)> {
    let quantities = [Quantity::Current, Quantity::Voltage];
    let of_quantity = |quantity: Quantity| {
        let is_phase = |index: &usize| {
            let member = &dataset.members()[*index];
            member.quantity == quantity && matches!(member.place, MemberRole::Phase(_))
        };
        let phases: Vec<usize> = (0..columns.len()).filter(is_phase).collect();
        let threshold = threshold(columns, &phases, cycle);
        let change = move |index: usize| change(&columns[index], cycle, threshold).map(|sample| (sample, index));
        phases.into_iter().filter_map(change).min()
    };
    quantities.into_iter().filter_map(of_quantity).min()
}

/// Largest magnitude of these values; missing ones are ignored.
pub(super) fn peak(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |peak, value| peak.max(value.abs()))
}

/// The smallest difference that counts for a quantity.
fn threshold(columns: &[Vec<f64>], phases: &[usize], cycle: f64) -> f64 {
    let first = cycle.ceil() as usize;
    let of_phase = |index: &usize| {
        let values = &columns[*index];
        let before = peak(&values[..first.min(values.len())]);
        let [re, im] = fundamental(values, 0, 0, cycle);
        let part = if re.hypot(im) < WAVE * before {
            OF_NOISE
        } else {
            OF_FIRST_CYCLE
        };
        (part * before).max(OF_RECORD * peak(values))
    };
    phases.iter().map(of_phase).fold(0.0, f64::max)
}

/// Position at which one column starts to differ from the cycle before.
fn change(values: &[f64], cycle: f64, threshold: f64) -> Option<usize> {
    let first = cycle.ceil() as usize;
    let differs = |sample: usize| (values[sample] - at(values, sample as f64 - cycle)).abs();
    let lasts = ((LASTS * cycle).ceil() as usize).max(1);
    let mut run = 0;
    let is_change = |sample: &usize| {
        // A missing value is NaN, which counts as no change.
        run = if differs(*sample) > threshold { run + 1 } else { 0 };
        run == lasts
    };
    let seen = (first..values.len()).find(is_change)?;
    let begins = (first..=seen - (lasts - 1))
        .rev()
        .take_while(|sample| differs(*sample) > BEGINS * threshold);
    begins.last()
}
