//! The relays that a test set hears.

use super::TripConfig;
use super::listener::Members;
use super::selection::MOST_FUNCTIONS;
use crate::error::ProbeError;
use waveform::type_test::Group;
use wire::goose::Member;

/// A relay under test, and where it says that it trips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderTest {
    /// Beginning of its series' names, where one is needed: the test set may have several relays.
    pub label: Option<String>,
    /// Its control block reference; `None` finds it by its trip, if it is the only relay.
    pub goose: Option<String>,
    /// The member that is true when it trips.
    pub trip: Member,
    /// The member that is true when it has started.
    pub start: Option<Member>,
    /// The members that are true when phase a, b or c trips.
    pub phases: Option<[Member; 3]>,
    /// Zones and functions, as scenarios call them, and the members that are true when they trip.
    pub functions: Vec<(String, Member)>,
}

impl UnderTest {
    /// Name for this relay of `name`, a scenario or what is counted together.
    pub(super) fn called(&self, name: &str) -> String {
        match &self.label {
            Some(label) => format!("{label}-{name}"),
            None => name.to_owned(),
        }
    }

    /// Members that the listener looks at in its messages.
    pub(super) fn members(&self) -> Members {
        Members {
            trip: self.trip,
            start: self.start,
            marked: self.marked(),
        }
    }

    /// The relay before a colon, for a text about it.
    pub(super) fn prefix(&self) -> String {
        self.label
            .as_ref()
            .map(|label| format!("{label}: "))
            .unwrap_or_default()
    }
}

/// Shots of one relay that are counted together.
pub(super) struct CountedShots {
    /// Number of the relay.
    pub(super) relay: usize,
    /// The shots, under their name of this relay.
    pub(super) group: Group,
}

impl TripConfig {
    /// Places with series of their own: the groups of shots of the first relay, then those of the next.
    pub(super) fn places(&self) -> Vec<CountedShots> {
        let groups = self.groups();
        let of_relay = |(number, relay): (usize, &UnderTest)| {
            let of_group = |group: &Group| CountedShots {
                relay: number,
                group: Group {
                    label: relay.called(&group.label),
                    ..group.clone()
                },
            };
            groups.iter().map(of_group).collect::<Vec<_>>()
        };
        self.relays.iter().enumerate().flat_map(of_relay).collect()
    }

    /// Checks that each of several relays can be told from the others, and that all that is said of them can be looked at.
    pub(super) fn check_relays(&self) -> Result<(), ProbeError> {
        let usage = |problem: &str| Err(ProbeError::Usage(format!("trip: {problem}")));
        if self.relays.is_empty() {
            return usage("no relay is tested");
        }
        if self.relays.iter().any(|relay| relay.functions.len() > MOST_FUNCTIONS) {
            return usage("--function-members: too many: name 29 at the most");
        }
        let has_twin = |(number, relay): (usize, &UnderTest)| {
            let before = &self.relays[..number];
            relay.goose.is_none()
                || before
                    .iter()
                    .any(|other| other.goose == relay.goose || other.label == relay.label)
        };
        match self.relays.len() > 1 && self.relays.iter().enumerate().any(has_twin) {
            true => usage("several relays are tested: give each a label and a GOOSE control block of its own"),
            false => Ok(()),
        }
    }
}
