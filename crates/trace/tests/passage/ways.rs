//! Paths over a bridge into another namespace: to an application, to nobody, to a port that is down.

use crate::bed::{Bed, receive_options, send_port};
use crate::{alone, follower, frame, inode, options, passages, send, set_up, slow_down};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::link::set_down;
use sys::packet::PacketPort;
use trace::passage::{Context, FollowOptions, Origin, Passage, PassageStep, SkbEnd, summarize};

/// The steps at these places, in this order; other steps may be between them.
fn steps_at<'a>(passage: &'a Passage, places: &[(&str, &str, u32)]) -> Vec<&'a PassageStep> {
    let mut rest = passage.steps.iter();
    let mut find = |(event, interface, netns): &(&str, &str, u32)| {
        let found =
            rest.find(|step| step.what.name() == *event && step.interface == *interface && step.netns == *netns);
        found.unwrap_or_else(|| panic!("no {event} at {interface} behind those before: {}", listing(passage)))
    };
    places.iter().map(&mut find).collect()
}

fn listing(passage: &Passage) -> String {
    let lines = passage.steps.iter().map(|step| {
        let event = step.what.name();
        format!(
            "\n{} ns {event} {}@{} #{} {:?}",
            step.since_first_ns, step.interface, step.netns, step.skb, step.reason
        )
    });
    lines.collect()
}

fn reason(end: &SkbEnd) -> Option<&str> {
    match end {
        SkbEnd::Dropped(Some(reason)) => reason.name.as_deref(),
        _ => None,
    }
}

/// The application at the far end.
fn application(bed: &Bed) -> PacketPort {
    let port = bed.device.run(|| PacketPort::open("dut0", &receive_options()));
    port.expect("to enter").expect("a port")
}

#[test]
fn a_sample_is_followed_from_the_port_to_the_application() {
    let _alone = alone();
    let test = "passage to an application";
    let Some((bed, mut follower)) = set_up(test, |_| ()) else {
        return;
    };
    let _application = application(&bed);
    send(&bed, "PA01", 100..110);
    let found = passages(&mut follower, 3);
    let counts: Vec<u16> = found.iter().map(|passage| passage.smp_cnt).collect();
    assert_eq!(counts, [100, 101, 102], "the first ones, and no more");
    let (switch, device) = (inode(&bed.switch), inode(&bed.device));
    for passage in &found {
        let places = [
            ("netif_rx", "p-ts", switch),
            ("netif_receive_skb", "p-ts", switch),
            ("net_dev_queue", "p-dut", switch),
            ("net_dev_start_xmit", "p-dut", switch),
            ("netif_receive_skb", "dut0", device),
            ("consume_skb", "dut0", device),
        ];
        let steps = steps_at(passage, &places);
        assert!(passage.steps.is_sorted_by_key(|step| step.at));
        assert_eq!(passage.steps[0].since_first_ns, 0);
        let deltas: u64 = passage.steps.iter().map(|step| step.delta_ns).sum();
        assert_eq!(deltas, passage.took_ns());
        // Received in a softirq that runs on top of the publisher's thread.
        assert_eq!(steps[1].context, Context::Softirq(3));
        let end = &passage.skbs[steps[5].skb - 1].end;
        assert_eq!(*end, SkbEnd::Consumed, "{}", listing(passage));
        assert_eq!(passage.skbs[0].origin, Origin::First);
        assert!(
            passage.skbs[1..].iter().all(|skb| skb.origin == Origin::CloneOf(1)),
            "{:?}",
            passage.skbs
        );
        assert!(passage.steps.iter().all(|step| step.by_content && step.tid > 0));
        assert_eq!(passage.lost_events, 0);
        assert_eq!(passage.stream.sv_id, b"PA01");
        assert_eq!(passage.stream.source, [2, 0, 0, 0, 0, 7]);
    }
    let summary = summarize(&found);
    assert!(
        summary
            .iter()
            .all(|step| step.count <= 3 && step.max_delta_ns >= step.median_delta_ns)
    );
    let start = summary.iter().find(|step| step.what.name() == "net_dev_start_xmit");
    assert_eq!(start.expect("a step").count, 3);
    let counts = follower.counts().expect("the kernel");
    assert_eq!(
        (counts.chosen, counts.streams, counts.lost_events, counts.malformed),
        (3, 1, 0, 0)
    );
    assert_eq!(counts.met, 10, "{counts:?}");
    assert!(follower.is_full().expect("the kernel"));
}

#[test]
fn a_frame_that_nobody_takes_is_dropped_with_the_reason() {
    let _alone = alone();
    let test = "passage to nobody";
    let Some((bed, mut follower)) = set_up(test, |_| ()) else {
        return;
    };
    send(&bed, "PA01", 0..3);
    let found = passages(&mut follower, 3);
    assert_eq!(found.len(), 3);
    for passage in &found {
        let steps = steps_at(passage, &[("kfree_skb", "dut0", inode(&bed.device))]);
        let end = &passage.skbs[steps[0].skb - 1].end;
        assert_eq!(reason(end), Some("UNHANDLED_PROTO"), "{}", listing(passage));
    }
}

