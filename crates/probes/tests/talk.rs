//! Frames that the talker sends, its counts, and both ends together.

mod common;

use common::{Pair, Recorded, Run, can_run, can_run_with};
use probes::listen::{self, ListenConfig};
use probes::reflect::{self, ReflectConfig, Role};
use probes::talk::{TalkConfig, port_options};
use probes::{Framing, Probe, ProbeError, Receive};
use run::Stop;
use std::sync::atomic::Ordering;
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::Capability;
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;
use units::Period;
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::test_frame::{TestFrame, TestFrameKind};
use wire::{avtp, sv};

const FRAMINGS: [Framing; 3] = [Framing::Test, Framing::Avtp, Framing::Sv];

fn config(framing: Framing) -> TalkConfig {
    TalkConfig {
        framing,
        duration_ns: Some(1_000_000_000),
        ..TalkConfig::every(Period::of_ns(1_000_000))
    }
}

/// A frame as received by the far end: its VLAN tag, and the rest.
type Received = (Option<VlanTag>, Vec<u8>);

/// Sends with these settings to a port that keeps every frame.
fn talk(config: &TalkConfig) -> (Recorded, Vec<Received>) {
    let pair = Pair::build();
    let everything = PortOptions {
        ring_frames: 8_192,
        promiscuous: true,
        ..PortOptions::default()
    };
    let mut far = pair.port_b(&everything);
    let mut run = Run::start();
    let talking = config
        .start(pair.port_a(&port_options(false)), &mut run.recorder, &run.stop)
        .expect("talk starts");
    talking.running.join().expect("talk ends well");
    let recorded = run.finish();
    let mut frames = Vec::new();
    while let Some(frame) = far.next() {
        let tag = frame.vlan().map(|tag| VlanTag {
            tpid: tag.tpid,
            tci: tag.tci,
        });
        frames.push((tag, frame.data().to_vec()));
    }
    let name = format!("talk/{}", config.label());
    let counters = recorded.counters(&name);
    assert_eq!(counters.expected, 1_000, "1 s of one frame each millisecond");
    assert_eq!(counters.received + counters.missed, counters.expected);
    assert_eq!(talking.totals.sent(), counters.received);
    assert_eq!(
        (talking.totals.late(), talking.totals.missed()),
        (counters.late, counters.missed)
    );
    assert_eq!(
        recorded.counters(&name.replace("talk/", "send/")).received,
        counters.received
    );
    (recorded, frames)
}

/// Our own fields in a frame of any framing, and the protocol's own counter.
fn fields(framing: Framing, tag: Option<VlanTag>, frame: &[u8]) -> (TestFrame, u64) {
    let ethernet = EthernetView::with_tag(frame, tag).expect("Ethernet");
    assert_eq!(ethernet.ether_type(), framing.ether_type());
    match framing {
        Framing::Test => (TestFrame::parse(&ethernet).expect("ours"), 0),
        Framing::Avtp => {
            let stream = avtp::Frame::parse(&ethernet).expect("a stream");
            assert_eq!(stream.subtype(), avtp::AAF);
            let own = TestFrame::read(stream.data()).expect("ours");
            (own, u64::from(stream.sequence_num()))
        }
        Framing::Sv => {
            let message = sv::Frame::parse(&ethernet).expect("sampled values");
            assert!(message.simulate(), "no relay may take it for real");
            let asdu = message.asdus().next().expect("one");
            let own = TestFrame::read(asdu.seq_data()).expect("ours");
            (own, u64::from(asdu.smp_cnt()))
        }
    }
}

