//! A full transmit queue: a token bucket filter that lets almost nothing through.

mod common;

use common::{NETWORK, Pair, can_run, frame, inside};
use std::process::{Command, Output};
use sys::SysError;
use sys::packet::{PortOptions, TxBatch};

const FRAMES: usize = 5_000;

/// Gives `a0` a queue of `limit` octets that drains at one frame a second; the error says why `tc` could not.
fn throttle(pair: &Pair, limit: &str) -> Result<(), String> {
    let ask = || {
        let words = [
            "qdisc", "add", "dev", "a0", "root", "tbf", "rate", "480bit", "burst", "1600", "limit", limit,
        ];
        Ok(Command::new("tc").args(words).output())
    };
    match inside(&pair.a, ask) {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { stderr, .. }) => Err(format!("tc refuses a tbf: {}", String::from_utf8_lossy(&stderr).trim())),
        Err(error) => Err(format!("needs tc of iproute2: {error}")),
    }
}

/// Sends a batch into a queue of `limit` octets, and checks how it ends.
fn fill(test: &str, limit: &str, expected: i32) {
    if !can_run(test, NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    if let Err(reason) = throttle(&pair, limit) {
        testing::skip(test, &reason);
        return;
    }
    let port = pair.port_a(&PortOptions::default());
    let mut batch = TxBatch::new(FRAMES, 60);
    (0..FRAMES).for_each(|index| batch.frame_mut(index).copy_from_slice(&frame(index as u32, 60)));
    let partial = port.send_all(&mut batch).expect_err("nothing drains the queue");
    assert!((1..FRAMES).contains(&partial.sent), "{partial}");
    assert!(partial.cause.is_transient(), "{partial}");
    assert_eq!(partial.cause.errno(), Some(expected), "{partial}");
    let error = port.send(&frame(1, 60)).expect_err("still full");
    assert!(matches!(error, SysError::SendQueueFull { .. }), "{error}");
    assert!(error.to_string().starts_with("a0: transmit queue full ("), "{error}");
}

#[test]
fn a_frame_the_queueing_discipline_drops_is_a_transient_error() {
    fill(
        "a_frame_the_queueing_discipline_drops_is_a_transient_error",
        "3000",
        libc::ENOBUFS,
    );
}

#[test]
fn a_frame_the_socket_has_no_room_for_is_a_transient_error() {
    fill(
        "a_frame_the_socket_has_no_room_for_is_a_transient_error",
        "100000000",
        libc::EAGAIN,
    );
}
