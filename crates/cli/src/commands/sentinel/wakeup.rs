//! Wake-ups of a timer at a low rate, on a CPU that no relay uses: what the probe `wakeup` measures, without its recorder.

use super::{Running, thread};
use crate::failure::Failure;
use logbook::Watch;
use run::Stop;
use sentinel::{File, WakeupKeys};
use std::sync::{Arc, PoisonError};
use sys::clock::monotonic;
use sys::wait::sleep_until;
use units::Grid;

/// Starts to measure, if the file asks for it.
pub(super) fn start(file: &File, watch: &Arc<Watch>, stop: &Stop) -> Result<Option<Running>, Failure> {
    let Some(keys) = file.wakeup else { return Ok(None) };
    let (watch, stop) = (Arc::clone(watch), stop.clone());
    let work = move || {
        measure(keys, &watch, &stop);
        Ok(())
    };
    thread("sentinel-wake", Some(keys.cpu), keys.priority, work).map(Some)
}

fn measure(keys: WakeupKeys, watch: &Watch, stop: &Stop) {
    let grid = Grid::every_ns(monotonic(), keys.interval.0);
    let mut cycle = 1;
    while !stop.requested() {
        let due = grid.due(cycle);
        if !sleep_until(due) {
            continue;
        }
        let now = monotonic();
        let next = grid.first_after(now).max(cycle + 1);
        let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.woke(now - due, now.as_ns());
        watch.missed_wakeups(next - cycle - 1);
        cycle = next;
    }
}
