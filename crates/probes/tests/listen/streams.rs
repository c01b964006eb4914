//! Streams with the same name, more streams than the limit, and frames of other protocols.

use crate::common::{Pair, Run, can_run};
use crate::paced::{Expected, audio, samples};
use crate::{AVTP, config, counted, listen, stream_events};
use probes::listen::{ListenConfig, port_options};
use probes::{Framing, Probe, ProbeError};
use sys::packet::PortOptions;
use wire::test_frame::{TestFrame, TestFrameKind};

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
        ["10 frames belong to streams beyond the limit of 3 (--max-streams)"]
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
    let listening = config
        .start(port, &mut run.recorder, &run.stop)
        .expect("the listener starts");
    let probe = TestFrame {
        kind: TestFrameKind::Probe,
        flags: 0,
        session: 1,
        sequence: 1,
        sent_ns: 0,
    };
    let addresses = wire::ether::Mac([2, 0, 0, 0, 0, 7]);
    sender
        .send(&probe.encode(addresses, addresses, None, 60))
        .expect("sent");
    // Frames of a framing that was not requested.
    sender.send(&audio(1, false, &[])).expect("sent");
    let error = listening.running.join().expect_err("nothing came");
    assert!(matches!(error, ProbeError::NoTraffic(_)), "{error}");
    assert!(error.to_string().contains("b0"), "{error}");
    run.finish();
}
