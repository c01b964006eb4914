//! The measuring threads allocate, grow and free no memory.
//!
//! Every measuring thread is watched from its common start to the end of its loop, including its warm-up, so the counts here are
//! stricter than the rule, which begins after the warm-up. Only `subscribe` learns a template for each new stream: it may
//! allocate while streams appear, and not after that.

#[path = "../common/mod.rs"]
mod common;
#[path = "../ping_pong/device.rs"]
mod device;
mod lans;
#[path = "../trip/relay.rs"]
mod relay;
mod relays;
mod routed;

use capture::write::PcapWriter;
use common::{Pair, Run, can_run};
use probes::Stamps;
use probes::listen::{self, ListenConfig};
use probes::noise::{NoiseConfig, NoiseOptions};
use probes::observe::{self, ObserveConfig};
use probes::publish::{self, GooseConfig, PublishConfig, StreamConfig};
use probes::reflect::{self, ReflectConfig, Role};
use probes::replay::{CapturedFrames, ReplayConfig};
use probes::subscribe::{self, ClockRelation, SubscribeConfig};
use probes::talk::{self, TalkConfig};
use probes::wakeup::{WakeupConfig, WakeupOptions};
use probes::{Framing, OnCpus, Probe, Receive, ReceiveStamps, Rest};
use run::Stop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sys::alloc::{CountingAllocator, counted, watch};
use sys::thread::Policy;
use units::Period;
use wire::goose::Member;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The count is shared by the whole process, so the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_counter_counts() {
    let _turn = turn();
    let before = counted();
    watch(true);
    let kept = std::hint::black_box(Box::new(1));
    drop(kept);
    watch(false);
    assert_eq!(counted() - before, 2, "one allocation, one free");
}

#[test]
fn wakeup() {
    let _turn = turn();
    let mut run = Run::start();
    let config = WakeupConfig {
        options: WakeupOptions {
            policy: Policy::Other,
            interval: Period::of_ns(500_000),
            threshold: Some(1_000_000),
            ..WakeupOptions::default()
        },
        on: OnCpus {
            duration_ns: Some(1_000_000_000),
            ..OnCpus::of(sys::thread::allowed_cpus())
        },
    };
    let before = counted();
    let running = config.start((), &mut run.recorder, &run.stop).expect("wakeup starts");
    running.join().expect("wakeup ends well");
    assert_eq!(counted() - before, 0);
    let recorded = run.finish();
    for name in recorded.names() {
        let counters = recorded.counters(&name);
        assert_eq!(counters.expected, 2_000, "{name}: 1 s in steps of 500 us");
        assert_eq!(counters.received + counters.missed, counters.expected);
    }
}

#[test]
fn noise() {
    let _turn = turn();
    let mut run = Run::start();
    let config = NoiseConfig {
        options: NoiseOptions {
            policy: Policy::Other,
            gaps_above: 1_000,
            threshold: None,
        },
        on: OnCpus {
            duration_ns: Some(500_000_000),
            ..OnCpus::of(sys::thread::allowed_cpus().first().into_iter().collect())
        },
    };
    let before = counted();
    let running = config.start((), &mut run.recorder, &run.stop).expect("noise starts");
    running.join().expect("noise ends well");
    assert_eq!(counted() - before, 0);
    let recorded = run.finish();
    let names = recorded.names();
    let counters = recorded.counters(&names[0]);
    // The probe ends once it gets the CPU again, which other programs may use.
    assert!(
        (500_000_000..2_000_000_000).contains(&counters.watched_ns),
        "{}",
        counters.watched_ns
    );
    assert!(counters.received > 0, "half a second without any timer interrupt");
}

fn reflect_config(role: Role, receive: Receive) -> ReflectConfig {
    ReflectConfig {
        interval_ns: 1_000_000,
        duration_ns: (role == Role::Initiator).then_some(1_000_000_000),
        late_after_ns: 1_000_000,
        stamps: Stamps::Software,
        receive,
        // Two rests in the run, so that resting is watched, too.
        rest: Rest {
            every_ns: 400_000_000,
            length_ns: 20_000_000,
        },
        threshold_ns: Some(1_000_000),
        ..ReflectConfig::new(role)
    }
}

fn reflect_both_ends(receive: Receive) {
    let pair = Pair::build();
    let mut run = Run::start();
    let options = reflect::port_options(&reflect_config(Role::Initiator, receive));
    let (near, far) = (pair.port_a(&options), pair.port_b(&options));
    let before = counted();
    let reflector = reflect_config(Role::Reflector, receive);
    let reflector = reflector
        .start(far, &mut run.recorder, &run.stop)
        .expect("the reflector starts");
    let initiator = reflect_config(Role::Initiator, receive);
    let initiator = initiator
        .start(near, &mut run.recorder, &run.stop)
        .expect("the initiator starts");
    initiator.join().expect("the initiator ends well");
    run.stop.request();
    reflector.join().expect("the reflector ends well");
    assert_eq!(counted() - before, 0, "{receive:?}");
    assert!(run.finish().counters("rtt/reflect").received > 0);
}

