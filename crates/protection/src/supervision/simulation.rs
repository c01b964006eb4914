//! Simulated samples alongside real ones.

/// Chooses between the samples of a merging unit and those of a test set that have the simulation bit (`S` of the header):
/// IEC 61850-7-4 and -8-1, as in our reference, section 1.5. For GOOSE, `wire` has the same rule.
///
/// Outside simulation all simulated messages are dropped. In simulation real ones are used until the first simulated one arrives; from then on only
/// simulated ones, until simulation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Simulation {
    allowed: bool,
    taken_over: bool,
    dropped: u64,
}

impl Simulation {
    /// Sets `LPHD.Sim`.
    pub fn allow(&mut self, allowed: bool) {
        self.allowed = allowed;
        self.taken_over &= allowed;
    }

    /// True if a message should be used.
    pub fn accepts(&mut self, simulated: bool) -> bool {
        self.taken_over |= self.allowed && simulated;
        let accepted = simulated == self.taken_over;
        self.dropped += u64::from(!accepted);
        accepted
    }

    /// True if simulated messages are used (`SimSt`).
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.taken_over
    }

    /// Number of messages that were not used.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::Simulation;

    #[test]
    fn simulation_takes_over_at_its_first_message() {
        let mut simulation = Simulation::default();
        assert!(simulation.accepts(false));
        assert!(!simulation.accepts(true));
        assert_eq!(simulation.dropped(), 1);
        simulation.allow(true);
        assert!(simulation.accepts(false) && !simulation.is_simulated());
        assert!(simulation.accepts(true) && simulation.is_simulated());
        assert!(!simulation.accepts(false));
        simulation.allow(false);
        assert!(simulation.accepts(false));
        assert!(!simulation.accepts(true));
        assert_eq!(simulation.dropped(), 3);
    }
}
