//! Decides if two streams may be combined.

/// Synchronisation of a stream: smpSynch of IEC 61850-9-2 (IEC 61869-9), as in our reference, section 1.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Synch {
    /// The smpSynch byte: 0 none, 1 a local clock of unknown identity, 2 a global clock, 5 to 254 the local clock with that identity; all other
    /// values are reserved and treated as 0.
    pub value: u8,
    /// Number of a local clock without identity: streams with the same number share the clock, and 0 shares it with none.
    pub clock: u16,
}

impl Synch {
    /// Synchronised to a global clock.
    pub const GLOBAL: Self = Self { value: 2, clock: 0 };

    /// True if the samples of both have the same time base.
    #[must_use]
    pub fn may_combine(self, other: Self) -> bool {
        match (self.value, other.value) {
            (2, 2) => true,
            (1, 1) => self.clock != 0 && self.clock == other.clock,
            (5..=254, 5..=254) => self.value == other.value,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Synch;

    #[test]
    fn only_one_time_scale_is_combined() {
        let of = |value, clock| Synch { value, clock };
        assert!(of(2, 0).may_combine(of(2, 0)));
        assert!(!of(2, 0).may_combine(of(1, 0)));
        assert!(!of(1, 0).may_combine(of(1, 0)), "two unknown clocks");
        assert!(of(1, 7).may_combine(of(1, 7)));
        assert!(!of(1, 7).may_combine(of(1, 8)));
        assert!(of(9, 0).may_combine(of(9, 0)));
        assert!(!of(9, 0).may_combine(of(10, 0)));
        for bad in [0, 3, 4, 255] {
            assert!(!of(bad, 1).may_combine(of(bad, 1)), "{bad}");
        }
    }
}
