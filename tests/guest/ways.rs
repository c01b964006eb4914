//! Ways through a host, each found and traced automatically, inside a guest with the necessary kernel modules.

use crate::machine::{Kernel, Left, Machine, Setup, alone};
use crate::runs::{counts, not_timed, published, report};
use model::Cause;
use serde_json::Value;
use store::RunFile;
use support::root_or_skip;

/// Programs that its kernel datapath needs.
const OPEN_VSWITCH: [&str; 4] = [
    "/usr/bin/ovsdb-tool",
    "/usr/bin/ovs-vsctl",
    "/usr/sbin/ovsdb-server",
    "/usr/sbin/ovs-vswitchd",
];

/// Schema of its database.
const OPEN_VSWITCH_SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

/// Time in ns for which `ways.sh` blocks the container's CPU.
const BLOCK_NS: i64 = 100_000_000;

fn assert_bed(left: &Left, bed: &str, way: &[&str], hops: &[&str]) {
    let file = |name: &str| left.path(&format!("{bed}/{name}.triptime"));
    for program in ["publish", "trace", "subscribe"] {
        assert_eq!(
            left.text(&format!("{bed}/{program}.status")),
            "0",
            "{bed}: {program}: {}",
            left.console
        );
    }
    let shown = left.text(&format!("{bed}/way"));
    for wanted in way {
        assert!(shown.contains(wanted), "{bed}: no \"{wanted}\" in {shown}");
    }
    let sent = published(&file("publish"));
    let traced = report(&file("trace"));
    for hop in hops {
        let (timed, _) = counts(&traced, &format!("hop/{hop}/MU01"));
        let (_, point) = hop.split_once("-to-").expect("two points");
        assert!(timed > 100, "{bed}: {hop}: {timed} of {sent} timed");
        let came = timed + not_timed(&traced, "MU01", point);
        assert_eq!(came, sent, "{bed}: {hop}: {}", traced["events"]);
    }
    assert_eq!(
        counts(&report(&file("subscribe")), "delivery/subscribe").0,
        sent,
        "{bed}"
    );
}

#[test]
fn ways_that_take_kernel_modules_are_found_and_every_frame_is_traced() {
    let test = "ways_that_take_kernel_modules_are_found_and_every_frame_is_traced";
    if !root_or_skip(test) {
        return;
    }
    let setup = Setup {
        kernel: Kernel::Rt612,
        scenarios: &["ways.sh"],
        programs: &OPEN_VSWITCH,
        files: &[OPEN_VSWITCH_SCHEMA],
        built: &["vmm", "blocker"],
        has_card: false,
        network: None,
    };
    let left = match Machine::boot(&setup) {
        Ok(machine) => machine.finish(),
        Err(why) => return testing::skip(test, &why),
    };
    let vhost = ["nic-to-tap", "tap-to-vhost"];
    let container = ["nic-to-port", "port-to-edge", "edge-to-app"];
    let all = [&vhost[..], &container].concat();
    assert_bed(
        &left,
        "bridge",
        &["br0: bridge", "vnet0: tap", "vhost-", "dut0: veth"],
        &all,
    );
    assert_blocker_is_found(&left);
    assert_bed(
        &left,
        "macvlan",
        &["dut0: macvlan", "mvt0: macvtap", "cat"],
        &["nic-to-edge", "edge-to-app", "nic-to-taken"],
    );
    assert_bed(&left, "ovs", &["openvswitch", "vnet0: tap", "vhost-"], &all);
    for bed in ["bridge", "ovs"] {
        let frames = left.text(&format!("{bed}/vhost-frames"));
        let sent = published(&left.path(&format!("{bed}/publish.triptime")));
        assert_eq!(
            frames,
            sent.to_string(),
            "{bed}: what vhost filled is what its point counted"
        );
    }
}

/// Frames that came while the container's CPU was blocked are late in the hop to it, and the thread that blocked it is named.
fn assert_blocker_is_found(left: &Left) {
    let run = RunFile::open(&left.path("bridge/trace.triptime")).expect("a run");
    // For each late frame: whether the blocker is named, and the text.
    let named = |hop: &str| {
        let all = run.series().expect("series");
        let (id, _) = all.iter().find(|(_, spec)| spec.name == hop).expect("the series");
        let spikes = run.spikes(*id).expect("spikes");
        let late = spikes.into_iter().filter(|spike| spike.value_ns >= BLOCK_NS / 2);
        late.map(|spike| {
            let why = spike.explanation.expect("each is explained");
            let by_blocker = why
                .occupants
                .iter()
                .filter(|part| part.what.starts_with("thread blocker"));
            let ns: u64 = by_blocker.map(|part| part.ns).sum();
            (
                why.cause == Cause::Thread && ns >= BLOCK_NS as u64 / 4 && why.text.contains("blocker"),
                why.text,
            )
        })
        .collect::<Vec<(bool, String)>>()
    };
    let late = named("hop/port-to-edge/MU01");
    let found = late.iter().filter(|(found, _)| *found).count();
    // If there are very many at once, not all are examined.
    assert!(found >= 2, "{found} of {} late frames: {late:?}", late.len());
    let elsewhere = named("hop/nic-to-port/MU01");
    assert!(
        !elsewhere.iter().any(|(found, _)| *found),
        "the hop before it was not blocked"
    );
}

/// Result of following sampled values inside a guest.
fn followed(left: &Left) -> Value {
    assert_eq!(left.text("follow/passages.status"), "0", "{}", left.console);
    serde_json::from_str(&left.text("follow/passages.json")).expect("JSON")
}

/// Both passages lead from the bridge's port over tracepoints and functions to the container's interface.
fn assert_followed(document: &Value, functions: u64) {
    let listening = &document["listening"];
    assert!(
        listening["tracepoints"].as_array().expect("a list").len() > 20,
        "{listening:#}"
    );
    assert!(listening["functions"].as_u64() >= Some(functions), "{listening:#}");
    let passages = document["passages"].as_array().expect("a list");
    assert_eq!(passages.len(), 2);
    for passage in passages {
        let steps = passage["steps"].as_array().expect("a list");
        assert_eq!(steps[0]["interface"], "p-ts");
        assert!(steps.iter().any(|step| step["interface"] == "dut0"), "{passage:#}");
        for (event, kind) in [("netif_receive_skb", "tracepoint"), ("__netif_receive_skb", "function")] {
            let is_it = |step: &Value| {
                step["kind"] == kind && step["event"].as_str().is_some_and(|name| name.starts_with(event))
            };
            assert!(steps.iter().any(is_it), "no {event}: {passage:#}");
        }
    }
}

#[test]
fn sampled_values_are_followed_through_tracepoints_and_functions() {
    let test = "sampled_values_are_followed_through_tracepoints_and_functions";
    if !root_or_skip(test) {
        return;
    }
    let left = match alone(Kernel::Rt612) {
        Ok(left) => left,
        Err(why) => return testing::skip(test, why),
    };
    let document = followed(left);
    // All at once.
    assert_followed(&document, 500);
    assert!(
        document["counts"]["missed_functions"].is_u64(),
        "{}",
        document["counts"]
    );
}

/// The same in a guest with an older kernel.
pub(crate) fn assert_followed_one_by_one(left: &Left) {
    let document = followed(left);
    assert_followed(&document, 20);
    // And it does not report what it left out.
    assert!(
        document["counts"]["missed_functions"].is_null(),
        "{}",
        document["counts"]
    );
}
