//! The contents of a file, with all references resolved.

use crate::error::{Problem, Warning};
use crate::subscription::Subscription;
use wire::ether::{Mac, VlanTag};

/// The sampled values and GOOSE of an SCL file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Edition, in words: `Edition 1 (2003)`, `Edition 2 (2007A)`, `Edition 2.1 (2007B4)`.
    pub edition: String,
    /// Names of the IEDs, in the order of the file.
    pub ieds: Vec<String>,
    /// Nominal frequency of the substation in Hz, if its voltage levels state one and agree.
    pub nominal_hz: Option<f64>,
    /// The sampled-value control blocks that can be published or expected.
    pub sampled_values: Vec<SampledValues>,
    /// The GOOSE control blocks that can be published or expected.
    pub gooses: Vec<Goose>,
    /// The data that IEDs take from each other.
    pub subscriptions: Vec<Subscription>,
    /// Control blocks that can be neither published nor expected, with the reason.
    pub left_out: Vec<LeftOut>,
    /// Parts of the file that a person should look at.
    pub warnings: Vec<Warning>,
}

/// A control block that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The IED of the control block.
    pub ied: String,
    /// True for sampled values, false for GOOSE.
    pub is_sampled_values: bool,
    /// The name of its messages: svID, or reference of the GOOSE control block.
    pub name: String,
    /// The reason.
    pub problem: Problem,
}

/// Address of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// Destination.
    pub mac: Mac,
    /// Application identifier.
    pub appid: u16,
    /// 802.1Q tag; `None` if neither VLAN-ID nor VLAN-PRIORITY is given.
    pub vlan: Option<VlanTag>,
}

/// Place of a control block.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// IED.
    pub ied: String,
    /// Access point whose server has the logical device.
    pub access_point: String,
    /// `inst` of the logical device.
    pub ld_inst: String,
    /// Name of the logical device on the network: `ldName`, or IED name and `inst`.
    pub ld_name: String,
    /// Logical node, such as `LLN0`.
    pub node: String,
    /// Name of the control block.
    pub name: String,
    /// Line of the control block.
    pub line: u32,
}

/// Unit of `smpRate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SmpMod {
    /// Samples in a period of the nominal frequency, as always in Edition 1.
    #[default]
    PerPeriod,
    /// Samples a second.
    PerSecond,
    /// Seconds from sample to sample.
    SecondsPerSample,
}

/// Optional fields of an ASDU that the publisher has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SmvOptions {
    /// refrTm.
    pub refresh_time: bool,
    /// smpSynch. Mandatory since Edition 2, so `false` gives only a warning.
    pub sample_synchronized: bool,
    /// smpRate.
    pub sample_rate: bool,
    /// datSet.
    pub data_set: bool,
    /// security.
    pub security: bool,
    /// A time stamp (Edition 2.1).
    pub timestamp: bool,
    /// gmIdentity (Edition 2.1).
    pub synch_source_id: bool,
}

/// A sampled-value control block with its address and dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledValues {
    /// IED, access point and logical device of the control block.
    pub place: Location,
    /// svID on the wire: `smvID`, or the reference of the control block if that is empty.
    pub sv_id: String,
    /// confRev.
    pub conf_rev: u32,
    /// `smpRate` as stated.
    pub smp_rate: u32,
    /// Unit of `smpRate`.
    pub smp_mod: SmpMod,
    /// ASDUs in a frame.
    pub asdus: u8,
    /// Optional fields.
    pub options: SmvOptions,
    /// Destination, APPID and VLAN of its frames.
    pub address: Address,
    /// The members of an ASDU.
    pub data_set: DataSet,
}

impl SampledValues {
    /// Samples a second at a nominal frequency of `nominal_hz`; `None` if that is less than one, or beyond 2^32.
    pub fn samples_per_second(&self, nominal_hz: f64) -> Option<u32> {
        let rate = match self.smp_mod {
            SmpMod::PerPeriod => f64::from(self.smp_rate) * nominal_hz,
            SmpMod::PerSecond => f64::from(self.smp_rate),
            SmpMod::SecondsPerSample => return (self.smp_rate == 1).then_some(1),
        };
        let whole = rate.round();
        ((rate - whole).abs() < 1e-6 && (1.0..=f64::from(u32::MAX)).contains(&whole)).then_some(whole as u32)
    }
}

