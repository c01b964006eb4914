//! Events of the relay on their way to the recorder, as three numbers.

use ::relay::Config;
use ::relay::events::{Change, Event, Subject};
use ::relay::words::{what, who};
use protection::measure::Blocks;
use protection::supervision::SampleState;
use protection::{Direction, Phases};

const STATES: [SampleState; 6] = [
    SampleState::Never,
    SampleState::Good,
    SampleState::Hold,
    SampleState::Warning,
    SampleState::Alarm,
    SampleState::Inactive,
];

const DIRECTIONS: [Direction; 4] = [
    Direction::Unknown,
    Direction::Forward,
    Direction::Reverse,
    Direction::Both,
];

/// Packs an event: a code, whose it is, and details.
pub(super) fn packed(event: &Event) -> (u16, u64, u64) {
    let index_of_direction = |direction| DIRECTIONS.iter().position(|each| *each == direction).unwrap_or(0) as u64;
    let (kind, number) = match event.subject {
        Subject::Function(number) => (0_u64, number),
        Subject::Trip(number) => (1, number),
        Subject::Breaker(number) => (2, number),
        Subject::Stream(number) => (3, number),
    };
    let (code, detail) = match event.change {
        Change::Start(phases, direction) => (0, u64::from(phases.bits()) | index_of_direction(direction) << 8),
        Change::Operate(phases) => (1, u64::from(phases.bits())),
        Change::Backtrip => (2, 0),
        Change::Reset => (3, 0),
        Change::Blocked(blocks) => (4, u64::from(blocks.bits())),
        Change::Released => (5, 0),
        Change::Samples(state) => (6, STATES.iter().position(|each| *each == state).unwrap_or(0) as u64),
        Change::Restart => (7, 0),
        Change::Synch(value) => (8, u64::from(value)),
    };
    (code, kind << 32 | number as u64, detail)
}

/// The words for it.
pub(super) fn text(config: &Config, code: u16, whose: u64, detail: u64) -> String {
    let number = (whose & 0xffff_ffff) as usize;
    let subject = match whose >> 32 {
        0 => Subject::Function(number),
        1 => Subject::Trip(number),
        2 => Subject::Breaker(number),
        _ => Subject::Stream(number),
    };
    let phases = Phases::of_bits((detail & 0xff) as u8);
    let change = match code {
        0 => Change::Start(phases, DIRECTIONS[(detail >> 8) as usize & 3]),
        1 => Change::Operate(phases),
        2 => Change::Backtrip,
        3 => Change::Reset,
        4 => Change::Blocked(Blocks::of_bits(detail as u16)),
        5 => Change::Released,
        6 => Change::Samples(STATES[(detail as usize).min(STATES.len() - 1)]),
        7 => Change::Restart,
        _ => Change::Synch(detail as u8),
    };
    let (name, node) = who(config, subject);
    format!("{}: {name}, {node}: {}", config.name, what(change))
}

#[cfg(test)]
mod tests {
    use super::{packed, text};
    use ::relay::config;
    use ::relay::events::{Change, Event, Subject};
    use protection::measure::Blocks;
    use protection::supervision::SampleState;
    use protection::{Direction, Phases};

    const FILE: &str = r#"
        [relay]
        name = "R1"
        [[stream]]
        name = "bay"
        sv = { svID = "MU01" }
        [[function]]
        name = "F1"
        stream = "bay"
        settings.pioc = {}
    "#;

    #[test]
    fn words_survive_the_way() {
        let relay = config::parse(FILE, "test").expect("a relay");
        let of = |subject, change| {
            let (code, whose, detail) = packed(&Event { at: 7, subject, change });
            text(&relay, code, whose, detail)
        };
        let function = Subject::Function(0);
        assert_eq!(
            of(function, Change::Start(Phases::A | Phases::C, Direction::Reverse)),
            "R1: F1, PIOC (50): start AC, reverse"
        );
        assert_eq!(of(function, Change::Operate(Phases::B)), "R1: F1, PIOC (50): operate B");
        assert_eq!(
            of(function, Change::Blocked(Blocks::LOST | Blocks::INSTANT)),
            "R1: F1, PIOC (50): blocked: lost samples, different instants"
        );
        let stream = Subject::Stream(0);
        assert_eq!(
            of(stream, Change::Samples(SampleState::Inactive)),
            "R1: bay, LSVS: samples: inactive"
        );
        assert_eq!(of(stream, Change::Synch(2)), "R1: bay, LSVS: smpSynch 2");
        assert_eq!(
            of(stream, Change::Restart),
            "R1: bay, LSVS: counter jumped: samples begin anew"
        );
    }
}
