//! Chooses the events that a flight keeps.

use super::MOST_EVENTS;
use crate::event::Event;
use crate::snapshot::Snapshot;

/// The events of these snapshots, in order of time, at most [`MOST_EVENTS`]: first those of `cpu`, then the latest of the others.
/// The switch before a snapshot is kept with it, at its own instant.
pub fn choose(cpu: u32, snapshots: &[Snapshot]) -> Vec<Event> {
    let of = |is_own: bool| snapshots.iter().filter(move |snapshot| (snapshot.cpu == cpu) == is_own);
    let mut kept = latest(of(true), MOST_EVENTS);
    let room = MOST_EVENTS - kept.len();
    kept.extend(latest(of(false), room));
    kept.sort_by_key(|event| event.at);
    kept
}

/// The latest events of all these snapshots together, at most `most`; each snapshot has only so many.
fn latest<'a>(snapshots: impl Iterator<Item = &'a Snapshot>, most: usize) -> Vec<Event> {
    let newest_first = |snapshot: &'a Snapshot| snapshot.events.iter().rev().chain(&snapshot.opening).take(most);
    let mut events: Vec<Event> = snapshots.flat_map(newest_first).copied().collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.at));
    events.truncate(most);
    // Events of the same instant keep their order.
    events.reverse();
    events
}
