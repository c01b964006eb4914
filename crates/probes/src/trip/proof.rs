//! The proof that a relay that did not trip could have: shots in which it must not trip prove something only between two in which it had
//! to, and did. One that is dead, or takes another stream, never trips falsely. Pure.

use std::collections::BTreeSet;

/// The proof of one relay.
#[derive(Debug, Default)]
pub(super) struct Proof {
    /// It tripped in the last shot in which it had to.
    trips: bool,
    /// Slots of the series whose shots since then had no trip.
    quiet: BTreeSet<u16>,
}

impl Proof {
    /// It did not trip in a shot in which it must not.
    pub(super) fn stayed_quiet(&mut self, slot: u16) {
        self.quiet.insert(slot);
    }

    /// It had to trip, and did, or did not. Gives the slots of series whose shots before this one prove nothing.
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

    /// Slots without proof after these: a slot that stayed quiet, or whether the relay tripped where it had to. Each one ends with a
    /// control that does not hold.
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
        assert_eq!(unproven(&[Ok(true), Err(2)]), [2], "none behind");
        assert_eq!(unproven(&[Ok(true), Err(2), Ok(false), Err(7), Ok(true)]), [2, 7]);
        assert_eq!(unproven(&[Err(2), Err(7)]), [2, 7], "a relay that is dead");
    }
}
