//! Reads SCL files (IEC 61850-6): the sampled values and GOOSE messages that the IEDs of a substation publish, with addresses and contents, and those
//! to which they subscribe.
//!
//! SCD, CID, ICD, IID and SED files of Edition 1 (2003), 2 (2007A) and 2.1 (2007B) are read in the same way: they differ only in their contents. A
//! file is read leniently. A fault that does not affect the network is a [`Warning`]; a control block that cannot be published or expected is left
//! out with the reason ([`Document::left_out`]); only a file that is not SCL at all is an error.
//!
//! Every statement about an element has its line. No input makes this crate panic, and the work is bounded
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
