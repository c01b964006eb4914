//! Two ends that find their roles, frames of every form, and a link that goes down.

mod common;

use common::{Pair, Recorded, Run, can_run};
use model::{Counters, EventKind};
use probes::Stamps;
use probes::reflect::{ReflectConfig, Role, SHORTEST_FRAME, port_options};
use probes::{Probe, Receive};
use std::time::{Duration, Instant};
use wire::ether::{Mac, VlanTag};
use wire::test_frame::{COUNTS, TestFrame, TestFrameKind};

fn config(role: Role) -> ReflectConfig {
    ReflectConfig {
        interval_ns: 1_000_000,
        patience_ns: 10_000_000_000,
        duration_ns: (role != Role::Reflector).then_some(500_000_000),
        late_after_ns: 500_000_000,
        receive: Receive::Block,
        ..ReflectConfig::new(role)
    }
}

/// Runs both ends until the near one's duration is over.
fn meet(pair: &Pair, a: &ReflectConfig, b: &ReflectConfig) -> (Recorded, Recorded) {
    meet_during(pair, a, b, || {})
}

/// Runs both ends until the near one's duration is over, or, if it has none, until `work` is done.
fn meet_during(pair: &Pair, a: &ReflectConfig, b: &ReflectConfig, work: impl FnOnce() + Send) -> (Recorded, Recorded) {
    let (port_a, port_b) = (pair.port_a(&port_options(a)), pair.port_b(&port_options(b)));
    let (mut run_a, mut run_b) = (Run::start(), Run::start());
    std::thread::scope(|scope| {
        let (stop_a, stop_b) = (run_a.stop.clone(), run_b.stop.clone());
        let far = scope.spawn(|| {
            let running = b
                .start(port_b, &mut run_b.recorder, &run_b.stop)
                .expect("the far end starts");
            running.join().expect("the far end ends well");
        });
        let near = a
            .start(port_a, &mut run_a.recorder, &run_a.stop)
            .expect("the near end starts");
        work();
        if a.role == Role::Reflector {
            far.join().expect("no panic");
            stop_a.request();
            near.join().expect("the near end ends well");
        } else {
            if a.duration_ns.is_none() {
                stop_a.request();
            }
            near.join().expect("the near end ends well");
            if b.role == Role::Reflector {
                stop_b.request();
            }
            far.join().expect("no panic");
        }
    });
    (run_a.finish(), run_b.finish())
}

fn is_initiator(run: &Recorded) -> bool {
    run.names() == ["rtt/reflect"]
}

#[test]
fn two_equal_ends_share_the_roles_and_end_together() {
    if !can_run("two_equal_ends_share_the_roles_and_end_together") {
        return;
    }
    for _ in 0..3 {
        let pair = Pair::build();
        let (a, b) = meet(&pair, &config(Role::Auto), &config(Role::Auto));
        assert_ne!(is_initiator(&a), is_initiator(&b), "{:?} {:?}", a.names(), b.names());
        let (initiator, reflector) = if is_initiator(&a) { (a, b) } else { (b, a) };
        let rtt = initiator.counters("rtt/reflect");
        assert_eq!((rtt.expected, rtt.lost), (500, 0), "{rtt:?}");
        assert_eq!(reflector.counters("turnaround/reflect").received, rtt.received);
        let said: Vec<String> = reflector
            .file
            .events()
            .expect("events")
            .into_iter()
            .map(|event| event.text)
            .collect();
        let counts = format!("the initiator reports: {0} frames sent, {0} came back", rtt.received);
        assert!(said.contains(&counts), "{said:?}");
    }
}

#[test]
fn the_larger_address_sends() {
    if !can_run("the_larger_address_sends") {
        return;
    }
    let pair = Pair::build();
    let options = port_options(&config(Role::Auto));
    let a_is_larger = pair.port_a(&options).mac() > pair.port_b(&options).mac();
    let (a, _) = meet(&pair, &config(Role::Auto), &config(Role::Auto));
    assert_eq!(is_initiator(&a), a_is_larger);
}

#[test]
fn an_end_takes_the_role_that_the_other_leaves() {
    if !can_run("an_end_takes_the_role_that_the_other_leaves") {
        return;
    }
    let pair = Pair::build();
    for (one, other, one_sends) in [
        (Role::Auto, Role::Reflector, true),
        (Role::Reflector, Role::Auto, false),
        (Role::Auto, Role::Initiator, false),
        (Role::Initiator, Role::Auto, true),
    ] {
        let (a, b) = meet(&pair, &config(one), &config(other));
        assert_eq!(
            (is_initiator(&a), is_initiator(&b)),
            (one_sends, !one_sends),
            "{one:?} and {other:?}"
        );
    }
}

