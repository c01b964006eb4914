//! The listener against streams whose every fault is known.

mod common;
mod paced;

use common::{Pair, Recorded, Run, can_run};
use model::EventKind;
use paced::{BEGIN, END, Expected, Own, audio, faulty, samples};
use probes::ProbeError;
use probes::listen::{ListenConfig, port_options, start};
use probes::talk::Framing;
use std::sync::atomic::Ordering;
use sys::packet::PortOptions;
use units::Period;
use wire::ether::VlanTag;
use wire::test_frame::{Kind, TestFrame};

const TEST: &str = "listen/test-02:00:00:00:00:07";
const AVTP: &str = "listen/avtp-0200000000070009";

fn config() -> ListenConfig {
    ListenConfig::every(Period::of_ns(125_000))
}

/// Sends the frames to a listener and returns what it recorded. After every few frames it waits until the listener has them,
/// so that no queue on the way can overflow: what is lost is what was left out.
fn listen(config: &ListenConfig, frames: &[Vec<u8>]) -> Recorded {
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let port = pair.port_b(&port_options(config.framing));
    let listening = start(config, port, &mut run.recorder, &run.stop).expect("the listener starts");
    let mut sent = 0;
    for chunk in frames.chunks(100) {
        for frame in chunk {
            sender.send(frame).expect("a frame is sent");
            sent += 1;
        }
        common::wait_until(&format!("{sent} frames"), || {
            listening.frames.load(Ordering::Relaxed) >= sent
        });
    }
    run.stop.request();
    listening.running.join().expect("the listener ends well");
    run.finish()
}

fn counted(recorded: &Recorded, name: &str) -> Expected {
    let counters = recorded.counters(name);
    assert_eq!(counters.expected, counters.received + counters.lost, "{name}");
    Expected {
        received: counters.received,
        lost: counters.lost,
        duplicate: counters.duplicate,
        reordered: counters.reordered,
    }
}

fn stream_events(recorded: &Recorded, name: &str) -> Vec<String> {
    let events = recorded.events(name).into_iter();
    events
        .filter(|event| {
            matches!(
                event.kind,
                EventKind::Stream | EventKind::StreamDoubt | EventKind::Incomplete
            )
        })
        // How fast the frames were sent is not what these tests are about.
        .filter(|event| !event.text.contains("silent for"))
        .map(|event| event.text)
        .collect()
}

/// The frames of one session of our own talker: two of the warm-up, those numbers, the end.
fn session(session: u32, numbers: &[u64], count: u64, frame: impl Fn(Own) -> Vec<u8>) -> Vec<Vec<u8>> {
    let own = |sequence, flags| {
        frame(Own {
            session,
            sequence,
            flags,
        })
    };
    let begin = [own(0, BEGIN), own(0, BEGIN)];
    let end = [own(count, END), own(count, END)];
    let between = numbers.iter().map(|number| own(*number, 0));
    begin.into_iter().chain(between).chain(end).collect()
}

#[test]
fn every_fault_is_counted_once_in_every_framing() {
    if !can_run("every_fault_is_counted_once_in_every_framing") {
        return;
    }
    let (numbers, count, expected) = faulty(1, 60, 900);
    assert!(expected.lost > 1_000 && expected.duplicate > 10 && expected.reordered > 10);
    let tag = Some(VlanTag::new(3, false, 2));
    let mut frames = session(1, &numbers, count, |own| own.test(None));
    frames.extend(session(2, &numbers, count, |own| own.test(tag)));
    frames.extend(session(3, &numbers, count, Own::avtp));
    frames.extend(session(4, &numbers, count, Own::sv));
    let recorded = listen(&config(), &frames);
    for name in [TEST, &format!("{TEST}-vlan2"), AVTP, "listen/sv-OWN"] {
        assert_eq!(counted(&recorded, name), expected, "{name}");
        assert_eq!(stream_events(&recorded, name), [""; 0]);
    }
    let delivered = recorded.counters("delivery/listen");
    assert_eq!(delivered.received, frames.len() as u64);
}

#[test]
fn what_is_missing_at_both_ends_is_lost() {
    if !can_run("what_is_missing_at_both_ends_is_lost") {
        return;
    }
    let numbers: Vec<u64> = (7..1_000).collect();
    let recorded = listen(&config(), &session(1, &numbers, 1_005, |own| own.test(None)));
    let expected = Expected {
        received: 993,
        lost: 7 + 5,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, TEST), expected);
}

