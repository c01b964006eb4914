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

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::SingleSample => "single-sample",
            Self::StuckCurrent => "stuck-current",
            Self::StuckVoltage => "stuck-voltage",
            Self::SwappedPhases => "swapped-phases",
            Self::ReversedPolarity => "reversed-polarity",
            Self::WrongRatio => "wrong-ratio",
        })
    }
}

impl Flaw {
    /// The quantity that it changes.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::StuckVoltage => Quantity::Voltage,
            _ => Quantity::Current,
        }
    }
}

impl SampleTable {
    /// Gives a range of samples a flaw; they have to be among those that are played once. `number` chooses phase and place of a single bad sample.
    /// Returns the largest change of a phase, in LSB: 0 if the flaw changes nothing, because there is no such member or no current to change.
    pub(crate) fn spoil(&mut self, flaw: Flaw, range: Range<u64>, dataset: &Dataset, number: u64) -> u32 {
        let phases = [0, 1, 2].map(|phase| member(dataset, flaw.quantity(), MemberRole::Phase(phase)));
        let range = range.start..range.end.min(self.once);
        match flaw {
            Flaw::SingleSample => {
                // Not at the begin: a relay has to take it from the middle of its window.
                let length = range.end.saturating_sub(range.start);
                let first = range.start + length / 4 + number * 7 % (length / 4).max(1);
                let bad = (first..range.end).step_by(ONE_OF as usize);
                let place = phases[(number % 3) as usize];
                bad.map(|sample| self.replace(sample, place, BAD)).max()
            }
            Flaw::StuckCurrent | Flaw::StuckVoltage => {
                let stuck = phases[0].map_or(0, |place| self.value(range.start, place));
                range.map(|sample| self.replace(sample, phases[0], stuck)).max()
            }
            Flaw::SwappedPhases => match (phases[1], phases[2]) {
                (Some(b), Some(c)) => range.map(|sample| self.swap(sample, b, c)).max(),
                _ => None,
            },
            Flaw::ReversedPolarity => self.scale(range, phases, dataset, [-1, 1, 1]),
            Flaw::WrongRatio => self.scale(range, phases, dataset, [2; 3]),
        }
        .unwrap_or(0)
    }

    /// Exchanges two members of a sample; returns the change.
    fn swap(&mut self, sample: u64, one: usize, other: usize) -> u32 {
        let [first, second] = [one, other].map(|place| self.value(sample, place));
        self.set(sample, one, second);
        self.replace(sample, Some(other), first)
    }

    /// Multiplies the phase currents; their sum follows. Returns the largest change of a phase.
    fn scale(
        &mut self,
        range: Range<u64>,
        phases: [Option<usize>; 3],
        dataset: &Dataset,
        factors: [i32; 3],
    ) -> Option<u32> {
        let residual = member(dataset, Quantity::Current, MemberRole::Residual);
        let mut largest = None;
        for sample in range {
            let mut more = 0_i32;
            for (place, factor) in phases.into_iter().zip(factors) {
                let Some(place) = place else { continue };
                let before = self.value(sample, place);
                let after = before.saturating_mul(factor);
                more = more.saturating_add(after.saturating_sub(before));
                largest = largest.max(Some(self.replace(sample, Some(place), after)));
            }
            if let Some(residual) = residual {
                self.set(sample, residual, self.value(sample, residual).saturating_add(more));
            }
        }
        largest
    }

    /// Sets a value, if there is such a member, and returns the change.
    fn replace(&mut self, sample: u64, place: Option<usize>, value: i32) -> u32 {
        let Some(place) = place else { return 0 };
        let before = self.value(sample, place);
        self.set(sample, place, value);
        value.abs_diff(before)
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
    use crate::sample::{Dataset, SampleTable, Sampling};
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
    fn the_largest_change_is_told_and_is_nothing_without_the_members() {
        let sampling = Sampling::new(4_800);
        for (flaw, least) in [
            (Flaw::SingleSample, 100_000_000),
            (Flaw::StuckCurrent, 560_000),
            (Flaw::StuckVoltage, 1_600_000),
            (Flaw::SwappedPhases, 970_000),
            (Flaw::ReversedPolarity, 1_130_000),
            (Flaw::WrongRatio, 560_000),
        ] {
            let mut table = pair(flaw, 0).0;
            let change = table.spoil(flaw, RANGE, &sampling.dataset, 0);
            assert!(change >= least, "{flaw:?}: {change}");
            assert_eq!(
                table.spoil(flaw, 960..960, &sampling.dataset, 0),
                0,
                "{flaw:?}: no sample"
            );
            let (currents, voltages) = if flaw == Flaw::StuckVoltage { (4, 0) } else { (0, 4) };
            let lacking = Dataset::new(currents, voltages).expect("a dataset");
            assert_eq!(table.spoil(flaw, RANGE, &lacking, 0), 0, "{flaw:?}: no member");
            let mut zeros = SampleTable {
                once: 1_920,
                octets: vec![0; 1_921 * 64],
                ..SampleTable::zeros(&sampling.dataset)
            };
            let change = zeros.spoil(flaw, RANGE, &sampling.dataset, 0);
            assert_eq!(change > 0, flaw == Flaw::SingleSample, "{flaw:?}: {change}");
        }
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
