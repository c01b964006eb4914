//! Devices that never read a sample, and relays that die: none of them may pass.

use super::common::{Pair, Run, wait_until};
use super::relay::{self, Moment, Relay, RelayKind};
use super::{Recorded, TripConfig, can_run, few, heard_of, tested, texts};
use model::EventKind;
use probes::trip::{Control, Ports, goose_port_options};
use probes::{Probe, publish};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;

/// A label, a control block, and the knowledge that decides when it trips.
type Blind = (&'static str, &'static str, fn(Moment) -> bool);

/// Devices that know the time of a fault, but not its contents.
const BLIND: [Blind; 7] = [
    ("never", "IED1LD0/LLN0$GO$gcb1", |_| false),
    ("always", "IED1LD0/LLN0$GO$gcb2", |_| true),
    ("quarters", "IED1LD0/LLN0$GO$gcb3", |now| {
        now.wall_ns % (SECOND / 4) < 50 * MS
    }),
    ("often", "IED1LD0/LLN0$GO$gcb4", |now| {
        now.wall_ns % (700 * MS) < 60 * MS
    }),
    ("seconds", "IED1LD0/LLN0$GO$gcb5", |now| now.wall_ns % SECOND < 100 * MS),
    ("seldom", "IED1LD0/LLN0$GO$gcb6", |now| {
        now.wall_ns % (3 * SECOND) < 200 * MS
    }),
    ("once", "IED1LD0/LLN0$GO$gcb7", |now| {
        (650 * MS..750 * MS).contains(&now.since_first_ns)
    }),
];

/// Events that put a series in doubt.
const DOUBTS: [EventKind; 5] = [
    EventKind::NotCounted,
    EventKind::ControlFailed,
    EventKind::Unproven,
    EventKind::StreamDoubt,
    EventKind::SocketDrop,
];

/// True if the limits of a test set (no failure, no false trip) pass on this series of device `label`, regardless of the other
/// devices.
fn passes(recorded: &Recorded, label: &str, series: &str) -> bool {
    let counters = recorded.counters(series);
    let id = recorded.id(series);
    let events = recorded.file.events().expect("events");
    let mut concerning = events
        .iter()
        .filter(|event| event.series == Some(id) || event.text.starts_with(&format!("{label}: ")))
        .filter(|event| DOUBTS.contains(&event.kind));
    counters.received > 0 && (counters.lost, counters.unwanted) == (0, 0) && concerning.next().is_none()
}

fn of(kind: &RelayKind, shots: u32, scenarios: &[&str]) -> TripConfig {
    TripConfig {
        relays: vec![heard_of(kind, None)],
        ..few(shots, scenarios)
    }
}

fn blind(trips: fn(Moment) -> bool) -> RelayKind {
    RelayKind {
        blind: Some(trips),
        ..RelayKind::default()
    }
}

