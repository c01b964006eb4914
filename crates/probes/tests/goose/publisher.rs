//! Tests of the messages that the publisher sends.

use crate::common::{Pair, Run, can_run};
use crate::{TRIP_REF, goose_config, texts};
use probes::Probe;
use probes::publish::{self, PublishConfig, StreamConfig};
use probes::subscribe::{self, ClockRelation, SubscribeConfig, SuperviseConfig};
use std::time::Duration;
use sys::packet::{PacketPort, PortOptions};
use wire::ether::EthernetView;
use wire::goose::{Frame, Message, Value};

/// All waiting frames of the ring, parsed.
fn captured(mut port: PacketPort) -> Vec<Message> {
    let mut messages = Vec::new();
    while let Some(frame) = port.next() {
        let tag = frame.vlan().map(|tag| wire::ether::VlanTag {
            tpid: tag.tpid,
            tci: tag.tci,
        });
        let ethernet = EthernetView::with_tag(frame.data(), tag).expect("Ethernet");
        messages.push(Message::from(&Frame::parse(&ethernet).expect("GOOSE")));
    }
    messages
}

#[test]
fn the_publisher_keeps_the_rules_of_its_numbers() {
    if !can_run("the_publisher_keeps_the_rules_of_its_numbers") {
        return;
    }
    let pair = Pair::build();
    let far = pair.port_b(&PortOptions {
        ethertypes: vec![wire::ether::GOOSE],
        ring_frames: 1_024,
        frame_bytes: 512,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let config = goose_config(1_100_000_000);
    let port = pair.port_a(&publish::port_options()).into();
    let running = publish::start_all(None, Some((&config, port)), &mut run.recorder, &run.stop).expect("it starts");
    running.join().expect("it ends well");
    let all = captured(far);
    let recorded = run.finish();
    let counters = recorded.counters("publish/goose-lateness");
    assert_eq!(counters.received, all.len() as u64, "{counters:?}");

    let trips: Vec<&Message> = all.iter().filter(|message| message.appid == 1).collect();
    let states: Vec<(u32, Value)> = trips
        .iter()
        .filter(|message| message.sq_num == 0)
        .map(|message| (message.st_num, message.all_data[0].clone()))
        .collect();
    let expected = [true, false, true, false, true].map(Value::Boolean);
    assert_eq!(states, (2..).zip(expected).collect::<Vec<_>>());
    assert_eq!((trips[0].st_num, trips[0].sq_num), (1, 1));
    for pair in trips.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        if before.st_num == now.st_num {
            assert_eq!((now.sq_num, now.t), (before.sq_num + 1, before.t), "a repetition");
            assert_eq!(now.all_data, before.all_data);
        } else {
            assert_eq!((now.st_num, now.sq_num), (before.st_num + 1, 0));
        }
        assert_eq!(now.all_data[2], Value::UtcTime(now.t));
        assert_eq!(now.tags[0].vid(), 100);
    }
    let times: Vec<i64> = trips.iter().filter(|m| m.sq_num == 0).map(|m| m.t.as_ns()).collect();
    for pair in times.windows(2) {
        let apart_ns = pair[1] - pair[0];
        assert!(
            (apart_ns - 200_000_000).abs() < 1_000_000,
            "t is when the change was due: {apart_ns}"
        );
    }
    let others: Vec<u32> = all.iter().filter(|m| m.appid == 2).map(|m| m.sq_num).collect();
    assert!(
        others.len() > 10 && others.iter().copied().eq(1..=others.len() as u32),
        "{others:?}"
    );
}

#[test]
fn goose_and_sampled_values_side_by_side() {
    if !can_run("goose_and_sampled_values_side_by_side") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let receiver = SubscribeConfig {
        rate: Some(4_800),
        clock: ClockRelation::SameHost,
        goose: SuperviseConfig {
            // A busy machine delays the publisher by more than 20 ms.
            tal_factor: 500.0,
            ..SuperviseConfig::default()
        },
        ..SubscribeConfig::default()
    };
    let far = pair.port_b(&subscribe::port_options());
    let subscription = receiver.start(far, &mut run.recorder, &run.stop).expect("it starts");
    let streams = PublishConfig {
        streams: vec![StreamConfig::default()],
        duration_ns: Some(1_100_000_000),
        ..PublishConfig::default()
    };
    let goose = goose_config(1_100_000_000);
    let sv_port = pair.port_a(&publish::port_options()).into();
    let goose_port = pair.port_a(&publish::port_options()).into();
    let both = publish::start_all(
        Some((&streams, sv_port)),
        Some((&goose, goose_port)),
        &mut run.recorder,
        &run.stop,
    );
    both.expect("both start").join().expect("both end well");
    std::thread::sleep(Duration::from_millis(50));
    run.stop.request();
    subscription.running.join().expect("it ends well");
    let recorded = run.finish();

    let sent = recorded.counters("publish/goose-lateness").received;
    let [trip, pos] = ["IED1LD0/LLN0$GO$gcbTrip", "IED2LD0/LLN0$GO$gcbPos"].map(|name| {
        let counters = recorded.counters(&format!("goose/{name}"));
        assert_eq!(
            (counters.lost, counters.duplicate, counters.reordered, counters.late),
            (0, 0, 0, 0)
        );
        counters.received
    });
    assert_eq!(
        trip + pos + 2,
        sent,
        "the first of each has no distance to one before it"
    );
    let transfers = recorded.counters(&format!("goose-transfer/{TRIP_REF}"));
    assert_eq!(transfers.received, 5, "one for each change");
    let samples = recorded.counters("spacing/MU");
    let lateness = recorded.counters("publish/lateness");
    // Samples missed after the last message are not known to be lost.
    assert_eq!(samples.received + 1, lateness.received);
    assert!(samples.lost <= lateness.missed, "{samples:?} {lateness:?}");
    let said = texts(&recorded, &format!("goose/{TRIP_REF}"));
    let begin = [": first seen with stNum 1, sqNum 1", ": stNum 1 -> 2", ": stNum 2 -> 3"];
    assert!(
        begin.iter().zip(&said).all(|(end, text)| text.ends_with(end)),
        "{said:?}"
    );
    assert!(
        said.last().is_some_and(|text| text.contains("5 changes of state")),
        "{said:?}"
    );
}
