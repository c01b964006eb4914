//! Kinds of series about one machine alone: its threads and clocks.

use super::{Accounts, BudgetLine, Kind, Samples};
use crate::counters::Counter;

/// `wakeup/*`
pub static WAKEUP: Kind = Kind {
    name: "wakeup",
    title: "Wake-up latency",
    what: "Due instant of a timer to the instant the thread runs. Periods skipped because the thread was held up are \
           counted as missed; no catch-up burst follows.",
    samples: Samples::OfThread,
    line: Some(BudgetLine::WakeUp),
    accounts: Accounts::Periods,
    is_repeated: true,
    counts: &[Counter::Missed],
    words: &[],
};

/// `noise/*`
pub static NOISE: Kind = Kind {
    name: "noise",
    title: "Noise",
    what: "Gaps longer than the threshold in which a spinning thread did not run. Each sample is the length of one gap; \
           the time the thread was watched is counted separately.",
    samples: Samples::OfThread,
    line: None,
    accounts: Accounts::Watched,
    is_repeated: true,
    counts: &[],
    words: &[],
};

/// `clock/*`
pub static CLOCK: Kind = Kind {
    name: "clock",
    title: "Clock",
    what: "How far this machine's clock was from its PTP master, the path delay it was measured over, and how far the system \
           clock was from the network card's. Distances without their sign.",
    samples: Samples::OfClocks,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost],
    words: &[],
};
