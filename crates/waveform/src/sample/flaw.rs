//! Samples of good quality that are wrong: a converter, a member or a wire of the merging unit.

use super::{Dataset, MemberRole, Quantity, SampleTable};
use serde::Deserialize;
use std::ops::Range;
use wire::sv::MEMBER;

/// Value of a single bad sample: 150 kA, in mA.
const BAD: i32 = 150_000_000;

/// Distance of single bad samples.
const ONE_OF: u64 = 7_200;

/// A flaw of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flaw {
    /// One sample in 7200 of a phase current is 150 kA.
    SingleSample,
    /// The current of phase a keeps the value of its first sample.
    StuckCurrent,
    /// The voltage of phase a keeps the value of its first sample.
    StuckVoltage,
    /// The currents of phases b and c are exchanged.
    SwappedPhases,
    /// The current of phase a has the wrong sign.
    ReversedPolarity,
    /// All currents are twice as large.
    WrongRatio,
}

impl SampleTable {
    /// Gives a range of samples a flaw; they have to be among those that are played once. `number` chooses phase and place of a single bad sample.
    pub(crate) fn spoil(&mut self, flaw: Flaw, range: Range<u64>, dataset: &Dataset, number: u64) {
        let current = |phase| member(dataset, Quantity::Current, MemberRole::Phase(phase));
        let range = range.start..range.end.min(self.once);
        match flaw {
            Flaw::SingleSample => {
                let Some(place) = current((number % 3) as usize) else {
                    return;
                };
                // Not at the begin: a relay has to take it from the middle of its window.
                let length = range.end.saturating_sub(range.start);
                let first = range.start + length / 4 + number * 7 % (length / 4).max(1);
                for sample in (first..range.end).step_by(ONE_OF as usize) {
                    self.set(sample, place, BAD);
                }
            }
            Flaw::StuckCurrent => self.stick(range, current(0)),
            Flaw::StuckVoltage => self.stick(range, member(dataset, Quantity::Voltage, MemberRole::Phase(0))),
            Flaw::SwappedPhases => {
                let (Some(b), Some(c)) = (current(1), current(2)) else {
                    return;
                };
                for sample in range {
                    let [one, other] = [b, c].map(|place| self.value(sample, place));
                    self.set(sample, b, other);
                    self.set(sample, c, one);
                }
            }
            Flaw::ReversedPolarity => self.scale(range, dataset, [-1, 1, 1]),
            Flaw::WrongRatio => self.scale(range, dataset, [2; 3]),
        }
    }

    fn stick(&mut self, range: Range<u64>, place: Option<usize>) {
        let Some(place) = place else { return };
        let stuck = self.value(range.start, place);
        range.for_each(|sample| self.set(sample, place, stuck));
    }

    /// Multiplies the phase currents; their sum follows.
    fn scale(&mut self, range: Range<u64>, dataset: &Dataset, factors: [i32; 3]) {
        let residual = member(dataset, Quantity::Current, MemberRole::Residual);
        for sample in range {
            let mut more = 0_i32;
            for (phase, factor) in factors.into_iter().enumerate() {
                let Some(place) = member(dataset, Quantity::Current, MemberRole::Phase(phase)) else {
                    continue;
                };
                let before = self.value(sample, place);
                let after = before.saturating_mul(factor);
                more = more.saturating_add(after.saturating_sub(before));
                self.set(sample, place, after);
            }
            if let Some(residual) = residual {
                self.set(sample, residual, self.value(sample, residual).saturating_add(more));
            }
        }
    }

    fn value(&self, sample: u64, place: usize) -> i32 {
        let octets = self
            .seq_data(sample)
            .get(MEMBER * place..)
            .and_then(|rest| rest.first_chunk());
        octets.map_or(0, |octets| i32::from_be_bytes(*octets))
    }

    fn set(&mut self, sample: u64, place: usize, value: i32) {
        let at = sample as usize * self.stride + MEMBER * place;
        if let Some(octets) = self.octets.get_mut(at..at + 4) {
            octets.copy_from_slice(&value.to_be_bytes());
        }
    }
}

fn member(dataset: &Dataset, quantity: Quantity, place: MemberRole) -> Option<usize> {
    let mut members = dataset.members().iter();
    members.position(|member| member.quantity == quantity && member.place == place)
}

#[cfg(test)]
mod tests {
    use super::{BAD, Flaw};
    use crate::sample::{SampleTable, Sampling};
    use crate::scenario::find;

    const RANGE: std::ops::Range<u64> = 960..1_920;

    /// The load, without and with a flaw.
    fn pair(flaw: Flaw, number: u64) -> (SampleTable, SampleTable) {
        let sampling = Sampling::new(4_800);
        let shot = find("load", &sampling)
            .and_then(|load| load.shot(&sampling, 960, 0.0, 0))
            .expect("a shot");
        let mut flawed = shot.table.clone();
        flawed.spoil(flaw, RANGE, &sampling.dataset, number);
        (shot.table, flawed)
    }

    #[test]
    fn each_flaw_is_in_its_members_and_its_range_alone() {
        for (flaw, members) in [
            (Flaw::StuckCurrent, vec![0]),
            (Flaw::StuckVoltage, vec![4]),
            (Flaw::SwappedPhases, vec![1, 2]),
            (Flaw::ReversedPolarity, vec![0, 3]),
            (Flaw::WrongRatio, vec![0, 1, 2, 3]),
        ] {
            let (good, flawed) = pair(flaw, 0);
            let mut changed = std::collections::BTreeSet::new();
            for sample in 0..3_000 {
                for member in 0..8 {
                    if good.value(sample, member) != flawed.value(sample, member) {
                        assert!(RANGE.contains(&sample), "{flaw:?}: {sample}");
                        changed.insert(member);
                    }
                }
            }
            // The sum of a symmetrical load is rounding alone.
            let changed: Vec<usize> = changed.into_iter().collect();
            assert!(
                changed.iter().all(|member| members.contains(member)) && !changed.is_empty(),
                "{flaw:?}: {changed:?}"
            );
        }
        let (good, flawed) = pair(Flaw::ReversedPolarity, 0);
        assert_eq!(flawed.value(1_000, 3), good.value(1_000, 3) - 2 * good.value(1_000, 0));
    }

    #[test]
    fn a_single_sample_is_bad_in_each_phase_in_turn() {
        for number in 0..30 {
            let (good, flawed) = pair(Flaw::SingleSample, number);
            let bad: Vec<(u64, usize)> = (0..3_000)
                .flat_map(|sample| (0..8).map(move |member| (sample, member)))
                .filter(|(sample, member)| good.value(*sample, *member) != flawed.value(*sample, *member))
                .collect();
            let [(sample, member)] = bad[..] else { panic!("{bad:?}") };
            assert_eq!((member, flawed.value(sample, member)), ((number % 3) as usize, BAD));
            assert!(RANGE.contains(&sample));
        }
    }
}
