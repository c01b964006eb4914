//! Broken far ends: they answer with other contents, or two stations answer.

mod common;

use common::{Pair, Recorded, Run, can_run};
use model::EventKind;
use probes::reflect::{ReflectConfig, Role, port_options};
use probes::{Probe, Receive};
use std::sync::atomic::{AtomicBool, Ordering};
use sys::packet::PacketPort;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{TestFrame, TestFrameKind, reflect};

/// Address of a station outside the test bed.
const OTHER: Mac = Mac([2, 0xee, 0, 0, 0, 9]);

fn next(port: &mut PacketPort) -> Option<Vec<u8>> {
    port.next().map(|frame| frame.data().to_vec())
}

/// Returns each frame. For a probe, it sends instead the frames that `also` makes from the answer and its number.
fn far_end(mut port: PacketPort, is_over: &AtomicBool, also: fn(&[u8], u64) -> Vec<Vec<u8>>) {
    let own = Mac(port.mac());
    while !is_over.load(Ordering::Relaxed) {
        let _ = port.wait(10_000_000);
        while let Some(mut answer) = next(&mut port) {
            let Ok(ethernet) = EthernetView::parse(&answer) else {
                continue;
            };
            let Ok(asked) = TestFrame::parse(&ethernet) else {
                continue;
            };
            reflect(&mut answer, own);
            let answers = match asked.kind {
                TestFrameKind::Probe => also(&answer, asked.sequence),
                _ => vec![answer],
            };
            for answer in answers {
                port.send(&answer).expect("sent");
            }
        }
    }
}

/// Measures with an initiator and such a far end.
fn measured(also: fn(&[u8], u64) -> Vec<Vec<u8>>) -> Recorded {
    let pair = Pair::build();
    let config = ReflectConfig {
        interval_ns: 1_000_000,
        frame_bytes: 200,
        patience_ns: 10_000_000_000,
        duration_ns: Some(300_000_000),
        receive: Receive::Block,
        ..ReflectConfig::new(Role::Initiator)
    };
    let far = pair.port_b(&port_options(&config));
    let near = pair.port_a(&port_options(&config));
    let mut run = Run::start();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| far_end(far, &is_over, also));
        let running = config.start(near, &mut run.recorder, &run.stop).expect("it starts");
        let ended = running.join();
        is_over.store(true, Ordering::Relaxed);
        ended.expect("it ends well");
    });
    run.finish()
}

/// Doubts reported about the round trip.
fn doubts(run: &Recorded) -> Vec<String> {
    let events = run.events("rtt/reflect").into_iter();
    let doubts = events.filter(|event| event.kind == EventKind::Incomplete);
    doubts.map(|event| event.text).collect()
}

#[test]
fn answers_with_other_contents_are_none() {
    if !can_run("answers_with_other_contents_are_none") {
        return;
    }
    // Of six consecutive answers, one has a changed byte and one is cut.
    let run = measured(|answer, number| {
        let mut answer = answer.to_vec();
        match number % 6 {
            1 => answer[150] ^= 1,
            4 => answer.truncate(100),
            _ => {}
        }
        vec![answer]
    });
    let rtt = run.counters("rtt/reflect");
    assert_eq!(rtt.received + rtt.lost + rtt.missed, rtt.expected, "{rtt:?}");
    assert!(rtt.lost >= rtt.received / 3 && rtt.lost <= rtt.received, "{rtt:?}");
    let said = doubts(&run);
    assert!(
        said.iter()
            .any(|text| text.contains("answers differ from what was sent")),
        "{said:?}"
    );
}

#[test]
fn a_second_station_that_answers_is_told_and_never_measured() {
    if !can_run("a_second_station_that_answers_is_told_and_never_measured") {
        return;
    }
    // The other station answers first, and the far end does not answer every tenth frame.
    let run = measured(|answer, number| {
        let mut other = answer.to_vec();
        reflect(&mut other, OTHER);
        reflect(&mut other, OTHER);
        other[0..6].copy_from_slice(&answer[0..6]);
        let answers = [other, answer.to_vec()];
        answers.into_iter().take(if number % 10 == 0 { 1 } else { 2 }).collect()
    });
    let rtt = run.counters("rtt/reflect");
    assert_eq!(rtt.duplicate, 0, "{rtt:?}");
    assert!(
        rtt.lost >= rtt.received / 10,
        "answered by the other one alone: {rtt:?}"
    );
    let said = doubts(&run);
    assert!(
        said.iter()
            .any(|text| text.contains("a station other than the far end")),
        "{said:?}"
    );
}

#[test]
fn a_sound_far_end_leaves_no_doubt() {
    if !can_run("a_sound_far_end_leaves_no_doubt") {
        return;
    }
    let run = measured(|answer, _| vec![answer.to_vec()]);
    assert_eq!(run.counters("rtt/reflect").lost, 0);
    assert_eq!(doubts(&run), Vec::<String>::new());
}
