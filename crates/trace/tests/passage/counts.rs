//! Tests the counts: frames that came, and frames or events that could not be followed.

use crate::bed::{Bed, send_port};
use crate::{alone, frame, passages, send, set_up, slow_down};
use trace::passage::FollowOptions;

#[test]
fn events_that_find_no_room_are_named() {
    let _alone = alone();
    let test = "passages with a small ring";
    let small = |options: &mut FollowOptions| {
        options.per_stream = 100;
        options.ring_octets = 4096;
    };
    let Some((bed, mut follower)) = set_up(test, small) else {
        return;
    };
    send(&bed, "PA01", 0..100);
    let found = passages(&mut follower, 100);
    let counts = follower.counts().expect("the kernel");
    assert_eq!(counts.chosen, 100);
    assert!(counts.lost_events > 100, "{counts:?}");
    // Passages without room for any event have no list, but are counted.
    assert!(!found.is_empty() && found.len() < 100);
    let named: u64 = found.iter().map(|passage| u64::from(passage.lost_events)).sum();
    assert!(named > 0 && named < counts.lost_events, "{named}: {counts:?}");
    // All take the same path: each event is shown, or counted as lost.
    let events: Vec<u64> = found
        .iter()
        .map(|passage| passage.steps.len() as u64 + u64::from(passage.lost_events))
        .collect();
    assert!(events.iter().all(|of_one| *of_one == events[0]), "{events:?}");
    let shown: u64 = found.iter().map(|passage| passage.steps.len() as u64).sum();
    assert_eq!(shown + counts.lost_events, 100 * events[0]);
}

#[test]
fn each_frame_is_counted_once() {
    let _alone = alone();
    let test = "passages of counted frames";
    let Some((bed, mut follower)) = set_up(test, |options| options.max_streams = 1) else {
        return;
    };
    send(&bed, "PA01", 0..10);
    // Streams that there is no room for.
    send(&bed, "PA02", 0..4);
    send(&bed, "PA03", 0..1);
    let port = send_port(&bed.publisher, "ts0");
    let whole = frame("PA01", 1).encode().expect("a frame");
    for _ in 0..4 {
        port.send(&whole[..40]).expect("to send");
    }
    let found = passages(&mut follower, 3);
    assert_eq!(found.len(), 3);
    let counts = follower.counts().expect("the kernel");
    assert_eq!((counts.met, counts.no_room, counts.malformed), (15, 5, 4), "{counts:?}");
}

#[test]
fn very_many_frames_are_kept_in_mind() {
    let _alone = alone();
    let test = "passages of very many frames";
    let many = |options: &mut FollowOptions| {
        options.per_stream = 100;
        options.max_streams = 60;
        options.ring_octets = 1 << 24;
    };
    let Some((bed, mut follower)) = set_up(test, many) else {
        return;
    };
    // Each waits there, in its own `sk_buff`.
    let Some(()) = slow_down(test, &bed.switch, "p-dut", &["limit", "10000000"]) else {
        return;
    };
    for smp_cnt in 0..100 {
        for stream in 0..60 {
            bed.send(&frame(&format!("PA{stream:02}"), smp_cnt));
        }
        follower.poll();
    }
    let found = passages(&mut follower, 6_000);
    let counts = follower.counts().expect("the kernel");
    assert_eq!(
        (found.len(), counts.chosen, counts.lost_events),
        (6_000, 6_000, 0),
        "{counts:?}"
    );
    assert_eq!(counts.not_kept, 0);
    assert!(follower.is_full().expect("the kernel"));
}

#[test]
fn frames_of_another_namespace_and_malformed_ones_are_not_followed() {
    let _alone = alone();
    let test = "passages elsewhere";
    let Some(other) = Bed::build(test) else { return };
    let Some((bed, mut follower)) = set_up(test, |_| ()) else {
        return;
    };
    send(&other, "PA01", 0..5);
    let whole = frame("PA01", 1).encode().expect("a frame");
    send_port(&bed.publisher, "ts0").send(&whole[..40]).expect("to send");
    let found = passages(&mut follower, 0);
    assert!(found.is_empty());
    let counts = follower.counts().expect("the kernel");
    assert_eq!((counts.met, counts.chosen, counts.malformed), (0, 0, 1));
}
