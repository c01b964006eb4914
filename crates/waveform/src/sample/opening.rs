//! A breaker that opens in a running table: each pole at the zero of its current.

use super::{Dataset, Member, MemberRole, Quantity, SampleTable};
use crate::WaveformError;
use wire::sv::MEMBER;

/// Largest number of samples from the order to the last pole.
const LONGEST: u64 = 2_000;

impl SampleTable {
    /// This table from sample `from` on, whose poles open there: each phase goes on until its current passes through zero, and then has the values
    /// of `open`, whose sample 0 is at the same time as `from`. Returns also the number of samples until the last pole has opened. A current that
    /// never passes through zero is cut after 2000 samples. Both sides of a line open.
    ///
    /// # Errors
    /// The two tables do not fit each other.
    pub fn opened(&self, from: u64, open: &Self, dataset: &Dataset) -> Result<(Self, u64), WaveformError> {
        if self.sides(dataset) < 2 {
            return Ok(self.one_opened(from, open, dataset));
        }
        let [(near, first), (far, second)] = [0, 1].map(|side| {
            self.side(side, dataset)
                .one_opened(from, &open.side(side, dataset), dataset)
        });
        Ok((near.beside(&far)?, first.max(second)))
    }

    fn one_opened(&self, from: u64, open: &Self, dataset: &Dataset) -> (Self, u64) {
        let members = dataset.members();
        let mut opens = [0; 3];
        for (phase, open) in opens.iter_mut().enumerate() {
            let is_current =
                |member: &Member| member.quantity == Quantity::Current && member.place == MemberRole::Phase(phase);
            let member = members.iter().position(is_current);
            *open = member.map_or(0, |member| self.next_zero(from, member));
        }
        let done = opens.into_iter().max().unwrap_or(0);
        let once = done.max(open.once);
        let mut octets = Vec::with_capacity((once + open.looped) as usize * open.stride);
        for sample in 0..once + open.looped {
            octets.extend_from_slice(open.seq_data(sample));
        }
        let mut spliced = Self {
            octets,
            once,
            marks: Vec::new(),
            ..open.clone()
        };
        for sample in 0..done {
            spliced.keep(sample, self.seq_data(from + sample), members, opens);
        }
        (spliced, done)
    }

    /// Number of samples from `from` to the first one at which the sign of a member differs from the sample before; 0 if it has none.
    fn next_zero(&self, from: u64, member: usize) -> u64 {
        let value = |sample: u64| i64::from(number(self.seq_data(sample), member));
        if value(from) == 0 && value(from + 1) == 0 {
            return 0;
        }
        let crosses = |after: &u64| value((from + after).saturating_sub(1)) * value(from + after) <= 0;
        (0..LONGEST).find(crosses).unwrap_or(LONGEST)
    }

    /// Gives a sample the values of `running` in the phases whose pole is closed; sums of phases follow.
    fn keep(&mut self, sample: u64, running: &[u8], members: &[Member], opens: [u64; 3]) {
        let at = sample as usize * self.stride;
        let own = &mut self.octets[at..at + self.stride];
        let is_closed = |member: &Member| match member.place {
            MemberRole::Phase(phase) => sample < opens[phase],
            // A sensor of its own follows the last pole.
            MemberRole::Further | MemberRole::Residual => true,
        };
        for (number, _) in members.iter().enumerate().filter(|(_, member)| is_closed(member)) {
            let place = MEMBER * number..MEMBER * (number + 1);
            own[place.clone()].copy_from_slice(&running[place]);
        }
        for quantity in [Quantity::Current, Quantity::Voltage] {
            let of_phases =
                |member: &Member| member.quantity == quantity && matches!(member.place, MemberRole::Phase(_));
            let is_residual = |member: &Member| member.quantity == quantity && member.place == MemberRole::Residual;
            let Some(residual) = members.iter().position(is_residual) else {
                continue;
            };
            let sum = |octets: &[u8]| {
                let phases = members.iter().enumerate().filter(|(_, member)| of_phases(member));
                phases.map(|(place, _)| i64::from(number(octets, place))).sum::<i64>()
            };
            let moved = i64::from(number(running, residual)) + sum(own) - sum(running);
            let moved = moved.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
            own[MEMBER * residual..MEMBER * residual + 4].copy_from_slice(&moved.to_be_bytes());
        }
    }
}

/// Value of a member.
fn number(octets: &[u8], member: usize) -> i32 {
    let value = octets.get(MEMBER * member..).and_then(|rest| rest.first_chunk());
    value.map_or(0, |value| i32::from_be_bytes(*value))
}

#[cfg(test)]
mod tests {
    use super::number;
    use crate::sample::{SampleTable, Sampling};
    use crate::scenario::find;

    fn current(table: &SampleTable, member: usize, sample: u64) -> i32 {
        number(table.seq_data(sample), member)
    }

    #[test]
    fn each_pole_opens_at_its_current_zero() {
        let sampling = Sampling::new(4_800);
        for name in ["zone1-ag", "zone1-bc", "zone1-abg", "overcurrent"] {
            let shot = find(name, &sampling)
                .and_then(|scenario| scenario.shot(&sampling, 960, 0.0, 0))
                .expect(name);
            for from in (960 + 300..960 + 396).step_by(5) {
                let deg = shot.wave.phase_deg_at(from as f64 / 4_800.0).expect("a phase");
                let open = shot.wave.opened().shifted(deg).table(&sampling).expect("a table");
                let (opened, done) = shot.table.opened(from, &open, &sampling.dataset).expect("both fit");
                assert!(done < 2 * 96, "{name}: {done}");
                for member in 0..3 {
                    let last = (0..done).rev().find(|sample| current(&opened, member, *sample) != 0);
                    let last = last.unwrap_or(0);
                    let (value, next) = (
                        current(&opened, member, last),
                        current(&shot.table, member, from + last + 1),
                    );
                    assert!(
                        i64::from(value) * i64::from(next) <= 0 || last == 0,
                        "{name}, {member}: {value}, {next}"
                    );
                    assert!((done..done + 500).all(|sample| current(&opened, member, sample) == 0));
                }
                for sample in 0..done {
                    let phases: i32 = (0..3).map(|member| current(&opened, member, sample)).sum();
                    assert_eq!(phases, current(&opened, 3, sample), "the residual is the sum");
                }
                // The voltages afterwards are those of the open breaker, in phase.
                assert_eq!(current(&opened, 4, done + 96), current(&open, 4, done + 96));
            }
        }
    }

    #[test]
    fn a_breaker_without_current_opens_at_once_and_one_without_a_zero_in_the_end() {
        let sampling = Sampling::new(4_000);
        let zeros = SampleTable::zeros(&sampling.dataset);
        assert_eq!(zeros.one_opened(5, &zeros, &sampling.dataset).1, 0);
        let stuck = SampleTable::repeated([1_i32.to_be_bytes().to_vec(), vec![0; 60]].concat(), 64);
        assert_eq!(stuck.one_opened(5, &zeros, &sampling.dataset).1, 2_000);
    }
}
