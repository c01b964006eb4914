//! Notices of a ping-pong, and their texts.

use super::series::PingPong;
use crate::notice::notices;
use model::EventKind;
use units::Ns;
use wire::goose::FollowerDoubt;

notices! {
    /// Notices of a ping-pong. The first value of a notice about one ping is its number.
    pub(super) enum Notice {
        /// The ping got no answer.
        Lost = 0,
        /// The ping was not sent.
        NotSent = 1,
        /// The first message of the answer never came; time until the next one, in ns.
        LaterMessage = 2,
        /// Number of frames of the load that were sent, and that were due.
        LoadShort = 3,
        /// Number of frames that the socket dropped.
        Dropped = 4,
        /// Number of frames that could not be read.
        Malformed = 5,
        /// Number of times that the link was down.
        Link = 6,
        /// The longest answer, in ns.
        Class = 7,
        /// Number of pings with an answer, and of all pings.
        Classless = 8,
        /// This machine repeated the ping too late.
        HeldUp = 9,
        /// Number of changes of the device without a ping.
        Unasked = 10,
    }
    each {
        /// Number of times that the device had this doubt.
        Doubt(FollowerDoubt) = 100,
    }
}

/// True if the doubt does not affect the answers: lost messages, which are measured separately.
fn is_harmless(doubt: FollowerDoubt) -> bool {
    matches!(
        doubt,
        FollowerDoubt::LostStates | FollowerDoubt::LostMessages | FollowerDoubt::ChangedLate | FollowerDoubt::Silences
    )
}

impl PingPong {
    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let (kind, what) = match notice {
            Notice::Lost => (EventKind::Note, format!("ping {a}: no answer within the deadline")),
            Notice::NotSent => (
                EventKind::NotCounted,
                format!("ping {a} is not counted: the kernel had no room for it, or the link was down"),
            ),
            Notice::LaterMessage => (
                EventKind::NotCounted,
                format!(
                    "ping {a} is not counted: the first message of its answer never came; the next one came after {}",
                    Ns(b)
                ),
            ),
            Notice::LoadShort => (
                EventKind::StreamDoubt,
                format!(
                    "{a} of the {b} frames of the load were sent: give its sending thread a CPU (--goose-cpu), or send less"
                ),
            ),
            Notice::Dropped => (
                EventKind::SocketDrop,
                format!("{a} frames were dropped by the socket before they were read"),
            ),
            Notice::HeldUp => (
                EventKind::NotCounted,
                format!(
                    "ping {a} is not counted: this machine repeated it later than it had allowed, so the device had to treat this publisher as gone"
                ),
            ),
            Notice::Malformed => (EventKind::Note, format!("{a} GOOSE frames could not be read")),
            Notice::Link => (EventKind::StreamDoubt, format!("the link was down {a} times")),
            Notice::Unasked => (
                EventKind::StreamDoubt,
                format!(
                    "the device changed its answer {a} times without a ping: some answers may be such changes, which came by chance"
                ),
            ),
            Notice::Class => (EventKind::Note, self.class(a)),
            Notice::Classless => (
                EventKind::Note,
                format!("{a} of {b} pings have an answer: therefore no class of IEC 61850-5 is given"),
            ),
            Notice::Doubt(doubt) => {
                let kind = match is_harmless(doubt) {
                    true => EventKind::Note,
                    false => EventKind::StreamDoubt,
                };
                (kind, format!("{a} {} ({})", doubt.words(), self.config.device))
            }
        };
        (kind, format!("{name}: {what}"))
    }
}
