//! Doubly attached nodes: the same threads over two LANs, with what runs beside them.

use crate::common::{Pair, Run, can_run};
use crate::{publish_config, turn, wait_for_traffic};
use probes::publish;
use probes::subscribe::{self, ClockRelation, SubscribeConfig};
use probes::{Numbers, Port, Probe};
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::alloc::counted;
use wire::redundancy::Protocol;

/// Ports of both nodes in two LANs.
fn nodes(lan_a: &Pair, lan_b: &Pair, protocol: Protocol) -> [Port; 2] {
    let (sends, receives) = (publish::port_options(), subscribe::lan_port_options());
    let near = [lan_a.port_a(&sends), lan_b.port_a(&sends)];
    let far = [lan_a.port_b(&receives), lan_b.port_b(&receives)];
    [near, far].map(|[a, b]| {
        let pair = probes::Pair::new(a, b, protocol, &Numbers::default());
        pair.expect("two interfaces").into()
    })
}

/// The first batch, too: its room in both LANs is made before.
#[test]
fn publish_and_subscribe_in_two_lans() {
    if !can_run("publish_and_subscribe_in_two_lans") {
        return;
    }
    let _turn = turn();
    for protocol in [Protocol::Prp, Protocol::Hsr] {
        let (lan_a, lan_b) = (Pair::build(), Pair::build_named("w0", "w1"));
        let [near, far] = nodes(&lan_a, &lan_b, protocol);
        let mut run = Run::start();
        let publisher = publish_config(4_500_000_000);
        let before = counted();
        let publisher = publisher
            .start(near, &mut run.recorder, &run.stop)
            .expect("the publisher starts");
        std::thread::sleep(Duration::from_millis(1_500));
        assert_eq!(counted() - before, 0, "{protocol:?}: from the first frame on");
        let config = SubscribeConfig {
            clock: ClockRelation::SameHost,
            threshold_ns: Some(1_000_000),
            ..SubscribeConfig::default()
        };
        let subscription = config
            .start(far, &mut run.recorder, &run.stop)
            .expect("the subscriber starts");
        wait_for_traffic(&subscription.frames);
        // Over the first wrap, from which the rate is learned.
        std::thread::sleep(Duration::from_millis(1_200));
        let (early, frames) = (counted(), subscription.frames.load(Ordering::Relaxed));
        // With a supervision frame of the publisher.
        publisher.join().expect("the publisher ends well");
        assert_eq!(counted() - early, 0, "{protocol:?}: after the streams are learned");
        assert!(subscription.frames.load(Ordering::Relaxed) > frames, "traffic");
        run.stop.request();
        subscription.running.join().expect("the subscriber ends well");
        assert_eq!(counted() - early, 0, "{protocol:?}: at the end");
        let recorded = run.finish();
        for name in ["lan/A", "lan/B", "age/MU04"] {
            assert!(recorded.counters(name).received > 1_000, "{protocol:?}: {name}");
        }
    }
}
