//! Notices about control blocks, and their texts.

use super::Words;
use crate::notice::notices;
use model::EventKind;
use units::Ns;
use wire::ether::Mac;
use wire::goose::Refusal;
use wire::routed::{Proof, Publisher};

notices! {
    /// Notices about control blocks. Their codes are above those of sampled values.
    pub(in crate::subscribe) enum Notice {
        /// Number of malformed messages, and position of the octet in the first one that breaks a rule.
        Malformed = 1_000,
        /// Number of messages of control blocks beyond the limit.
        TooMany = 1_001,
        /// stNum and sqNum of the first message.
        FirstSeen = 1_002,
        /// stNum before and after the change.
        State = 1_003,
        /// Number of missing states before this stNum.
        MissedStates = 1_004,
        /// First received sqNum of the state with this stNum.
        BegunLate = 1_005,
        /// Time without a message in ns; the last timeAllowedtoLive in ms.
        Expired = 1_006,
        /// Time until messages came again in ns; the last timeAllowedtoLive in ms.
        Again = 1_007,
        /// The publisher restarted with this stNum and sqNum.
        Restart = 1_008,
        /// An outdated message with this stNum, while the other stNum is live.
        Old = 1_009,
        /// Simulation flag before and now.
        Simulation = 1_010,
        /// confRev before and now.
        ConfRev = 1_011,
        /// Needs-commissioning flag before and now.
        NdsCom = 1_012,
        /// numDatSetEntries before and now.
        Entries = 1_013,
        /// datSet changed.
        DatSet = 1_014,
        /// Source address before and now.
        Source = 1_015,
        /// Source address of a second publisher, and of the live one.
        SecondSource = 1_016,
        /// Total of changes of state, and of repetitions.
        Totals = 1_017,
        /// Total of outdated messages.
        OldTotal = 1_018,
        /// Total of messages with a timeAllowedtoLive of 0.
        WithoutLife = 1_019,
        /// Number of events that are not listed.
        Unlisted = 1_020,
        /// Silence at the end, in ns.
        Silent = 1_021,
        /// No message of an expected block came.
        NeverCame = 1_022,
        /// The block is not expected.
        Unexpected = 1_023,
        /// A second message with this stNum and sqNum but other contents.
        Conflicting = 1_024,
        /// t changed once, because the publisher restarted.
        BeganAgain = 1_025,
        /// The values changed without a new stNum, at this sqNum.
        Altered = 1_026,
        /// Only one message came.
        Single = 1_027,
        /// Time without a message at the end in ns, although no message had expired.
        FellSilent = 1_028,
        /// Total of messages that contradicted one with the same numbers, and of those that contradicted the values of their
        /// state.
        ConflictingTotal = 1_029,
        /// Total of restarts of the publisher.
        RestartsTotal = 1_030,
        /// Number of unreadable messages that may belong to this block.
        Unread = 1_031,
        /// Number of messages of blocks beyond the limit.
        Unplaced = 1_032,
        /// First message with a timeAllowedtoLive of 0.
        WithoutLifeFirst = 1_033,
        /// Another publisher took over with this stNum and sqNum.
        TakenOver = 1_034,
        /// Number of messages of this block, none of which could be read.
        NoneRead = 1_035,
        /// Number of messages of all blocks, none of which could be read.
        Unreadable = 1_036,
        /// A new state continued the sqNum of the state before with this number.
        NotReset = 1_037,
        /// The dataset changed but confRev did not, at this sqNum.
        Regrouped = 1_038,
        /// sqNum went from its highest value to 0.
        ToZero = 1_039,
    }
    each {
        /// Number of datagrams with this result of the check of their signatures.
        Proof(Proof) = 1_060,
        /// First message refused for this reason; the value found instead, if it is a number.
        Refused(Refusal) = 1_100,
        /// Total of messages refused for this reason.
        RefusedTotal(Refusal) = 1_200,
    }
}

impl Notice {
    /// True if the notice puts the figures of its series in doubt.
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
            Self::Proof(proof) => proof.is_doubt(),
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

    /// True if the notice concerns no particular control block.
    fn is_of_all(self) -> bool {
        matches!(self, Self::Malformed | Self::TooMany | Self::Unreadable)
    }
}

impl Words {
    /// Event for a notice about the series `name`.
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
                format!("{a} GOOSE messages came from control blocks beyond the limit of {b}")
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
                "a new state continues sqNum {a} of the previous one: either its first messages were lost, or the publisher does not \
                 reset sqNum"
            ),
            Notice::Regrouped => {
                format!("the dataset changed and confRev did not (sqNum {a}): the meaning of its values is not known")
            }
            Notice::ToZero => "sqNum went from its highest value to 0, and not to 1: the publisher breaks the rules; nothing was lost \
                                there"
                .into(),
            Notice::Conflicting => {
                format!(
                    "a second message with stNum {a}, sqNum {b} has other contents: a second publisher sent it; it is \
                     not accepted"
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
                "timeAllowedtoLive is 0, which is not allowed, so it is not known whether the publisher died".into()
            }
            Notice::Old => format!(
                "an old message of stNum {a} while stNum {b} is live: replayed, or sent by a second publisher; it is \
                 not accepted"
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
                "a second publisher: {} sends messages while {} is live; they are not accepted",
                address(b),
                address(a)
            ),
            Notice::Proof(proof) => format!("{a} messages {}", proof.words()),
            Notice::Totals => format!("{a} changes of state, {b} repetitions"),
            Notice::OldTotal => format!("{a} old messages were not accepted"),
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
            format!("timeAllowedtoLive was {tal_ms} ms; {factor} times this is allowed")
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

fn address(number: u64) -> Publisher {
    let [_, _, octets @ ..] = number.to_be_bytes();
    Publisher(Mac(octets))
}
