//! Kinds of series about a relay under test: its trips, and the decisions of two relays.

use super::{Accounts, BudgetLine, Kind, Samples};
use crate::counters::Counter;

/// `trip/*`
pub static TRIP: Kind = Kind {
    name: "trip",
    title: "Trip time",
    what: "Due instant of the first faulted sample to the first GOOSE frame with the trip bit, at the same test set.",
    samples: Samples::Frames,
    line: Some(BudgetLine::Trip),
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Unwanted],
    words: &[
        (Counter::Expected, "Shots with a fault"),
        (Counter::Received, "Trips"),
        (
            Counter::Lost,
            "Failures to trip: shots with a fault, and no trip while it lasted",
        ),
        (Counter::Unwanted, "Trips before the fault of their shot"),
    ],
};

/// `start/*`
pub static START: Kind = Kind {
    name: "start",
    title: "Start time",
    what: "Due instant of the first faulted sample to the first GOOSE frame with the start bit, at the same test set.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost],
    words: &[
        (Counter::Expected, "Shots with a fault"),
        (Counter::Received, "Starts"),
        (Counter::Lost, "Shots with a fault, and no start while it lasted"),
    ],
};

/// `security/*`
pub static SECURITY: Kind = Kind {
    name: "security",
    title: "No trip without a fault",
    what: "How long a relay was watched in a shot in which it must not trip, from the start of the disturbance.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Unwanted],
    words: &[
        (Counter::Expected, "Shots without a fault"),
        (Counter::Received, "Shots that were watched to their end"),
        (Counter::Unwanted, "False trips"),
    ],
};

/// `phase/*`
pub static PHASE: Kind = Kind {
    name: "phase",
    title: "Phases of a trip",
    what: "Operate time, as in trip/*, of trips whose phases the scenario expects and the relay reported.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Wrong],
    words: &[
        (Counter::Expected, "Trips for which the scenario expects phases"),
        (Counter::Received, "Trips whose phases were reported"),
        (Counter::Lost, "Trips whose phases were not reported"),
        (Counter::Wrong, "Trips with the wrong phases"),
    ],
};

/// `zone/*`
pub static ZONE: Kind = Kind {
    name: "zone",
    title: "Zone or function of a trip",
    what: "Operate time, as in trip/*, of trips whose zone or function the scenario expects and the relay reported.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Wrong],
    words: &[
        (
            Counter::Expected,
            "Trips for which the scenario expects a zone or function",
        ),
        (Counter::Received, "Trips whose zone or function was reported"),
        (Counter::Lost, "Trips whose zone or function was not reported"),
        (Counter::Wrong, "Trips with the wrong zone or function"),
    ],
};

/// `decision/*`
pub static DECISION: Kind = Kind {
    name: "decision",
    title: "Decisions of two relays",
    what: "The kernel's receive stamp of the first GOOSE message with the decision of one relay to that of the other, in either order.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost],
    words: &[
        (Counter::Expected, "Decisions"),
        (Counter::Received, "Decisions that both relays took"),
        (Counter::Lost, "Decisions that only one relay took"),
    ],
};

/// `lead/*`
pub static LEAD: Kind = Kind {
    name: "lead",
    title: "Which relay decided first",
    what: "Decisions that the relay named first took before the other, and the time between both.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};
