//! Waiting for the next GOOSE frame, at both ends of a ping-pong.

use crate::port::Port;
use crate::reception::{Lans, Receive, Reception};
use run::Stop;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use sys::wait::sleep_until;
use units::Monotonic;

/// Longest sleep before a check for a stop.
pub(super) const LONGEST_SLEEP_NS: i64 = 50_000_000;

/// Time without a check of the link while it is down.
const LINK_DOWN_NS: i64 = 1_000_000;

/// Reception from a port by a thread that polls it at its own times.
pub(super) fn reception(port: Port, receive: Receive, stop: &Stop) -> Reception {
    Reception {
        lans: Lans::of(&port, None),
        routed: port.routed(),
        port,
        receive,
        gather_ns: None,
        duration_ns: None,
        stop: stop.clone(),
        frames: Arc::new(AtomicU64::new(0)),
        unstamped: 0,
    }
}

/// Waits for a frame until this instant; a spinning thread returns at once.
pub(super) fn wait(reception: &Reception, until: Monotonic, now: Monotonic) {
    let ns = u64::try_from(until - now).unwrap_or(0);
    match reception.receive {
        Receive::Spin => std::hint::spin_loop(),
        Receive::Block => {
            if reception.port.wait(ns).is_err() {
                sleep_until(now + LINK_DOWN_NS);
            }
        }
    }
}
