//! Frames of a capture as lines of JSON, one for each ASDU of sampled values and each GOOSE message, with fields named as
//! on the wire. A frame that breaks a rule has one line: the rule, the offset at which it is broken, and the fields decoded before it. Other traffic
//! is ignored.
//!
//! Give a [`capture::Reader`] to [`decode`]. Lines are written at once, in bounded memory.
#![forbid(unsafe_code)]

mod counts;
mod data;
mod datagram;
mod goose;
mod json;
mod lines;
mod sv;

pub use counts::DecodeCounts;
pub use lines::{DecodeError, decode};

#[cfg(test)]
mod tests;
