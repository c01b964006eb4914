//! The LANs of a doubly attached test set.

use crate::redundant::LanFault;
use model::EventKind;
use run::Events;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::redundancy::Lan;

/// Writes the LANs in which nothing came from the relay. A fault of the LANs then proves nothing: the relay may work in one LAN alone.
pub(super) fn say_silent(silent: &[AtomicBool; 2], fault: Option<LanFault>, events: &Events) {
    let (kind, so) = match fault {
        Some(_) => (EventKind::StreamDoubt, "so the fault of the LANs shows nothing"),
        None => (EventKind::Note, "so the relay was heard in the other LAN alone"),
    };
    for (_, lan) in silent
        .iter()
        .zip(Lan::BOTH)
        .filter(|(silent, _)| silent.load(Ordering::Relaxed))
    {
        events.write(kind, format!("{lan}: no frame with marks of redundancy came, {so}"));
    }
}
