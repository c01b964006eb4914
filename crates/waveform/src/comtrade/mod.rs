//! COMTRADE records (IEEE C37.111 of 1991, 1999 and 2013, IEC 60255-24): `.cfg` with `.dat`, or one `.cff`.
//!
//! Data may be ASCII, BINARY, BINARY32 or FLOAT32. Real files violate rules; unambiguous text is still read, and [`ComtradeRecord::warnings`] lists
//! the parts that were skipped. [`write()`] writes records of the two later revisions.

mod cff;
mod config;
mod data;
mod error;
mod instant;
mod lines;
mod open;
mod record;
mod states;
mod write;

pub use config::{AnalogChannel, Config, DigitalChannel, FileType, Rate, Values};
pub use error::ComtradeError;
pub use open::{MAX_OCTETS, open, parse, parse_cff};
pub use record::ComtradeRecord;
pub use write::{Analog, Digital, Header, Revision, Sample, Scale, WriteError, Written, write};
