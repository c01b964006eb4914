//! Counts of an interface for frames that only a packet socket receives.

mod common;

use common::{ETHERTYPE, NETWORK, Pair, can_run, frame_with, receive};
use sys::packet::PortOptions;

const FRAMES: u64 = 200;

#[test]
fn tagged_frames_that_only_a_packet_socket_took_are_not_lost() {
    if !can_run("tagged_frames_that_only_a_packet_socket_took_are_not_lost", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let sender = pair.port_a(&PortOptions::default());
    let mut receiver = pair.port_b(&PortOptions::default());
    let before = receiver.link_statistics().expect("counters");
    for number in 0..FRAMES {
        let number = u32::try_from(number).expect("small");
        let tagged = frame_with(&[(0x8100, 100)], ETHERTYPE, number, 80);
        sender.send(&tagged).expect("sent");
        receive(&mut receiver, |_| ());
    }
    let counted = receiver.link_statistics().expect("counters").since(before);
    assert!(counted.received >= FRAMES, "{counted:?}");
    assert!(
        counted.dropped >= FRAMES,
        "the kernel counts them although we have them all: {counted:?}"
    );
    // Only frames that found no room, on any interface of this host, can have been lost.
    let no_room = counted.no_room.expect("/proc/net/softnet_stat is readable");
    assert_eq!(
        counted.lost_behind_driver(),
        no_room.min(counted.dropped),
        "{counted:?}"
    );
    assert!(counted.lost_behind_driver() < FRAMES, "{counted:?}");
}
