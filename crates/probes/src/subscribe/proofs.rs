//! Counts of a stream's datagrams whose signatures are not known to be right.

use wire::routed::Proof;

/// Counts by result, in the order of [`Proof::COUNTED`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Proofs([u64; Proof::COUNTED.len()]);

impl Proofs {
    /// Counts a result; returns its count so far, 0 for one that is not counted.
    pub(super) fn count(&mut self, proof: Proof) -> u64 {
        let Some(count) = proof.place().and_then(|place| self.0.get_mut(place)) else {
            return 0;
        };
        *count += 1;
        *count
    }

    /// True if messages were refused.
    pub(super) fn has_refused(&self) -> bool {
        let mut all = Proof::COUNTED.into_iter().zip(self.0);
        all.any(|(proof, count)| proof.is_refused() && count > 0)
    }

    /// The results that came more than once, with their counts: a single one was told when it came.
    pub(super) fn repeated(&self) -> impl Iterator<Item = (Proof, u64)> + use<> {
        let all = Proof::COUNTED.into_iter().zip(self.0);
        all.filter(|(_, count)| *count > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Proofs;
    use wire::routed::Proof;

    #[test]
    fn the_first_is_told_at_once_and_the_others_as_a_total() {
        let mut proofs = Proofs::default();
        assert_eq!(proofs.count(Proof::Right), 0);
        assert_eq!(
            [Proof::Wrong, Proof::Wrong, Proof::Unsigned].map(|proof| proofs.count(proof)),
            [1, 2, 1]
        );
        assert_eq!(proofs.repeated().collect::<Vec<_>>(), [(Proof::Wrong, 2)]);
    }
}
