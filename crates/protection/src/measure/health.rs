//! Reasons why a measured set must not be used.

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of the eight channels of a bay, in the order of [`super::Channel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Channels(pub u8);

impl Channels {
    /// None.
    pub const NONE: Self = Self(0);
    /// The three phase currents.
    pub const PHASE_CURRENTS: Self = Self(0b0000_0111);
    /// The residual current.
    pub const RESIDUAL_CURRENT: Self = Self(0b0000_1000);
    /// The three phase voltages.
    pub const PHASE_VOLTAGES: Self = Self(0b0111_0000);
    /// The residual voltage.
    pub const RESIDUAL_VOLTAGE: Self = Self(0b1000_0000);
    /// All eight.
    pub const ALL: Self = Self(0xff);

    /// `self` if `condition` is true, otherwise none.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }

    /// True if the two sets have a channel in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Channels {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Channels {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// A set of reasons why a function is blocked. If it is empty, the function is not blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Blocks(u16);

impl Blocks {
    /// One bit per reason, in the order below.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The reasons of these bits; other bits are ignored.
    #[must_use]
    pub const fn of_bits(bits: u16) -> Self {
        Self(bits & ((1 << Self::NAMES.len()) - 1))
    }

    /// No reason.
    pub const NONE: Self = Self(0);
    /// A sample of a needed channel within the last window is NaN, or its quality forbids its use.
    pub const QUALITY: Self = Self(1);
    /// The window holds more substitutes than measurements because too many samples in a row were lost (alarm of LSVS).
    pub const LOST: Self = Self(2);
    /// The function combines streams whose synchronisation does not permit it.
    pub const SYNCHRONISATION: Self = Self(4);
    /// Two publishers send different data under one svID: neither can be trusted.
    pub const CONFLICT: Self = Self(8);
    /// The window is not filled yet: after a start, or after a gap.
    pub const SETTLING: Self = Self(16);
    /// A measured set that the function needs does not exist.
    pub const MISSING: Self = Self(32);
    /// Blocked from outside, by an input or an operator.
    pub const EXTERNAL: Self = Self(64);
    /// The voltage is too low for a decision: a dead line, or a frequency that cannot be measured.
    pub const VOLTAGE: Self = Self(128);
    /// Harmonics of the differential current: inrush or overexcitation.
    pub const HARMONICS: Self = Self(256);
    /// The stream is simulated but the relay is not in test, or the reverse.
    pub const SIMULATED: Self = Self(512);
    /// The measured sets of a function are of different instants.
    pub const INSTANT: Self = Self(1024);
    /// The clock of the relay's host does not follow PTP, or nothing tells whether it does.
    pub const HOST_CLOCK: Self = Self(2048);
    /// A fuse of the voltage transformers is blown, or seems to be.
    pub const FUSE: Self = Self(4096);
    /// Voltages and currents swing, without a fault.
    pub const SWING: Self = Self(8192);
    /// A current transformer saturates in a fault outside the object.
    pub const SATURATION: Self = Self(16384);

    const NAMES: [&str; 15] = [
        "quality",
        "lost samples",
        "synchronisation",
        "conflicting publishers",
        "settling",
        "no such input",
        "external",
        "voltage too low",
        "harmonics",
        "simulation",
        "different instants",
        "the host's PTP",
        "VT fuse",
        "power swing",
        "CT saturation",
    ];

    /// True if there is any reason.
    #[must_use]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// True if all of `other` are in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// `self` if `condition` is true, otherwise none.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }

    /// The reasons in words.
    pub fn reasons(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, name)| name)
    }
}

impl BitOr for Blocks {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Blocks {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// State of a power swing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swing {
    /// There is a swing: only loops whose impedance stands still are faults.
    pub detected: bool,
    /// Distance zones are blocked: there is a swing, and no fault in it.
    pub blocks: bool,
}

/// Trust in a measured set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Health {
    /// Channels with a bad sample within the window.
    pub bad: Channels,
    /// Reasons not to use its voltages: a blown fuse.
    pub voltages: Blocks,
    /// A power swing, for distance zones.
    pub swing: Swing,
    /// Reasons not to trust the stream as a whole.
    pub stream: Blocks,
    /// smpSynch of the stream, for functions that combine it with others; see [`super::Synch`].
    pub synch: super::Synch,
}

impl Health {
    /// Reasons that block a function that needs `channels`.
    #[must_use]
    pub fn blocks(&self, channels: Channels) -> Blocks {
        let voltages = channels.meets(Channels::PHASE_VOLTAGES | Channels::RESIDUAL_VOLTAGE);
        let voltages = if voltages { self.voltages } else { Blocks::NONE };
        self.stream | voltages | Blocks::QUALITY.when(self.bad.meets(channels))
    }
}

#[cfg(test)]
mod tests {
    use super::Blocks;

    #[test]
    fn reasons_have_names() {
        let all = Blocks::QUALITY | Blocks::INSTANT | Blocks::HOST_CLOCK;
        let names = ["quality", "different instants", "the host's PTP"];
        assert_eq!(all.reasons().collect::<Vec<_>>(), names);
        assert_eq!(Blocks::of_bits(all.bits()), all);
        assert_eq!(Blocks::NONE.reasons().count(), 0);
    }
}
