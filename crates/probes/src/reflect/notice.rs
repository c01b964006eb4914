//! Notices of this probe, and their words.

use super::series::Reflect;
use crate::notice::notices;
use model::EventKind;
use units::Ns;

notices! {
    /// Notices of this probe.
    pub(super) enum Notice {
        /// The socket dropped frames before we read them.
        SocketDrop = 1,
        /// The link went down (1) or takes frames again (0).
        Link = 2,
        /// Frames lost on the way there, and on the way back.
        LostWhere = 3,
        /// Frames the initiator sent, and answers it got.
        FarCounts = 4,
        /// Mean and longest round trip the initiator measured, in ns.
        FarTimes = 5,
        /// Frames that arrived at the reflector, and how often one was doubled or out of order.
        Arrived = 6,
        /// The engine that runs.
        Engine = 7,
        /// Round trips that could not be split into stages.
        Unsplit = 8,
        /// The round trip that ended the measurement, in ns, and its number.
        Break = 9,
        /// Frames that were longer than the ring's places.
        TooLong = 10,
        /// Answers of others than the far end.
        Others = 11,
        /// Answers with other contents than were sent.
        Changed = 12,
        /// So many frames were answered twice, so many of them in a row.
        Double = 13,
    }
}

impl Reflect {
    /// The event for a notice about the series `name`.
    pub(super) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let interface = &self.interface;
        match notice {
            Notice::Engine => (
                EventKind::Note,
                format!("{name}: engine {}; interface {interface}", self.engine),
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
                    "{name}: {a} frames were longer than --size here and were not returned: give both ends the same --size"
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
                     frames go two ways; the faster answer counts, so round trips may be longer than these"
                ),
            ),
            Notice::Changed => (
                EventKind::Incomplete,
                format!("{name}: {a} answers differ from what was sent, or are shorter: they do not count as answers"),
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
                format!("the initiator says: {a} frames sent, {b} came back"),
            ),
            Notice::FarTimes => (
                EventKind::Note,
                format!("the initiator says: round trip mean {}, max {}", Ns(a), Ns(b)),
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
