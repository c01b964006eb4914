//! GOOSE control blocks to publish or to expect.

mod file;
mod scl_blocks;
mod scl_members;

pub use file::{Block, Problem, parse};
pub use scl_blocks::{control_block, expected_block};
pub use scl_members::NamedMembers;

use wire::ether::Mac;
use wire::goose::{Curve, Expectation, Message, Value};
use wire::time::TimeQuality;

/// Accuracy of about 1 ms, as stated by many bay units.
const USUAL_TIME_QUALITY: TimeQuality = TimeQuality(10);

/// One control block: its message at the start of the run, its repetitions and its changes.
#[derive(Debug, Clone)]
pub struct ControlBlock {
    /// The first message, except its source and its times; time stamps among its members follow `t`.
    pub message: Message,
    /// Times of its repetitions.
    pub curve: Curve,
    /// Changes of members during the run.
    pub changes: Vec<Change>,
}

/// A change of members.
#[derive(Debug, Clone)]
pub struct Change {
    /// Instant of the change, from the start of the run.
    pub at_ns: u64,
    /// Period after which it is repeated.
    pub every_ns: Option<u64>,
    /// New values by member. Setting a member to its present value makes no new state.
    pub set: Vec<(usize, Value)>,
}

/// An expected control block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedBlock {
    /// Destination address.
    pub destination: Mac,
    /// APPID.
    pub appid: u16,
    /// Reference.
    pub gocb_ref: Vec<u8>,
    /// Expected contents of its messages; messages with other contents are refused.
    pub expectation: Expectation,
}

/// A double point, or a command with the same number of bits.
fn two_bits(bits: u8) -> Value {
    Value::BitString {
        unused: 6,
        bits: vec![bits << 6],
    }
}
