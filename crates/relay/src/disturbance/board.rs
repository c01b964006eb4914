//! States of a relay that are digital channels of a record.

use crate::config::{Attribute, Config, Feed, Signal, Watch};
use crate::engine::{ALARM, Engine, State, WARNING};

/// A state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watched {
    /// State of a function, a trip or a breaker failure function, in any phase.
    Signal(Signal),
    /// A stream causes this health of the relay.
    Health(usize, u8),
    /// A stream is lost, not synchronised, or its count differs from that of the others.
    Unsynchronised(usize),
}

impl Watched {
    pub(super) fn is_on(self, engine: &Engine) -> bool {
        match self {
            Self::Signal(signal) => engine.output(Feed::Signal(signal, Attribute::General)) == State::Boolean(true),
            Self::Health(stream, health) => engine.health(stream) == Some(health),
            Self::Unsynchronised(stream) => {
                engine.output(Feed::Stream(stream, Watch::Synchronised)) != State::Boolean(true)
            }
        }
    }

    /// True if the state triggers a record.
    pub(super) fn triggers(self) -> bool {
        matches!(
            self,
            Self::Signal(Signal::Trip(_) | Signal::Retrip(_) | Signal::Backtrip(_))
        )
    }
}

/// States of a relay with their names, which are the same as those of its GOOSE members.
pub(super) fn watched(config: &Config) -> Vec<(Watched, String)> {
    let mut found = Vec::new();
    let mut signal =
        |signal: Signal, what: &str, name: &str| found.push((Watched::Signal(signal), format!("{what}:{name}")));
    for (number, function) in config.functions.iter().enumerate() {
        signal(Signal::Start(number), "start", &function.name);
        signal(Signal::Operate(number), "operate", &function.name);
    }
    for (number, trip) in config.trips.iter().enumerate() {
        signal(Signal::Trip(number), "trip", &trip.name);
        if trip.breaker_failure.is_some() {
            signal(Signal::Retrip(number), "retrip", &trip.name);
            signal(Signal::Backtrip(number), "backtrip", &trip.name);
        }
    }
    for (number, stream) in config.streams.iter().enumerate() {
        let states = [
            (Watched::Health(number, WARNING), "warning"),
            (Watched::Health(number, ALARM), "alarm"),
            (Watched::Unsynchronised(number), "unsynchronised"),
        ];
        found.extend(states.map(|(watched, what)| (watched, format!("{what}:{}", stream.name))));
    }
    found
}