#[test]
fn a_device_that_looks_at_no_sample_passes_nothing() {
    if !can_run("a_device_that_looks_at_no_sample_passes_nothing") {
        return;
    }
    let kind = |(_, name, trips): (&str, &'static str, fn(Moment) -> bool)| RelayKind { name, ..blind(trips) };
    let kinds = BLIND.map(kind);
    for (scenarios, series) in [(&["load"][..], "security"), (&["overcurrent", "load"], "trip")] {
        let relays = BLIND.iter().zip(&kinds);
        let config = TripConfig {
            relays: relays.map(|((label, ..), kind)| heard_of(kind, Some(label))).collect(),
            ..few(2, scenarios)
        };
        let (recorded, ended) = tested(&config, &kinds);
        ended.expect("it ends well");
        for (label, ..) in BLIND {
            let name = format!("{series}/{label}-{}", scenarios[0]);
            assert!(!passes(&recorded, label, &name), "{name}");
        }
    }
}

#[test]
fn the_silence_of_a_relay_that_never_trips_proves_nothing() {
    if !can_run("the_silence_of_a_relay_that_never_trips_proves_nothing") {
        return;
    }
    let unproven = |kind: RelayKind, scenarios: &[&str]| {
        let (recorded, ended) = tested(&of(&kind, 2, scenarios), &[kind]);
        ended.expect("it ends well");
        let counted = recorded.counters("security/load");
        assert_eq!(counted.unwanted, 0);
        // If the test set was held up in both of its shots, there is nothing to prove.
        let is_unproven = counted.received == 0 || !texts(&recorded, EventKind::Unproven).is_empty();
        assert!(is_unproven, "{:?}", recorded.file.events().expect("events"));
    };
    unproven(blind(|_| false), &["load"]);
    let other_stream = RelayKind {
        sv_id: Some("MU02"),
        ..RelayKind::default()
    };
    unproven(other_stream, &["overcurrent", "load"]);
    let dies = RelayKind {
        dies_ns: Some(4 * SECOND),
        ..RelayKind::default()
    };
    unproven(dies, &["load"]);
}

#[test]
fn the_silence_of_a_relay_that_trips_for_a_fault_counts() {
    if !can_run("the_silence_of_a_relay_that_trips_for_a_fault_counts") {
        return;
    }
    let kind = RelayKind::default();
    // Also with a control block that was not named: the positive control finds it.
    let learned = TripConfig {
        controls: Vec::new(),
        ..few(2, &["load"])
    };
    for config in [of(&kind, 2, &["load"]), learned] {
        let (recorded, ended) = tested(&config, std::slice::from_ref(&kind));
        ended.expect("it ends well");
        let notes = texts(&recorded, EventKind::Note);
        let of_controls: Vec<&String> = notes.iter().filter(|text| text.starts_with("control fault")).collect();
        assert_eq!(of_controls.len(), 2, "{notes:?}");
        // If the test set was held up, it reports that, after at most five attempts.
        if of_controls.iter().all(|text| text.contains("trip after")) {
            assert_eq!(texts(&recorded, EventKind::Unproven), Vec::<String>::new());
        }
        let left_out = texts(&recorded, EventKind::NotCounted).len() as u64;
        assert_eq!(recorded.counters("security/load").received + left_out, 2, "{notes:?}");
    }
}

/// The relay falls silent in the fault: its silence in the last controls shows nothing, once its GOOSE has expired.
#[test]
fn the_silence_of_a_relay_whose_messages_expired_is_no_control() {
    if !can_run("the_silence_of_a_relay_whose_messages_expired_is_no_control") {
        return;
    }
    let kind = RelayKind {
        delay_ns: None,
        ..RelayKind::default()
    };
    let config = TripConfig {
        controls: vec![Control::NoFault; 8],
        ..of(&kind, 1, &["overcurrent"])
    };
    let pair = Pair::build();
    let relay = Relay::start(kind, pair.port_b(&relay::options()));
    let mut run = Run::start();
    let ports = Ports {
        stream: pair.port_a(&publish::port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
    };
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("it starts");
    wait_until("a fault comes", || relay.longest_ns() > 0);
    drop(relay);
    running.join().expect("it ends well");
    let failed = texts(&run.finish(), EventKind::ControlFailed);
    let text = "control no-fault could not be made in 5 tries: the relay's GOOSE had expired";
    assert!(failed.iter().any(|failed| failed.contains(text)), "{failed:?}");
}

#[test]
fn the_first_faults_begin_at_any_instant_whatever_the_seed() {
    if !can_run("the_first_faults_begin_at_any_instant_whatever_the_seed") {
        return;
    }
    let kind = RelayKind::default();
    let config = TripConfig {
        controls: Vec::new(),
        ..of(&kind, 3, &["overcurrent"])
    };
    // Without random waits a shot is over after about 0.6 s. Of six random waits of up to a second, at least one is long, except
    // once in ten thousand runs.
    let waits_long = (0..3).any(|_| {
        let (recorded, ended) = tested(&config, std::slice::from_ref(&kind));
        ended.expect("it ends well");
        let shots = recorded.file.shots().expect("shots");
        let faults: Vec<u64> = shots.iter().map(|shot| shot.at_ns).collect();
        faults.windows(2).any(|pair| pair[1] - pair[0] > 800_000_000)
    });
    assert!(waits_long);
}
