//! Documents over HTTP, for people and scrapers that watch a run while it is measured.
//!
//! ```text
//! reader -> seat -> gate -> cache -> document
//!           |       |       |
//!           |       |       one rendering for all readers of a second
//!           |       GET and HEAD alone; a known Host; the token, if there is one
//!           at most 96 at once, each for some seconds
//! ```
//!
//! Nothing is written, and nothing is taken from a request but its path. The documents come from a [`Library`], which is asked for at most one at a
//! time.

#![forbid(unsafe_code)]

mod address;
mod cache;
mod error;
mod gate;
mod server;
mod token;

pub use address::{Address, Bound};
pub use cache::{Document, Library};
pub use error::ServeError;
pub use gate::Gate;
pub use server::{Ending, serve};
pub use token::Token;
