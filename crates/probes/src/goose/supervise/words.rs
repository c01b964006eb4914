//! The series of a control block, and its notices, in words.

use super::{SLOTS, notice};
use crate::goose::config::SuperviseConfig;
use store::model::{EventKind, SeriesClock, SeriesSpec};
use units::format_ns;
use wire::ether::Mac;
use wire::goose::{REFUSALS, Refusal, Simulation};

/// Names and settings of the series of the supervision.
pub(crate) struct Words {
    config: SuperviseConfig,
    first_slot: u16,
}

impl Words {
    pub(crate) fn of(config: &SuperviseConfig, first_slot: u16) -> Self {
        Self {
            config: config.clone(),
            first_slot,
        }
    }

    /// The series of slot `slot`, if it is one of a control block; `settings` are those of the whole probe.
    pub(crate) fn series(&self, slot: u16, label: &str, mut settings: Vec<(String, String)>) -> Option<SeriesSpec> {
        let (family, what) = match slot.checked_sub(self.first_slot)? % SLOTS {
            0 => ("goose", "kernel receive stamp of one message -> that of the next"),
            _ => (
                "goose-transfer",
                "t of a new state -> application has its first message (sqNum 0)",
            ),
        };
        settings.extend([
            (
                "expires after".into(),
                format!("timeAllowedtoLive x {}", self.config.tal_factor),
            ),
            ("simulated messages".into(), simulation(self.config.simulation).into()),
        ]);
        Some(SeriesSpec {
            name: format!("{family}/{label}"),
            what: what.into(),
            clock: SeriesClock::Realtime,
            interval_ns: None,
            threshold_ns: None,
            settings,
        })
    }

    /// The event for a notice, if it is one of the supervision; `name` is that of its series.
    pub(crate) fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        if code < notice::FIRST_CODE {
            return None;
        }
        let block = name.split_once('/').map_or(name, |(_, block)| block);
        let text = match code {
            notice::MALFORMED => format!("{a} malformed GOOSE messages; in the first, octet {b} breaks a rule"),
            notice::TOO_MANY => format!("{a} GOOSE messages of more control blocks than the {b} that are told apart"),
            _ => format!("{block}: {}", self.of_block(code, a, b)),
        };
        Some((EventKind::Stream, text))
    }

    fn of_block(&self, code: u16, a: u64, b: u64) -> String {
        let after = || format_ns(a as f64);
        match code {
            notice::FIRST_SEEN => format!("first seen with stNum {a}, sqNum {b}"),
            notice::STATE => format!("stNum {a} -> {b}"),
            notice::MISSED_STATES => format!("{a} states before stNum {b} never came"),
            notice::BEGUN_LATE => {
                format!(
                    "state {b} begins with sqNum {a}, not 0: its first messages were lost, or the publisher does not reset it"
                )
            }
            notice::EXPIRED => format!("TAL expired: no message for {}; {}", after(), self.allowed(b)),
            notice::AGAIN => format!("messages come again after {}; {}", after(), self.allowed(b)),
            notice::RESTART => format!("the publisher began again, with stNum {a}, sqNum {b}"),
            notice::OLD => format!(
                "an old message of stNum {a} while stNum {b} is live: replayed, or of a second publisher; not taken"
            ),
            notice::SIMULATION if b == 1 => "simulated messages from here on".into(),
            notice::SIMULATION => "no longer simulated".into(),
            notice::CONF_REV => format!("confRev changed from {a} to {b}"),
            notice::NDS_COM if b == 1 => "needs commissioning: its values must not be used".into(),
            notice::NDS_COM => "no longer needs commissioning".into(),
            notice::ENTRIES => format!("numDatSetEntries changed from {a} to {b}"),
            notice::DAT_SET => "datSet changed".into(),
            notice::SOURCE => format!("source address changed from {} to {}", address(a), address(b)),
            notice::SECOND_SOURCE => format!(
                "a second publisher: messages come from {} too, while {} is live; not taken",
                address(b),
                address(a)
            ),
            notice::TOTALS => format!("{a} changes of state, {b} repetitions"),
            notice::OLD_TOTAL => format!("{a} old messages were not taken"),
            notice::WITHOUT_LIFE => format!("{a} messages with timeAllowedtoLive 0: their expiry is not judged"),
            notice::UNLISTED => format!("{a} more events are not listed"),
            notice::SILENT => format!("still silent at the end, since {}", after()),
            notice::NEVER_CAME => "is in the configuration, and no message of it came".into(),
            notice::UNEXPECTED => "is not in the configuration".into(),
            notice::REFUSED_TOTAL.. => format!(
                "{a} messages were refused: {}",
                refusal(code - notice::REFUSED_TOTAL).map_or("?", reason)
            ),
            notice::REFUSED.. => format!(
                "a message is refused: {}{}",
                refusal(code - notice::REFUSED).map_or("?", reason),
                if a > 0 { format!(" ({a})") } else { String::new() }
            ),
            _ => format!("notice {code} ({a}, {b})"),
        }
    }

    fn allowed(&self, tal_ms: u64) -> String {
        let factor = self.config.tal_factor;
        if factor == 1.0 {
            format!("timeAllowedtoLive was {tal_ms} ms")
        } else {
            format!("timeAllowedtoLive was {tal_ms} ms, and {factor} times that is allowed")
        }
    }
}

fn simulation(simulation: Simulation) -> &'static str {
    match simulation {
        Simulation::Both => "taken like real ones",
        Simulation::Off => "refused (Sim off)",
        Simulation::On => "taken instead of real ones, from the first on (Sim on)",
    }
}

fn refusal(number: u16) -> Option<Refusal> {
    REFUSALS.get(usize::from(number)).copied()
}

fn reason(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Simulated => "simulated, and Sim is off",
        Refusal::Real => "real, while simulated ones are taken",
        Refusal::FlagWithoutBit => {
            "the simulation flag is set without the simulate bit (Edition 1 publishers do so: --goose-edition-1)"
        }
        Refusal::SecondSource => "from a second source address",
        Refusal::ConfRev => "confRev is not the configured one",
        Refusal::DatSet => "datSet is not the configured one",
        Refusal::GoId => "goID is not the configured one",
        Refusal::Entries => "numDatSetEntries is not the configured one",
    }
}

fn address(number: u64) -> Mac {
    let [_, _, octets @ ..] = number.to_be_bytes();
    Mac(octets)
}
