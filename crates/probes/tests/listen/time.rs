//! Faults in the timing of a stream: a rate other than expected, silences, pauses.

use crate::common::{Pair, Run, can_run, wait_until};
use crate::paced::{Expected, Own, samples};
use crate::{TEST, config, counted, listen, stream_events};
use model::EventKind;
use probes::Probe;
use probes::listen::{ListenConfig, port_options};
use std::sync::atomic::Ordering;
use sys::packet::PortOptions;
use units::Period;

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

/// 4800 frames a second where `--interval` says 4000: all frames came, but because of those beyond 4000 in the first second it
/// stays undecided whether any is missing.
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

/// In the counter alone, a silence of 0.7 s looks like a jump back, and one of 1 s like no silence.
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
    let listening = config
        .start(pair.port_b(&port_options(None)), &mut run.recorder, &run.stop)
        .expect("the listener starts");
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
        // As a publisher that continued to count; the exact length does not matter to the ms.
        number += silent_ms;
        lost += silent_ms;
    }
    sender
        .send(&samples("MU01", (number % 1_000) as u16, 1, &[]))
        .expect("sent");
    wait_until("61 frames", || listening.frames.load(Ordering::Relaxed) == 61);
    run.stop.request();
    listening.running.join().expect("ends well");
    let recorded = run.finish();
    let counters = recorded.counters("listen/sv-MU01");
    assert_eq!((counters.received, counters.lost), (60, lost));
    assert_eq!(stream_events(&recorded, "listen/sv-MU01"), [""; 0]);
}

/// Frames sent with pauses of known length: the kernel's stamps decide which are late.
#[test]
fn a_pause_is_late_and_a_loss_of_that_length_is_not() {
    if !can_run("a_pause_is_late_and_a_loss_of_that_length_is_not") {
        return;
    }
    // An interval that is longer than any stall of a machine, but shorter than the pauses.
    let interval_ns = 200_000_000;
    let config = ListenConfig::every(Period::of_ns(interval_ns as u64));
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let listening = config
        .start(pair.port_b(&port_options(None)), &mut run.recorder, &run.stop)
        .expect("the listener starts");
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
    // One frame is missing, in the time that it would have taken.
    send(4, 2 * interval_ns);
    send(5, 1_000_000);
    wait_until("5 frames", || listening.frames.load(Ordering::Relaxed) == 5);
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
