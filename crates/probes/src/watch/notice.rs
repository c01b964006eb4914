//! Notices of watched relays, and their texts.

use super::series::Watch;
use crate::notice::notices;
use crate::reception::link_text;
use model::EventKind;
use units::Ns;
use wire::goose::FollowerDoubt;

notices! {
    /// Notices of watched relays, which are given by their numbers.
    pub(super) enum Notice {
        /// The relay that decided, and the one that did not.
        Alone = 0,
        /// The relay that decided, and the one that could not be compared.
        Incomparable = 1,
        /// Both decided, this many ns apart, but the first message of one of them never came.
        Inexact = 2,
        /// The relay that decided last, and the one that had no time to follow.
        Left = 3,
        /// No usable message came from a relay; its number is the second value.
        Never = 4,
        /// Number of frames that the socket dropped.
        Dropped = 5,
        /// Number of frames that could not be read.
        Malformed = 6,
        /// The link went down (1) or receives frames again (0).
        Link = 7,
        /// Number of decisions of only one relay that have no event of their own.
        Unnamed = 8,
    }
    each {
        /// New doubts of this kind about a relay.
        Doubt(FollowerDoubt) = 100,
        /// Total of doubts of this kind about a relay.
        DoubtSum(FollowerDoubt) = 200,
    }
}

/// True if the doubt hides no decision: lost single messages, and changes that are left out in any case.
fn is_harmless(doubt: FollowerDoubt) -> bool {
    matches!(doubt, FollowerDoubt::LostMessages | FollowerDoubt::ChangedLate)
}

impl Watch {
    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let (kind, what) = match notice {
            Notice::Alone => {
                let within = Ns(self.config.pair_within_ns);
                let what = format!(
                    "only {} decided: no decision of {} came within {within}",
                    self.name(a),
                    self.name(b)
                );
                (EventKind::Note, what)
            }
            Notice::Incomparable => (
                EventKind::NotCounted,
                format!(
                    "a decision of {} is not counted: {} was not received, or its member was set already",
                    self.name(a),
                    self.name(b)
                ),
            ),
            Notice::Inexact => (
                EventKind::NotCounted,
                format!(
                    "both decided, some {} apart: not counted, since the first message of one never came",
                    Ns(a)
                ),
            ),
            Notice::Left => (
                EventKind::NotCounted,
                format!(
                    "the last decision of {} is not counted: the run ended before {} could follow",
                    self.name(a),
                    self.name(b)
                ),
            ),
            Notice::Never => (
                EventKind::StreamDoubt,
                format!("{}: no message came that could be used", self.name(b)),
            ),
            Notice::Dropped => (
                EventKind::SocketDrop,
                format!("{a} frames were dropped by the socket before they were read"),
            ),
            Notice::Malformed => (EventKind::StreamDoubt, format!("{a} GOOSE frames could not be read")),
            Notice::Link => (EventKind::StreamDoubt, link_text(a == 1, &self.interface)),
            Notice::Unnamed => (
                EventKind::NotCounted,
                format!("{a} more decisions of only one relay are not listed one by one: some may not be counted"),
            ),
            Notice::DoubtSum(doubt) => self.doubt(doubt, a, b, " (in all)"),
            Notice::Doubt(doubt) => self.doubt(doubt, a, b, ""),
        };
        (kind, format!("{name}: {what}"))
    }

    fn doubt(&self, doubt: FollowerDoubt, count: u64, relay: u64, in_all: &str) -> (EventKind, String) {
        let kind = match is_harmless(doubt) {
            true => EventKind::Note,
            false => EventKind::StreamDoubt,
        };
        let name = self.name(relay);
        let what = doubt.words();
        (kind, format!("{name}: {count} {what}{in_all}"))
    }

    fn name(&self, relay: u64) -> &str {
        let place = usize::try_from(relay).unwrap_or(usize::MAX);
        self.names.get(place).map_or("", String::as_str)
    }
}
