//! The way of a sample into the window: one that leaves the course of the wave waits for the next.

use super::{Bay, CHANNELS, Channels, Reference, residuals};

impl Bay {
    /// Takes a sample, unless it leaves the course of the wave: then the next one decides.
    #[inline]
    pub(super) fn admit(&mut self, reference: &Reference, at: u64, sample: &[f64; CHANNELS]) {
        if self.suspects.any() {
            self.decide(reference, at, sample);
        }
        let [before, earlier] = [1, 2].map(|back| &self.ring[self.slot(at.wrapping_sub(back))]);
        let follows = at == self.next && at - self.since > 1;
        if follows && self.suspects.jumps(sample, before, earlier) {
            let (mut held, before, earlier) = (*sample, *before, *earlier);
            self.suspects.hold(&mut held, &before, &earlier);
            self.take(reference, at, &held);
        } else {
            self.take(reference, at, sample);
        }
    }

    /// Puts the sample before `at` right, now that its successor `next` is known.
    #[cold]
    fn decide(&mut self, reference: &Reference, at: u64, next: &[f64; CHANNELS]) {
        let before = at.wrapping_sub(1);
        if at != self.next || !reference.covers(before) {
            self.suspects.forget();
            return;
        }
        let slot = self.slot(before);
        let held = self.ring[slot];
        let (right, spikes) = self.suspects.decided(&held, next);
        self.spikes += u64::from(spikes != Channels::NONE);
        self.ring[slot] = right;
        let change: [f64; CHANNELS] = std::array::from_fn(|channel| right[channel] - held[channel]);
        let is_fresh = self.fresh > 0;
        let factors = reference.factors(before);
        for (row, correlator) in &mut self.orders {
            correlator.amend(&change, factors[*row], is_fresh);
        }
        for (row, correlator) in &mut self.residual_orders {
            correlator.amend(&residuals(&change), factors[*row], is_fresh);
        }
        self.squares.amend(&held, &right, is_fresh);
    }

    /// Number of samples since the start with a channel that left the course of the wave for one sample: its value was replaced by the mean of its
    /// neighbours.
    #[must_use]
    pub fn spikes(&self) -> u64 {
        self.spikes
    }
}
