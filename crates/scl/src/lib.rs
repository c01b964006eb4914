//! Reads SCL files (IEC 61850-6): which sampled values and GOOSE messages the IEDs of a substation publish, to which
//! addresses, and with which contents; and which of them they subscribe to.
//!
//! SCD, CID, ICD, IID and SED files of Edition 1 (2003), 2 (2007A) and 2.1 (2007B) are read alike: what tells them apart is
//! what is in them. A file is read leniently. What a network does not need to agree on is a [`Warning`]; a control block
//! that cannot be published or expected as it stands is left out with the reason ([`Document::left_out`]); only a file that
//! is not SCL at all is an error.
//!
//! Everything a file says about an element is told with its line. No input makes this crate panic, and the work is bounded
//! by the size of the file.
#![forbid(unsafe_code)]

mod address;
mod channels;
mod control;
mod dataset;
mod error;
mod model;
mod parse;
mod subscription;
mod text;
mod types;
mod values;
mod xml;

pub use channels::{Channel, Layout, Quantity};
pub use error::{Problem, SclError, Warning};
pub use model::{
    Address, Basic, DataSet, Document, Goose, LeftOut, Location, Member, SampledValues, SmpMod, SmvOptions, Type,
};
pub use parse::{parse, parse_bytes};
pub use subscription::Subscription;
pub use text::decode;
