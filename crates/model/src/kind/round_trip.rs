//! Kinds of round trips of test frames.

use super::{Accounts, BudgetLine, Kind, Samples};
use crate::counters::Counter;

/// `rtt/*`
pub static RTT: Kind = Kind {
    name: "rtt",
    title: "Layer-2 round trip",
    what: "Immediate-reflect round trip: just before the send call to just after the frame with the same sequence \
           number is back. Not halved.",
    samples: Samples::Frames,
    line: Some(BudgetLine::RoundTrip),
    accounts: Accounts::Periods,
    is_repeated: true,
    counts: &[
        Counter::Lost,
        Counter::Late,
        Counter::Duplicate,
        Counter::Reordered,
        Counter::Missed,
    ],
    words: &[],
};

/// `stage/*`
pub static STAGE: Kind = Kind {
    name: "stage",
    title: "Stages of the round trip",
    what: "Where the round trip's time goes, by the time stamps of the kernel or the NIC; the parts add up to it.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};

/// `turnaround/*`
pub static TURNAROUND: Kind = Kind {
    name: "turnaround",
    title: "Reflector turn-round",
    what: "Reflector's own part of a round trip: frame seen in the ring to the answer handed to the driver. In a ping-pong: the kernel has \
           the ping to the answer handed to the driver.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};