#[test]
fn a_frame_before_a_port_that_is_down_ends_at_the_bridge() {
    let _alone = alone();
    let test = "passage to a port that is down";
    let Some((bed, mut follower)) = set_up(test, |_| ()) else {
        return;
    };
    bed.switch.run(|| set_down("br0").expect("down")).expect("to enter");
    send(&bed, "PA01", 0..3);
    let found = passages(&mut follower, 3);
    assert_eq!(found.len(), 3);
    for passage in &found {
        let here = inode(&bed.switch);
        assert!(
            passage.steps.iter().all(|step| step.netns == here),
            "{}",
            listing(passage)
        );
        assert_eq!(passage.skbs.len(), 1);
        assert!(
            matches!(passage.skbs[0].end, SkbEnd::Dropped(_)),
            "{}",
            listing(passage)
        );
    }
}

#[test]
fn streams_are_told_apart_and_each_has_its_share() {
    let _alone = alone();
    let test = "passages of two streams";
    let Some((bed, mut follower)) = set_up(test, |options| options.per_stream = 2) else {
        return;
    };
    for smp_cnt in 0..10 {
        // The same number in both streams, directly after each other.
        for name in ["PA01", "PA02"] {
            bed.send(&frame(name, smp_cnt));
        }
    }
    let found = passages(&mut follower, 4);
    let mut seen: Vec<(&[u8], u16)> = found
        .iter()
        .map(|passage| (passage.stream.sv_id.as_slice(), passage.smp_cnt))
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, [(&b"PA01"[..], 0), (b"PA01", 1), (b"PA02", 0), (b"PA02", 1)]);
    for passage in &found {
        let received = passage
            .steps
            .iter()
            .filter(|step| step.what.name() == "netif_receive_skb" && step.interface == "p-ts");
        assert_eq!(received.count(), 1, "its own frame only: {}", listing(passage));
    }
}

#[test]
fn only_what_is_asked_for_is_followed() {
    let _alone = alone();
    let test = "passages of one stream and count";
    let one = |options: &mut FollowOptions| {
        options.sv_id = Some(b"PA02".to_vec());
        options.smp_cnt = Some(7);
    };
    let Some((bed, mut follower)) = set_up(test, one) else {
        return;
    };
    for _ in 0..2 {
        for smp_cnt in 5..10 {
            bed.send(&frame("PA01", smp_cnt));
            bed.send(&frame("PA02", smp_cnt));
        }
        // After that time, a frame with the same smpCnt is a different one.
        std::thread::sleep(Duration::from_millis(510));
    }
    let found = passages(&mut follower, 2);
    let seen: Vec<(&[u8], u16)> = found
        .iter()
        .map(|passage| (passage.stream.sv_id.as_slice(), passage.smp_cnt))
        .collect();
    assert_eq!(seen, [(&b"PA02"[..], 7), (b"PA02", 7)]);
    assert!(found.iter().all(|passage| passage.took_ns() < 500_000_000));
}

#[test]
fn frames_that_are_under_way_when_choosing_begins_are_not_chosen_in_the_midst_of_it() {
    let _alone = alone();
    let test = "passages from their beginnings";
    let Some(bed) = Bed::build(test) else { return };
    let Some(()) = slow_down(test, &bed.publisher, "ts0", &["latency", "200ms"]) else {
        return;
    };
    let port = send_port(&bed.publisher, "ts0");
    let options = FollowOptions {
        per_stream: 50,
        ..options(&bed.publisher, "ts0")
    };
    let is_over = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        // It sends while programs are attached, and afterwards.
        scope.spawn(|| {
            for smp_cnt in (0..60_000).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                // The queue drops some.
                let _ = port.send(&frame("PA01", smp_cnt).encode().expect("a frame"));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let found = follower(test, options).map(|mut follower| {
            let first = passages(&mut follower, 50);
            // By then, frames that waited at the start have left the queue.
            std::thread::sleep(Duration::from_millis(300));
            let found = follower.passages().expect("the kernel");
            assert_eq!(first.len(), found.len());
            found
        });
        is_over.store(true, Ordering::Relaxed);
        found
    });
    let Some(found) = found else { return };
    assert_eq!(found.len(), 50);
    for passage in &found {
        let queued = passage.steps.iter().any(|step| step.what.name() == "net_dev_queue");
        assert!(queued, "it was queued before: {}", listing(passage));
        assert_eq!(passage.steps[0].what, found[0].steps[0].what, "{}", listing(passage));
    }
    let sent = |passage: &Passage| {
        passage
            .steps
            .iter()
            .any(|step| step.what.name() == "net_dev_start_xmit")
    };
    assert!(found.iter().any(sent), "nothing left the queue");
}
