//! Kinds of GOOSE: its streams, and answers to pings.

use super::{Accounts, Kind, Samples};
use crate::counters::Counter;

/// `goose/*`
pub static GOOSE: Kind = Kind {
    name: "goose",
    title: "GOOSE spacing",
    what: "Time between two messages of one GOOSE stream that follow each other; late counts how often none came within the \
           time allowed by the message before.",
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
        "How often no message came within the time allowed by the one before",
    )],
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
