//! What a wire with faults did to frames, against what the probes at its ends counted of them: every counter, to the frame.
//!
//! The truth is what the injector's observer saw go in and come out, and the injector's own counts; neither is made by a probe.

#[path = "../../../probes/tests/common/mod.rs"]
mod common;
mod reflect;
mod subscribe;
mod truth;

use lab::fault::{Fault, FaultBed, LaneCounts, Way};

/// Both ways through a wire.
const BOTH_WAYS: [Way; 2] = [Way::ToDevice, Way::ToTestSet];

/// Whether `counts` add up: no frame vanished inside the wire, none was left unharmed for want of room.
fn assert_sound(counts: &LaneCounts, dropped: u64, doubled: u64) {
    let held: u64 = counts.rules.iter().map(|rule| rule.held).sum();
    assert_eq!(counts.entered + doubled, counts.left + dropped + held, "{counts:?}");
    assert!(counts.rules.iter().all(|rule| rule.left_alone == 0), "{counts:?}");
}

/// Frames that rules with this fault were applied to.
fn injected(counts: &LaneCounts, faults: &[Fault], wanted: Fault) -> u64 {
    let of_fault = counts.rules.iter().zip(faults).filter(|(_, fault)| **fault == wanted);
    of_fault.map(|(rule, _)| rule.injected).sum()
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

/// Waits until no frame is delayed on the wire any more. One that is held back until another one passes may wait for ever.
fn wait_until_empty(bed: &FaultBed, faults: &[Fault]) {
    let delayed = |way: Way| {
        let rules = bed.wire().counts(way).rules;
        let delays = rules
            .iter()
            .zip(faults)
            .filter(|(_, fault)| matches!(fault, Fault::Delay(_)));
        delays.map(|(rule, _)| rule.held).sum::<u64>()
    };
    common::wait_until("delayed frames come out", || {
        BOTH_WAYS.iter().all(|way| delayed(*way) == 0)
    });
}