#[test]
fn every_frame_is_numbered_and_both_ends_are_marked() {
    if !can_run("every_frame_is_numbered_and_both_ends_are_marked") {
        return;
    }
    for framing in FRAMINGS {
        let vlan = (framing == Framing::Avtp).then_some(VlanTag::new(3, false, 2));
        let (recorded, frames) = talk(&TalkConfig {
            vlan,
            ..config(framing)
        });
        let sent = recorded.counters(&format!("talk/{}", framing.word())).received;
        let own: Vec<(TestFrame, u64)> = frames.iter().map(|(tag, frame)| fields(framing, *tag, frame)).collect();
        assert!(own.iter().all(|(own, _)| own.kind == TestFrameKind::Stream));
        assert!(frames.iter().all(|(tag, _)| *tag == vlan), "{framing:?}");
        let marked = |flags: u16| own.iter().filter(move |(own, _)| own.flags == flags);
        // If the warm-up is held up, it has fewer frames up to its sixteenth cycle.
        assert!((1..=16).contains(&marked(1).count()), "{framing:?}");
        assert!(marked(2).count() >= 3, "{framing:?}");
        assert!(marked(2).all(|(own, _)| own.sequence == sent));
        let numbers: Vec<u64> = marked(0).map(|(own, _)| own.sequence).collect();
        assert_eq!(numbers, (0..sent).collect::<Vec<_>>(), "{framing:?}");
        match framing {
            Framing::Test => {}
            // AVTP counts frames, including after missed cycles.
            Framing::Avtp => assert!(own.iter().zip(0..).all(|((_, number), n)| *number == n % 256)),
            // smpCnt counts cycles: missed cycles are left out, as by a merging unit.
            Framing::Sv => {
                let counts: Vec<u64> = marked(0).map(|(_, count)| *count).collect();
                let steps: u64 = counts.windows(2).map(|pair| (pair[1] + 1_000 - pair[0]) % 1_000).sum();
                let missed = recorded.counters("talk/sv").missed;
                assert!(steps < sent + missed && steps + 1 >= sent, "{steps} {sent} {missed}");
                // The end marks continue cycle by cycle: a capture shows only the missed cycles as lost.
                let ends: Vec<u64> = marked(2).map(|(_, count)| *count).collect();
                let next = ends.windows(2).filter(|pair| pair[1] == (pair[0] + 1) % 1_000).count();
                assert_eq!(next + 1, ends.len(), "{ends:?}");
                let last = counts[counts.len() - 1];
                assert!(
                    (ends[0] + 1_000 - last) % 1_000 <= missed + 1,
                    "{last} {missed} {ends:?}"
                );
            }
        }
    }
}

/// smpCnt 0 is at the top of the second.
#[test]
fn sampled_values_keep_to_the_second() {
    if !can_run("sampled_values_keep_to_the_second") {
        return;
    }
    let (_, frames) = talk(&config(Framing::Sv));
    for (tag, frame) in frames {
        let (own, smp_cnt) = fields(Framing::Sv, tag, &frame);
        // Due instants are on CLOCK_TAI, which is whole seconds ahead.
        let of_second = own.sent_ns % 1_000_000_000;
        let away = (of_second as i64 - smp_cnt as i64 * 1_000_000).rem_euclid(1_000_000_000);
        let away = away.min(1_000_000_000 - away);
        assert!(away < 500_000, "{smp_cnt} at {of_second} ns");
    }
}

/// The talker with the listener: every frame is accounted for, whatever the machine does meanwhile.
#[test]
fn what_was_sent_was_received_or_lost() {
    if !can_run("what_was_sent_was_received_or_lost") {
        return;
    }
    for framing in FRAMINGS {
        let pair = Pair::build();
        let mut run = Run::start();
        let period = Period::of_ns(250_000);
        let (near, far) = (
            pair.port_a(&port_options(false)),
            pair.port_b(&listen::port_options(None)),
        );
        let listening = Stop::new();
        let listener = ListenConfig::every(period)
            .start(far, &mut run.recorder, &listening)
            .expect("listen starts");
        let talker = TalkConfig {
            framing,
            spin_ahead_ns: 20_000,
            duration_ns: Some(500_000_000),
            ..TalkConfig::every(period)
        };
        let talking = talker.start(near, &mut run.recorder, &run.stop).expect("talk starts");
        talking.running.join().expect("talk ends well");
        let sent = talking.totals.sent();
        common::wait_until("the last frame", || listener.frames.load(Ordering::Relaxed) >= sent + 3);
        listening.request();
        listener.running.join().expect("listen ends well");
        let recorded = run.finish();
        let names = recorded.names();
        let stream = names.iter().find(|name| name.starts_with("listen/")).expect("a stream");
        let (talked, listened) = (
            recorded.counters(&format!("talk/{}", framing.word())),
            recorded.counters(stream),
        );
        assert_eq!(talked.received, sent);
        assert_eq!(sent, listened.received + listened.lost, "{framing:?}");
        assert_eq!((listened.duplicate, listened.reordered), (0, 0));
        assert_eq!(talked.received + talked.missed, 2_000);
    }
}

