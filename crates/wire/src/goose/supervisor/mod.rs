//! Follows one GOOSE control block: decides which messages a subscriber uses, and detects changes that must be
//! reported.

use super::outcome::{Counts, Heard, Oddity, Outcome, Said};
use super::rules::Rules;
use super::{Frame, MAX_NAME};
use crate::ether::Mac;

/// Messages to use if some are simulated (LPHD.Sim of the subscriber).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Simulation {
    /// All messages, for an observer.
    Both,
    /// Sim FALSE: simulated messages are refused.
    Off,
    /// Sim TRUE: real messages are used until the first simulated one arrives, and refused from then on.
    #[default]
    On,
}

/// Settings for a control block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The stream expires after this factor times timeAllowedtoLive.
    pub tal_factor: f64,
    /// Messages to use if some are simulated.
    pub simulation: Simulation,
    /// The publisher is of Edition 1: it sets the simulation (then test) flag without the simulate bit.
    pub edition_1: bool,
}

impl Default for Settings {
    /// timeAllowedtoLive as sent, and real messages until simulated ones arrive: the same for a network interface and a
    /// capture.
    fn default() -> Self {
        Self {
            tal_factor: 1.0,
            simulation: Simulation::On,
            edition_1: false,
        }
    }
}

/// The subscriber's configuration of a control block; fields that are `None` are not checked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expectation {
    /// Configuration revision.
    pub conf_rev: Option<u32>,
    /// Dataset reference.
    pub dat_set: Option<Vec<u8>>,
    /// Identifier; for a message without goID, its gocbRef is compared.
    pub go_id: Option<Vec<u8>>,
    /// Entries of the dataset.
    pub entries: Option<u32>,
}

/// Why a message was refused, regardless of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Simulated, and Sim is FALSE.
    Simulated,
    /// Real, while simulated messages are used.
    Real,
    /// The simulation flag is set without the simulate bit.
    FlagWithoutBit,
    /// Another source address than that of the live publisher.
    SecondSource,
    /// confRev differs from the configured one.
    ConfRev,
    /// datSet differs from the configured one.
    DatSet,
    /// goID differs from the configured one.
    GoId,
    /// numDatSetEntries differs from the configured number.
    Entries,
}

/// Every refusal, in the order of [`Refused`].
pub const REFUSALS: [Refusal; 8] = [
    Refusal::Simulated,
    Refusal::Real,
    Refusal::FlagWithoutBit,
    Refusal::SecondSource,
    Refusal::ConfRev,
    Refusal::DatSet,
    Refusal::GoId,
    Refusal::Entries,
];

impl Refusal {
    /// True if a message refused for this reason leaves a doubt: it had the reference of the block, and its publisher's
    /// losses are not known. False for simulated messages if the subscriber's configuration excludes them.
    pub fn is_doubt(self) -> bool {
        self != Self::Simulated
    }

    /// Text of the reason, printed after "refused:".
    pub fn reason(self) -> &'static str {
        match self {
            Self::Simulated => "simulated, and Sim is off",
            Self::Real => "real, while simulated ones are taken",
            Self::FlagWithoutBit => "the simulation flag is set without the simulate bit",
            Self::SecondSource => "from a second source address",
            Self::ConfRev => "confRev is not the configured one",
            Self::DatSet => "datSet is not the configured one",
            Self::GoId => "goID is not the configured one",
            Self::Entries => "numDatSetEntries is not the configured one",
        }
    }
}

/// Number of refused messages, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refused([u64; REFUSALS.len()]);

impl Refused {
    /// Messages refused for this reason.
    pub fn of(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    /// Number of refused messages, for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Refused messages that leave a doubt.
    pub fn doubtful(&self) -> u64 {
        REFUSALS
            .into_iter()
            .filter(|refusal| refusal.is_doubt())
            .map(|refusal| self.of(refusal))
            .sum()
    }
}

/// The fields that a subscriber checks in addition to the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// Source address.
    pub source: Mac,
    /// Simulation flag.
    pub simulation: bool,
    /// Configuration revision.
    pub conf_rev: u32,
    /// Needs commissioning.
    pub nds_com: bool,
    /// Entries of the dataset.
    pub entries: u32,
    /// Length of the dataset reference, and its octets.
    dat_set: (u8, [u8; MAX_NAME]),
}

