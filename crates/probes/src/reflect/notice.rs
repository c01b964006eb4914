//! Notices of `reflect`, and their texts.

use super::series::Reflect;
use crate::notice::notices;
use model::EventKind;
use units::Ns;
use wire::ether::Mac;

notices! {
    /// Notices of `reflect`.
    pub(super) enum Notice {
        /// Number of frames that the socket dropped before they were read.
        SocketDrop = 1,
        /// The link went down (1) or accepts frames again (0).
        Link = 2,
        /// Number of frames lost on the way to the reflector, and on the way back.
        LostWhere = 3,
        /// Number of frames that the initiator sent, and of answers that it received.
        FarCounts = 4,
        /// Mean and longest round trip of the initiator, in ns.
        FarTimes = 5,
        /// Number of frames that arrived at the reflector, and of those that were doubled or out of order.
        Arrived = 6,
        /// The mechanism in use.
        Engine = 7,
        /// Number of round trips that could not be split into stages.
        Unsplit = 8,
        /// Round trip that ended the measurement, in ns, and its number.
        Break = 9,
        /// Number of frames that were longer than a slot of the ring.
        TooLong = 10,
        /// Number of answers from other stations than the far end.
        Others = 11,
        /// Number of answers whose contents differ from those sent.
        Changed = 12,
        /// Number of frames answered twice, and the most of them in a row.
        Double = 13,
        /// This end serves: address of the far end of a game, and octets of the ball.
        Serves = 14,
        /// The far end serves: its address, and octets of the ball.
        Receives = 15,
        /// The far end quit the game after this number of rounds.
        FarQuit = 16,
        /// The far end wants to begin again; number of rounds until then.
        FarReset = 17,
        /// The ball did not come back after this number of rounds, and the time waited for it, in ns.
        BallLost = 18,
        /// Time in ns for which the ball was out when the far end left the game.
        BallOut = 19,
        /// Number of balls that were longer than a slot of the ring.
        BallTooLong = 20,
    }
}

impl Reflect {
    fn met(&self, name: &str, serves: &str, far: u64, octets: u64) -> String {
        let [_, _, a, b, c, d, e, f] = far.to_be_bytes();
        format!(
            "{name}: frames of l2reflect, {octets} octets without FCS, with {}; {serves}",
            Mac([a, b, c, d, e, f])
        )
    }

    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let interface = &self.interface;
        match notice {
            Notice::Engine => (
                EventKind::Note,
                format!("{name}: engine {}; interface {interface}", self.engine),
            ),
            Notice::Serves => (EventKind::Note, self.met(name, "this end serves", a, b)),
            Notice::Receives => (EventKind::Note, self.met(name, "the far end serves", a, b)),
            Notice::FarQuit => (
                EventKind::Note,
                format!("{name}: the far end quit after {a} round trips of this end, and so this end ends, too"),
            ),
            Notice::FarReset => (
                EventKind::Note,
                format!(
                    "{name}: the far end reset its figures after {a} round trips of this end; this end keeps its own, and both begin again"
                ),
            ),
            Notice::BallLost => (
                EventKind::Note,
                format!(
                    "{name}: ended after {a} round trips: the frame did not come back within {}, and l2reflect sends no second one",
                    Ns(b)
                ),
            ),
            Notice::BallOut => (
                EventKind::Incomplete,
                format!(
                    "{name}: when the far end ended the game, the frame had been out for {}, longer than any measured round trip: it was \
                     lost, or the far end held it",
                    Ns(a)
                ),
            ),
            Notice::BallTooLong => (
                EventKind::Note,
                format!("{name}: {a} frames were longer than agreed and were not returned"),
            ),
            Notice::Break => (
                EventKind::Note,
                format!(
                    "{name}: ended by frame {b}, whose round trip of {} is above --break-above",
                    Ns(a)
                ),
            ),
            Notice::TooLong => (
                EventKind::Note,
                format!(
                    "{name}: {a} frames were longer than --size at this end and were not returned: give both ends the \
                     same --size"
                ),
            ),
            Notice::Others => (
                EventKind::Incomplete,
                format!(
                    "{name}: {a} answers came from a station other than the far end: two stations answer, and the \
                     right one is not certain"
                ),
            ),
            Notice::Double => (
                EventKind::Incomplete,
                format!(
                    "{name}: {a} frames were answered twice, up to {b} of them in a row: two stations answer with one address, or \
                     frames travel by two paths; the faster answer counts, so round trips may be longer than these"
                ),
            ),
            Notice::Changed => (
                EventKind::Incomplete,
                format!("{name}: {a} answers differ from what was sent, or are shorter: they are not counted"),
            ),
            Notice::Unsplit if self.nic.is_some() => (
                EventKind::Incomplete,
                format!("{name}: {a} round trips could not be split into stages: the NIC did not stamp both frames"),
            ),
            Notice::Unsplit => (
                EventKind::Note,
                format!("{name}: {a} round trips could not be split into stages: a time stamp was missing"),
            ),
            Notice::Link if a == 1 => (
                EventKind::Link,
                format!("{interface} is down: frames sent now are lost"),
            ),
            Notice::Link => (EventKind::Link, format!("{interface} takes frames again")),
            Notice::LostWhere => (
                EventKind::Note,
                format!("{name}: lost on the way there: {a}, on the way back: {b} (by the far end's count)"),
            ),
            Notice::FarCounts => (
                EventKind::Note,
                format!("the initiator reports: {a} frames sent, {b} came back"),
            ),
            Notice::FarTimes => (
                EventKind::Note,
                format!("the initiator reports: round trip mean {}, max {}", Ns(a), Ns(b)),
            ),
            Notice::Arrived => (
                EventKind::Note,
                format!("{a} different frames of the initiator arrived here; {b} doubled or out of order"),
            ),
            Notice::SocketDrop => (
                EventKind::SocketDrop,
                format!("{name}: the socket dropped {a} frames before they were read"),
            ),
        }
    }
}
