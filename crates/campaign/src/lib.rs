//! Several runs that together give one answer: the largest number of streams that a host sustains, a matrix of conditions, the effect of a
//! setting, or an acceptance.
//!
//! Each decides the next run from the results of those before it. The command line passes the request, and shows the answer.

#![forbid(unsafe_code)]

pub mod acceptance;
pub mod capacity;
mod error;
mod evidence;
pub mod matrix;
mod procedure;
pub mod proof;
mod stored;

pub use error::CampaignError;
pub use evidence::evidence;
pub use procedure::procedure_of;
pub use stored::{profile_of, search_of};

use std::fmt::Display;

/// Reports progress to the user.
pub type Say<'a> = &'a dyn Fn(&dyn Display);
