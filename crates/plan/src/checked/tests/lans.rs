//! Plans of doubly attached nodes.

use crate::{Lans, Plan};
use place::PlaceKind;

/// A plan with this bed and these steps after its head.
fn plan(bed: &str, steps: &str) -> Result<Plan, String> {
    let text = format!(
        "name = \"two\"\nwhat = \"x\"\nlimits = \"substation\"\nwindow = \"1s\"\n[cpus]\nhousekeeping = \"first\"\n\
         measured = \"rest\"\n{bed}{steps}"
    );
    Plan::parse("two", &text).map_err(|error| error.to_string())
}

const PRP: &str = "[bed]\nlans = \"prp\"\n";

fn trip(keys: &str) -> String {
    format!(
        "[[step]]\nprobe = \"trip\"\nduration = \"1s\"\nrelay = \"bays2\"\nstreams = 2\npolicy = \"fifo:60\"\n{keys}"
    )
}

fn streams(keys: &str) -> String {
    format!("[[step]]\nprobe = \"sampled-values\"\nduration = \"1s\"\npolicy = \"fifo:60\"\n{keys}")
}

#[test]
fn each_lan_that_no_step_cuts_is_judged() {
    let steps = [
        streams(""),
        trip("label = \"both\"\n"),
        trip("label = \"cut\"\nlan_fault = \"cut-a\"\n"),
    ];
    let plan = plan(PRP, &steps.concat()).expect("a plan");
    assert_eq!((plan.lans(), plan.compares_networks()), (Some(Lans::Prp), false));
    assert_eq!(plan.duration_ns(), 3_000_000_000);
    let limits = plan.own_limits().expect("limits").expect("it has some");
    for id in [
        "redundancy.lost.A",
        "redundancy.lost.B",
        "redundancy.lost.both",
        "trip.within.cut-",
    ] {
        assert!(limits.contains(&format!("id = \"{id}")), "{id}: {limits}");
    }
    assert!(
        limits.contains("series = \"lan/both-A|lan/both-B\"") && !limits.contains("lan/cut"),
        "{limits}"
    );
    assert!(!limits.contains("lan/*"), "{limits}");
}

#[test]
fn two_lans_are_of_one_kind_and_their_relay_has_one_thread() {
    let hsr = "[bed]\nlans = \"hsr\"\nnetworks = [\"veth\"]\n";
    assert_eq!(plan(hsr, &trip("")).expect("a plan").lans(), Some(Lans::Hsr));
    let many = trip("").replace("relay = \"bays2\"", "relay = [\"bays2\", \"bays1\"]");
    assert!(plan(PRP, &many).is_ok());
    for (bed, steps, says) in [
        ("", trip("lan_fault = \"cut-a\"\n"), "lan_fault: the bed has one LAN"),
        (PRP, trip("lan_fault = \"cut-c\"\n"), "write cut-a, cut-b"),
        (PRP, trip("apart = true\n"), "in one thread"),
        (PRP, streams("trace = true\n"), "a frame takes two ways"),
        (PRP, streams("stamps = \"software\"\n"), "a frame takes two ways"),
        (
            PRP,
            "[[step]]\nprobe = \"reflect\"\nduration = \"1s\"\npolicy = \"fifo:60\"\n".to_owned(),
            "is measured over one LAN",
        ),
        (
            "[bed]\nlans = \"prp\"\nrounds = 2\n",
            trip(""),
            "both LANs are of one network",
        ),
        (
            "[bed]\nlans = \"prp\"\nnetworks = [\"veth\", \"bridge\"]\n",
            trip(""),
            "both LANs are of one network",
        ),
        (
            "[bed]\nlans = \"prp\"\nnetworks = [\"tap\"]\n",
            trip(""),
            "each LAN is a bridge or a veth pair",
        ),
        ("[bed]\nlans = \"prp2\"\n", trip(""), "prp2"),
        (hsr, many.clone(), "veth has one device"),
        ("[bed]\nrounds = 2\n", trip(""), "no network"),
    ] {
        let refused = plan(bed, &steps).expect_err(says);
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn the_command_line_adds_no_place_and_no_ports_to_two_lans() {
    let two = plan(PRP, &trip("")).expect("a plan");
    assert!(two.check_beside_lans(PlaceKind::Native, false).is_ok());
    let refused = |place, ports| two.check_beside_lans(place, ports).expect_err("refused").to_string();
    assert!(refused(PlaceKind::Native, true).contains("--nic and --far"));
    assert!(refused(PlaceKind::Vm, false).contains("--place"));
    let one = plan("", &trip("")).expect("a plan");
    assert!(one.check_beside_lans(PlaceKind::Vm, true).is_ok());
}
