//! The series of a control block, and its notices, in words.

use super::{SLOTS, SuperviseConfig, notice, refusal};
use model::{EventKind, SeriesClock, SeriesSpec, kind};
use units::format_ns;
use wire::ether::Mac;
use wire::goose::{Refusal, Simulation};

/// Names and settings of the series of the supervision.
pub(in crate::subscribe) struct Words {
    config: SuperviseConfig,
    first_slot: u16,
}

impl Words {
    pub(in crate::subscribe) fn of(config: &SuperviseConfig, first_slot: u16) -> Self {
        Self {
            config: config.clone(),
            first_slot,
        }
    }

    /// The series of slot `slot`, if it is one of a control block; `settings` are those of the whole probe.
    pub(in crate::subscribe) fn series(
        &self,
        slot: u16,
        label: &str,
        mut settings: Vec<(String, String)>,
    ) -> Option<SeriesSpec> {
        let (kind, what) = match slot.checked_sub(self.first_slot)? % SLOTS {
            0 => (&kind::GOOSE, "kernel receive stamp of one message -> that of the next"),
            _ => (
                &kind::GOOSE_TRANSFER,
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
            clock: SeriesClock::Realtime,
            settings,
            ..SeriesSpec::of(kind, label, what)
        })
    }

    /// The event for a notice, if it is one of the supervision; `name` is that of its series.
    pub(in crate::subscribe) fn notice(&self, code: u16, name: &str, a: u64, b: u64) -> Option<(EventKind, String)> {
        if code < notice::FIRST_CODE {
            return None;
        }
        let block = name.split_once('/').map_or(name, |(_, block)| block);
        let text = match code {
            notice::MALFORMED => format!("{a} malformed GOOSE messages; in the first, octet {b} breaks a rule"),
            notice::UNREADABLE => format!("none of the {a} GOOSE messages that came could be read"),
            notice::TOO_MANY => {
                format!("{a} GOOSE messages came from control blocks beyond the {b} that are told apart")
            }
            _ => format!("{block}: {}", self.of_block(code, a, b)),
        };
        let kind = match notice::is_doubt(code) {
            true => EventKind::Incomplete,
            false => EventKind::Stream,
        };
        Some((kind, text))
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
            notice::RESTART => format!("the publisher restarted with stNum {a}, sqNum {b}"),
            notice::TAKEN_OVER => format!("another publisher takes over the block with stNum {a}, sqNum {b}"),
            notice::BEGAN_AGAIN => {
                "t changed once without a new stNum, then stayed the same: the publisher restarted".into()
            }
            notice::ALTERED => {
                format!(
                    "the values changed without a new stNum (sqNum {a}): a second publisher sent them, or the \
                     publisher breaks the rules"
                )
            }
            notice::NOT_RESET => format!(
                "a new state goes on with sqNum {a} of the one before: whether its first messages were lost, or the publisher does not \
                 reset sqNum, is not known"
            ),
            notice::REGROUPED => {
                format!("the dataset changed and confRev did not (sqNum {a}): which value means what is not known")
            }
            notice::TO_ZERO => "sqNum went from its highest value to 0, and not to 1: the publisher breaks the rules; nothing was lost \
                                there"
                .into(),
            notice::CONFLICTING => {
                format!(
                    "a second message with stNum {a}, sqNum {b} has other contents: a second publisher sent it; it is \
                     not taken"
                )
            }
            notice::SINGLE => "only one message came: nothing is known of later ones".into(),
            notice::FELL_SILENT => format!(
                "no message for {} at the end; until then messages came steadily and more often",
                after()
            ),
            notice::NONE_READ => format!("none of its {a} messages could be read"),
            notice::UNREAD => format!("{a} unreadable messages may belong to it"),
            notice::UNPLACED => format!("{a} messages came from control blocks beyond --max-control-blocks"),
            notice::WITHOUT_LIFE_FIRST => {
                "timeAllowedtoLive is 0, which is not allowed: nobody can tell whether the publisher died".into()
            }
            notice::OLD => format!(
                "an old message of stNum {a} while stNum {b} is live: replayed, or sent by a second publisher; it is \
                 not taken"
            ),
            notice::SIMULATION if b == 1 => "simulated messages from here on".into(),
            notice::SIMULATION => "no longer simulated".into(),
            notice::CONF_REV => format!("confRev changed from {a} to {b}"),
            notice::NDS_COM if b == 1 => "needs commissioning: its values must not be used".into(),
            notice::NDS_COM => "no longer needs commissioning".into(),
            notice::ENTRIES => format!("numDatSetEntries changed from {a} to {b}"),
            notice::DAT_SET => "datSet changed".into(),
            notice::SOURCE => format!(
                "another publisher: the source address changed from {} to {}",
                address(a),
                address(b)
            ),
            notice::SECOND_SOURCE => format!(
                "a second publisher: {} sends messages while {} is live; they are not taken",
                address(b),
                address(a)
            ),
            notice::TOTALS => format!("{a} changes of state, {b} repetitions"),
            notice::OLD_TOTAL => format!("{a} old messages were not taken"),
            notice::CONFLICTING_TOTAL => {
                format!(
                    "{a} messages contradicted one with the same numbers, {b} contradicted the values of their state"
                )
            }
            notice::RESTARTS_TOTAL => format!("restarts of the publisher: {a}"),
            notice::WITHOUT_LIFE => format!("{a} messages with timeAllowedtoLive 0"),
            notice::UNLISTED => format!("{a} more events are not listed"),
            notice::SILENT => format!("still silent at the end, since {}", after()),
            notice::NEVER_CAME => "is in the configuration, but no message of it came".into(),
            notice::UNEXPECTED => "is not in the configuration".into(),
            notice::REFUSED_TOTAL.. => format!("{a} messages were refused: {}", reason(code - notice::REFUSED_TOTAL)),
            notice::REFUSED.. => format!(
                "a message is refused: {}{}",
                reason(code - notice::REFUSED),
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

fn reason(number: u16) -> String {
    let Some(refusal) = refusal(number) else {
        return "?".to_owned();
    };
    let hint = match refusal {
        Refusal::FlagWithoutBit => " (Edition 1 publishers do so: --goose-edition-1)",
        _ => "",
    };
    format!("{}{hint}", refusal.reason())
}

fn address(number: u64) -> Mac {
    let [_, _, octets @ ..] = number.to_be_bytes();
    Mac(octets)
}
