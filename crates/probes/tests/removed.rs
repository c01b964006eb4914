//! An interface that is removed during a measurement ends the measurement; earlier samples are kept.

mod common;
mod paced;

use common::{Pair, Run, can_run};
use paced::{Own, samples};
use probes::listen::{self, ListenConfig};
use probes::publish::{self, PublishConfig, StreamConfig};
use probes::reflect::{self, ReflectConfig, Role};
use probes::subscribe::{self, SubscribeConfig};
use probes::talk::{self, TalkConfig};
use probes::{Framing, Probe, Receive};
use probes::{ProbeError, Running};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use sys::SysError;
use sys::packet::PortOptions;
use units::Period;

const EACH_WAY: [Receive; 2] = [Receive::Block, Receive::Spin];

/// Checks that the probe ends without a request, and reports the reason.
fn assert_gone(running: Running, interface: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while !running.is_finished() {
        assert!(Instant::now() < until, "still running without {interface}");
        std::thread::sleep(Duration::from_millis(5));
    }
    match running.join() {
        Err(error @ ProbeError::Sys(SysError::InterfaceGone { .. })) => {
            assert!(
                error.to_string().starts_with(&format!("{interface} was removed")),
                "{error}"
            );
        }
        other => panic!("{other:?}"),
    }
}

/// A socket that only sends.
fn deaf() -> PortOptions {
    PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    }
}

#[test]
fn a_listener_ends() {
    if !can_run("a_listener_ends") {
        return;
    }
    for receive in EACH_WAY {
        let pair = Pair::build();
        let sender = pair.port_a(&deaf());
        let mut run = Run::start();
        let config = ListenConfig {
            receive,
            ..ListenConfig::every(Period::of_ns(125_000))
        };
        let port = pair.port_b(&listen::port_options(None));
        let listening = config
            .start(port, &mut run.recorder, &run.stop)
            .expect("the listener starts");
        for sequence in 0..50 {
            let own = Own {
                session: 1,
                sequence,
                flags: 0,
            };
            sender.send(&own.test(None)).expect("sent");
        }
        common::wait_until("50 frames", || listening.frames.load(Ordering::Relaxed) == 50);
        pair.remove();
        assert_gone(listening.running, "b0");
        let counters = run.finish().counters("listen/test-02:00:00:00:00:07");
        assert_eq!((counters.received, counters.lost), (49, 0));
    }
}

#[test]
fn a_subscriber_ends() {
    if !can_run("a_subscriber_ends") {
        return;
    }
    for receive in EACH_WAY {
        let pair = Pair::build();
        let sender = pair.port_a(&deaf());
        let mut run = Run::start();
        let config = SubscribeConfig {
            rate: Some(4_800),
            receive,
            ..SubscribeConfig::default()
        };
        let port = pair.port_b(&subscribe::port_options());
        let subscription = config.start(port, &mut run.recorder, &run.stop).expect("starts");
        for count in (0..50).filter(|count| *count != 20) {
            sender.send(&samples("MU01", count, 1, &[])).expect("sent");
        }
        common::wait_until("49 frames", || subscription.frames.load(Ordering::Relaxed) == 49);
        pair.remove();
        assert_gone(subscription.running, "b0");
        let counters = run.finish().counters("spacing/MU01");
        assert_eq!((counters.received, counters.lost), (48, 1));
    }
}

#[test]
fn both_ends_of_a_round_trip_end() {
    if !can_run("both_ends_of_a_round_trip_end") {
        return;
    }
    for (receive, interval_ns) in [
        (Receive::Block, 1_000_000),
        (Receive::Spin, 1_000_000),
        (Receive::Block, 0),
    ] {
        let pair = Pair::build();
        let config = |role| ReflectConfig {
            receive,
            interval_ns,
            patience_ns: 10_000_000_000,
            ..ReflectConfig::new(role)
        };
        let options = reflect::port_options(&config(Role::Initiator));
        let (mut far, mut near) = (Run::start(), Run::start());
        let reflector = config(Role::Reflector).start(pair.port_b(&options), &mut far.recorder, &far.stop);
        let initiator = config(Role::Initiator).start(pair.port_a(&options), &mut near.recorder, &near.stop);
        common::wait_until("round trips", || {
            let live = near.recorder.live();
            live.iter().any(|series| series.counters.received > 50)
        });
        pair.remove();
        assert_gone(reflector.expect("it starts"), "b0");
        assert_gone(initiator.expect("it starts"), "a0");
        let rtt = near.finish().counters("rtt/reflect");
        assert_eq!(rtt.received + rtt.lost + rtt.missed, rtt.expected, "{rtt:?}");
        assert!(far.finish().counters("turnaround/reflect").received >= rtt.received);
    }
}

#[test]
fn who_sends_ends_and_keeps_count() {
    if !can_run("who_sends_ends_and_keeps_count") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let config = TalkConfig {
        framing: Framing::Test,
        ..TalkConfig::every(Period::of_ns(1_000_000))
    };
    let port = pair.port_a(&talk::port_options(false));
    let talking = config.start(port, &mut run.recorder, &run.stop).expect("it starts");
    let config = PublishConfig {
        streams: vec![StreamConfig::default()],
        ..PublishConfig::default()
    };
    let mut second = Run::start();
    let port = pair.port_b(&publish::port_options());
    let publishing = config
        .start(port, &mut second.recorder, &second.stop)
        .expect("it starts");
    for run in [&run, &second] {
        common::wait_until("frames", || {
            let live = run.recorder.live();
            live.iter().any(|series| series.counters.received > 50)
        });
    }
    pair.remove();
    assert_gone(talking.running, "a0");
    assert_gone(publishing, "b0");
    let sent = run.finish().counters("talk/test").received;
    assert_eq!(talking.totals.sent(), sent);
    assert!(second.finish().counters("publish/lateness").received > 50);
}