#[test]
fn a_talker_that_starts_again_is_told_and_loses_nothing() {
    if !can_run("a_talker_that_starts_again_is_told_and_loses_nothing") {
        return;
    }
    // The first session ends without a word, as one that is killed; what it sent last cannot be known.
    let mut frames = session(1, &(0..500).collect::<Vec<_>>(), 500, |own| own.test(None));
    frames.truncate(300);
    frames.extend(session(2, &(0..200).collect::<Vec<_>>(), 200, |own| own.test(None)));
    // A third one is joined on its way, and two of its frames are missing.
    let third: Vec<u64> = (4_000..4_100).filter(|number| number % 50 != 20).collect();
    frames.extend(third.iter().map(|number| {
        Own {
            session: 3,
            sequence: *number,
            flags: 0,
        }
        .test(None)
    }));
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        // The first frame of the third session has none before it.
        received: 298 + 200 + 97,
        lost: 2,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, TEST), expected);
    let events = stream_events(&recorded, TEST);
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].contains("the talker restarted"), "{events:?}");
}

#[test]
fn two_talkers_in_one_stream_do_not_flood_the_run() {
    if !can_run("two_talkers_in_one_stream_do_not_flood_the_run") {
        return;
    }
    let frame = |number: u64| Own {
        session: (number % 2) as u32,
        sequence: number,
        flags: 0,
    };
    let frames: Vec<Vec<u8>> = (0..400).map(|number| frame(number).test(None)).collect();
    let events = stream_events(&listen(&config(), &frames), TEST);
    assert_eq!(events.len(), 21, "{events:?}");
    assert!(events[20].contains("379 more times"), "{events:?}");
}

/// Of other talkers only the counter of 8 bits is known: what it can show is shown, over many wraps.
#[test]
fn the_counter_of_another_avtp_talker_is_unwrapped() {
    if !can_run("the_counter_of_another_avtp_talker_is_unwrapped") {
        return;
    }
    let (numbers, _, expected) = faulty(2, 60, 200);
    let frames: Vec<Vec<u8>> = numbers
        .iter()
        .map(|number| audio((250 + number) as u8, false, &[]))
        .collect();
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        received: expected.received - 1,
        ..expected
    };
    assert_eq!(counted(&recorded, AVTP), expected);
}

#[test]
fn a_loss_of_a_whole_wrap_is_not_seen_in_the_counter_and_a_media_restart_is_no_loss() {
    let test = "a_loss_of_a_whole_wrap_is_not_seen_in_the_counter_and_a_media_restart_is_no_loss";
    if !can_run(test) {
        return;
    }
    let mut frames: Vec<Vec<u8>> = (0..=99).map(|number| audio(number, false, &[])).collect();
    // 256 frames are missing here.
    frames.extend((100..=149).map(|number| audio(number, false, &[])));
    // Here the talker restarted.
    frames.extend((7..=56).map(|number| audio(number, true, &[])));
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        received: 149 + 49,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, AVTP), expected);
    assert_eq!(stream_events(&recorded, AVTP).len(), 1);
}

#[test]
fn the_smp_cnt_of_another_publisher_wraps_each_second() {
    if !can_run("the_smp_cnt_of_another_publisher_wraps_each_second") {
        return;
    }
    let (numbers, _, expected) = faulty(3, 300, 60);
    assert!(expected.received > 8_000, "over the wrap: {expected:?}");
    let one = |number: &u64| samples("MU01", ((7_900 + number) % 8_000) as u16, 1, &[]);
    // Two samples in a frame: 4000 frames a second would be another interval, so smpCnt runs to 15999.
    let two = |number: &u64| samples("MU02", ((15_900 + 2 * number) % 16_000) as u16, 2, &[]);
    let frames: Vec<Vec<u8>> = numbers.iter().flat_map(|number| [one(number), two(number)]).collect();
    let recorded = listen(&config(), &frames);
    for name in ["listen/sv-MU01", "listen/sv-MU02"] {
        let expected = Expected {
            received: expected.received - 1,
            ..expected
        };
        assert_eq!(counted(&recorded, name), expected, "{name}");
        assert_eq!(stream_events(&recorded, name), [""; 0]);
    }
}

#[test]
fn a_jump_of_smp_cnt_by_half_a_second_is_a_new_start() {
    if !can_run("a_jump_of_smp_cnt_by_half_a_second_is_a_new_start") {
        return;
    }
    let counts = (100..200).chain(5_000..5_100);
    let frames: Vec<Vec<u8>> = counts.map(|count| samples("MU01", count, 1, &[])).collect();
    let recorded = listen(&config(), &frames);
    assert_eq!(counted(&recorded, "listen/sv-MU01").lost, 0);
    assert_eq!(stream_events(&recorded, "listen/sv-MU01").len(), 1);
}

