//! The form of a site. A few things that a measurement needs are in no file of the machine: the port of the process bus, the GOOSE of the
//! relays, the time in which a trip has to come. Each is a [`Question`] that says how to find its answer. [`Found`] has what the machine and
//! an SCL file say, [`Answers`] what a person said, and [`files`] makes plan, relay, limits and statements from both.
//!
//! The crate reads no file and no terminal: the command does.

#![forbid(unsafe_code)]

mod answers;
mod commands;
mod files;
mod form;
mod found;
mod question;

pub use answers::Answers;
pub use commands::{Command, commands};
pub use files::{File, files};
pub use form::form;
pub use found::Found;
pub use question::{QUESTIONS, Question};
