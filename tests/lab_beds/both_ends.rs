//! A test set in one container, and the device under test in another.

use super::can;
use super::named::{Named, at, out};
use std::process::{Command, Stdio};
use support::left::Before;
use support::{json, series, stderr};
use testing::Running;

/// Both ends on one macvlan parent, with the user's own relay.
#[test]
fn a_relay_and_its_test_set_stand_in_containers() {
    let Some(_alone) = can("a_relay_and_its_test_set_stand_in_containers", "runc") else {
        return;
    };
    let before = Before::look();
    let bed = Named::new("both");
    let made = bed.up(&[
        "--place",
        "container",
        "--devices",
        "2",
        "--network",
        "macvlan",
        "--runtime",
        "runc",
    ]);
    assert!(made.status.success(), "{}", stderr(&made));
    let (test_set, relay) = (bed.way(&out(&made), "device 0"), bed.way(&out(&made), "device 1"));
    let mut relaying = Command::new(&relay[0]);
    relaying
        .args(&relay[1..])
        .args([
            "relay",
            "bays1",
            "dut1",
            "--duration",
            "60s",
            "--out",
            "/tmp/relay.triptime",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut running = Running::start(&mut relaying);
    let trip = [
        "trip",
        "dut0",
        "--scenario",
        "overcurrent",
        "--shots",
        "2",
        "--settle",
        "200ms",
        "--goose",
        "BAYSLD0/LLN0$GO$gcbTrip",
        "--json",
        "--out",
        "/tmp/trip.triptime",
    ];
    let measured = at(&test_set, &trip);
    // The removal of the bed ends the programs in it.
    assert!(bed.down().status.success());
    running.wait().expect("its end");
    assert!(
        matches!(measured.status.code(), Some(0 | 1 | 3)),
        "{}",
        stderr(&measured)
    );
    let document = json(&measured);
    let trips = series(&document, "trip/overcurrent")["received"].as_u64();
    assert!(trips.is_some_and(|trips| trips > 0), "{}", stderr(&measured));
    before.nothing_is_left();
}