#[test]
fn frames_of_every_form_come_back() {
    if !can_run("frames_of_every_form_come_back") {
        return;
    }
    let pair = Pair::build();
    pair.set_mtu(9_000);
    let plain = config(Role::Initiator);
    let forms = [
        ReflectConfig {
            vlan: Some(VlanTag::new(6, false, 5)),
            ..plain.clone()
        },
        ReflectConfig {
            vlan: Some(VlanTag::new(4, false, 0)),
            frame_bytes: 1_514,
            ..plain.clone()
        },
        ReflectConfig {
            frame_bytes: 9_000,
            ..plain.clone()
        },
        ReflectConfig {
            interval_ns: 2_000_000,
            frames: 5,
            ..plain.clone()
        },
        ReflectConfig {
            interval_ns: 0,
            frames: 16,
            ..plain
        },
    ];
    for form in forms {
        let far = ReflectConfig {
            frame_bytes: form.frame_bytes,
            vlan: form.vlan,
            ..config(Role::Reflector)
        };
        let (a, b) = meet(&pair, &form, &far);
        let rtt = a.counters("rtt/reflect");
        assert_eq!(
            rtt,
            Counters {
                expected: rtt.received + rtt.missed,
                received: rtt.received,
                missed: rtt.missed,
                late: rtt.late,
                ..Counters::default()
            },
            "{form:?}"
        );
        let expected = form
            .duration_ns
            .expect("a duration")
            .checked_div(form.interval_ns)
            .unwrap_or(0)
            * u64::from(form.frames);
        assert!(
            rtt.received > 0 && (expected == 0 || rtt.expected == expected),
            "{rtt:?} of {expected}"
        );
        assert_eq!(b.counters("turnaround/reflect").received, rtt.received, "{form:?}");
    }
}

#[test]
fn a_round_trip_above_the_break_value_ends_the_measurement() {
    if !can_run("a_round_trip_above_the_break_value_ends_the_measurement") {
        return;
    }
    let pair = Pair::build();
    let a = ReflectConfig {
        break_above_ns: Some(1),
        ..config(Role::Initiator)
    };
    let (a, _) = meet(&pair, &a, &config(Role::Auto));
    assert_eq!(a.counters("rtt/reflect").received, 1);
}

#[test]
fn a_link_that_goes_down_and_comes_back_loses_what_was_sent_meanwhile() {
    if !can_run("a_link_that_goes_down_and_comes_back_loses_what_was_sent_meanwhile") {
        return;
    }
    for interval_ns in [1_000_000, 0] {
        let pair = Pair::build();
        let a = ReflectConfig {
            interval_ns,
            duration_ns: None,
            ..config(Role::Initiator)
        };
        let (a, b) = meet_during(&pair, &a, &config(Role::Reflector), || {
            std::thread::sleep(Duration::from_millis(500));
            pair.set_a(false);
            std::thread::sleep(Duration::from_millis(400));
            pair.set_a(true);
            std::thread::sleep(Duration::from_millis(300));
        });
        let rtt = a.counters("rtt/reflect");
        assert_eq!(rtt.received + rtt.lost + rtt.missed, rtt.expected, "{rtt:?}");
        let least = if interval_ns == 0 { 2 } else { 20 };
        assert!(
            rtt.lost >= least && rtt.received > 50 && rtt.duplicate + rtt.reordered == 0,
            "{rtt:?}"
        );
        let arrived = b.counters("turnaround/reflect").received;
        assert!(
            (rtt.received..=rtt.received + 5).contains(&arrived),
            "{arrived} {rtt:?}"
        );
        let events = a.events("rtt/reflect");
        let link: Vec<&str> = events
            .iter()
            .filter(|event| event.kind == EventKind::Link)
            .map(|event| event.text.as_str())
            .collect();
        assert_eq!(link, ["a0 is down: frames sent now are lost", "a0 takes frames again"]);
        let lost = format!(
            "rtt/reflect: lost on the way there: {}, on the way back: {} (by the far end's count)",
            rtt.expected - rtt.missed - arrived,
            arrived - rtt.received
        );
        assert!(events.iter().any(|event| event.text == lost), "{lost}: {events:?}");
    }
}

