//! Over a bridge into another namespace: to an application, to nobody, to a port that is down.

use crate::bed::{Bed, receive_options};
use crate::{follower, frame, options, passages, send};
use std::os::unix::fs::MetadataExt;
use sys::link::set_down;
use sys::netns::NetNs;
use trace::passage::{Context, End, FollowOptions, Origin, Passage, summarize};

fn inode(namespace: &NetNs) -> u32 {
    let inode = std::fs::metadata(namespace.path()).expect("the namespace").ino();
    u32::try_from(inode).expect("inodes of namespaces are small")
}

/// Where the passage was, of the places that are named, each once: the first time.
fn order<'a>(passage: &'a Passage, places: &[(&str, &str, u32)]) -> Vec<Option<(usize, &'a str)>> {
    let position = |(what, interface, netns): &(&str, &str, u32)| {
        let at = passage.steps.iter().position(|step| {
            step.what.name() == *what && step.interface == *interface && step.netns == *netns
        });
        at.map(|at| (at, passage.steps[at].what.name()))
    };
    places.iter().map(position).collect()
}

#[test]
fn a_sample_is_followed_from_the_port_to_the_application() {
    let test = "passage to an application";
    let Some(bed) = Bed::build(test) else { return };
    // Without a ring: the application reads each frame.
    let reading = sys::packet::PortOptions {
        ring_frames: 0,
        ..receive_options()
    };
    let application = bed.device.run(|| sys::packet::PacketPort::open("dut0", &reading));
    let _application = application.expect("to enter").expect("a port");
    let Some(mut follower) = follower(test, options(&bed.switch, "p-ts")) else {
        return;
    };
    send(&bed, "MU01", 100..110);
    let found = passages(&mut follower, 3);
    let counts: Vec<u16> = found.iter().map(|passage| passage.smp_cnt).collect();
    assert_eq!(counts, [100, 101, 102], "the first ones, and no more");
    for passage in &found {
        for step in &passage.steps {
            eprintln!(
                "{:>8} {:>7} cpu{} {} {}/{} {} {}@{} #{} {:?} {:?}",
                step.since_first_ns, step.delta_ns, step.cpu, step.context, step.comm, step.tid, step.what.name(),
                step.interface, step.netns, step.skb, step.reason, step.location
            );
        }
        eprintln!("{:?}", passage.skbs);
    }
    let _ = (frame("", 0), set_down as fn(&str) -> _, Context::Thread, End::NotSeen, Origin::First, summarize(&found));
    let _ = (inode(&bed.switch), order(&found[0], &[]));
    let _: Option<FollowOptions> = None;
}
