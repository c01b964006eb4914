//! Sampled values (IEC 61850-9-2, 9-2LE, IEC 61869-9).
//!
//! ```text
//! 60 savPdu
//!    80 noASDU       1..=16 here
//!    A1 security     optional, skipped
//!    A2 seqASDU
//!       30 ASDU      noASDU times
//!          80 svID  81 datSet?  82 smpCnt  83 confRev  84 refrTm?  85 smpSynch  86 smpRate?  87 seqData
//!          88 smpMod?  89 gmIdentity?  unknown context tags are skipped and counted
//! ```

mod fast_path;
mod frame;
mod inspect;
mod marks;
mod message;
mod parse;
mod profile;
mod template;

pub use crate::limits::MAX_ASDUS;
pub use fast_path::{FastAsdu, FastAsdus, FastPath};
pub use frame::{Asdu, Asdus, Frame, Members};
pub use inspect::{Inspection, PartialAsdu, inspect};
pub use marks::{Fingerprints, Marks};
pub use message::{Message, OwnedAsdu};
pub use profile::{Profile, ProfileError};
pub use template::{AsduMut, Template};

/// Octets of one dataset member: INT32 and quality.
pub const MEMBER: usize = 8;
/// Every member of a sampled-value dataset in use (INT32, FLOAT32, quality) is a multiple of this many octets.
pub const MEMBER_UNIT: usize = 4;
/// Longest svID and datSet.
pub const MAX_NAME: usize = 129;

mod tag {
    use crate::ber::Tag;

    pub(super) const SAV_PDU: Tag = Tag(0x60);
    pub(super) const NO_ASDU: Tag = Tag(0x80);
    pub(super) const SECURITY: Tag = Tag(0xa1);
    pub(super) const SEQ_ASDU: Tag = Tag(0xa2);
    pub(super) const ASDU: Tag = Tag(0x30);
    pub(super) const SV_ID: Tag = Tag(0x80);
    pub(super) const DAT_SET: Tag = Tag(0x81);
    pub(super) const SMP_CNT: Tag = Tag(0x82);
    pub(super) const CONF_REV: Tag = Tag(0x83);
    pub(super) const REFR_TM: Tag = Tag(0x84);
    pub(super) const SMP_SYNCH: Tag = Tag(0x85);
    pub(super) const SMP_RATE: Tag = Tag(0x86);
    pub(super) const SEQ_DATA: Tag = Tag(0x87);
    pub(super) const SMP_MOD: Tag = Tag(0x88);
    pub(super) const GM_IDENTITY: Tag = Tag(0x89);
}
