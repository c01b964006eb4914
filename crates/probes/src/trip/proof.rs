//! Proof that a relay could have tripped when it did not. Shots in which it must not trip prove something only between two shots
//! in which it had to trip and did. A relay that is dead, or receives another stream, never trips falsely either. Pure logic
//! without I/O.

use std::collections::BTreeSet;

/// The proof of one relay.
#[derive(Debug, Default)]
pub(super) struct Proof {
    /// True if the relay tripped in the last shot in which it had to.
    trips: bool,
    /// Slots of the series whose shots since then had no trip.
    quiet: BTreeSet<u16>,
}

impl Proof {
    /// Records that the relay did not trip in a shot in which it must not.
    pub(super) fn stayed_quiet(&mut self, slot: u16) {
        self.quiet.insert(slot);
    }

    /// Records that the relay had to trip, and the result. Returns the slots of series whose shots before this one prove nothing.
    pub(super) fn had_to_trip(&mut self, tripped: bool) -> BTreeSet<u16> {
        let before = std::mem::replace(&mut self.trips, tripped);
        let quiet = std::mem::take(&mut self.quiet);
        match before && tripped {
            true => BTreeSet::new(),
            false => quiet,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Proof;

    /// Slots without proof after these shots: `Err(slot)` is a shot without a trip, `Ok(tripped)` one in which the relay had to
    /// trip. Each sequence ends with a failed control.
    fn unproven(shots: &[Result<bool, u16>]) -> Vec<u16> {
        let mut proof = Proof::default();
        let mut without: Vec<u16> = Vec::new();
        for shot in shots {
            match shot {
                Ok(tripped) => without.extend(proof.had_to_trip(*tripped)),
                Err(slot) => proof.stayed_quiet(*slot),
            }
        }
        without.extend(proof.had_to_trip(false));
        without
    }

    #[test]
    fn silence_counts_between_two_trips_alone() {
        assert_eq!(unproven(&[Ok(true), Err(2), Err(7), Err(2), Ok(true)]), [0_u16; 0]);
        assert_eq!(unproven(&[Err(2), Ok(true)]), [2], "none before");
        assert_eq!(unproven(&[Ok(true), Err(2)]), [2], "none after it");
        assert_eq!(unproven(&[Ok(true), Err(2), Ok(false), Err(7), Ok(true)]), [2, 7]);
        assert_eq!(unproven(&[Err(2), Err(7)]), [2, 7], "a relay that is dead");
    }
}
