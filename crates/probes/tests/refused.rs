//! Frames that the kernel refuses are each counted as lost, and give no lateness.

mod common;

use common::{Pair, Run, can_run};
use model::Counters;
use probes::publish::{self, PublishConfig, StreamConfig};
use probes::talk::TalkConfig;
use probes::{Framing, Probe};
use probes::{Port, ProbeError, Running};
use std::time::Duration;
use sys::packet::{PacketPort, PortOptions};
use sys::thread::Policy;
use sys::xdp::XdpSender;
use units::Period;

/// Time for which the link is down.
const DOWN: Duration = Duration::from_millis(120);

/// Runs `begin`, which sends over a link that goes down and comes up again; returns its counters of `series` and the received
/// frames of `ether_type`.
fn over_a_flap(
    ether_type: u16,
    series: &str,
    by_xdp: bool,
    begin: impl FnOnce(Port, &mut Run) -> Result<Running, ProbeError>,
) -> (Counters, u64) {
    let pair = Pair::build();
    let mut far = pair.port_b(&PortOptions {
        ethertypes: vec![ether_type],
        ring_frames: 32_768,
        frame_bytes: 512,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let options = PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    };
    let deaf = pair.port_a(&options);
    let port: Port = if by_xdp {
        (deaf, pair.in_a(|| XdpSender::open("a0", 0, 1_522, 64))).into()
    } else {
        deaf.into()
    };
    let running = begin(port, &mut run).expect("it starts");
    let sent_more_than = |run: &Run, least: u64| {
        common::wait_until("frames", || {
            let live = run.recorder.live();
            live.iter()
                .any(|one| one.name == series && one.counters.received > least)
        });
    };
    sent_more_than(&run, 20);
    pair.set_a(false);
    std::thread::sleep(DOWN);
    pair.set_a(true);
    let until_now = run
        .recorder
        .live()
        .iter()
        .map(|one| one.counters.received)
        .max()
        .unwrap_or(0);
    sent_more_than(&run, until_now + 20);
    run.stop.request();
    running.join().expect("it ends well");
    let recorded = run.finish();
    let events = recorded.events(series);
    assert!(
        events.iter().any(|event| event.text.contains("the link was down")),
        "{events:?}"
    );
    (recorded.counters(series), arrived(&mut far))
}

fn arrived(port: &mut PacketPort) -> u64 {
    let mut frames = 0;
    while port.wait(50_000_000).expect("poll") {
        while port.next().is_some() {
            frames += 1;
        }
    }
    assert_eq!(port.statistics().expect("statistics").dropped, 0, "the test's own ring");
    frames
}

fn assert_accounted(what: &str, counters: &Counters) {
    assert!(counters.lost > 0, "{what}: {counters:?}");
    let accounted = counters.received + counters.lost + counters.missed;
    assert_eq!(accounted, counters.expected, "{what}: {counters:?}");
}

#[test]
fn a_publisher_counts_what_the_link_did_not_take() {
    if !can_run("a_publisher_counts_what_the_link_did_not_take") {
        return;
    }
    for by_xdp in [false, true] {
        let begin = |port: Port, run: &mut Run| {
            let config = PublishConfig {
                streams: (0..3).map(|_| StreamConfig::default()).collect(),
                ..PublishConfig::default()
            };
            config.start(port, &mut run.recorder, &run.stop)
        };
        let (counters, arrived) = over_a_flap(wire::ether::SV, "publish/lateness", by_xdp, begin);
        assert_accounted("publish", &counters);
        assert_eq!(counters.received, arrived, "by_xdp {by_xdp}: {counters:?}");
    }
}

#[test]
fn a_talker_counts_what_the_link_did_not_take() {
    if !can_run("a_talker_counts_what_the_link_did_not_take") {
        return;
    }
    let begin = |port: Port, run: &mut Run| {
        let config = TalkConfig {
            framing: Framing::Test,
            ..TalkConfig::every(Period::of_ns(1_000_000))
        };
        config
            .start(port, &mut run.recorder, &run.stop)
            .map(|talking| talking.running)
    };
    let (counters, arrived) = over_a_flap(wire::test_frame::ETHER_TYPE, "talk/test", false, begin);
    assert_accounted("talk", &counters);
    // Frames of the warm-up and the end marks are in no counter.
    assert!(arrived >= counters.received, "{arrived} of {counters:?}");
}

#[test]
fn a_goose_publisher_counts_what_the_link_did_not_take() {
    if !can_run("a_goose_publisher_counts_what_the_link_did_not_take") {
        return;
    }
    let begin = |port: Port, run: &mut Run| {
        let text = r#"
[[goose]]
gocb_ref = "IED1LD0/LLN0$GO$gcbTrip"
dat_set = "IED1LD0/LLN0$dsTrip"
dst = "01:0c:cd:01:00:01"
appid = 1
min_time = "2ms"
max_time = "5ms"
member = [{ name = "trip", type = "boolean" }]
"#;
        let config = publish::GooseConfig {
            blocks: streamset::goose::parse(text, "test").expect("a sound file"),
            spin_ahead_ns: 0,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            threshold_ns: None,
        };
        publish::start_all(None, Some((&config, port)), &mut run.recorder, &run.stop)
    };
    let (counters, arrived) = over_a_flap(wire::ether::GOOSE, "publish/goose-lateness", false, begin);
    assert_accounted("goose", &counters);
    assert_eq!(counters.received, arrived, "{counters:?}");
}
