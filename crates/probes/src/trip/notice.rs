//! Notices of a test set, and their texts. Each is about a single shot, whose number is the first value.

use super::series::Trip;
use super::watch::UNSURE;
use crate::notice::notices;
use model::EventKind;
use units::Ns;

notices! {
    /// Notices of a test set.
    pub(super) enum Notice {
        /// The test set did not send all samples in time.
        NotSent = 0,
        /// The test set did not take all messages.
        NotHeard = 1,
        /// The trip bit was set already.
        WasSet = 2,
        /// No message of the relay had come before.
        Unknown = 3,
        /// No trip.
        Failed = 4,
        /// The trip came after the end of the fault, this many ns after its start.
        Late = 5,
        /// The trip came this many ns before the fault.
        Early = 6,
        /// An unwanted trip, this many ns after the disturbance began.
        False = 7,
        /// The trip came this many ns after the fault, sooner than its curve allows.
        TooSoon = 8,
        /// Marks that were set, and marks that were expected, 32 bits each.
        Wrong = 9,
        /// The trip came without the members for phases or functions.
        NotTold = 10,
        /// The link of the test set was down.
        NoLink = 11,
        /// The silence of the relay proves nothing, for the reason with this number in [`UNSURE`].
        Unsure = 12,
        /// Nothing shows that the relay could have tripped.
        Unproven = 13,
    }
}

impl Notice {
    /// True if the test set itself did not send or receive everything: the shot may be repeated.
    pub(super) fn is_our_own(self) -> bool {
        matches!(self, Self::NotSent | Self::NotHeard | Self::NoLink)
    }
}

/// End of the text about all shots up to this one.
const UNPROVEN: &str = "and those before it prove nothing: in the nearest shots in which it has to trip, before and after, the relay did not. \
                        Give a scenario with a fault for which it trips (--scenario), and check that it subscribes to this stream";

impl Trip {
    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, shot: u64, ns: u64) -> (EventKind, String) {
        let at = Ns(ns);
        let (kind, what) = match notice {
            Notice::NotSent => (
                EventKind::NotCounted,
                "not counted: the test set did not send all of its samples in time; give it its own CPU (--cpu), or its own machine"
                    .into(),
            ),
            Notice::NotHeard => (
                EventKind::NotCounted,
                "not counted: the test set did not read all GOOSE messages".into(),
            ),
            Notice::NoLink => (
                EventKind::NotCounted,
                format!("not counted: the link of the test set ({}) was down", self.interface),
            ),
            Notice::Unsure => {
                let why = UNSURE.get(ns as usize).copied().unwrap_or_default();
                (EventKind::NotCounted, format!("not counted: {why}"))
            }
            Notice::Unproven => (EventKind::Unproven, UNPROVEN.into()),
            Notice::WasSet => (
                EventKind::NotCounted,
                "not measured: the trip bit was set already; give the relay more time to reset (--settle)".into(),
            ),
            Notice::Unknown => (
                EventKind::NotCounted,
                "not measured: no GOOSE message of the relay had come before".into(),
            ),
            Notice::Failed => (
                EventKind::Note,
                "failure to trip: no trip while the fault lasted".into(),
            ),
            Notice::Late => (
                EventKind::Note,
                format!("failure to trip: the trip came {at} after the fault began, when the fault was over"),
            ),
            Notice::TooSoon => (
                EventKind::Note,
                format!("trip sooner than the curve allows, {at} after the fault began"),
            ),
            Notice::Wrong => {
                // Marks that were set, and marks that were expected, 32 bits each.
                let relay = self.relay_of(name);
                let [set, wanted] = [ns >> 32, ns & 0xffff_ffff].map(|bits| relay.marks_text(bits as u32));
                (
                    EventKind::Note,
                    format!("wrong trip: {set} tripped, and {wanted} was expected"),
                )
            }
            Notice::NotTold => (
                EventKind::Note,
                "not known: the trip came without some of the members for phases and functions".into(),
            ),
            Notice::Early => (EventKind::Note, format!("trip before the fault, {at} early")),
            Notice::False => (EventKind::Note, format!("false trip, {at} after the disturbance began")),
        };
        (kind, format!("{name}: shot {shot} {what}"))
    }
}
