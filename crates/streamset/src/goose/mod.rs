//! GOOSE control blocks, as they are published or as they are expected.

mod file;
mod scl_blocks;
mod scl_members;

pub use file::{Block, Problem, parse};
pub use scl_blocks::{control_block, expected_block};
pub use scl_members::NamedMembers;

use wire::ether::Mac;
use wire::goose::{Curve, Expectation, Message, Value};
use wire::time::TimeQuality;

/// About 1 ms, as many bay units state.
const USUAL_TIME_QUALITY: TimeQuality = TimeQuality(10);

/// One control block: its message at the start of the run, and what becomes of it.
#[derive(Debug, Clone)]
pub struct ControlBlock {
    /// The first message, but for its source and its times: those among its members follow `t`.
    pub message: Message,
    /// When it is repeated.
    pub curve: Curve,
    /// Changes of members along the run.
    pub changes: Vec<Change>,
}

/// A change of members.
#[derive(Debug, Clone)]
pub struct Change {
    /// When, from the start of the run.
    pub at_ns: u64,
    /// How long after that again, and again.
    pub every_ns: Option<u64>,
    /// New values by member. Values that a member has already make no new state.
    pub set: Vec<(usize, Value)>,
}

/// A control block that has to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedBlock {
    /// Destination address.
    pub destination: Mac,
    /// APPID.
    pub appid: u16,
    /// Reference.
    pub gocb_ref: Vec<u8>,
    /// Expected contents of its messages; others are refused.
    pub expectation: Expectation,
}

/// A double point, or a command of as many bits.
fn two_bits(bits: u8) -> Value {
    Value::BitString {
        unused: 6,
        bits: vec![bits << 6],
    }
}
