//! The way of a sample into the window: one that leaves the course of the wave waits for the next.

use super::{Bay, CHANNELS, Channels, RESIDUALS, Reference, residuals};

impl Bay {
    /// Takes a sample, unless it leaves the course of the wave: then the next one decides. Channels in `bad` are not trusted anyway: nothing is replaced.
    #[inline]
    pub(super) fn admit(&mut self, reference: &Reference, at: u64, sample: &[f64; CHANNELS], bad: Channels) {
        if self.suspects.any() {
            self.decide(reference, at, sample);
        }
        let [before, earlier] = [1, 2].map(|back| &self.ring[self.slot(at.wrapping_sub(back))]);
        let follows = at == self.next && at - self.since > 1;
        if follows && self.suspects.jumps(sample, before, earlier, bad) {
            let (mut held, before, earlier) = (*sample, *before, *earlier);
            self.suspects.hold(&mut held, &before, &earlier, bad);
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
        self.count(before, spikes);
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

    /// Counts a sample that was replaced on these channels. A residual alone that is replaced twice in a window is not trusted:
    /// functions without it go on.
    fn count(&mut self, at: u64, spikes: Channels) {
        self.spikes += u64::from(spikes != Channels::NONE);
        let phases = Channels::PHASE_CURRENTS | Channels::PHASE_VOLTAGES;
        self.phase_spikes += u64::from(spikes.meets(phases));
        let mut distrusted = Channels::NONE;
        for (channel, last) in RESIDUALS.into_iter().zip(&mut self.residual_spiked_at) {
            let residual = Channels(1 << channel);
            if spikes.meets(residual) && !spikes.meets(phases) {
                let is_again = last.is_some_and(|last| at.saturating_sub(last) <= self.window.whole as u64);
                *last = Some(at);
                distrusted = distrusted | residual.when(is_again);
            }
        }
        if distrusted != Channels::NONE {
            self.distrust(at, distrusted);
        }
    }

    /// Number of samples since the start with a channel that left the course of the wave for one sample: its value was replaced by the mean of its
    /// neighbours.
    #[must_use]
    pub fn spikes(&self) -> u64 {
        self.spikes
    }

    /// The same, for samples with such a phase current or voltage.
    #[must_use]
    pub fn phase_spikes(&self) -> u64 {
        self.phase_spikes
    }
}