/// A GOOSE control block with its address and dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Goose {
    /// IED, access point and logical device of the control block.
    pub place: Location,
    /// goID on the wire: `appID`.
    pub go_id: String,
    /// gocbRef on the wire, such as `MU01LD0/LLN0$GO$gcbTrip`.
    pub gocb_ref: String,
    /// confRev.
    pub conf_rev: u32,
    /// True if fields are encoded with fixed lengths.
    pub fixed_offs: bool,
    /// Time to the first repetition, in ms.
    pub min_time_ms: Option<u32>,
    /// Time between repetitions of an unchanged state, in ms.
    pub max_time_ms: Option<u32>,
    /// Destination, APPID and VLAN of its frames.
    pub address: Address,
    /// The members of a message.
    pub data_set: DataSet,
}

/// A dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// Its name in the logical node.
    pub name: String,
    /// datSet on the wire, such as `MU01LD0/LLN0$PhsMeas1`.
    pub reference: String,
    /// Its members, in order.
    pub members: Vec<Member>,
}

/// A member of a dataset: one FCDA.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Reference, such as `MU01LD0/TCTR1.AmpSv.instMag.i[MX]`.
    pub reference: String,
    /// Class of the logical node, such as `TCTR`.
    pub ln_class: String,
    /// Its type.
    pub value: Type,
    /// The basic values in it, as stated in the file (`Val` of the instance, or of the type): path below the member, which is empty if the member is
    /// itself a basic value, and text. For an Enum with known names it is the number.
    pub initial: Vec<(String, String)>,
    /// Line of the FCDA.
    pub line: u32,
}

impl Member {
    /// The basic values in it, in order: path below the member (empty if the member is itself a basic value), and type.
    pub fn leaves(&self) -> Vec<(String, Basic)> {
        let mut found = Vec::new();
        self.value.collect("", &mut found);
        found
    }
}

/// The type of a member.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// A value.
    Basic(Basic),
    /// Named parts, in order.
    Structure(Vec<(String, Type)>),
}

impl Type {
    fn collect(&self, path: &str, found: &mut Vec<(String, Basic)>) {
        match self {
            Self::Basic(basic) => found.push((path.to_owned(), *basic)),
            Self::Structure(parts) => {
                for (name, part) in parts {
                    let below = if path.is_empty() {
                        name.clone()
                    } else {
                        format!("{path}.{name}")
                    };
                    part.collect(&below, found);
                }
            }
        }
    }
}

/// Basic types, as far as GOOSE and sampled values distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basic {
    /// BOOLEAN.
    Boolean,
    /// INT8 to INT64, with its bits.
    Integer(u8),
    /// INT8U to INT32U, with its bits.
    Unsigned(u8),
    /// FLOAT32, FLOAT64.
    Float(u8),
    /// Enum: an integer.
    Enumerated,
    /// Dbpos: two bits.
    DoublePoint,
    /// Tcmd: two bits.
    StepCommand,
    /// Quality.
    Quality,
    /// Timestamp.
    Timestamp,
    /// VisString, Unicode, Octet and other texts.
    Text,
    /// Check, trigger options and other bit strings.
    Bits,
    /// Not known: no template, and not a usual name.
    Unknown,
}

impl Basic {
    /// Octets in the seqData of sampled values (IEC 61850-9-2); `None` if it has no fixed length there.
    pub fn sv_octets(self) -> Option<usize> {
        match self {
            Self::Boolean => Some(1),
            Self::Integer(bits) | Self::Unsigned(bits) | Self::Float(bits) => Some(usize::from(bits.div_ceil(8))),
            Self::Enumerated | Self::DoublePoint | Self::StepCommand | Self::Quality => Some(4),
            Self::Timestamp => Some(8),
            Self::Text | Self::Bits | Self::Unknown => None,
        }
    }
}

impl std::fmt::Display for Basic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::Integer(bits) => write!(f, "INT{bits}"),
            Self::Unsigned(bits) => write!(f, "INT{bits}U"),
            Self::Float(bits) => write!(f, "FLOAT{bits}"),
            Self::Enumerated => f.write_str("Enum"),
            Self::DoublePoint => f.write_str("Dbpos"),
            Self::StepCommand => f.write_str("Tcmd"),
            Self::Quality => f.write_str("Quality"),
            Self::Timestamp => f.write_str("Timestamp"),
            Self::Text => f.write_str("a text"),
            Self::Bits => f.write_str("a bit string"),
            Self::Unknown => f.write_str("of a type that is not known"),
        }
    }
}
