//! What a wire with faults did to frames, against what the probes at its ends counted of them: every counter, to the frame.
//!
//! The truth is what the injector's observer saw go in and come out, and the injector's own counts; neither is made by a probe.

#[path = "../../../probes/tests/common/mod.rs"]
mod common;
mod reflect;
mod subscribe;
mod truth;

use lab::fault::{FaultBed, LineCounts};

/// Whether `counts` add up: no frame vanished inside the injector, none was left unharmed for want of room.
fn assert_sound(counts: &LineCounts) {
    assert_eq!(
        counts.came + counts.doubled,
        counts.passed + counts.dropped + counts.refused + counts.held,
        "{counts:?}"
    );
    assert_eq!(counts.not_held, 0, "{counts:?}");
}

/// Whether a bed with taps can be built here.
fn can_run(test: &str) -> bool {
    if !common::can_run(test) {
        return false;
    }
    let tun = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    if let Err(error) = &tun {
        testing::skip(test, &format!("/dev/net/tun: {error}"));
    }
    tun.is_ok()
}

/// Waits until nothing is held back on the wire any more.
fn wait_until_empty(bed: &FaultBed) {
    common::wait_until("frames held back go on", || {
        lab::fault::Direction::BOTH.iter().all(|way| bed.counts(*way).held == 0)
    });
}
