//! GOOSE (IEC 61850-8-1).
//!
//! ```text
//! 61 goosePdu
//!    80 gocbRef  81 timeAllowedtoLive  82 datSet  83 goID?  84 t  85 stNum  86 sqNum  87 simulation (default FALSE)
//!    88 confRev  89 ndsCom (default FALSE)  8A numDatSetEntries  AB allData
//!    unknown context tags behind allData are skipped and counted
//! ```

mod data;
mod follower;
mod frame;
mod member;
mod message;
mod outcome;
mod parse;
mod rules;
mod schedule;
mod supervisor;
mod template;
mod value;

pub use crate::limits::MAX_NESTING;
pub use data::{Data, Entries};
pub use follower::{Change, Followed, Follower, FollowerDoubt};
pub use frame::{Frame, Inspection, inspect};
pub use member::{Member, MemberError};
pub use message::Message;
pub use outcome::{Counts, Heard, Numbers, Oddity, Outcome, Said};
pub use parse::Fields;
pub use rules::{Rules, SHORTEST_INTERVAL_NS};
pub use schedule::{Curve, Progress};
pub use supervisor::{Expectation, Marks, REFUSALS, Refusal, Refused, Settings, Simulation, Supervisor, Verdict};
pub use template::Template;
pub use value::Value;

/// Longest gocbRef, datSet and goID.
pub const MAX_NAME: usize = 129;

mod tag {
    use crate::ber::Tag;

    pub(super) const GOOSE_PDU: Tag = Tag(0x61);
    pub(super) const GOCB_REF: Tag = Tag(0x80);
    pub(super) const TIME_ALLOWED_TO_LIVE: Tag = Tag(0x81);
    pub(super) const DAT_SET: Tag = Tag(0x82);
    pub(super) const GO_ID: Tag = Tag(0x83);
    pub(super) const T: Tag = Tag(0x84);
    pub(super) const ST_NUM: Tag = Tag(0x85);
    pub(super) const SQ_NUM: Tag = Tag(0x86);
    pub(super) const SIMULATION: Tag = Tag(0x87);
    pub(super) const CONF_REV: Tag = Tag(0x88);
    pub(super) const NDS_COM: Tag = Tag(0x89);
    pub(super) const NUM_DAT_SET_ENTRIES: Tag = Tag(0x8a);
    pub(super) const ALL_DATA: Tag = Tag(0xab);
}

/// Tags of the Data choice.
mod data_tag {
    use crate::ber::Tag;

    pub(super) const ARRAY: Tag = Tag(0xa1);
    pub(super) const STRUCTURE: Tag = Tag(0xa2);
    pub(super) const BOOLEAN: Tag = Tag(0x83);
    pub(super) const BIT_STRING: Tag = Tag(0x84);
    pub(super) const INTEGER: Tag = Tag(0x85);
    pub(super) const UNSIGNED: Tag = Tag(0x86);
    pub(super) const FLOAT: Tag = Tag(0x87);
    pub(super) const OCTET_STRING: Tag = Tag(0x89);
    pub(super) const VISIBLE_STRING: Tag = Tag(0x8a);
    pub(super) const BINARY_TIME: Tag = Tag(0x8c);
    pub(super) const UTC_TIME: Tag = Tag(0x91);

    /// MMS types that IEC 61850 does not use in GOOSE, but that some devices send: generalized time, BCD, boolean
    /// array, object identifier, MMS string. Returned as octets.
    pub(super) const OTHER: [Tag; 5] = [Tag(0x8b), Tag(0x8d), Tag(0x8e), Tag(0x8f), Tag(0x90)];
}
