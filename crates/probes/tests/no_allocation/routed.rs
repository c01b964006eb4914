//! Signed datagrams, sent and checked.

use crate::common::{Pair, Run, can_run};
use crate::relays::relay_file;
use crate::{publish_config, turn, wait_for_traffic};
use probes::relay::RelayConfig;
use probes::subscribe::{ClockRelation, SubscribeConfig};
use probes::trip::{Ports, TripConfig, TripOptions, goose_port_options};
use probes::{Port, Probe, publish, subscribe};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::alloc::counted;
use sys::packet::PortOptions;
use sys::thread::Policy;
use wire::redundancy::SUPERVISION;
use wire::routed::{Algorithm, Key, PORT, Route, Wrapper};

fn key() -> Key {
    Key::new(7, Algorithm::HmacSha256_256, &[0x5a; 32]).expect("a key")
}

/// Signs with the key, from the address 10.0.0.`last`.
fn wrapper(last: u8) -> Wrapper {
    Wrapper::new(Route {
        source: [10, 0, 0, last].into(),
        group: [239, 192, 0, 7].into(),
        ttl: 64,
        dscp: Route::EXPEDITED,
        key: Some(key()),
    })
}

/// A socket to which datagrams pass, and no frame of layer 2 with a message.
fn datagrams(options: PortOptions) -> PortOptions {
    PortOptions {
        ethertypes: vec![SUPERVISION],
        hidden: false,
        udp_port: Some(PORT),
        ..options
    }
}

#[test]
fn signed_datagrams_are_sent_and_checked() {
    if !can_run("signed_datagrams_are_sent_and_checked") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let near = Port::from(pair.port_a(&publish::port_options())).with_wrapper(Some(wrapper(1)));
    let far = pair.port_b(&datagrams(subscribe::port_options()));
    let far = Port::from(far).with_keys(Some(vec![key()]));
    let mut run = Run::start();
    let config = SubscribeConfig {
        threshold_ns: Some(1_000_000),
        ..SubscribeConfig::default()
    };
    let subscription = config
        .start(far, &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let publisher = publish_config(4_000_000_000)
        .start(near, &mut run.recorder, &run.stop)
        .expect("the publisher starts");
    wait_for_traffic(&subscription.frames);
    // Over the first wrap, from which the rate is learned.
    std::thread::sleep(Duration::from_millis(1_200));
    let (early, frames) = (counted(), subscription.frames.load(Ordering::Relaxed));
    std::thread::sleep(Duration::from_secs(2));
    let (late, more) = (counted(), subscription.frames.load(Ordering::Relaxed));
    assert!(more > frames, "there was traffic in between");
    assert_eq!(late - early, 0, "from 1 s to 3 s of traffic");
    run.stop.request();
    publisher.join().expect("the publisher ends well");
    subscription.running.join().expect("the subscriber ends well");
    assert_eq!(counted() - late, 0, "at the end");
    let recorded = run.finish();
    for stream in 1..=4 {
        assert!(
            recorded.counters(&format!("spacing/MU0{stream}")).received > 0,
            "MU0{stream}"
        );
        // Each datagram was signed, and its signature was looked at.
        let events = recorded.events(&format!("spacing/MU0{stream}"));
        assert!(!events.iter().any(|event| event.text.contains("signed")), "{events:?}");
    }
}

/// A test set and a relay, which make and sign their datagrams when they are due.
#[test]
fn a_signed_trip() {
    if !can_run("a_signed_trip") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let options = TripOptions {
        goose: Some("R1LD0/LLN0$GO$gcb1".to_owned()),
        ..TripOptions::default()
    };
    let trip = TripConfig {
        shots: 1,
        settle_ns: 3_000_000_000,
        controls: Vec::new(),
        ..options.config().expect("the usual scenario")
    };
    let mut stream = trip.stream.clone();
    stream.destination = Route::mac([239, 192, 0, 7].into());
    let text = relay_file(&stream).replace("pickup = 2", "pickup = 15");
    let relay = ::relay::config::parse(&text, "test").expect("a relay");
    let far = Port::from(pair.port_b(&datagrams(probes::relay::port_options(&relay))))
        .with_keys(Some(vec![key()]))
        .with_wrapper(Some(wrapper(2)));
    let relay = RelayConfig {
        relay,
        records: None,
        clock: ClockRelation::SameHost,
        duration_ns: None,
        policy: Policy::Other,
        spin_ahead_ns: 50_000,
        stream_labels: Vec::new(),
        ptp: None,
        beside: Vec::new(),
    };
    let ports = Ports {
        stream: Port::from(pair.port_a(&publish::port_options())).with_wrapper(Some(wrapper(1))),
        goose: Port::from(pair.port_a(&datagrams(goose_port_options()))).with_keys(Some(vec![key()])),
    };
    let mut run = Run::start();
    let relay = relay
        .start(far, &mut run.recorder, &run.stop)
        .expect("the relay starts");
    let trip = trip.start(ports, &mut run.recorder, &run.stop).expect("trip starts");
    // The stream is learned in its first second.
    std::thread::sleep(Duration::from_millis(3_000));
    let early = counted();
    trip.join().expect("signed messages of the relay came and were used");
    run.stop.request();
    relay.join().expect("signed samples came and were used");
    assert_eq!(counted() - early, 0, "after the stream is learned");
    let recorded = run.finish();
    assert!(recorded.counters("publish/lateness").received > 4_000);
    let events = recorded.file.events().expect("events");
    assert!(!events.iter().any(|event| event.text.contains("signed")), "{events:?}");
}
