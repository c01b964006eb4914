//! Kinds of series about streams of sampled values: how they are sent, how they arrive, how old they are, and how a task uses them.

use super::{Accounts, BudgetLine, Kind, Samples};
use crate::counters::Counter;

/// Frames that the kernel refused to send.
const REFUSED: (Counter, &str) = (Counter::Lost, "Frames that the kernel did not take");

/// Instants at which a sender was held up.
const NOT_SENT: (Counter, &str) = (
    Counter::Missed,
    "Instants that the sender slept through: nothing was sent for them",
);

/// The counters that follow from the numbers and contents of sampled values.
const OF_SAMPLES: &[Counter] = &[
    Counter::Lost,
    Counter::Duplicate,
    Counter::Conflicting,
    Counter::Reordered,
];

/// `publish/*`
pub static PUBLISH: Kind = Kind {
    name: "publish",
    title: "Publisher lateness",
    what: "Due instant of a sampled value or a GOOSE message to the end of its send call: how well this publisher kept its \
           schedule.",
    samples: Samples::Sent,
    line: Some(BudgetLine::Publish),
    accounts: Accounts::Periods,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Late, Counter::Missed],
    words: &[REFUSED, NOT_SENT],
};

/// `talk/*`
pub static TALK: Kind = Kind {
    name: "talk",
    title: "Talker delta",
    what: "Due instant of a frame to the instant just before its send call. Cycles that were slept through are counted as \
           missed: nothing is sent for them, then or later.",
    samples: Samples::Sent,
    line: None,
    accounts: Accounts::Periods,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Late, Counter::Missed],
    words: &[REFUSED, NOT_SENT],
};

/// `send/*`
pub static SEND: Kind = Kind {
    name: "send",
    title: "Send call",
    what: "Instant just before the send call to its return.",
    samples: Samples::Sent,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};

/// `departure/*`
pub static DEPARTURE: Kind = Kind {
    name: "departure",
    title: "Departure",
    what: "Due instant of a frame to its time stamp on the way out: when the driver took it, or when the NIC put it on the wire.",
    samples: Samples::Sent,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};

/// `listen/*`
pub static LISTEN: Kind = Kind {
    name: "listen",
    title: "Listener delta",
    what: "Time between two frames of one stream that follow each other, by the kernel's receive time stamps. Lost frames \
           are counted, and lengthen the time around them.",
    samples: Samples::Spacing,
    line: None,
    accounts: Accounts::Periods,
    is_repeated: false,
    // Contents are compared for some of its streams only; subscribe compares them for all.
    counts: &[Counter::Lost, Counter::Late, Counter::Duplicate, Counter::Reordered],
    words: &[],
};

/// `credit/*`
pub static CREDIT: Kind = Kind {
    name: "credit",
    title: "Credit of the shaper",
    what: "By how much a frame came before its interval: the credit-based shaper of IEEE 802.1Qav allows as much as another frame \
           takes. More than that is over the threshold.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[(
        Counter::Overflow,
        "Frames further before their interval than the shaper's credit allows",
    )],
};

/// `arrival/*`
pub static ARRIVAL: Kind = Kind {
    name: "arrival",
    title: "Arrival",
    what: "Due instant of a sampled value to the kernel's receive time stamp: publisher, network and host transit.",
    samples: Samples::Transit,
    line: Some(BudgetLine::ToHostEdge),
    accounts: Accounts::Periods,
    is_repeated: false,
    counts: OF_SAMPLES,
    words: &[],
};

/// `hop/*`
pub static HOP: Kind = Kind {
    name: "hop",
    title: "Hops inside the host",
    what: "One observation point in this kernel to the next, and the first point to each that is further away.",
    samples: Samples::Hops,
    line: Some(BudgetLine::HostTransit),
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Duplicate, Counter::Reordered],
    words: &[],
};

/// `delivery/*`
pub static DELIVERY: Kind = Kind {
    name: "delivery",
    title: "Delivery",
    what: "The kernel's receive time stamp to the application having the frame.",
    samples: Samples::Transit,
    line: Some(BudgetLine::GuestDelivery),
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};

/// `age/*`
pub static AGE: Kind = Kind {
    name: "age",
    title: "Age at the application",
    what: "Due instant of a sampled value to the application having it: arrival and delivery in one.",
    samples: Samples::Transit,
    line: Some(BudgetLine::Age),
    accounts: Accounts::Periods,
    is_repeated: false,
    counts: OF_SAMPLES,
    words: &[],
};

/// `use/*`
pub static USE: Kind = Kind {
    name: "use",
    title: "Age at the protection task",
    what: "Due instant of a sampled value to the protection task working on it: arrival, delivery, and the wait for the task's next \
           cycle in one.",
    samples: Samples::Transit,
    line: None,
    accounts: Accounts::Periods,
    is_repeated: false,
    counts: OF_SAMPLES,
    words: &[],
};

/// `spacing/*`
pub static SPACING: Kind = Kind {
    name: "spacing",
    title: "Spacing",
    what: "Time between two frames of one stream that follow each other at the application.",
    samples: Samples::Spacing,
    line: None,
    accounts: Accounts::Periods,
    is_repeated: false,
    counts: OF_SAMPLES,
    words: &[],
};

/// `lan/*`
pub static LAN: Kind = Kind {
    name: "lan",
    title: "LANs of a redundant network",
    what: "First copy of a frame on any LAN to the copy on this one; 0 if this LAN was first. A copy that does not come within the \
           400 ms after which a doubly attached node forgets a frame (IEC 62439-3) is lost on this LAN.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[
        Counter::Lost,
        Counter::Late,
        Counter::Duplicate,
        Counter::Conflicting,
        Counter::Reordered,
        Counter::Wrong,
    ],
    words: &[
        (Counter::Lost, "Frames that came on the other LAN only"),
        (
            Counter::Late,
            "Copies after the discard window of 400 ms, which count as lost, too",
        ),
        (Counter::Duplicate, "Frames that came again on this LAN"),
        (Counter::Conflicting, "Copies with other contents than the first"),
        (Counter::Wrong, "Frames that state the other LAN"),
    ],
};

/// `latency/*`
pub static LATENCY: Kind = Kind {
    name: "latency",
    title: "Latency between two logs",
    what: "A publisher's stamp of a sample to a subscriber's, as another tool logged them.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Reordered],
    words: &[],
};

/// `task/*`
pub static TASK: Kind = Kind {
    name: "task",
    title: "Protection task",
    what: "Start of a protection cycle to its end. A relay in three threads has a series of each: receive, functions, output.",
    samples: Samples::OfThread,
    line: Some(BudgetLine::Task),
    accounts: Accounts::Periods,
    is_repeated: true,
    counts: &[Counter::Late, Counter::Missed],
    words: &[
        (Counter::Late, "Overruns: tasks that took longer than their cycle"),
        (
            Counter::Missed,
            "Cycles that the thread slept through: no task ran for them",
        ),
    ],
};

/// `task-stage/*`
pub static TASK_STAGE: Kind = Kind {
    name: "task-stage",
    title: "Stages of the protection task",
    what: "Where the time of a protection task goes; the parts add up to it. In three threads, wake is the time from a decision of \
           the functions until the sending thread has it.",
    samples: Samples::OfThread,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};
