//! The thread that receives: every frame goes to the watch.

use super::{Running, hear, thread};
use crate::failure::Failure;
use logbook::Watch;
use probes::{Listen, Overheard, Port};
use run::Stop;
use sentinel::{File, Frame, Sentinel};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use units::Monotonic;

/// The listener of the port.
pub(super) struct Ears {
    watch: Arc<Watch>,
    /// When it looked last, for the watchdog.
    looked: Arc<AtomicI64>,
}

impl Ears {
    fn watch(&self) -> MutexGuard<'_, Sentinel> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listen for Ears {
    fn frame(&mut self, frame: &Overheard<'_>) {
        self.watch().take(&Frame {
            data: frame.data,
            vlan: frame.vlan,
            at_ns: frame.heard.as_ns(),
            wall_ns: frame.wall.as_ns(),
        });
    }

    fn link(&mut self, is_down: bool, at: Monotonic) {
        self.watch().link(is_down, at.as_ns());
    }

    fn look(&mut self, now: Monotonic, dropped: u64) {
        let mut watch = self.watch();
        watch.checked(now.as_ns(), dropped);
        watch.look(now.as_ns());
        self.looked.store(now.as_ns(), Ordering::Relaxed);
    }

    fn deadline(&self) -> Option<Monotonic> {
        self.watch().deadline_ns().map(Monotonic::from_ns)
    }
}

/// Starts to receive.
pub(super) fn start(
    file: &File,
    port: Port,
    watch: &Arc<Watch>,
    looked: &Arc<AtomicI64>,
    stop: &Stop,
) -> Result<Running, Failure> {
    let ears = Ears {
        watch: Arc::clone(watch),
        looked: Arc::clone(looked),
    };
    thread("sentinel", file.cpu, file.priority, hear(port, stop, ears))
}
