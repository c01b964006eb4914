//! Checks if the other CPUs stood still at the same time.

use crate::event::What;
use crate::snapshot::Snapshot;
use model::Extent;
use units::Monotonic;

/// State of another CPU during that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    WentOn,
    StoodStill,
    /// It had nothing to do, so the absence of events proves nothing.
    CannotTell,
}

/// Checks the other CPUs between two instants.
pub(super) fn extent(others: &[Snapshot], from: Monotonic, to: Monotonic) -> Extent {
    let told: Vec<Other> = others
        .iter()
        .map(|other| look(other, from, to))
        .filter(|other| *other != Other::CannotTell)
        .collect();
    if told.is_empty() {
        Extent::Unknown
    } else if told.contains(&Other::WentOn) {
        Extent::OneCpu
    } else {
        Extent::AllCpus
    }
}

/// A timer that was due in the span and handled late shows that the CPU stood still; one handled on time, or events throughout the
/// span, that it was running.
fn look(other: &Snapshot, from: Monotonic, to: Monotonic) -> Other {
    let span_ns = to - from;
    let delays = other.events.iter().filter_map(|event| match event.what {
        // Timers due later show little about the span.
        What::TimerEntry { due_ns: Some(due) } if (from.as_ns()..to.as_ns() - span_ns / 4).contains(&due) => {
            Some(event.at.as_ns() - due)
        }
        _ => None,
    });
    let delays: Vec<i64> = delays.collect();
    if delays.iter().any(|delay_ns| *delay_ns >= span_ns / 2) {
        return Other::StoodStill;
    }
    let longest_silence = i64::try_from(super::longest_silence(other, from, to)).unwrap_or(i64::MAX);
    if !delays.is_empty() || longest_silence < span_ns / 2 {
        Other::WentOn
    } else {
        Other::CannotTell
    }
}
