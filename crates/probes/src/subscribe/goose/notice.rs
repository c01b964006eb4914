//! Notices about control blocks, and their words.

use super::Words;
use crate::notice::notices;
use model::EventKind;
use units::Ns;
use wire::ether::Mac;
use wire::goose::Refusal;

notices! {
    /// Notices about control blocks, above those of sampled values.
    pub(in crate::subscribe) enum Notice {
        /// Malformed messages, and the octet of the first that breaks a rule.
        Malformed = 1_000,
        /// Messages of control blocks for which there is no room.
        TooMany = 1_001,
        /// stNum and sqNum of the first message.
        FirstSeen = 1_002,
        /// stNum before and after.
        State = 1_003,
        /// So many states before this stNum never came.
        MissedStates = 1_004,
        /// The first sqNum of the state of this stNum.
        BegunLate = 1_005,
        /// Nothing came for so many ns; the last timeAllowedtoLive in ms.
        Expired = 1_006,
        /// A message came after so many ns; the last timeAllowedtoLive in ms.
        Again = 1_007,
        /// The publisher restarted with this stNum and sqNum.
        Restart = 1_008,
        /// An old message of this stNum, while the other is live.
        Old = 1_009,
        /// Simulated before and now.
        Simulation = 1_010,
        /// confRev before and now.
        ConfRev = 1_011,
        /// Needs commissioning before and now.
        NdsCom = 1_012,
        /// numDatSetEntries before and now.
        Entries = 1_013,
        /// datSet changed.
        DatSet = 1_014,
        /// Source address before and now.
        Source = 1_015,
        /// Source address of the live publisher, and of a second one.
        SecondSource = 1_016,
        /// All changes of state, and all repetitions.
        Totals = 1_017,
        /// All old messages.
        OldTotal = 1_018,
        /// All messages with a timeAllowedtoLive of 0.
        WithoutLife = 1_019,
        /// Events that are not listed.
        Unlisted = 1_020,
        /// Silent at the end, for so many ns.
        Silent = 1_021,
        /// No message of an expected block came.
        NeverCame = 1_022,
        /// The block is not expected.
        Unexpected = 1_023,
        /// A second message of this stNum and sqNum with other contents.
        Conflicting = 1_024,
        /// t changed once: the publisher restarted.
        BeganAgain = 1_025,
        /// The values changed without a new stNum, at this sqNum.
        Altered = 1_026,
        /// Only one message came.
        Single = 1_027,
        /// Nothing came for so many ns at the end, though no message had expired.
        FellSilent = 1_028,
        /// All messages that contradicted one of the same numbers, or the values of their state.
        ConflictingTotal = 1_029,
        /// All restarts of the publisher.
        RestartsTotal = 1_030,
        /// Unreadable messages that may be of this block.
        Unread = 1_031,
        /// Messages of blocks for which there was no room.
        Unplaced = 1_032,
        /// The first message with a timeAllowedtoLive of 0.
        WithoutLifeFirst = 1_033,
        /// Another publisher began with this stNum and sqNum.
        TakenOver = 1_034,
        /// None of so many messages of this block could be read.
        NoneRead = 1_035,
        /// None of so many messages of all blocks could be read.
        Unreadable = 1_036,
        /// A new state went on with this sqNum of the one before.
        NotReset = 1_037,
        /// The dataset changed and confRev did not, at this sqNum.
        Regrouped = 1_038,
        /// sqNum went from its highest value to 0.
        ToZero = 1_039,
    }
    each {
        /// The first message that was refused for this; what it had instead, where that is a number.
        Refused(Refusal) = 1_100,
        /// All messages that were refused for this.
        RefusedTotal(Refusal) = 1_200,
    }
}

impl Notice {
    /// True if it puts the figures of its series in doubt.
    pub(super) fn is_doubt(self) -> bool {
        match self {
            Self::Restart | Self::TakenOver | Self::BeganAgain | Self::RestartsTotal => true,
            Self::Old
            | Self::OldTotal
            | Self::Conflicting
            | Self::ConflictingTotal
            | Self::Altered
            | Self::Source
            | Self::SecondSource => true,
            Self::Unread | Self::NoneRead | Self::Unreadable | Self::Unplaced | Self::NotReset | Self::Regrouped => {
                true
            }
            Self::WithoutLife | Self::WithoutLifeFirst | Self::Single | Self::FellSilent | Self::NeverCame => true,
            Self::Refused(refusal) | Self::RefusedTotal(refusal) => refusal.is_doubt(),
            Self::Malformed
            | Self::TooMany
            | Self::FirstSeen
            | Self::State
            | Self::MissedStates
            | Self::BegunLate
            | Self::Expired
            | Self::Again
            | Self::Simulation
            | Self::ConfRev
            | Self::NdsCom
            | Self::Entries
            | Self::DatSet
            | Self::Totals
            | Self::Unlisted
            | Self::Silent
            | Self::Unexpected
            | Self::ToZero => false,
        }
    }

    /// True if it is about no control block in particular.
    fn is_of_all(self) -> bool {
        matches!(self, Self::Malformed | Self::TooMany | Self::Unreadable)
    }
}

