//! Phases and functions that tripped, compared with the expected ones. Pure logic without I/O.

use super::UnderTest;
use waveform::scenario::Selection;
use wire::goose::{Entries, Member};

/// Maximum number of members in addition to trip and start.
const MOST: usize = 32;

/// Number of phases, whose members come first.
const PHASES: usize = 3;

/// Maximum number of functions.
pub(super) const MOST_FUNCTIONS: usize = MOST - PHASES;

/// The members for phases and functions in a message, one bit each, in the order of [`UnderTest::marked`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Marks {
    /// Members with a readable value.
    pub(super) told: u32,
    /// Members that are set.
    pub(super) set: u32,
}

impl Marks {
    /// Reads the marks of a message. Allocates nothing.
    pub(super) fn of(members: &[Option<Member>], entries: Entries<'_>) -> Self {
        let mut marks = Self::default();
        for (bit, member) in members.iter().enumerate().take(MOST) {
            let value = member.and_then(|member| member.tripped(entries));
            marks.told |= u32::from(value.is_some()) << bit;
            marks.set |= u32::from(value == Some(true)) << bit;
        }
        marks
    }

    /// Combines these marks with those of another message.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            told: self.told | other.told,
            set: self.set | other.set,
        }
    }
}

/// Result for the members that tripped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    Right,
    /// The members that were set, and those that should have been.
    Wrong {
        set: u32,
        wanted: u32,
    },
    /// The message lacks some of the members.
    NotTold,
}

impl UnderTest {
    /// Members for phases and functions, in the order of the bits of [`Marks`].
    pub(super) fn marked(&self) -> Vec<Option<Member>> {
        let phases = (0..PHASES).map(|phase| self.phases.map(|members| members[phase]));
        phases
            .chain(self.functions.iter().map(|(_, member)| Some(*member)))
            .collect()
    }

    /// True if the phases of such a trip are evaluated.
    pub(super) fn looks_at_phases(&self, selection: &Selection) -> bool {
        self.phases.is_some() && selection.phases.is_some()
    }

    /// True if its zone or function is evaluated.
    pub(super) fn looks_at_functions(&self, selection: &Selection) -> bool {
        !self.functions.is_empty() && selection.function.is_some()
    }

    /// Result for the phases of a trip; `None` if they are not evaluated.
    pub(super) fn phases_judged(&self, selection: &Selection, marks: Marks) -> Option<Judged> {
        let phases = selection.phases.filter(|_| self.phases.is_some())?;
        let wanted = (0..)
            .zip(phases)
            .map(|(bit, is_wanted)| u32::from(is_wanted) << bit)
            .sum();
        Some(judged(marks, (1 << PHASES) - 1, wanted))
    }

    /// Result for the zone or function of a trip; `None` if it is not evaluated. A function without a named member is not known.
    pub(super) fn function_judged(&self, selection: &Selection, marks: Marks) -> Option<Judged> {
        let function = selection.function.as_ref().filter(|_| !self.functions.is_empty())?;
        let all = ((1_u64 << self.functions.len().min(MOST_FUNCTIONS)) - 1) as u32;
        let Some(place) = self.functions.iter().position(|(name, _)| name == function) else {
            return Some(Judged::NotTold);
        };
        Some(judged(marks, all << PHASES, 1 << (PHASES + place)))
    }

    /// Names of the phases or functions of these bits.
    pub(super) fn marks_text(&self, bits: u32) -> String {
        let phases = ["A", "B", "C"].into_iter();
        let names = phases.chain(self.functions.iter().map(|(name, _)| name.as_str()));
        let set: Vec<&str> = (0..)
            .zip(names)
            .filter(|(bit, _)| bits >> bit & 1 == 1)
            .map(|(_, name)| name)
            .collect();
        if set.is_empty() {
            "none".to_owned()
        } else {
            set.join(", ")
        }
    }
}

fn judged(marks: Marks, all: u32, wanted: u32) -> Judged {
    let set = marks.set & all;
    let is_too_much = set & !wanted != 0;
    match marks.told & all == all {
        // A member that must not be set is wrong even if others are not known.
        _ if is_too_much => Judged::Wrong { set, wanted },
        false => Judged::NotTold,
        true if set != wanted => Judged::Wrong { set, wanted },
        true => Judged::Right,
    }
}

#[cfg(test)]
mod tests {
    use super::{Judged, Marks};
    use crate::trip::UnderTest;
    use waveform::scenario::Selection;
    use wire::goose::Member;

    fn relay() -> UnderTest {
        UnderTest {
            label: None,
            goose: None,
            trip: Member::numbered(0),
            start: None,
            phases: Some([1, 2, 3].map(Member::numbered)),
            functions: vec![
                ("zone1".into(), Member::numbered(4)),
                ("zone2".into(), Member::numbered(5)),
            ],
        }
    }

    fn selection(phases: [bool; 3], function: &str) -> Selection {
        Selection {
            phases: Some(phases),
            function: Some(function.into()),
        }
    }

    const ALL: u32 = 0b11111;

    #[test]
    fn exactly_the_phases_and_the_function_that_are_expected_are_right() {
        let relay = relay();
        let ag = selection([true, false, false], "zone1");
        let both = |set: u32, told: u32| {
            let marks = Marks { told, set };
            [relay.phases_judged(&ag, marks), relay.function_judged(&ag, marks)]
                .map(|judged| judged.expect("is looked at"))
        };
        let wrong = |set, wanted| Judged::Wrong { set, wanted };
        assert_eq!(both(0b01001, ALL), [Judged::Right; 2]);
        assert_eq!(both(0b01111, ALL), [wrong(0b111, 1), Judged::Right]);
        assert_eq!(both(0b10001, ALL), [Judged::Right, wrong(0b10000, 0b01000)]);
        assert_eq!(both(0b11000, ALL), [wrong(0, 1), wrong(0b11000, 0b01000)]);
        assert_eq!(both(0b00001, 0), [Judged::NotTold; 2], "a missing member is neither");
        assert_eq!(
            both(0b00010, 0b00010)[0],
            wrong(0b010, 1),
            "and a wrong one is wrong regardless of the others"
        );
        assert_eq!(relay.marks_text(0b01011), "A, B, zone1");
    }

    #[test]
    fn what_nobody_expects_or_named_is_not_looked_at() {
        let told = Marks { told: ALL, set: ALL };
        let none = Selection::default();
        assert_eq!(
            (relay().phases_judged(&none, told), relay().function_judged(&none, told)),
            (None, None)
        );
        let general = UnderTest {
            phases: None,
            functions: Vec::new(),
            ..relay()
        };
        let ag = selection([true, false, false], "zone1");
        assert_eq!(
            (general.phases_judged(&ag, told), general.function_judged(&ag, told)),
            (None, None)
        );
        let other = selection([true; 3], "zone9");
        assert_eq!(
            relay().function_judged(&other, told),
            Some(Judged::NotTold),
            "its member was not named"
        );
    }
}
