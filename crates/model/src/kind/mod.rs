//! Kinds of series, each declared once: the nature of its samples, and how a report treats them.

mod goose;
mod host;
mod round_trip;
mod shape;
mod stream;
mod trip;

pub use goose::{GOOSE, GOOSE_TRANSFER, PING, PONG};
pub use host::{CLOCK, NOISE, WAKEUP};
pub use round_trip::{RTT, STAGE, TURNAROUND};
pub use shape::{Accounts, BudgetLine, Kind, Samples, in_order};
pub use stream::{
    AGE, ARRIVAL, CREDIT, DELIVERY, DEPARTURE, HOP, LAN, LATENCY, LISTEN, PUBLISH, SEND, SPACING, TALK, TASK,
    TASK_STAGE, USE,
};
pub use trip::{DECISION, LEAD, PHASE, SECURITY, START, TRIP, ZONE};

/// All kinds, in the order of the report.
pub static ALL: [&Kind; 33] = [
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
    &CREDIT,
    &ARRIVAL,
    &HOP,
    &DELIVERY,
    &AGE,
    &USE,
    &SPACING,
    &LAN,
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