impl Marks {
    /// The identity and configuration of a message.
    pub fn of(frame: &Frame<'_>) -> Self {
        let name = frame.dat_set();
        let length = name.len().min(MAX_NAME);
        let mut dat_set = [0; MAX_NAME];
        dat_set[..length].copy_from_slice(&name[..length]);
        Self {
            source: frame.ethernet().src(),
            simulation: frame.simulation(),
            conf_rev: frame.conf_rev(),
            nds_com: frame.nds_com(),
            entries: frame.num_dat_set_entries(),
            // The length is at most 129.
            dat_set: (length as u8, dat_set),
        }
    }

    /// True if the dataset differs from the earlier one, or has other entries, although confRev is the same.
    fn is_regrouped(&self, before: &Self) -> bool {
        self.conf_rev == before.conf_rev && (self.entries, self.dat_set) != (before.entries, before.dat_set)
    }

    /// Dataset reference.
    pub fn dat_set(&self) -> &[u8] {
        &self.dat_set.1[..usize::from(self.dat_set.0)]
    }
}

/// A subscriber's decision about one message, and its news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The message was not refused, and its numbers were checked.
    Judged {
        /// The outcome of the message.
        outcome: Outcome,
        /// How long after the allowed time it arrived, ns. 0 if the expiry was found before it arrived.
        overdue_ns: Option<i64>,
        /// The fields of the previous message, if they differ from those of this one.
        before: Option<Marks>,
        /// A further oddity.
        oddity: Option<Oddity>,
    },
    /// The message was refused.
    Refused {
        /// The reason.
        refusal: Refusal,
        /// True if the previous message was not refused for this reason, so that each transition is reported once.
        is_new: bool,
    },
}

impl Verdict {
    /// True if it is the first message of a new state: only its arrival shows how long the change took.
    pub fn is_event(&self, sq_num: u32) -> bool {
        matches!(
            self,
            Self::Judged {
                outcome: Outcome::NewState(_),
                ..
            }
        ) && sq_num == 0
    }
}

/// Follows one control block. After [`Supervisor::new`] nothing is allocated.
#[derive(Debug, Clone)]
pub struct Supervisor {
    settings: Settings,
    expectation: Expectation,
    rules: Rules,
    marks: Option<Marks>,
    /// True if a simulated message was used while Sim is TRUE.
    is_simulated: bool,
    refused: Refused,
    /// Number of messages with another dataset but the same confRev.
    regrouped: u64,
    /// Bit n: refusal n was reported, and no message since has ended it.
    told: u8,
    messages: u64,
}

impl Supervisor {
    /// Creates a supervisor that has seen no message.
    pub fn new(settings: Settings, expectation: Expectation) -> Self {
        Self {
            settings,
            expectation,
            rules: Rules::new(settings.tal_factor),
            marks: None,
            is_simulated: false,
            refused: Refused::default(),
            regrouped: 0,
            told: 0,
            messages: 0,
        }
    }

    /// Takes the next message.
    pub fn accept(&mut self, frame: &Frame<'_>, at: Heard) -> Verdict {
        let marks = Marks::of(frame);
        self.messages += 1;
        if let Some(refusal) = self.refusal(frame, &marks, at) {
            return self.refuse(refusal);
        }
        // A fault in this publisher's messages ends with a correct one; a second publisher may continue.
        self.told &= bit(Refusal::Simulated) | bit(Refusal::Real) | bit(Refusal::SecondSource);
        let is_other = self.takes_over(&marks) || self.is_of_another(&marks);
        self.is_simulated |= marks.simulation;
        let (outcome, overdue_ns) = match is_other {
            true => self.rules.take_over(Said::of(frame), at),
            false => self.rules.accept(Said::of(frame), at),
        };
        let before = match outcome.is_taken() {
            true => self.marks.replace(marks).filter(|before| *before != marks),
            false => None,
        };
        if before.is_some_and(|before| before.source != marks.source) {
            self.told = 0;
        }
        let is_regrouped = before.is_some_and(|before| marks.is_regrouped(&before));
        self.regrouped += u64::from(is_regrouped);
        Verdict::Judged {
            outcome,
            overdue_ns,
            before,
            oddity: is_regrouped.then_some(Oddity::Regrouped).or(self.rules.oddity()),
        }
    }

