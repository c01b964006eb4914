//! The listener with streams whose every fault is known.

#[path = "../common/mod.rs"]
mod common;
mod order;
#[path = "../paced/mod.rs"]
mod paced;
mod streams;
mod time;

use common::{Pair, Recorded, Run};
use model::EventKind;
use paced::{BEGIN, END, Expected, Own};
use probes::Probe;
use probes::listen::{ListenConfig, port_options};
use std::sync::atomic::Ordering;
use sys::packet::PortOptions;
use units::Period;

const TEST: &str = "listen/test-02:00:00:00:00:07";
const AVTP: &str = "listen/avtp-0200000000070009";

fn config() -> ListenConfig {
    ListenConfig::every(Period::of_ns(125_000))
}

/// Sends the frames to a listener and returns its record. After every few frames it waits until the listener has them, so that no
/// queue on the way can overflow: only frames left out on purpose are lost.
fn listen(config: &ListenConfig, frames: &[Vec<u8>]) -> Recorded {
    let pair = Pair::build();
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let port = pair.port_b(&port_options(config.framing));
    let listening = config
        .start(port, &mut run.recorder, &run.stop)
        .expect("the listener starts");
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
        // These tests do not depend on how fast the frames were sent.
        .filter(|event| !event.text.contains("silent for"))
        .map(|event| event.text)
        .collect()
}

/// The frames of one session of our own talker: two of the warm-up, the given numbers, and the end mark.
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
