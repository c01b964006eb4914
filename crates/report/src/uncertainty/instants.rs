//! The two instants between which samples of each kind of series are measured, by how they come about.

use model::{Kind, kind};

/// How an instant comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Instant {
    /// Planned: exact by definition.
    Due,
    /// Read from the clock by the measuring program.
    Read,
    /// Read from the CPU's own counter.
    Counter,
    /// Stamped by the kernel or the NIC: the stamp is the definition of the instant.
    Stamp,
}

use Instant::{Counter, Due, Read, Stamp};

/// Begin and end of the samples of a kind; `None` for kinds that are no durations of the host, or that other tools measured.
pub(super) fn of(of_kind: &Kind) -> Option<(Instant, Instant)> {
    const TABLE: [(&[&Kind], (Instant, Instant)); 8] = [
        (
            &[&kind::WAKEUP, &kind::PUBLISH, &kind::TALK, &kind::AGE, &kind::USE],
            (Due, Read),
        ),
        (&[&kind::NOISE], (Counter, Counter)),
        (
            &[&kind::RTT, &kind::SEND, &kind::SPACING, &kind::TASK, &kind::TASK_STAGE],
            (Read, Read),
        ),
        (
            &[
                &kind::STAGE,
                &kind::LISTEN,
                &kind::CREDIT,
                &kind::HOP,
                &kind::LAN,
                &kind::GOOSE,
                &kind::DECISION,
                &kind::LEAD,
            ],
            (Stamp, Stamp),
        ),
        (&[&kind::PONG, &kind::PING, &kind::TURNAROUND], (Read, Stamp)),
        (&[&kind::DELIVERY], (Stamp, Read)),
        (
            &[
                &kind::DEPARTURE,
                &kind::ARRIVAL,
                &kind::TRIP,
                &kind::START,
                &kind::PHASE,
                &kind::ZONE,
            ],
            (Due, Stamp),
        ),
        (&[&kind::GOOSE_TRANSFER], (Due, Read)),
    ];
    let row = TABLE.iter().find(|(kinds, _)| kinds.contains(&of_kind));
    row.map(|(_, instants)| *instants)
}

/// True if the test set's own sender is part of the samples: they begin when a frame was due, not when it left.
pub(super) fn includes_sender(of_kind: &Kind) -> bool {
    [&kind::TRIP, &kind::START, &kind::PHASE, &kind::ZONE].contains(&of_kind)
}

#[cfg(test)]
mod tests {
    use super::of;
    use model::kind;

    #[test]
    fn every_kind_is_modelled_or_left_out_on_purpose() {
        let left_out: Vec<&str> = kind::ALL
            .into_iter()
            .filter(|one| of(one).is_none())
            .map(|one| one.name)
            .collect();
        // Distances of clocks, times for which a relay was watched, stamps of another tool.
        assert_eq!(left_out, ["latency", "clock", "security"]);
    }
}
