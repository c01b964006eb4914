//! The events of a relay as text.

use crate::config::Config;
use crate::events::{Change, Subject};
use protection::measure::Blocks;
use protection::supervision::SampleState;
use protection::{Direction, Phases};

/// Name and logical node of a subject.
#[must_use]
pub fn who(config: &Config, subject: Subject) -> (&str, String) {
    match subject {
        Subject::Function(number) => {
            let instance = &config.functions[number];
            (&instance.name, instance.node.to_string())
        }
        Subject::Trip(number) => (&config.trips[number].name, config.trips[number].node.to_string()),
        Subject::Breaker(number) => (&config.trips[number].name, "RBRF (50BF)".to_owned()),
        Subject::Stream(number) => (&config.streams[number].name, "LSVS".to_owned()),
        Subject::Fuse(number) => (&config.streams[number].name, "RFUF (60)".to_owned()),
        Subject::Swing(number) => (&config.streams[number].name, "RPSB (68)".to_owned()),
        Subject::HostClock => ("host's clock", "LTMS".to_owned()),
    }
}

/// Text of a change.
#[must_use]
pub fn what(change: Change) -> String {
    match change {
        Change::Start(phases, direction) => format!("start {phases}{}", towards(direction)),
        Change::Operate(phases) => format!("operate {phases}"),
        Change::Backtrip => "back trip".to_owned(),
        Change::Reset => "reset".to_owned(),
        Change::Blocked(blocks) => format!("blocked: {}", reasons(blocks)),
        Change::Released => "released".to_owned(),
        Change::Samples(state) => format!("samples: {}", state_name(state)),
        Change::Restart => "counter jumped: samples start again".to_owned(),
        Change::Implausible(count) => format!("implausible sample replaced ({count} so far)"),
        Change::Synch(value) => format!("smpSynch {value}"),
        Change::Ptp(state) => format!("PTP {}", state.name()),
    }
}

fn towards(direction: Direction) -> &'static str {
    match direction {
        Direction::Unknown => "",
        Direction::Forward => ", forward",
        Direction::Reverse => ", reverse",
        Direction::Both => ", both directions",
    }
}

/// State of samples, as a word.
#[must_use]
pub fn state_name(state: SampleState) -> &'static str {
    match state {
        SampleState::Never => "never",
        SampleState::Good => "good",
        SampleState::Hold => "hold",
        SampleState::Warning => "warning",
        SampleState::Alarm => "alarm",
        SampleState::Inactive => "inactive",
    }
}

/// Reasons for which a function is blocked, as a list.
#[must_use]
pub fn reasons(blocks: Blocks) -> String {
    blocks.reasons().collect::<Vec<_>>().join(", ")
}

/// Letters of phases, as a list.
#[must_use]
pub fn letters(phases: Phases) -> String {
    match phases.any() {
        true => phases.to_string(),
        false => String::new(),
    }
}
