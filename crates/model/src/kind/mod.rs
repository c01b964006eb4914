//! Kinds of series, each declared once: what its samples are, and what a report makes of them. In the order of the report.

mod shape;

pub use shape::{Accounts, BudgetLine, Kind, Samples, in_order};

use crate::counters::Counter;

/// Frames that the kernel refused.
const REFUSED: (Counter, &str) = (Counter::Lost, "Frames that the kernel did not take");

/// Instants at which a sender was held up.
const NOT_SENT: (Counter, &str) = (
    Counter::Missed,
    "Instants that were slept through: nothing was sent for them",
);

/// The counters that the numbers and contents of sampled values give.
const OF_SAMPLES: &[Counter] = &[
    Counter::Lost,
    Counter::Duplicate,
    Counter::Conflicting,
    Counter::Reordered,
];

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
           the time the thread was watched is counted beside them.",
    samples: Samples::OfThread,
    line: None,
    accounts: Accounts::Watched,
    is_repeated: true,
    counts: &[],
    words: &[],
};

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
    what: "Reflector's own part of a round trip: frame seen in the ring to the answer handed to the driver.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};

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
    // Contents are compared of some of its streams only: subscribe does it of all.
    counts: &[Counter::Lost, Counter::Late, Counter::Duplicate, Counter::Reordered],
    words: &[],
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

/// `goose/*`
pub static GOOSE: Kind = Kind {
    name: "goose",
    title: "GOOSE spacing",
    what: "Time between two messages of one GOOSE stream that follow each other; late counts how often none came in the \
           time that the one before allowed.",
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
    ],
    words: &[(
        Counter::Late,
        "How often no message came in the time that the one before allowed",
    )],
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

/// `goose-transfer/*`
pub static GOOSE_TRANSFER: Kind = Kind {
    name: "goose-transfer",
    title: "GOOSE transfer",
    what: "Time stamp of a change of state in its first message to the application having that message: publisher, network \
           and delivery in one.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
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
        (Counter::Missed, "Cycles that were slept through: no task ran for them"),
    ],
};

/// `task-stage/*`
pub static TASK_STAGE: Kind = Kind {
    name: "task-stage",
    title: "Stages of the protection task",
    what: "Where the time of a protection task goes; the parts add up to it. In three threads, wake is how long what the functions \
           decided waits for the thread that sends.",
    samples: Samples::OfThread,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};

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
    what: "How long a relay was watched in a shot in which it must not trip, from the begin of the disturbance on.",
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
    what: "Operate time of those trips of which the relay told the phases, as its scenario expects some: as trip/*.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Wrong],
    words: &[
        (Counter::Expected, "Trips whose phases are expected to be some"),
        (Counter::Received, "Trips whose phases were told"),
        (Counter::Lost, "Trips whose phases were not told"),
        (Counter::Wrong, "Trips with the wrong phases"),
    ],
};

/// `zone/*`
pub static ZONE: Kind = Kind {
    name: "zone",
    title: "Zone or function of a trip",
    what: "Operate time of those trips of which the relay told the zone or function, as its scenario expects one: as trip/*.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost, Counter::Wrong],
    words: &[
        (Counter::Expected, "Trips of which one zone or function is expected"),
        (Counter::Received, "Trips whose zone or function was told"),
        (Counter::Lost, "Trips whose zone or function was not told"),
        (Counter::Wrong, "Trips of the wrong zone or function"),
    ],
};

/// `pong/*`
pub static PONG: Kind = Kind {
    name: "pong",
    title: "GOOSE answer (ping-pong)",
    what: "Just before the send call of a change of state to the kernel's receive stamp of the first GOOSE message with the \
           device's answer. Not halved, and nothing is subtracted.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: true,
    counts: &[Counter::Lost, Counter::Late, Counter::Unwanted],
    words: &[
        (Counter::Expected, "Pings"),
        (Counter::Received, "Answers"),
        (Counter::Lost, "Pings without an answer within the deadline"),
        (Counter::Late, "Answers after the deadline"),
        (Counter::Unwanted, "Changes of the answer without a ping"),
    ],
};

/// `ping/*`
pub static PING: Kind = Kind {
    name: "ping",
    title: "Own part of a GOOSE answer",
    what: "Just before the send call of a ping to the kernel's stamp of the frame at the driver: the test set's own part of an \
           answer.",
    samples: Samples::Sent,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[Counter::Lost],
    words: &[(Counter::Lost, "Pings that the driver did not stamp")],
};

/// `decision/*`
pub static DECISION: Kind = Kind {
    name: "decision",
    title: "Decisions of two relays",
    what: "The kernel's receive stamp of the first GOOSE message with the decision of one relay to that of the other's, whoever was \
           first.",
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
    title: "Who decided first",
    what: "Decisions of two relays that the one named first took first, and by how much.",
    samples: Samples::Frames,
    line: None,
    accounts: Accounts::None,
    is_repeated: false,
    counts: &[],
    words: &[],
};

/// All of them.
pub static ALL: [&Kind; 31] = [
    &WAKEUP,
    &NOISE,
    &RTT,
    &STAGE,
    &TURNAROUND,
    &PUBLISH,
    &TALK,
    &SEND,
    &DEPARTURE,
    &LISTEN,
    &ARRIVAL,
    &HOP,
    &DELIVERY,
    &AGE,
    &USE,
    &SPACING,
    &LATENCY,
    &GOOSE,
    &CLOCK,
    &GOOSE_TRANSFER,
    &TASK,
    &TASK_STAGE,
    &TRIP,
    &START,
    &SECURITY,
    &PHASE,
    &ZONE,
    &PONG,
    &PING,
    &DECISION,
    &LEAD,
];