    /// Checks for expiry between messages. When it first finds the last message expired, returns how long ago that was,
    /// in ns.
    pub fn expire(&mut self, now: Heard) -> Option<i64> {
        self.rules.expire(now)
    }

    /// Ends the stream, like [`Rules::finish`].
    pub fn finish(&mut self, end: Heard) -> Option<i64> {
        self.rules.finish(end)
    }

    /// True if the values of the last message may be used: it has not expired, needs no commissioning, and no later
    /// message was refused because of the configuration.
    pub fn is_usable(&self) -> bool {
        let configured = [Refusal::ConfRev, Refusal::DatSet, Refusal::GoId, Refusal::Entries];
        let is_refused = configured.into_iter().any(|refusal| self.told & bit(refusal) != 0);
        self.rules.is_live() && !is_refused && self.marks.is_some_and(|marks| !marks.nds_com)
    }

    /// True if the counts are in doubt: the publisher restarted, was replaced, or a second one is active; messages were
    /// refused, contradict others or make it impossible to judge a silence; the beginning of a state was not seen; the
    /// dataset changed; or no second message arrived.
    pub fn is_in_doubt(&self) -> bool {
        let counts = self.rules.counts();
        let of_another = counts.old + counts.conflicting + counts.altered + self.refused.doubtful();
        let unknown = counts.without_life + counts.fell_silent + counts.not_reset + self.regrouped;
        of_another + counts.restarts + unknown > 0 || self.rules.is_single()
    }

    /// The rules for the numbers.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The messages by outcome, without refused ones.
    pub fn counts(&self) -> Counts {
        self.rules.counts()
    }

    /// Messages refused, by reason.
    pub fn refused(&self) -> Refused {
        self.refused
    }

    /// Messages whose dataset differed from the earlier one, or had other entries, with the same confRev.
    pub fn regrouped(&self) -> u64 {
        self.regrouped
    }

    /// Number of all messages.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Fields of the last message taken.
    pub fn marks(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    fn refuse(&mut self, refusal: Refusal) -> Verdict {
        self.refused.0[refusal as usize] += 1;
        let is_new = self.told & bit(refusal) == 0;
        self.told |= bit(refusal);
        Verdict::Refused { refusal, is_new }
    }

    fn refusal(&self, frame: &Frame<'_>, marks: &Marks, at: Heard) -> Option<Refusal> {
        if marks.simulation && !frame.simulate() && !self.settings.edition_1 {
            return Some(Refusal::FlagWithoutBit);
        }
        match (self.settings.simulation, marks.simulation) {
            (Simulation::Off, true) => return Some(Refusal::Simulated),
            (Simulation::On, false) if self.is_simulated => return Some(Refusal::Real),
            _ => {}
        }
        if let Some(refusal) = self.mismatch(frame) {
            return Some(refusal);
        }
        let is_live = self.rules.is_live() && self.rules.overdue(at).is_none();
        let is_second = is_live && self.is_of_another(marks) && !self.takes_over(marks);
        is_second.then_some(Refusal::SecondSource)
    }

    /// True if the first simulated message replaces the real ones, whoever sends it.
    fn takes_over(&self, marks: &Marks) -> bool {
        self.settings.simulation == Simulation::On && marks.simulation && !self.is_simulated
    }

    fn is_of_another(&self, marks: &Marks) -> bool {
        self.marks.is_some_and(|last| last.source != marks.source)
    }

    fn mismatch(&self, frame: &Frame<'_>) -> Option<Refusal> {
        let Expectation {
            conf_rev,
            dat_set,
            go_id,
            entries,
        } = &self.expectation;
        if conf_rev.is_some_and(|wanted| wanted != frame.conf_rev()) {
            return Some(Refusal::ConfRev);
        }
        if dat_set.as_ref().is_some_and(|wanted| wanted != frame.dat_set()) {
            return Some(Refusal::DatSet);
        }
        let is_other = |wanted: &Vec<u8>| wanted != frame.go_id().unwrap_or_else(|| frame.gocb_ref());
        if go_id.as_ref().is_some_and(is_other) {
            return Some(Refusal::GoId);
        }
        let is_other = entries.is_some_and(|wanted| wanted != frame.num_dat_set_entries());
        is_other.then_some(Refusal::Entries)
    }
}

fn bit(refusal: Refusal) -> u8 {
    1 << refusal as u8
}

#[cfg(test)]
mod tests;
