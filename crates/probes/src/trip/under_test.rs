//! The relays under test.

use super::TripConfig;
use super::listener::Members;
use super::members::{Finder, MemberName};
use super::selection::MOST_FUNCTIONS;
use crate::error::ProbeError;
use waveform::type_test::Group;
use wire::goose::Member;

/// A relay under test, and the members of its dataset that report its trips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderTest {
    /// Beginning of its series' names, if the test set has several relays.
    pub label: Option<String>,
    /// Control block reference; `None` finds it by its trip, if there is only one relay.
    pub goose: Option<String>,
    /// Member that is true when the relay trips.
    pub trip: Member,
    /// Member that is true when the relay has started.
    pub start: Option<Member>,
    /// Members that are true when phase a, b or c trips.
    pub phases: Option<[Member; 3]>,
    /// Zones and functions by the names that scenarios use, and the members that are true when they trip.
    pub functions: Vec<(String, Member)>,
}

impl UnderTest {
    /// Finds the relay of this control block, or the only one of an SCL file, with its members by number or by their names there.
    ///
    /// # Errors
    /// A name that no SCL file has, or an SCL file that cannot be used.
    pub(crate) fn named(
        scl: Option<&str>,
        goose: Option<String>,
        trip: &MemberName,
        start: Option<&MemberName>,
    ) -> Result<Self, ProbeError> {
        let finder = Finder::new(scl, goose)?;
        Ok(Self {
            label: None,
            trip: finder.find(trip)?,
            start: start.map(|name| finder.find(name)).transpose()?,
            phases: None,
            functions: Vec::new(),
            goose: finder.goose,
        })
    }

    /// Name for this relay of `name`, which is a scenario or a group of shots.
    pub(super) fn called(&self, name: &str) -> String {
        match &self.label {
            Some(label) => format!("{label}-{name}"),
            None => name.to_owned(),
        }
    }

    /// Members that the listener reads in the relay's messages.
    pub(super) fn members(&self) -> Members {
        Members {
            trip: self.trip,
            start: self.start,
            marked: self.marked(),
        }
    }

    /// The relay's name and a colon, as the beginning of a text about it.
    pub(super) fn prefix(&self) -> String {
        self.label
            .as_ref()
            .map(|label| format!("{label}: "))
            .unwrap_or_default()
    }
}

/// Group of shots of one relay.
pub(super) struct CountedShots {
    /// Number of the relay.
    pub(super) relay: usize,
    /// The shots, with their name for this relay.
    pub(super) group: Group,
}

impl TripConfig {
    /// Groups of shots with their own series: those of the first relay, then those of the next.
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

    /// Checks that several relays can be distinguished, and that there are not too many members for one message.
    pub(super) fn check_relays(&self) -> Result<(), ProbeError> {
        let usage = |problem: &str| Err(ProbeError::Usage(format!("trip: {problem}")));
        if self.relays.is_empty() {
            return usage("no relay is tested");
        }
        if self.relays.iter().any(|relay| relay.functions.len() > MOST_FUNCTIONS) {
            return usage("--function-members: too many: name at most 29");
        }
        let has_twin = |(number, relay): (usize, &UnderTest)| {
            let before = &self.relays[..number];
            relay.goose.is_none()
                || before
                    .iter()
                    .any(|other| other.goose == relay.goose || other.label == relay.label)
        };
        match self.relays.len() > 1 && self.relays.iter().enumerate().any(has_twin) {
            true => usage("several relays are tested: give each its own label and GOOSE control block"),
            false => Ok(()),
        }
    }
}
