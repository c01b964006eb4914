//! Notices of watched relays, and their words.

use super::series::Watch;
use crate::notice::notices;
use crate::reception::link_text;
use model::EventKind;
use units::Ns;
use wire::goose::FollowerDoubt;

notices! {
    /// Notices of watched relays. Relays have their numbers.
    pub(super) enum Notice {
        /// The relay that decided, and the other that did not.
        Alone = 0,
        /// The relay that decided, and the other that could not be compared.
        Incomparable = 1,
        /// Both decided, so many ns apart, and the first message of one never came.
        Inexact = 2,
        /// The relay that decided last, and the other that had no time to follow.
        Left = 3,
        /// Nothing came of the relay that is the second figure.
        Never = 4,
        /// Frames that the socket dropped.
        Dropped = 5,
        /// Frames that could not be read.
        Malformed = 6,
        /// The link went down (1) or takes frames again (0).
        Link = 7,
        /// Decisions of one relay alone that are not named.
        Unnamed = 8,
    }
    each {
        /// So many more of this, of a relay.
        Doubt(FollowerDoubt) = 100,
        /// So many of this in all, of a relay.
        DoubtSum(FollowerDoubt) = 200,
    }
}

/// True if it hides no decision: single messages that were lost, and changes that are left out by themselves.
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
                    "a decision of {} is not counted: {} was not heard, or its member was set already",
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
                format!("{a} more decisions of one relay alone are not named one by one: some may not be counted"),
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
