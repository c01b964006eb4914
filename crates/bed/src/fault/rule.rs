//! Rules that choose frames and their faults. The choice only depends on the rules, the seed and the order of the frames.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// Offset of the EtherType in a frame without VLAN tag.
const ETHER_TYPE: usize = 12;

/// Faults of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is lost.
    Drop,
    /// It leaves twice, without another frame in between.
    Duplicate,
    /// It leaves this much later, after all frames that left in the meantime.
    Delay(Duration),
    /// It leaves after this many later frames of the rule that leave unharmed and undelayed; 1 swaps it with the next one. It never leaves if fewer
    /// follow.
    HoldBack(u32),
    /// These bits of the byte at `offset` are inverted. A frame that is too short stays unchanged and is not counted.
    Corrupt {
        /// Offset in bytes from the start of the frame.
        offset: usize,
        /// Bits to invert.
        bits: u8,
    },
}

/// Choice among the frames of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Every n-th: the n-th, the 2n-th and so on; 0 chooses none.
    Every(u64),
    /// Frames with these numbers, counted from 1.
    Numbers(BTreeSet<u64>),
    /// Each frame with this probability, in millionths.
    Chance(u32),
}

type Predicate = Box<dyn Fn(&[u8]) -> bool + Send>;

/// One fault and the frames it applies to.
///
/// A rule counts the frames of its EtherType for which its condition is true, from 1, independent of other rules. If several rules choose a frame,
/// the first one is applied.
pub struct Rule {
    ether_type: Option<u16>,
    condition: Option<Predicate>,
    which: Which,
    fault: Fault,
}

impl Rule {
    /// A rule for all frames.
    pub fn new(which: Which, fault: Fault) -> Self {
        Self {
            ether_type: None,
            condition: None,
            which,
            fault,
        }
    }

    /// Limits the rule to frames with this EtherType or VLAN tag.
    #[must_use]
    pub fn of_type(self, ether_type: u16) -> Self {
        Self {
            ether_type: Some(ether_type),
            ..self
        }
    }

    /// Limits the rule to frames for which `condition` is true; it must only depend on the frame.
    #[must_use]
    pub fn when(self, condition: impl Fn(&[u8]) -> bool + Send + 'static) -> Self {
        Self {
            condition: Some(Box::new(condition)),
            ..self
        }
    }

    /// Fault of the chosen frames.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// True if the rule applies to a frame.
    pub(super) fn is_about(&self, frame: &[u8]) -> bool {
        let type_fits = self.ether_type.is_none_or(|wanted| {
            let octets = frame.get(ETHER_TYPE..ETHER_TYPE + 2);
            octets == Some(&wanted.to_be_bytes())
        });
        type_fits && self.condition.as_ref().is_none_or(|condition| condition(frame))
    }

    fn fits(&self, frame: &[u8]) -> bool {
        match self.fault {
            Fault::Corrupt { offset, .. } => offset < frame.len(),
            Fault::Drop | Fault::Duplicate | Fault::Delay(_) | Fault::HoldBack(_) => true,
        }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Rule")
            .field("ether_type", &self.ether_type)
            .field("which", &self.which)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

/// Applies the rules to frame after frame.
#[derive(Debug)]
pub(super) struct Chooser {
    rules: Vec<Chosen>,
}

#[derive(Debug)]
struct Chosen {
    rule: Rule,
    seen: u64,
    /// Each rule has its own generator, so that an additional rule does not change the choices of the others.
    numbers: Numbers,
}

impl Chooser {
    pub(super) fn new(rules: Vec<Rule>, seed: u64) -> Self {
        let mut seeds = Numbers(seed);
        let rules = rules
            .into_iter()
            .map(|rule| Chosen {
                rule,
                seen: 0,
                numbers: Numbers(seeds.next()),
            })
            .collect();
        Self { rules }
    }

    /// The index of the rule for the next frame.
    pub(super) fn choose(&mut self, frame: &[u8]) -> Option<usize> {
        let mut first = None;
        for (index, chosen) in self.rules.iter_mut().enumerate() {
            if chosen.rule.is_about(frame) && chosen.wants() && chosen.rule.fits(frame) {
                first = first.or(Some(index));
            }
        }
        first
    }

    /// The rule with an index from [`Chooser::choose`].
    pub(super) fn rule(&self, index: usize) -> &Rule {
        &self.rules[index].rule
    }

    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }
}

impl Chosen {
    fn wants(&mut self) -> bool {
        self.seen += 1;
        match &self.rule.which {
            Which::Every(step) => *step > 0 && self.seen.is_multiple_of(*step),
            Which::Numbers(numbers) => numbers.contains(&self.seen),
            Which::Chance(millionths) => self.numbers.next() % 1_000_000 < u64::from(*millionths),
        }
    }
}

/// Pseudorandom numbers, the same for the same seed (splitmix64).
#[derive(Debug)]
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::{Chooser, Fault, Rule, Which};

