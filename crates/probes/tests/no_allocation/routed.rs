//! Signed datagrams, sent and checked.

use crate::common::{Pair, Run, can_run};
use crate::{publish_config, turn, wait_for_traffic};
use probes::subscribe::SubscribeConfig;
use probes::{Port, Probe, publish, subscribe};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::alloc::counted;
use sys::packet::PortOptions;
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
