//! Streams that are published or expected: sampled values, from a count, from a TOML file, or from an SCL file; and GOOSE control
//! blocks, from files of both kinds.
//!
//! ```
//! let set = streamset::parse("[[stream]]\nsvID = \"BAY{01..20}\"\nprofile = \"F4800S2I4U4\"\n", "bays.toml")?;
//! assert_eq!(set.len(), 20);
//! assert_eq!(set[19].sv_id, "BAY20");
//! # Ok::<(), units::Refusal>(())
//! ```
#![forbid(unsafe_code)]

mod count;
mod file;
pub mod goose;
mod name;
mod scl_streams;
mod set;
mod spec;
mod values;

pub use count::{counted, following};
pub use file::{Keys, parse};
pub use name::expand;
pub use scl_streams::{Selection, from_scl, stream as scl_stream};
pub use set::{LeftOut, SclChoice, StreamSet};
pub use spec::{Content, StreamSpec};
