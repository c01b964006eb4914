//! Relays, and their test sets.

use crate::common::{Pair, Recorded, Run, can_run};
use crate::device::{self, Device};
use crate::relay::{self, Relay};
use crate::{publish_config, turn};
use ::relay::config::Cpus;
use probes::ping_pong::{Case, PingPongConfig, PingPorts, PongConfig, PongPorts, ping_port_options};
use probes::publish::{self, StreamConfig};
use probes::relay::{Folder, RelayConfig};
use probes::subscribe::ClockRelation;
use probes::trip::{Hostile, PeerConfig, PeerRole, Ports, Security, TripConfig, TripOptions, goose_port_options};
use probes::watch::WatchConfig;
use probes::{Probe, Receive};
use run::Stop;
use std::time::Duration;
use streamset::StreamSpec;
use sys::alloc::counted;
use sys::thread::Policy;

/// A relay whose functions start, trip and reset, with its GOOSE. As with `subscribe`, streams are learned when they appear.
#[test]
fn relay() {
    if can_run("relay") {
        let run = relay_on(Cpus::One(None));
        for name in ["task/R1", "task-stage/R1/record", "use/MU01"] {
            assert!(run.counters(name).received > 1_000, "{name}");
        }
    }
}

/// The same in three threads.
#[test]
fn relay_in_three_threads() {
    if can_run("relay_in_three_threads") {
        let cpus: Vec<u32> = sys::thread::cpuset_cpus().iter().take(2).collect();
        let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
        let run = relay_on(Cpus::Apart {
            receive: first,
            functions: last,
            output: first,
        });
        for (name, least) in [
            ("task/R1/receive", 1_000),
            ("task/R1/functions", 1_000),
            ("task-stage/R1/record", 1_000),
            ("age/MU01", 1_000),
            ("use/MU01", 1_000),
            ("task/R1/output", 3),
            ("task-stage/R1/wake", 1),
        ] {
            assert!(run.counters(name).received > least, "{name}");
        }
    }
}

/// Measures a relay with tasks on these CPUs.
fn relay_on(cpus: Cpus) -> Recorded {
    let _turn = turn();
    let pair = Pair::build();
    let publisher = publish_config(5_000_000_000);
    let text = relay_file(&publisher.streams[0].spec);
    let mut relay = ::relay::config::parse(&text, "test").expect("a relay");
    relay.cpus = cpus;
    let folder = tempfile::tempdir().expect("a folder");
    let (near, far) = (
        pair.port_a(&publish::port_options()),
        pair.port_b(&probes::relay::port_options(&relay)),
    );
    let config = RelayConfig {
        records: Some(Folder::open(folder.path(), &relay).expect("a folder")),
        relay,
        clock: ClockRelation::SameHost,
        duration_ns: Some(3_000_000_000),
        policy: Policy::Other,
        spin_ahead_ns: 50_000,
        stream_labels: Vec::new(),
        ptp: None,
        beside: Vec::new(),
    };
    let mut run = Run::start();
    let publisher = publisher
        .start(near, &mut run.recorder, &run.stop)
        .expect("the publisher starts");
    let running = config
        .start(far, &mut run.recorder, &run.stop)
        .expect("the relay starts");
    // The stream is learned in its first second.
    std::thread::sleep(Duration::from_millis(2_000));
    let early = counted();
    running.join().expect("the relay ends well");
    assert_eq!(counted() - early, 0, "after the streams are learned");
    publisher.join().expect("the publisher ends well");
    let run = run.finish();
    // A stall of this machine blocks the relay, and after that it trips again.
    let files = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert!(files >= 2 && files.is_multiple_of(2), "{files} files of records");
    run
}

/// A relay that subscribes to this stream. Its overcurrent setting is below the load, so it operates as soon as it can.
pub(crate) fn relay_file(stream: &StreamSpec) -> String {
    let StreamSpec {
        sv_id,
        appid,
        destination,
        rate,
        asdus,
        ..
    } = stream;
    format!(
        r#"
        [relay]
        name = "R1"
        [rated]
        current-a = 100
        [[stream]]
        name = "bay"
        sv = {{ svID = "{sv_id}", appid = {appid}, dst = "{destination}", profile = "F{rate}S{asdus}I4U4" }}
        [[function]]
        name = "I>"
        settings.pioc = {{ pickup = 2 }}
        [[trip]]
        name = "Q0"
        functions = ["I>"]
        [[goose]]
        gocb_ref = "R1LD0/LLN0$GO$gcb1"
        dat_set = "R1LD0/LLN0$ds1"
        dst = "01:0c:cd:01:00:01"
        appid = 1
        member = [{{ name = "trip:Q0", type = "boolean" }}, {{ name = "t", type = "timestamp" }}]
        "#
    )
}

