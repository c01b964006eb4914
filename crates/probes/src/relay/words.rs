//! Events of the relay, packed into three numbers on their way to the recorder.

use crate::notice::notices;
use ::relay::Config;
use ::relay::events::{Change, Event, Subject};
use ::relay::ptp::PtpState;
use ::relay::words::{what, who};
use protection::measure::Blocks;
use protection::supervision::SampleState;
use protection::{Direction, Phases};

notices! {
    /// Notices of a relay. Those of its events ([`Change`]) carry their owner and details.
    pub(super) enum Notice {
        /// A function started.
        Start = 0,
        /// A function operated.
        Operate = 1,
        /// The backup tripped.
        Backtrip = 2,
        /// A function was reset.
        Reset = 3,
        /// A function is blocked.
        Blocked = 4,
        /// A function is no longer blocked.
        Released = 5,
        /// The state of the samples changed.
        Samples = 6,
        /// The samples start again.
        Restart = 7,
        /// smpSynch changed.
        Synch = 8,
        /// The state of the host's PTP changed.
        Ptp = 9,
        /// The value of a sample was replaced.
        Implausible = 10,
        /// A ring had no room for this many items.
        Refused = 100,
    }
}

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

/// Packs an event: its notice, its owner, and details.
pub(super) fn packed(event: &Event) -> (Notice, u64, u64) {
    let index_of_direction = |direction| DIRECTIONS.iter().position(|each| *each == direction).unwrap_or(0) as u64;
    let (kind, number) = match event.subject {
        Subject::Function(number) => (0_u64, number),
        Subject::Trip(number) => (1, number),
        Subject::Breaker(number) => (2, number),
        Subject::Stream(number) => (3, number),
        Subject::HostClock => (4, 0),
        Subject::Fuse(number) => (5, number),
        Subject::Swing(number) => (6, number),
    };
    let (notice, detail) = match event.change {
        Change::Start(phases, direction) => (
            Notice::Start,
            u64::from(phases.bits()) | index_of_direction(direction) << 8,
        ),
        Change::Operate(phases) => (Notice::Operate, u64::from(phases.bits())),
        Change::Backtrip => (Notice::Backtrip, 0),
        Change::Reset => (Notice::Reset, 0),
        Change::Blocked(blocks) => (Notice::Blocked, u64::from(blocks.bits())),
        Change::Released => (Notice::Released, 0),
        Change::Samples(state) => (
            Notice::Samples,
            STATES.iter().position(|each| *each == state).unwrap_or(0) as u64,
        ),
        Change::Restart => (Notice::Restart, 0),
        Change::Implausible(count) => (Notice::Implausible, count),
        Change::Synch(value) => (Notice::Synch, u64::from(value)),
        Change::Ptp(state) => (Notice::Ptp, state as u64),
    };
    (notice, kind << 32 | number as u64, detail)
}

/// Text for the notice of an event; `None` for other notices.
pub(super) fn text(config: &Config, notice: Notice, whose: u64, detail: u64) -> Option<String> {
    let number = (whose & 0xffff_ffff) as usize;
    let subject = match whose >> 32 {
        0 => Subject::Function(number),
        1 => Subject::Trip(number),
        2 => Subject::Breaker(number),
        3 => Subject::Stream(number),
        5 => Subject::Fuse(number),
        6 => Subject::Swing(number),
        _ => Subject::HostClock,
    };
    let phases = Phases::of_bits((detail & 0xff) as u8);
    let change = match notice {
        Notice::Start => Change::Start(phases, DIRECTIONS[(detail >> 8) as usize & 3]),
        Notice::Operate => Change::Operate(phases),
        Notice::Backtrip => Change::Backtrip,
        Notice::Reset => Change::Reset,
        Notice::Blocked => Change::Blocked(Blocks::of_bits(detail as u16)),
        Notice::Released => Change::Released,
        Notice::Samples => Change::Samples(STATES[(detail as usize).min(STATES.len() - 1)]),
        Notice::Restart => Change::Restart,
        Notice::Implausible => Change::Implausible(detail),
        Notice::Synch => Change::Synch(detail as u8),
        Notice::Ptp => Change::Ptp(*PtpState::ALL.get(detail as usize)?),
        Notice::Refused => return None,
    };
    let (name, node) = who(config, subject);
    Some(format!("{}: {name}, {node}: {}", config.name, what(change)))
}

#[cfg(test)]
mod tests {
    use super::{Notice, packed, text};
    use ::relay::config;
    use ::relay::events::{Change, Event, Subject};
    use ::relay::ptp::PtpState;
    use protection::measure::Blocks;
    use protection::supervision::SampleState;
    use protection::{Direction, Phases};
    use run::Notice as _;

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
            let (notice, whose, detail) = packed(&Event { at: 7, subject, change });
            assert_eq!(Notice::of(notice.code()), Some(notice));
            text(&relay, notice, whose, detail).expect("an event")
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
        assert_eq!(
            of(Subject::HostClock, Change::Ptp(PtpState::Lost)),
            "R1: host's clock, LTMS: PTP lost"
        );
        assert_eq!(
            of(Subject::Fuse(0), Change::Operate(Phases::A)),
            "R1: bay, RFUF (60): operate A"
        );
        assert_eq!(
            of(Subject::Swing(0), Change::Start(Phases::ABC, Direction::Unknown)),
            "R1: bay, RPSB (68): start ABC"
        );
        let stream = Subject::Stream(0);
        assert_eq!(
            of(stream, Change::Samples(SampleState::Inactive)),
            "R1: bay, LSVS: samples: inactive"
        );
        assert_eq!(
            of(stream, Change::Implausible(3)),
            "R1: bay, LSVS: implausible sample replaced (3 so far)"
        );
        assert_eq!(of(stream, Change::Synch(2)), "R1: bay, LSVS: smpSynch 2");
        assert_eq!(
            of(stream, Change::Restart),
            "R1: bay, LSVS: counter jumped: samples start again"
        );
    }
}
