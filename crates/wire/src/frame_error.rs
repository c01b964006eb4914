//! Why a frame was refused: the rule it broke, and the octet where it did.

use std::fmt;

use crate::tag::Tag;

/// The first rule that a frame breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("octet {offset}: {rule}")]
pub struct FrameError {
    /// The rule.
    pub rule: Rule,
    /// Octet of the frame at which the rule is broken, counted from 0 at the destination address.
    pub offset: u32,
}

impl FrameError {
    /// An error for a rule broken at octet `offset`.
    #[inline]
    pub fn at(offset: usize, rule: Rule) -> Self {
        Self {
            rule,
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
        }
    }
}

/// The rules (IEC 61850-9-2 and 8-1, X.690, and the limits this crate sets itself).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// Fewer octets than an Ethernet header with its tags.
    #[error("the frame ends inside its Ethernet header")]
    EthernetHeader,
    /// Another protocol.
    #[error("EtherType {found:04x} instead of {wanted:04x}")]
    EtherType {
        /// EtherType of the frame.
        found: u16,
        /// EtherType of the expected protocol.
        wanted: u16,
    },
    /// Fewer than the 8 octets APPID, Length, Reserved1, Reserved2.
    #[error("the frame ends inside APPID, Length and the reserved fields")]
    HeaderCut,
    /// Length is less than the 8 octets from APPID to Reserved2, which it includes.
    #[error("Length is {length}; it counts its own 8 octets and cannot be less")]
    LengthBelowHeader {
        /// The Length field.
        length: u16,
    },
    /// Length goes past the end of the frame.
    #[error("Length is {length}, but the frame has only {available} octets from APPID on")]
    LengthBeyondFrame {
        /// The Length field.
        length: u16,
        /// Octets from APPID to the end of the frame.
        available: u32,
    },
    /// Length is 8: a header without an APDU.
    #[error("no APDU: Length ends with the header")]
    NoApdu,
    /// The APDU ends before Length does.
    #[error("Length counts {octets} octets after the APDU")]
    OctetsAfterApdu {
        /// Octets between the end of the APDU and the end of Length.
        octets: u32,
    },
    /// A tag of several octets that runs out.
    #[error("the element ends inside its tag")]
    TagCut,
    /// Longer than any tag of these protocols.
    #[error("a tag of more than 4 octets")]
    TagTooLong,
    /// The length octets run out.
    #[error("the element ends inside its length")]
    LengthCut,
    /// Length octet 0x80.
    #[error("indefinite length (80), which these protocols do not allow")]
    IndefiniteLength,
    /// Length octet 0xFF.
    #[error("length octet FF, which X.690 reserves")]
    ReservedLength,
    /// More than four length octets.
    #[error("a length of {octets} octets; at most 4 are accepted")]
    LongLength {
        /// Number of length octets announced.
        octets: u8,
    },
    /// An element longer than the element that contains it.
    #[error("the element is {length} octets long, but only {left} are left")]
    Overrun {
        /// Length of the element's content.
        length: u32,
        /// Octets left in the enclosing element.
        left: u32,
    },
    /// A mandatory field is missing or not in its place.
    #[error("{field} is missing: {}", Found(*found))]
    Missing {
        /// The mandatory field.
        field: Field,
        /// Tag found in its place; `None` at the end of the enclosing element.
        found: Option<Tag>,
    },
    /// A tag that is not allowed here.
    #[error("tag {found} does not belong here in {within}")]
    Unexpected {
        /// The enclosing element.
        within: Field,
        /// The tag.
        found: Tag,
    },
    /// A field of the wrong size.
    #[error("{field} is {octets} octets long; it must be {wanted}")]
    Size {
        /// The field.
        field: Field,
        /// Its octets.
        octets: u32,
        /// The allowed values.
        wanted: &'static str,
    },
    /// A number larger than its field allows.
    #[error("{field} does not fit in 32 bits")]
    TooLarge {
        /// The field.
        field: Field,
    },
    /// noASDU is 0.
    #[error("noASDU is 0; a frame carries at least one ASDU")]
    NoAsduZero,
    /// noASDU above the limit of this crate.
    #[error("noASDU is {said}; at most {} are accepted", crate::limits::MAX_ASDUS)]
    TooManyAsdus {
        /// The noASDU field.
        said: u32,
    },
    /// noASDU differs from the number of ASDUs.
    #[error("noASDU is {said}, ASDUs present: {present}{}", if present > said { " or more" } else { "" })]
    AsduCount {
        /// The noASDU field.
        said: u32,
        /// ASDUs found.
        present: u32,
    },
    /// numDatSetEntries differs from the number of entries in allData.
    #[error("numDatSetEntries is {said}, entries in allData: {present}")]
    EntryCount {
        /// The numDatSetEntries field.
        said: u32,
        /// Entries found.
        present: u32,
    },
    /// Data nested too deeply.
    #[error("data nested more than {} levels deep", crate::limits::MAX_NESTING)]
    Nesting,
    /// A bit string whose first octet is not 0..=7, or that declares unused bits but has no bits.
    #[error("a bit string with {unused} unused bits in {octets} octets")]
    UnusedBits {
        /// First content octet.
        unused: u8,
        /// Octets of bits.
        octets: u32,
    },
    /// A floating point value in an unknown format.
    #[error("floating point with exponent width {exponent} in {octets} octets; float32 is 8 in 5, float64 is 11 in 9")]
    FloatFormat {
        /// First content octet.
        exponent: u8,
        /// Octets of the content.
        octets: u32,
    },
    /// The simulate bit of Reserved1 is set, but the GOOSE APDU has simulation FALSE.
    #[error("the simulate bit of Reserved1 is set, but simulation is FALSE")]
    SimulationMismatch,
    /// Not a test frame of this tool.
    #[error("not a triptime test frame: {0}")]
    TestFrame(&'static str),
    /// Not a frame of DPDK's l2reflect.
    #[error("not a frame of l2reflect: {0}")]
    L2reflect(&'static str),
    /// Not an IEEE 1722 stream frame.
    #[error("not an AVTP stream frame: {0}")]
    Avtp(&'static str),
    /// Not a session of GOOSE or sampled values over UDP.
    #[error("not a session of R-GOOSE or R-SV: {0}")]
    Session(&'static str),
    /// Not a supervision frame of IEC 62439-3.
    #[error("not a supervision frame of PRP or HSR: {0}")]
    Supervision(&'static str),
}

struct Found(Option<Tag>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(tag) => write!(f, "tag {tag} is in its place"),
            None => f.write_str("the enclosing element ends"),
        }
    }
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A field, by the name the standards give it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each name is the field's own")]
        pub enum Field {
            $($(#[$doc])* $name,)*
        }

        impl Field {
            /// The name of the standards.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

fields! {
    SavPdu = "savPdu",
    NoAsdu = "noASDU",
    SeqAsdu = "seqASDU",
    Asdu = "ASDU",
    SvId = "svID",
    DatSet = "datSet",
    SmpCnt = "smpCnt",
    ConfRev = "confRev",
    RefrTm = "refrTm",
    SmpSynch = "smpSynch",
    SmpRate = "smpRate",
    SeqData = "seqData",
    SmpMod = "smpMod",
    GmIdentity = "gmIdentity",
    GoosePdu = "goosePdu",
    GocbRef = "gocbRef",
    TimeAllowedToLive = "timeAllowedtoLive",
    GoId = "goID",
    T = "t",
    StNum = "stNum",
    SqNum = "sqNum",
    Simulation = "simulation",
    NdsCom = "ndsCom",
    NumDatSetEntries = "numDatSetEntries",
    AllData = "allData",
    Boolean = "boolean",
    BitString = "bit string",
    Integer = "integer",
    Unsigned = "unsigned",
    Float = "floating point",
    BinaryTime = "binary time",
    UtcTime = "utc time",
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, FrameError, Rule};
    use crate::tag::Tag;

    #[test]
    fn messages_say_what_and_where() {
        let error = FrameError::at(
            43,
            Rule::Size {
                field: Field::SmpCnt,
                octets: 4,
                wanted: "2",
            },
        );
        assert_eq!(error.to_string(), "octet 43: smpCnt is 4 octets long; it must be 2");
        let error = FrameError::at(
            31,
            Rule::Missing {
                field: Field::SvId,
                found: Some(Tag(0x82)),
            },
        );
        assert_eq!(error.to_string(), "octet 31: svID is missing: tag 82 is in its place");
        let error = FrameError::at(22, Rule::AsduCount { said: 1, present: 2 });
        assert_eq!(error.to_string(), "octet 22: noASDU is 1, ASDUs present: 2 or more");
    }
}
