//! Which events a flight keeps.

use super::MOST_EVENTS;
use crate::event::Event;
use crate::snapshot::Snapshot;

/// The events of these snapshots, in order of time, at most [`MOST_EVENTS`]: those of `cpu` first, of the others the latest.
/// The switch before a snapshot is kept with it, at its own instant.
pub fn choose(cpu: u32, snapshots: &[Snapshot]) -> Vec<Event> {
    let of = |is_own: bool| {
        let wanted = snapshots.iter().filter(move |snapshot| (snapshot.cpu == cpu) == is_own);
        let events = wanted.flat_map(|snapshot| snapshot.opening.iter().chain(&snapshot.events));
        let mut events: Vec<Event> = events.copied().collect();
        events.sort_by_key(|event| event.at);
        events
    };
    let mut kept = latest(of(true), MOST_EVENTS);
    let room = MOST_EVENTS - kept.len();
    kept.extend(latest(of(false), room));
    kept.sort_by_key(|event| event.at);
    kept
}

fn latest(mut events: Vec<Event>, most: usize) -> Vec<Event> {
    let surplus = events.len().saturating_sub(most);
    events.drain(..surplus);
    events
}