    fn frame(ether_type: u16, last: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend(ether_type.to_be_bytes());
        frame.push(last);
        frame
    }

    fn choices(rules: Vec<Rule>, seed: u64) -> Vec<Option<usize>> {
        let mut chooser = Chooser::new(rules, seed);
        (0..1_000).map(|_| chooser.choose(&frame(0x88ba, 0))).collect()
    }

    fn by_chance() -> Vec<Rule> {
        vec![
            Rule::new(Which::Chance(100_000), Fault::Drop),
            Rule::new(Which::Chance(200_000), Fault::Duplicate),
        ]
    }

    #[test]
    fn the_same_seed_decides_the_same_and_another_one_otherwise() {
        assert_eq!(choices(by_chance(), 1), choices(by_chance(), 1));
        assert_ne!(choices(by_chance(), 1), choices(by_chance(), 2));
        let dropped = choices(by_chance(), 1)
            .iter()
            .filter(|choice| **choice == Some(0))
            .count();
        assert!((60..140).contains(&dropped), "{dropped} of 1000 at a chance of a tenth");
    }

    #[test]
    fn one_more_rule_does_not_change_what_the_others_choose() {
        let mut three = by_chance();
        three.push(Rule::new(Which::Every(3), Fault::HoldBack(1)));
        for (two, three) in choices(by_chance(), 7).iter().zip(choices(three, 7)) {
            assert!(*two == three || (two.is_none() && three == Some(2)));
        }
    }

    #[test]
    fn the_first_rule_gets_the_frame_and_every_rule_counts_it() {
        let rules = vec![
            Rule::new(Which::Every(2), Fault::Drop),
            Rule::new(Which::Numbers([2, 3].into()), Fault::Duplicate),
        ];
        assert_eq!(choices(rules, 0)[..4], [None, Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn only_frames_it_is_about_count() {
        let rule = Rule::new(Which::Every(2), Fault::Drop)
            .of_type(0x88ba)
            .when(|frame| frame.last() == Some(&1));
        let mut chooser = Chooser::new(vec![rule], 0);
        let frames = [(0x88ba, 1), (0x88b8, 1), (0x88ba, 0), (0x88ba, 1), (0x88ba, 1)];
        let found: Vec<bool> = frames
            .iter()
            .map(|(ether_type, last)| chooser.choose(&frame(*ether_type, *last)).is_some())
            .collect();
        assert_eq!(found, [false, false, false, true, false]);
        assert_eq!(chooser.choose(&[]), None);
    }

    #[test]
    fn a_frame_too_short_to_corrupt_is_left_alone() {
        let rule = || Rule::new(Which::Every(1), Fault::Corrupt { offset: 14, bits: 1 });
        assert_eq!(Chooser::new(vec![rule()], 0).choose(&frame(1, 0)), Some(0));
        assert_eq!(Chooser::new(vec![rule()], 0).choose(&frame(1, 0)[..14]), None);
    }
}