#[test]
fn reflect_at_both_ends() {
    if can_run("reflect_at_both_ends") {
        let _turn = turn();
        reflect_both_ends(Receive::Block);
        reflect_both_ends(Receive::Spin);
    }
}

fn publish_config(duration_ns: u64) -> PublishConfig {
    let mut stream = StreamConfig::default();
    stream.spec.asdus = 2;
    PublishConfig {
        streams: (0..4).map(|number| stream.numbered(number)).collect(),
        duration_ns: Some(duration_ns),
        record: true,
        threshold_ns: Some(1_000_000),
        ..PublishConfig::default()
    }
}

#[test]
fn publish() {
    if !can_run("publish") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let port = pair.port_a(&publish::port_options());
    let mut run = Run::start();
    let before = counted();
    let config = publish_config(1_000_000_000);
    let running = config
        .start(port, &mut run.recorder, &run.stop)
        .expect("the publisher starts");
    running.join().expect("the publisher ends well");
    assert_eq!(counted() - before, 0);
    assert!(run.finish().counters("publish/lateness").received > 0);
}

#[test]
fn subscribe() {
    if !can_run("subscribe") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let (near, far) = (
        pair.port_a(&publish::port_options()),
        pair.port_b(&subscribe::port_options()),
    );
    let mut run = Run::start();
    let config = SubscribeConfig {
        clock: ClockRelation::SameHost,
        threshold_ns: Some(1_000_000),
        record: true,
        ..SubscribeConfig::default()
    };
    let before = counted();
    let subscription = config
        .start(far, &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let publisher = publish_config(4_000_000_000);
    let publisher = publisher
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
    assert!(early > before, "the streams were learned under watch");
    run.stop.request();
    publisher.join().expect("the publisher ends well");
    subscription.running.join().expect("the subscriber ends well");
    assert_eq!(counted() - late, 0, "at the end");
    assert!(run.finish().counters("age/MU04").received > 0);
}

/// Frames of a capture, sent in repeated rounds.
#[test]
fn replay() {
    if !can_run("replay") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sent.pcap");
    let mut writer = PcapWriter::new(std::fs::File::create(&path).expect("a file")).expect("a header");
    for instant in 0..100 {
        let at_ns = 1_700_000_000_000_000_000 + i64::from(instant) * 250_000;
        writer.write(at_ns, &[0xaa; 80]).expect("a frame");
    }
    writer.finish().expect("a capture");
    let config = ReplayConfig {
        frames: Arc::new(CapturedFrames::load(&path, None).expect("a capture")),
        name: "sent".to_owned(),
        rounds: Some(20),
        spin_ahead_ns: 50_000,
        late_after_ns: 250_000,
        duration_ns: None,
        policy: Policy::Other,
        cpu: None,
        threshold_ns: Some(1_000_000),
    };
    let mut run = Run::start();
    let before = counted();
    let running = config.start(pair.port_a(&publish::port_options()), &mut run.recorder, &run.stop);
    running
        .expect("the replay starts")
        .join()
        .expect("the replay ends well");
    assert_eq!(counted() - before, 0);
    assert!(run.finish().counters("publish/lateness").received > 0);
}

/// Samples are looked at, and trips without a fault are found and written.
#[test]
fn observe() {
    if !can_run("observe") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let mut run = Run::start();
    let config = ObserveConfig {
        observed: observation::Config {
            rule: "change:20%".parse().expect("a rule"),
            sv_id: "MU04".to_owned(),
            rate: None,
            frequency_hz: 50.0,
            gocb_ref: "IED1LD0/LLN0$GO$a".to_owned(),
            trip: Member::numbered(0),
            start: None,
            deadline_ns: 1_000_000_000,
        },
        within_ns: None,
        duration_ns: None,
        stamps: ReceiveStamps::Software,
        receive: Receive::Block,
        policy: Policy::Other,
        cpu: None,
    };
    let observing = config
        .start(pair.port_b(&observe::port_options()), &mut run.recorder, &run.stop)
        .expect("the observer starts");
    let file = r#"
        goose = [{ gocb_ref = "IED1LD0/LLN0$GO$a", dat_set = "b", dst = "01:0c:cd:01:00:01", appid = 1,
            member = [{ name = "trip", type = "boolean" }],
            change = [{ at = "100ms", every = "400ms", set = { trip = true } },
                { at = "300ms", every = "400ms", set = { trip = false } }] }]
    "#;
    let goose = GooseConfig {
        blocks: streamset::goose::parse(file, "test").expect("a sound file"),
        spin_ahead_ns: 0,
        duration_ns: Some(6_000_000_000),
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    };
    let (samples, messages) = (
        pair.port_a(&publish::port_options()),
        pair.port_a(&publish::port_options()),
    );
    let streams = publish_config(6_000_000_000);
    let streams = streams
        .start(samples, &mut run.recorder, &run.stop)
        .expect("the publisher starts");
    let running = publish::start_all(None, Some((&goose, messages.into())), &mut run.recorder, &run.stop);
    let running = running.expect("the publisher of GOOSE starts");
    // Over two wraps, between which the rate is learned, and the cycles before samples can be looked at.
    std::thread::sleep(Duration::from_millis(2_800));
    let early = counted();
    std::thread::sleep(Duration::from_secs(2));
    let late = counted();
    running.join().expect("the publisher of GOOSE ends well");
    streams.join().expect("the publisher ends well");
    run.stop.request();
    observing.join().expect("the observer ends well");
    assert_eq!(late - early, 0, "after the rate is known");
    assert!(run.finish().counters("trip/observed").unwanted > 0, "trips were found");
}

/// Every probe with a measuring thread is watched here.
#[test]
fn every_probe_is_watched() {
    let tests = [include_str!("main.rs"), include_str!("relays.rs")].concat();
    for about in probes::LIST.iter().filter(|about| about.name != "trace") {
        let named = |line: &str| line.starts_with("fn ") && line.contains(about.name) && line.ends_with("() {");
        assert!(tests.lines().any(named), "{}", about.name);
    }
}

/// Both ends; a new control block does not allocate either.
#[test]
fn goose() {
    if !can_run("goose") {
        return;
    }
    let _turn = turn();
    let pair = Pair::build();
    let (near, far) = (
        pair.port_a(&publish::port_options()),
        pair.port_b(&subscribe::port_options()),
    );
    let mut run = Run::start();
    let config = SubscribeConfig {
        clock: ClockRelation::SameHost,
        ..SubscribeConfig::default()
    };
    let file = r#"
        goose = [{ gocb_ref = "IED1LD0/LLN0$GO$a", dat_set = "b", dst = "01:0c:cd:01:00:01", appid = 1,
            member = [{ name = "trip", type = "boolean" }, { name = "t", type = "timestamp" }, { name = "n", type = "integer" }],
            change = [{ at = "100ms", every = "200ms", set = { trip = true, n = 5 } },
                { at = "200ms", every = "200ms", set = { trip = false, n = -5 } }] }]
    "#;
    let publisher = GooseConfig {
        blocks: streamset::goose::parse(file, "test").expect("a sound file"),
        spin_ahead_ns: 0,
        duration_ns: Some(1_000_000_000),
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    };
    let before = counted();
    let subscription = config
        .start(far, &mut run.recorder, &run.stop)
        .expect("the subscriber starts");
    let running = publish::start_all(None, Some((&publisher, near.into())), &mut run.recorder, &run.stop);
    running
        .expect("the publisher starts")
        .join()
        .expect("the publisher ends well");
    run.stop.request();
    subscription.running.join().expect("the subscriber ends well");
    assert_eq!(counted() - before, 0);
    let recorded = run.finish();
    assert!(recorded.counters("goose/IED1LD0/LLN0$GO$a").received > 20);
    assert!(recorded.counters("goose-transfer/IED1LD0/LLN0$GO$a").received > 5);
}

/// Both ends; the listener does not allocate for new streams either.
#[test]
fn talk_and_listen() {
    if !can_run("talk_and_listen") {
        return;
    }
    let _turn = turn();
    let period = Period::of_ns(500_000);
    for framing in [Framing::Test, Framing::Avtp, Framing::Sv] {
        let pair = Pair::build();
        let (near, far) = (
            pair.port_a(&talk::port_options(false)),
            pair.port_b(&listen::port_options(None)),
        );
        let mut run = Run::start();
        let talker = TalkConfig {
            framing,
            spin_ahead_ns: 50_000,
            duration_ns: Some(500_000_000),
            ..TalkConfig::every(period)
        };
        let listening = Stop::new();
        let before = counted();
        let listener = ListenConfig::every(period)
            .start(far, &mut run.recorder, &listening)
            .expect("listen starts");
        let talking = talker.start(near, &mut run.recorder, &run.stop).expect("talk starts");
        talking.running.join().expect("talk ends well");
        listening.request();
        listener.running.join().expect("listen ends well");
        assert_eq!(counted() - before, 0, "{framing:?}");
        let recorded = run.finish();
        assert!(recorded.counters(&format!("talk/{}", framing.word())).received > 0);
        assert!(recorded.names().iter().any(|name| name.starts_with("listen/")));
    }
}

fn wait_for_traffic(frames: &AtomicU64) {
    common::wait_until("the first frames", || frames.load(Ordering::Relaxed) > 0);
}
