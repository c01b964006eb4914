//! A bed with a missing part is stale: each part is removed from beds of each kind, which must then be listed as stale and made again.

use super::can;
use super::named::{Named, directed, out};
use std::path::PathBuf;
use std::process::Command;
use support::left::Before;
use support::stderr;
use sys::netns::NetNs;

/// The file of a namespace of the bed.
fn namespace(bed: &Named, end: &str) -> PathBuf {
    format!("/run/netns/triptime-{}-{end}", bed.0).into()
}

/// Calls `ip link` in a namespace of the bed.
fn link(bed: &Named, end: &str, words: &str) {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", namespace(bed, end).display()));
    let done = command
        .args(["ip", "link"])
        .args(words.split(' '))
        .output()
        .expect("ip");
    assert!(done.status.success(), "{words}: {}", stderr(&done));
}

/// The bed is listed as stale for this reason, with the remedy, and made again by the next start.
fn is_dead(bed: &Named, words: &[&str], what: &str, why: &str) {
    let listed = bed.listed().expect("listed");
    assert!(listed.contains("STALE") && listed.contains(why), "{what}: {listed}");
    let remedy = format!("triptime lab down {name}; triptime lab up {name}", name = bed.0);
    assert!(listed.ends_with(&remedy), "{what}: {listed}");
    let again = bed.up(words);
    assert!(out(&again).contains("; made"), "{what}: {}", stderr(&again));
    assert!(out(&bed.up(words)).contains("; is up"), "{what}: up twice is up once");
}

#[test]
fn a_bed_with_a_part_missing_is_stale_and_made_anew() {
    let Some(_alone) = can("a_bed_with_a_part_missing_is_stale_and_made_anew", "nsenter") else {
        return;
    };
    let before = Before::look();
    for (network, faults) in [
        (
            "bridge",
            &[
                ("sw", "del p-dut1", "dut1 in"),
                ("sw", "set p-dut1 nomaster", "p-dut1 in"),
                ("sw", "set br0 down", "br0 in"),
                ("sw", "del br0", "br0 in"),
                ("sw", "set p-ts down", "p-ts in"),
                ("dut1", "set dut1 down", "dut1 in"),
                ("ts", "del ts0", "p-ts in"),
            ][..],
        ),
        (
            "macvlan",
            &[("sw", "set p-ts down", "p-ts in"), ("dut1", "del dut1", "dut1 in")],
        ),
        (
            "veth",
            &[("dut", "set dut0 down", "dut0 in"), ("ts", "del ts0", "dut0 in")],
        ),
    ] {
        let bed = Named::new(network);
        let devices = if network == "veth" { "1" } else { "2" };
        let words = ["--network", network, "--devices", devices];
        assert!(out(&bed.up(&words)).contains("; made"), "{network}");
        for (end, what, why) in faults {
            link(&bed, end, what);
            is_dead(&bed, &words, &format!("{network}: {what}"), why);
        }
        let ends = if network == "veth" {
            &["ts"][..]
        } else {
            &["sw", "dut1"]
        };
        for end in ends {
            NetNs::unpin(&namespace(&bed, end)).expect("deleted");
            is_dead(&bed, &words, &format!("{network}: {end}"), "is not a network namespace");
            // Another namespace in its place.
            NetNs::unpin(&namespace(&bed, end)).expect("deleted");
            let empty = NetNs::create().expect("a namespace");
            empty.pin(&namespace(&bed, end)).expect("named");
            is_dead(
                &bed,
                &words,
                &format!("{network}: {end}"),
                "is not the network namespace",
            );
        }
        let made = bed.up(&words);
        assert!(directed(&bed, &out(&made)) > 1_000, "{network}: it stands");
        assert!(bed.down().status.success());
    }
    before.nothing_is_left();
}

#[test]
fn a_bed_that_was_not_made_to_its_end_is_stale() {
    let Some(_alone) = can("a_bed_that_was_not_made_to_its_end_is_stale", "nsenter") else {
        return;
    };
    let before = Before::look();
    let bed = Named::new("cut-short");
    assert!(bed.up(&[]).status.success());
    // The state after a kill of `up` when all namespaces have their names.
    let record = format!("/run/triptime/labs/{}/lab.json", bed.0);
    let text = std::fs::read_to_string(&record).expect("a record");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(value.as_object_mut().expect("a record").remove("parts").is_some());
    std::fs::write(&record, value.to_string()).expect("written");
    is_dead(&bed, &[], "cut short", "making it did not finish");
    assert!(bed.down().status.success());
    before.nothing_is_left();
}