#[test]
fn a_frame_of_another_publisher_far_too_late_is_no_restart() {
    if !can_run("a_frame_of_another_publisher_far_too_late_is_no_restart") {
        return;
    }
    // 100 comes 100 frames late, 150 comes again after as many.
    let counts = (0..100).chain(101..=200).chain([100]).chain(201..=250).chain([150]);
    let frames: Vec<Vec<u8>> = counts
        .chain(251..400)
        .map(|count| samples("MU01", count, 1, &[]))
        .collect();
    let recorded = listen(&config(), &frames);
    let expected = Expected {
        // The first has none before it.
        received: 398,
        lost: 1,
        duplicate: 1,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, "listen/sv-MU01"), expected);
    let events = stream_events(&recorded, "listen/sv-MU01");
    assert_eq!(
        events,
        ["sv-MU01: 1 samples came more than 16 counts late, without a restart: what was missing still counts as lost"]
    );
}

#[test]
fn an_interval_that_is_not_the_streams_is_told() {
    if !can_run("an_interval_that_is_not_the_streams_is_told") {
        return;
    }
    let frames: Vec<Vec<u8>> = (3_000..5_000)
        .map(|count| samples("MU01", count % 4_000, 1, &[]))
        .collect();
    let recorded = listen(&config(), &frames);
    let events = stream_events(&recorded, "listen/sv-MU01");
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].ends_with("give --interval 4000/s"), "{events:?}");
    let whole = Expected {
        received: 1_999,
        ..Expected::default()
    };
    assert_eq!(counted(&recorded, "listen/sv-MU01"), whole, "the wrap is no loss");
    let right = ListenConfig::every(Period::of_ns(250_000));
    assert_eq!(stream_events(&listen(&right, &frames), "listen/sv-MU01"), [""; 0]);
}

/// 4800 frames a second where `--interval` says 4000: all of them came, and those of the first second that are beyond 4000 leave
/// it undecided whether any is missing.
#[test]
fn a_stream_of_a_higher_rate_than_the_interval_says_has_lost_nothing() {
    if !can_run("a_stream_of_a_higher_rate_than_the_interval_says_has_lost_nothing") {
        return;
    }
    let config = ListenConfig {
        late_after_ns: 3_600_000_000_000,
        ..ListenConfig::every(Period::of_ns(250_000))
    };
    let one = |number: u32| samples("MU01", (number % 4_800) as u16, 1, &[]);
    let two = |number: u32| samples("MU02", (number % 4_800) as u16, 2, &[]);
    let of_both = |number: u32| match number % 2 {
        0 => vec![one(number), two(number)],
        _ => vec![one(number)],
    };
    let frames: Vec<Vec<u8>> = (3_000..9_700).flat_map(of_both).collect();
    let recorded = listen(&config, &frames);
    for (name, rate, sent, beyond) in [("sv-MU01", 4_800, 6_700, 800), ("sv-MU02", 2_400, 3_350, 0)] {
        let series = format!("listen/{name}");
        let whole = Expected {
            received: sent - beyond - 1,
            ..Expected::default()
        };
        assert_eq!(counted(&recorded, &series), whole, "{name}");
        let told = stream_events(&recorded, &series);
        let advice = format!("give --interval {rate}/s");
        assert_eq!(
            told.iter().filter(|text| text.ends_with(&advice)).count(),
            1,
            "{told:?}"
        );
        let events = recorded.events(&series).into_iter();
        let doubts = events.filter(|event| event.kind == EventKind::StreamDoubt).count();
        assert_eq!(doubts, if beyond > 0 { 10 } else { 0 }, "{name}");
    }
}

/// The counter alone shows 0.7 s as a jump back, and 1 s as nothing.
#[test]
fn a_silence_of_another_publisher_costs_the_frames_of_its_time() {
    if !can_run("a_silence_of_another_publisher_costs_the_frames_of_its_time") {
        return;
    }
    let config = ListenConfig::every(Period::of_ns(1_000_000));
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let listening =
        start(&config, pair.port_b(&port_options(None)), &mut run.recorder, &run.stop).expect("the listener starts");
    let mut number = 0;
    let mut lost = 0;
    for silent_ms in [700_u64, 1_000, 100] {
        for _ in 0..20 {
            sender
                .send(&samples("MU01", (number % 1_000) as u16, 1, &[]))
                .expect("sent");
            number += 1;
        }
        let sent = sys::clock::monotonic();
        sys::wait::sleep_until(sent + silent_ms as i64 * 1_000_000);
        // As a publisher that went on counting; how long it really was does not matter to the ms.
        number += silent_ms;
        lost += silent_ms;
    }
    sender
        .send(&samples("MU01", (number % 1_000) as u16, 1, &[]))
        .expect("sent");
    common::wait_until("61 frames", || listening.frames.load(Ordering::Relaxed) == 61);
    run.stop.request();
    listening.running.join().expect("ends well");
    let recorded = run.finish();
    let counters = recorded.counters("listen/sv-MU01");
    assert_eq!((counters.received, counters.lost), (60, lost));
    assert_eq!(stream_events(&recorded, "listen/sv-MU01"), [""; 0]);
}

