//! What is to be done to which frames.

use serde::Deserialize;

/// Which way a frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the test set to the device under test.
    ToDevice,
    /// From the device under test to the test set.
    ToTestSet,
}

impl Direction {
    /// Both of them.
    pub const BOTH: [Self; 2] = [Self::ToDevice, Self::ToTestSet];

    /// Its place in arrays of two.
    pub(super) fn index(self) -> usize {
        match self {
            Self::ToDevice => 0,
            Self::ToTestSet => 1,
        }
    }
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It never arrives.
    Drop,
    /// It arrives twice, one right behind the other.
    Duplicate,
    /// It arrives this many ns later than it would, behind whatever went on meanwhile.
    Delay {
        /// Nanoseconds of `CLOCK_MONOTONIC` from being read to being sent on.
        ns: u64,
    },
    /// It changes places with the next frame of the kind that the rule looks at and that goes on. Without one within half a
    /// second it goes on as it is.
    Reorder,
    /// One octet of it is changed.
    Corrupt {
        /// Place of the octet from the first of the destination address on, 0 being the first. Frames that end before it are
        /// left as they are.
        at: usize,
        /// Bits that are turned over; 0 would turn none.
        flip: u8,
    },
}

/// Which frames a rule looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frames {
    /// Only frames of this EtherType, be they tagged or not.
    pub ether_type: Option<u16>,
    /// Only frames with these octets at these places, counted as in [`Fault::Corrupt`].
    pub octets: Vec<(usize, u8)>,
    /// Only those from this one on, of the frames that all else lets pass; 0 and 1 are the first.
    pub from: u64,
    /// Only those up to this one.
    pub to: Option<u64>,
}

/// Which of the frames it looks at a rule chooses.
#[derive(Debug, Clone, PartialEq)]
pub enum Pick {
    /// Every `n`th: the `n`th, the `2n`th and so on. 1 is all of them.
    Every(u64),
    /// Those with these numbers in them: the sequence number of a test frame, the smpCnt of the first ASDU of an SV frame.
    Numbers(Vec<u64>),
    /// Each with this probability, drawn from the seed.
    Chance(f64),
}

/// One kind of fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Which way.
    pub direction: Direction,
    /// Which frames it looks at.
    pub frames: Frames,
    /// Which of these it chooses.
    pub pick: Pick,
    /// What it does to them.
    pub fault: Fault,
}

/// Why a rule cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// Every 0th frame.
    #[error("every 0th frame is none: use 1 (all) or more")]
    EveryNone,
    /// A probability outside 0 to 1.
    #[error("a probability of {0} cannot be: use 0 to 1")]
    Chance(String),
    /// A corruption that changes nothing.
    #[error("turning over no bit changes nothing: use a flip of 1 to 255")]
    FlipNone,
}

impl Rule {
    /// A rule for the `n`th frame of `ether_type`, the `2n`th and so on.
    pub fn every(direction: Direction, ether_type: u16, n: u64, fault: Fault) -> Self {
        Self {
            direction,
            frames: Frames {
                ether_type: Some(ether_type),
                ..Frames::default()
            },
            pick: Pick::Every(n),
            fault,
        }
    }

    /// Whether it makes sense.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), RuleError> {
        match self.pick {
            Pick::Every(0) => return Err(RuleError::EveryNone),
            Pick::Chance(chance) if !(0.0..=1.0).contains(&chance) => {
                return Err(RuleError::Chance(chance.to_string()));
            }
            _ => {}
        }
        match self.fault {
            Fault::Corrupt { flip: 0, .. } => Err(RuleError::FlipNone),
            _ => Ok(()),
        }
    }
}