/// A thread of higher priority takes the CPU once, for many intervals: this gives one late frame, and missed cycles.
#[test]
fn a_planted_stall_is_one_late_frame_and_missed_cycles() {
    let test = "a_planted_stall_is_one_late_frame_and_missed_cycles";
    if !can_run(test) || !can_run_with(test, &[Capability::SysNice]) {
        return;
    }
    const BLOCK_NS: i64 = 40_000_000;
    const LATE_NS: i64 = 25_000_000;
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    let pair = Pair::build();
    let mut run = Run::start();
    let config = TalkConfig {
        policy: Policy::Fifo(40),
        cpu: Some(cpu),
        late_after_ns: LATE_NS as u64,
        ..config(Framing::Test)
    };
    let talking = config
        .start(pair.port_a(&port_options(false)), &mut run.recorder, &run.stop)
        .expect("talk starts");
    let planted = std::thread::spawn(move || {
        let blocker = RtThread {
            policy: Policy::Fifo(70),
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        blocker.enter().expect("a real-time thread");
        sleep_until(sys::clock::monotonic() + 400_000_000);
        let begin = sys::clock::monotonic();
        while sys::clock::monotonic() - begin < BLOCK_NS {
            std::hint::spin_loop();
        }
        begin
    });
    let begin = planted.join().expect("no panic");
    talking.running.join().expect("talk ends well");
    let start = run.start;
    let recorded = run.finish();
    let counters = recorded.counters("talk/test");
    assert_eq!(counters.expected, 1_000);
    assert!(counters.missed >= 38, "{} missed in 40 ms", counters.missed);
    // Other programs may delay the machine, too, so only frames due while the planted thread ran are checked.
    let late: Vec<i64> = recorded
        .spikes("talk/test")
        .iter()
        .map(|spike| spike.value_ns)
        .collect();
    let late = late.iter().filter(|ns| **ns > LATE_NS).count() as u64;
    assert_eq!(counters.late, late, "every late frame is kept");
    let in_block = recorded.spikes("talk/test").into_iter().filter(|spike| {
        let sent = start + i64::try_from(spike.at_ns).expect("small");
        let due = sent - spike.value_ns;
        due < begin + BLOCK_NS - 2_000_000 && sent > begin + 2_000_000
    });
    let in_block: Vec<i64> = in_block.map(|spike| spike.value_ns).collect();
    assert_eq!(in_block.len(), 1, "no burst: {in_block:?}");
    assert!(in_block[0] >= BLOCK_NS - 2_000_000, "{in_block:?}");
}

#[test]
fn a_reflector_does_not_return_a_stream() {
    if !can_run("a_reflector_does_not_return_a_stream") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let reflector = ReflectConfig {
        receive: Receive::Block,
        ..ReflectConfig::new(Role::Reflector)
    };
    let options = reflect::port_options(&reflector);
    let far = reflector
        .start(pair.port_b(&options), &mut run.recorder, &run.stop)
        .expect("starts");
    let mut watch = pair.port_a(&options);
    let talker = TalkConfig {
        duration_ns: Some(100_000_000),
        ..config(Framing::Test)
    };
    let talking = talker
        .start(pair.port_a(&port_options(false)), &mut run.recorder, &run.stop)
        .expect("starts");
    talking.running.join().expect("talk ends well");
    // Frames for this station are still returned.
    let probe = TestFrame {
        kind: TestFrameKind::Probe,
        flags: 0,
        session: 1,
        sequence: 77,
        sent_ns: 0,
    };
    watch
        .send(&probe.encode(Mac::BROADCAST, Mac(watch.mac()), None, 60))
        .expect("sent");
    let mut returned = Vec::new();
    common::wait_until("the probe", || {
        while let Some(frame) = watch.next() {
            let ethernet = EthernetView::parse(frame.data()).expect("Ethernet");
            returned.push(TestFrame::parse(&ethernet).expect("ours").kind);
        }
        !returned.is_empty()
    });
    run.stop.request();
    far.join().expect("ends well");
    assert_eq!(returned, [TestFrameKind::Probe]);
    run.finish();
}

fn refusal(config: &TalkConfig) -> String {
    let pair = Pair::build();
    let mut run = Run::start();
    let port: PacketPort = pair.port_a(&port_options(false));
    let error = config.start(port, &mut run.recorder, &run.stop).expect_err("cannot be");
    run.finish();
    assert!(matches!(error, ProbeError::Usage(_)), "{error}");
    error.to_string()
}

#[test]
fn settings_that_cannot_be_are_refused_with_what_would_do() {
    if !can_run("settings_that_cannot_be_are_refused_with_what_would_do") {
        return;
    }
    let good = config(Framing::Test);
    let long = TalkConfig {
        frame_bytes: 1_515,
        ..good.clone()
    };
    assert!(
        refusal(&long).contains("its MTU of 1500 allows 1514"),
        "{}",
        refusal(&long)
    );
    let spinning = TalkConfig {
        spin_ahead_ns: 1_000_000,
        ..good.clone()
    };
    assert!(refusal(&spinning).contains("shorter than --interval"));
    let fast = TalkConfig {
        period: Period::of_ns(9_999),
        ..good.clone()
    };
    assert!(refusal(&fast).contains("at least 10us"));
    let odd = TalkConfig {
        framing: Framing::Sv,
        period: Period::of_ns(130_000),
        ..good.clone()
    };
    assert!(refusal(&odd).contains("smpCnt"));
    let launch = TalkConfig {
        launch_time: true,
        ..good
    };
    assert!(refusal(&launch).contains("--spin-ahead"));
}