/// Frames are sent with pauses of known length: what is late is decided by the kernel's stamps.
#[test]
fn a_pause_is_late_and_a_loss_of_that_length_is_not() {
    if !can_run("a_pause_is_late_and_a_loss_of_that_length_is_not") {
        return;
    }
    // An interval that no machine's stall reaches, but the pauses do.
    let interval_ns = 200_000_000;
    let config = ListenConfig::every(Period::of_ns(interval_ns as u64));
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let listening =
        start(&config, pair.port_b(&port_options(None)), &mut run.recorder, &run.stop).expect("the listener starts");
    let send = |sequence: u64, after_ns: i64| {
        sys::wait::sleep_until(sys::clock::monotonic() + after_ns);
        let own = Own {
            session: 1,
            sequence,
            flags: 0,
        };
        sender.send(&own.test(None)).expect("sent");
    };
    send(0, 0);
    send(1, 1_000_000);
    send(2, 2 * interval_ns);
    // One frame is missing, in as much time as it would have taken.
    send(4, 2 * interval_ns);
    send(5, 1_000_000);
    common::wait_until("5 frames", || listening.frames.load(Ordering::Relaxed) == 5);
    run.stop.request();
    listening.running.join().expect("ends well");
    let recorded = run.finish();
    let counters = recorded.counters(TEST);
    assert_eq!((counters.received, counters.lost, counters.late), (4, 1, 1));
    let worst = recorded.spikes(TEST);
    assert!(
        worst[1].value_ns >= 2 * interval_ns - 50_000_000,
        "both pauses are in the delta"
    );
}

#[test]
fn namesakes_are_told_apart_and_numbered() {
    if !can_run("namesakes_are_told_apart_and_numbered") {
        return;
    }
    let mut frames = Vec::new();
    for n in 0..30 {
        for source in 1..=3 {
            for mut frame in [samples("MU01", n, 1, &[]), audio(n as u8, false, &[])] {
                frame[5] = source;
                frames.push(frame);
            }
        }
    }
    let recorded = listen(&config(), &frames);
    for name in ["listen/sv-MU01", AVTP] {
        for number in ["", "#2", "#3"] {
            let expected = Expected {
                received: 29,
                ..Expected::default()
            };
            assert_eq!(
                counted(&recorded, &format!("{name}{number}")),
                expected,
                "{name}{number}"
            );
        }
    }
}

#[test]
fn streams_beyond_the_limit_are_counted_not_measured() {
    if !can_run("streams_beyond_the_limit_are_counted_not_measured") {
        return;
    }
    let name = |n: u16| format!("MU{n:02}");
    let frames: Vec<Vec<u8>> = (0..40).map(|n| samples(&name(n % 4), n / 4, 1, &[])).collect();
    let few = ListenConfig {
        max_streams: 3,
        ..config()
    };
    let recorded = listen(&few, &frames);
    assert_eq!(recorded.names().len(), 1 + 3);
    let events = stream_events(&recorded, "delivery/listen");
    assert_eq!(
        events,
        ["10 frames belong to streams beyond the 3 that are told apart (--max-streams)"]
    );
}

#[test]
fn frames_of_other_probes_are_no_stream_and_silence_is_said() {
    if !can_run("frames_of_other_probes_are_no_stream_and_silence_is_said") {
        return;
    }
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions::default());
    let mut run = Run::start();
    let config = ListenConfig {
        framing: Some(Framing::Test),
        duration_ns: Some(300_000_000),
        ..config()
    };
    let port = pair.port_b(&port_options(config.framing));
    let listening = start(&config, port, &mut run.recorder, &run.stop).expect("the listener starts");
    let probe = TestFrame {
        kind: Kind::Probe,
        flags: 0,
        session: 1,
        sequence: 1,
        sent_ns: 0,
    };
    let addresses = wire::ether::Mac([2, 0, 0, 0, 0, 7]);
    sender
        .send(&probe.encode(addresses, addresses, None, 60))
        .expect("sent");
    // Of a framing that was not asked for.
    sender.send(&audio(1, false, &[])).expect("sent");
    let error = listening.running.join().expect_err("nothing came");
    assert!(matches!(error, ProbeError::NoTraffic(_)), "{error}");
    assert!(error.to_string().contains("b0"), "{error}");
    run.finish();
}
