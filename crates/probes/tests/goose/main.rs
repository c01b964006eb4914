//! GOOSE over a veth pair: the messages of the publisher, and the results of the supervision for streams whose every fault is
//! known.

#[path = "../common/mod.rs"]
mod common;
mod identity;
mod publisher;
mod supervision;

use common::Recorded;
use model::EventKind;
use probes::publish::GooseConfig;
use streamset::goose::parse;
use sys::packet::PortOptions;
use sys::thread::Policy;

const TRIP: &str = r#"
[[goose]]
gocb_ref = "IED1LD0/LLN0$GO$gcbTrip"
dat_set = "IED1LD0/LLN0$dsTrip"
dst = "01:0c:cd:01:00:01"
appid = 1
vlan = 100
min_time = "10ms"
max_time = "100ms"
member = [
    { name = "trip", type = "boolean" },
    { name = "q", type = "quality" },
    { name = "t", type = "timestamp" },
]
change = [
    { at = "200ms", every = "400ms", set = { trip = true } },
    { at = "400ms", every = "400ms", set = { trip = false } },
]

[[goose]]
gocb_ref = "IED2LD0/LLN0$GO$gcbPos"
dat_set = "IED2LD0/LLN0$dsPos"
dst = "01:0c:cd:01:00:02"
appid = 2
max_time = "50ms"
member = [{ name = "pos", type = "dbpos", value = "off" }]
"#;

const TRIP_REF: &str = "IED1LD0/LLN0$GO$gcbTrip";

fn goose_config(duration_ns: u64) -> GooseConfig {
    GooseConfig {
        blocks: parse(TRIP, "test").expect("a sound file"),
        spin_ahead_ns: 0,
        duration_ns: Some(duration_ns),
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    }
}

fn sender_options() -> PortOptions {
    PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    }
}

fn texts(recorded: &Recorded, series: &str) -> Vec<String> {
    let events = recorded.events(series).into_iter();
    events
        .filter(|event| matches!(event.kind, EventKind::Stream | EventKind::Incomplete))
        .map(|event| event.text)
        .collect()
}