/// Publisher and listener, through a change of the table and a change of the manner of sending.
#[test]
fn trip() {
    if !can_run("trip") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let relay = Relay::start(relay::RelayKind::default(), pair.port_b(&relay::options()));
    let mut run = Run::start();
    let ports = Ports {
        stream: pair.port_a(&publish::port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
    };
    let options = TripOptions {
        streams: 3,
        ..TripOptions::default()
    };
    let config = TripConfig {
        shots: 1,
        settle_ns: 50_000_000,
        breaker_ns: Some(20_000_000),
        security: vec![Security::Late, Security::StormOfSv, Security::StormOfGoose],
        ..options.config().expect("the usual scenario")
    };
    let before = counted();
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("trip starts");
    running.join().expect("trip ends well");
    assert_eq!(counted() - before, 0);
    drop(relay);
    let recorded = run.finish();
    assert!(recorded.counters("publish/lateness").received > 1_000);
    let notes = recorded.file.events().expect("events");
    assert!(
        notes.iter().any(|event| event.text.contains("GOOSE found")),
        "{notes:?}"
    );
}

/// A publisher that also sends the messages of a peer, and attacks.
#[test]
fn trip_with_a_peer() {
    if !can_run("trip_with_a_peer") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let relay = Relay::start(relay::RelayKind::default(), pair.port_b(&relay::options()));
    let mut run = Run::start();
    let ports = Ports {
        stream: pair.port_a(&publish::port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
    };
    let file = r#"
        [[goose]]
        gocb_ref = "PEERLD0/LLN0$GO$gcbBlock"
        dat_set = "PEERLD0/LLN0$dsBlock"
        dst = "01:0c:cd:01:00:09"
        appid = 9
        member = [{ name = "block", type = "boolean" }, { name = "q", type = "quality" }]
        "#;
    let options = TripOptions {
        goose: Some(relay::RelayKind::default().name.into()),
        ..TripOptions::default()
    };
    let config = TripConfig {
        shots: 1,
        settle_ns: 200_000_000,
        controls: Vec::new(),
        peer: Some(PeerConfig {
            block: streamset::goose::parse(file, "test").expect("a sound file").remove(0),
            member: 0,
            role: PeerRole::Block,
            hostile: vec![Hostile::Replayed, Hostile::Test, Hostile::Padded, Hostile::Storm],
        }),
        ..options.config().expect("the usual scenario")
    };
    let before = counted();
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("trip starts");
    running.join().expect("trip ends well");
    assert_eq!(counted() - before, 0);
    drop(relay);
    let recorded = run.finish();
    // This relay knows no block.
    assert!(recorded.counters("security/goose/honest").unwanted > 0);
}

/// The threads for the pings and the load, and one that watches the device at the same time.
#[test]
fn ping_pong_and_watch() {
    if !can_run("ping_pong_and_watch") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let device = Device::start(device::DeviceKind::default(), pair.port_b(&device::options()));
    let mut run = Run::start();
    let ports = PingPorts {
        ping: pair.port_a(&ping_port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
        load: pair.port_a(&publish::port_options()).into(),
    };
    let relays = [device::NAME, "NOBODY"].map(|name| name.parse().expect("a relay"));
    let before = counted();
    let watching = WatchConfig::of(relays.to_vec(), 1_000_000)
        .expect("two relays")
        .start(pair.port_a(&goose_port_options()), &mut run.recorder, &run.stop)
        .expect("watch starts");
    let pinging = pinging().start(ports, &mut run.recorder, &Stop::new());
    pinging.expect("ping-pong starts").join().expect("ping-pong ends well");
    run.stop.request();
    watching.join().expect("watch ends well");
    assert_eq!(counted() - before, 0);
    drop(device);
    let recorded = run.finish();
    for case in ["none", "goose", "subscribed", "sv"] {
        assert!(recorded.counters(&format!("pong/{case}")).expected > 0, "{case}");
    }
    assert!(recorded.counters("publish/load").received > 500);
    assert!(recorded.names().iter().any(|name| name.starts_with("decision/")));
}

/// Both ends of a ping-pong between two devices.
#[test]
fn ping_and_pong() {
    if !can_run("ping_and_pong") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let mut run = Run::start();
    let answers = PongConfig::usual(&pinging().block).expect("a pong");
    let pings = PingPongConfig {
        device: String::from_utf8_lossy(&answers.block.message.gocb_ref).into_owned(),
        cases: vec![Case::None],
        label: Some("devices".to_owned()),
        ..pinging()
    };
    let at_b = PongPorts {
        pong: pair.port_b(&PongPorts::sending()).into(),
        goose: pair.port_b(&goose_port_options()).into(),
    };
    let at_a = PingPorts {
        ping: pair.port_a(&ping_port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
        load: pair.port_a(&publish::port_options()).into(),
    };
    let before = counted();
    let answering = answers.start(at_b, &mut run.recorder, &run.stop).expect("pong starts");
    let pinging = pings.start(at_a, &mut run.recorder, &Stop::new());
    pinging.expect("ping starts").join().expect("ping ends well");
    run.stop.request();
    answering.join().expect("pong ends well");
    assert_eq!(counted() - before, 0);
    let recorded = run.finish();
    assert_eq!(recorded.counters("pong/devices").expected, 10);
    // The first pings make both ends agree, and do not count.
    assert!(recorded.counters("turnaround/pong").received > recorded.counters("pong/devices").received);
}

/// A few pings in each case.
fn pinging() -> PingPongConfig {
    let file = r#"goose = [{ gocb_ref = "TRIPTIMELD0/LLN0$GO$gcbPing", dat_set = "d", dst = "01:0c:cd:01:01:7f", appid = 1,
        tal_factor = 100.0, member = [{ name = "ping", type = "boolean" }] }]"#;
    PingPongConfig {
        block: streamset::goose::parse(file, "test").expect("a sound file").remove(0),
        ping_member: 0,
        device: device::NAME.into(),
        member: wire::goose::Member::numbered(0),
        cases: vec![Case::None, Case::Goose, Case::Subscribed, Case::Sv],
        pings: 10,
        deadline_ns: 200_000_000,
        pause_ns: 5_000_000,
        seed: 1,
        goose_rate: 500,
        streams: vec![StreamConfig::default()],
        class: None,
        application_ns: 0,
        frequency_hz: 50,
        duration_ns: None,
        receive: Receive::Block,
        policy: Policy::Other,
        cpu: None,
        load_cpu: None,
        label: None,
    }
}
