//! Several runs that together give one answer: the most streams that a host holds, a matrix of conditions, the worth of a setting.
//!
//! Each decides which run is next from those before it. The command line says what is asked, and shows the answer.

#![forbid(unsafe_code)]

pub mod capacity;
mod error;
pub mod matrix;
pub mod proof;
mod stored;

pub use error::CampaignError;
pub use stored::profile_of;

use std::fmt::Display;

/// Tells a person how it goes on.
pub type Say<'a> = &'a dyn Fn(&dyn Display);