#[test]
fn stamps_split_every_round_trip() {
    if !can_run("stamps_split_every_round_trip") {
        return;
    }
    let pair = Pair::build();
    for receive in [Receive::Block, Receive::Spin] {
        let a = ReflectConfig {
            stamps: Stamps::Software,
            frames: 3,
            receive,
            ..config(Role::Initiator)
        };
        let (a, _) = meet(&pair, &a, &config(Role::Reflector));
        let received = a.counters("rtt/reflect").received;
        assert!(received > 0);
        let mut sum_ns = 0;
        for stage in ["stage/send", "stage/wire", "stage/receive"] {
            let totals = a.file.totals(a.id(stage)).expect("totals");
            assert_eq!(totals.counters.received, received, "{stage}");
            sum_ns += totals.sum_ns;
        }
        let rtt_ns = a.file.totals(a.id("rtt/reflect")).expect("totals").sum_ns;
        // Clock readings are between the stamps and the ends of the round trip, and the machine may stall there.
        let apart = (sum_ns - rtt_ns) / i128::from(received);
        assert!((0..200_000).contains(&apart), "{sum_ns} ns in {rtt_ns} ns");
    }
}

#[test]
fn stamps_belong_to_their_frames_after_an_election_too() {
    if !can_run("stamps_belong_to_their_frames_after_an_election_too") {
        return;
    }
    let pair = Pair::build();
    let end = ReflectConfig {
        stamps: Stamps::Software,
        ..config(Role::Auto)
    };
    let (a, b) = meet(&pair, &end, &end);
    let initiator = if a.names().len() > 1 { a } else { b };
    let received = initiator.counters("rtt/reflect").received;
    assert!(received > 0);
    for stage in ["stage/send", "stage/wire", "stage/receive"] {
        assert_eq!(initiator.counters(stage).received, received, "{stage}");
    }
}

#[test]
fn frames_too_long_for_the_reflector_are_not_cut_short_in_silence() {
    if !can_run("frames_too_long_for_the_reflector_are_not_cut_short_in_silence") {
        return;
    }
    let pair = Pair::build();
    let options = |frame_bytes| {
        port_options(&ReflectConfig {
            frame_bytes,
            ..config(Role::Reflector)
        })
    };
    let (mut near, far) = (pair.port_a(&options(1_514)), pair.port_b(&options(60)));
    let mut run = Run::start();
    let reflector = config(Role::Reflector)
        .start(far, &mut run.recorder, &run.stop)
        .expect("started");
    let probe = TestFrame {
        kind: TestFrameKind::Probe,
        flags: COUNTS,
        session: 1,
        sequence: 1,
        sent_ns: 0,
    };
    for octets in [1_514, 60] {
        near.send(&probe.encode(Mac::BROADCAST, Mac(near.mac()), None, octets))
            .expect("sent");
    }
    common::wait_until("the short one", || near.next().is_some());
    assert!(near.next().is_none(), "the long one did not come back");
    run.stop.request();
    reflector.join().expect("the reflector ends well");
    let recorded = run.finish();
    let said = recorded.events("turnaround/reflect");
    assert!(
        said.iter()
            .any(|event| event.text.contains("1 frames were longer than --size at this end")),
        "{said:?}"
    );
}

#[test]
fn a_rest_that_the_network_delivers_twice_is_one_rest() {
    const LENGTH_NS: u64 = 100_000_000;
    if !can_run("a_rest_that_the_network_delivers_twice_is_one_rest") {
        return;
    }
    let pair = Pair::build();
    let options = port_options(&config(Role::Reflector));
    let (mut near, far) = (pair.port_a(&options), pair.port_b(&options));
    let mut run = Run::start();
    let reflector = config(Role::Reflector)
        .start(far, &mut run.recorder, &run.stop)
        .expect("started");
    let frame = |kind, sequence| TestFrame {
        kind,
        flags: 0,
        session: 1,
        sequence,
        sent_ns: 0,
    };
    let begin = Instant::now();
    for frame in [
        frame(TestFrameKind::Rest, LENGTH_NS),
        frame(TestFrameKind::Rest, LENGTH_NS),
        frame(TestFrameKind::Probe, 1),
    ] {
        let octets = frame.encode(Mac::BROADCAST, Mac(near.mac()), None, SHORTEST_FRAME);
        near.send(&octets).expect("sent");
    }
    common::wait_until("the answer", || near.next().is_some());
    let rested = begin.elapsed();
    assert!(
        (Duration::from_nanos(LENGTH_NS)..Duration::from_nanos(2 * LENGTH_NS)).contains(&rested),
        "{rested:?}"
    );
    run.stop.request();
    reflector.join().expect("the reflector ends well");
}
