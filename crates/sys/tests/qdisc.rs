//! Queueing disciplines as the kernel lists them.

mod common;

use common::{NETWORK, Pair, can_run, inside};
use std::process::{Command, Output};
use sys::link::{QDISC_ROOT, Qdisc, qdiscs};
use sys::netns::NetNs;
use sys::{ErrorKind, SysError};

fn noqueue() -> Vec<Qdisc> {
    vec![Qdisc {
        kind: "noqueue".to_owned(),
        handle: 0,
        parent: QDISC_ROOT,
        etf: None,
        cbs: None,
    }]
}

#[test]
fn a_veth_and_loopback_have_no_queue() {
    if !can_run("a_veth_and_loopback_have_no_queue", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    assert_eq!(inside(&pair.a, || qdiscs("a0")), noqueue());
    assert_eq!(inside(&pair.b, || qdiscs("b0")), noqueue());
    let empty = NetNs::create().expect("a namespace");
    assert_eq!(inside(&empty, || qdiscs("lo")), noqueue());
}

#[test]
fn a_discipline_that_was_added_is_listed_for_its_interface_only() {
    let test = "a_discipline_that_was_added_is_listed_for_its_interface_only";
    if !can_run(test, NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let words = "qdisc add dev a0 root handle 7: tbf rate 1mbit burst 1600 limit 3000";
    match inside(&pair.a, || Ok(Command::new("tc").args(words.split(' ')).output())) {
        Ok(Output { status, .. }) if status.success() => {}
        refused => return testing::skip(test, &format!("tc adds no tbf: {refused:?}")),
    }
    let found = inside(&pair.a, || qdiscs("a0"));
    let root = found.first().expect("the one added");
    assert_eq!(
        (root.kind.as_str(), root.handle, root.parent),
        ("tbf", 7 << 16, QDISC_ROOT)
    );
    assert_eq!(inside(&pair.a, || qdiscs("lo")), noqueue());
}

#[test]
fn a_missing_interface_is_said_plainly() {
    let error = qdiscs("eth99").expect_err("no such interface");
    assert!(matches!(error, SysError::NoSuchInterface { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Usage);
}