impl Words {
    /// The event for a notice about the series `name`.
    pub(in crate::subscribe) fn told(&self, notice: Notice, name: &str, a: u64, b: u64) -> (EventKind, String) {
        let block = name.split_once('/').map_or(name, |(_, block)| block);
        let what = self.what(notice, a, b);
        let text = match notice.is_of_all() {
            true => what,
            false => format!("{block}: {what}"),
        };
        let kind = match notice.is_doubt() {
            true => EventKind::Incomplete,
            false => EventKind::Stream,
        };
        (kind, text)
    }

    fn what(&self, notice: Notice, a: u64, b: u64) -> String {
        match notice {
            Notice::Malformed => format!("{a} malformed GOOSE messages; in the first, octet {b} breaks a rule"),
            Notice::Unreadable => format!("none of the {a} GOOSE messages that came could be read"),
            Notice::TooMany => {
                format!("{a} GOOSE messages came from control blocks beyond the {b} that are told apart")
            }
            Notice::FirstSeen => format!("first seen with stNum {a}, sqNum {b}"),
            Notice::State => format!("stNum {a} -> {b}"),
            Notice::MissedStates => format!("{a} states before stNum {b} never came"),
            Notice::BegunLate => {
                format!(
                    "state {b} begins with sqNum {a}, not 0: its first messages were lost, or the publisher does not reset it"
                )
            }
            Notice::Expired => format!("TAL expired: no message for {}; {}", Ns(a), self.allowed(b)),
            Notice::Again => format!("messages come again after {}; {}", Ns(a), self.allowed(b)),
            Notice::Restart => format!("the publisher restarted with stNum {a}, sqNum {b}"),
            Notice::TakenOver => format!("another publisher takes over the block with stNum {a}, sqNum {b}"),
            Notice::BeganAgain => {
                "t changed once without a new stNum, then stayed the same: the publisher restarted".into()
            }
            Notice::Altered => {
                format!(
                    "the values changed without a new stNum (sqNum {a}): a second publisher sent them, or the \
                     publisher breaks the rules"
                )
            }
            Notice::NotReset => format!(
                "a new state goes on with sqNum {a} of the one before: whether its first messages were lost, or the publisher does not \
                 reset sqNum, is not known"
            ),
            Notice::Regrouped => {
                format!("the dataset changed and confRev did not (sqNum {a}): which value means what is not known")
            }
            Notice::ToZero => "sqNum went from its highest value to 0, and not to 1: the publisher breaks the rules; nothing was lost \
                                there"
                .into(),
            Notice::Conflicting => {
                format!(
                    "a second message with stNum {a}, sqNum {b} has other contents: a second publisher sent it; it is \
                     not taken"
                )
            }
            Notice::Single => "only one message came: nothing is known of later ones".into(),
            Notice::FellSilent => format!(
                "no message for {} at the end; until then messages came steadily and more often",
                Ns(a)
            ),
            Notice::NoneRead => format!("none of its {a} messages could be read"),
            Notice::Unread => format!("{a} unreadable messages may belong to it"),
            Notice::Unplaced => format!("{a} messages came from control blocks beyond --max-control-blocks"),
            Notice::WithoutLifeFirst => {
                "timeAllowedtoLive is 0, which is not allowed: nobody can tell whether the publisher died".into()
            }
            Notice::Old => format!(
                "an old message of stNum {a} while stNum {b} is live: replayed, or sent by a second publisher; it is \
                 not taken"
            ),
            Notice::Simulation if b == 1 => "simulated messages from here on".into(),
            Notice::Simulation => "no longer simulated".into(),
            Notice::ConfRev => format!("confRev changed from {a} to {b}"),
            Notice::NdsCom if b == 1 => "needs commissioning: its values must not be used".into(),
            Notice::NdsCom => "no longer needs commissioning".into(),
            Notice::Entries => format!("numDatSetEntries changed from {a} to {b}"),
            Notice::DatSet => "datSet changed".into(),
            Notice::Source => format!(
                "another publisher: the source address changed from {} to {}",
                address(a),
                address(b)
            ),
            Notice::SecondSource => format!(
                "a second publisher: {} sends messages while {} is live; they are not taken",
                address(b),
                address(a)
            ),
            Notice::Totals => format!("{a} changes of state, {b} repetitions"),
            Notice::OldTotal => format!("{a} old messages were not taken"),
            Notice::ConflictingTotal => {
                format!(
                    "{a} messages contradicted one with the same numbers, {b} contradicted the values of their state"
                )
            }
            Notice::RestartsTotal => format!("restarts of the publisher: {a}"),
            Notice::WithoutLife => format!("{a} messages with timeAllowedtoLive 0"),
            Notice::Unlisted => format!("{a} more events are not listed"),
            Notice::Silent => format!("still silent at the end, since {}", Ns(a)),
            Notice::NeverCame => "is in the configuration, but no message of it came".into(),
            Notice::Unexpected => "is not in the configuration".into(),
            Notice::RefusedTotal(refusal) => format!("{a} messages were refused: {}", reason(refusal)),
            Notice::Refused(refusal) => format!(
                "a message is refused: {}{}",
                reason(refusal),
                if a > 0 { format!(" ({a})") } else { String::new() }
            ),
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

fn reason(refusal: Refusal) -> String {
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
