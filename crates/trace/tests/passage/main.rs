//! Follows sampled values through this machine's kernel: their places, the order of the places, and their ends.

#[path = "../hops/bed.rs"]
mod bed;
mod counts;
mod forms;
mod ways;

use bed::Bed;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use sys::netns::NetNs;
use trace::passage::{FollowOptions, Follower, Passage, RING_OCTETS};
use wire::ether::Mac;
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

/// One at a time: the beds are alike, and a frame is recognised by its content. Other test programs use other names for their
/// streams.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A frame of this stream with this sample.
pub(crate) fn frame(sv_id: &str, smp_cnt: u16) -> Message {
    Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 7]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![OwnedAsdu {
            smp_cnt,
            ..OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality(0)); 8])
        }],
    }
}

/// The inode number of a namespace.
pub(crate) fn inode(namespace: &NetNs) -> u32 {
    let inode = std::fs::metadata(namespace.path()).expect("the namespace").ino();
    u32::try_from(inode).expect("inodes of namespaces are small")
}

/// Options to choose frames at this interface.
pub(crate) fn options(namespace: &NetNs, interface: &str) -> FollowOptions {
    let place = bed::place(namespace, interface, trace::hops::PointKind::Receive);
    FollowOptions {
        ifindex: place.ifindex,
        netns: place.netns,
        per_stream: 3,
        max_streams: 8,
        smp_cnt: None,
        sv_id: None,
        ring_octets: RING_OCTETS,
    }
}

/// Builds a bed, and follows frames from the port of its bridge on, with these changes to the options; `None` if the test is
/// skipped.
pub(crate) fn set_up(test: &str, change: impl FnOnce(&mut FollowOptions)) -> Option<(Bed, Follower)> {
    let bed = Bed::build(test)?;
    let mut options = options(&bed.switch, "p-ts");
    change(&mut options);
    let follower = follower(test, options)?;
    while sys::clock::monotonic() <= follower.opened() {
        std::thread::sleep(Duration::from_millis(10));
    }
    Some((bed, follower))
}

/// Starts the follower; `None` if the test is skipped.
pub(crate) fn follower(test: &str, options: FollowOptions) -> Option<Follower> {
    match Follower::start(options) {
        Ok(follower) => Some(follower),
        Err(error @ (trace::TraceError::NoBtf(_) | trace::TraceError::MissingCapability { .. })) => {
            testing::skip(test, &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Sends these samples of a stream, a millisecond apart.
pub(crate) fn send(bed: &Bed, sv_id: &str, smp_cnts: std::ops::Range<u16>) {
    for smp_cnt in smp_cnts {
        bed.send(&frame(sv_id, smp_cnt));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Makes frames wait in the queue of an interface, with this room; `None` if the test is skipped.
pub(crate) fn slow_down(test: &str, namespace: &NetNs, interface: &str, room: &[&str]) -> Option<()> {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", namespace.path().display()));
    command.args(["tc", "qdisc", "replace", "dev", interface, "root"]);
    command.args(["tbf", "rate", "200kbit", "burst", "2kb"]).args(room);
    let output = command.output().expect("util-linux");
    if !output.status.success() {
        testing::skip(test, &String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(())
}

/// Waits until all frames on their way have arrived, and returns this many passages.
pub(crate) fn passages(follower: &mut Follower, wanted: usize) -> Vec<Passage> {
    let end = Instant::now() + Duration::from_secs(3);
    while follower.counts().expect("the kernel").chosen < wanted as u64 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(150));
    follower.passages().expect("the kernel")
}
