//! A command in a place: its input, its messages, and its results.

use crate::error::PlaceError;
use std::sync::mpsc::Receiver;
use tempfile::TempPath;

/// Files of a command, by name.
pub type Files = Vec<(String, String)>;

/// A command for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The words after `triptime`.
    pub words: Vec<String>,
    /// Files in its working directory.
    pub files: Files,
}

/// A running command in a place. Dropping it ends the command. Its standard input and output carry lines of the protocol; standard error is for
/// people.
pub trait Away: Send {
    /// The lines of its standard output. Can be taken once only.
    fn lines(&mut self) -> Receiver<String>;

    /// This kernel's number of one of its threads; `None` if there is none, or it is not known.
    fn thread_here(&self, _there: i32) -> Option<i32> {
        None
    }

    /// Writes a line to its standard input.
    ///
    /// # Errors
    /// The connection is broken.
    fn say(&mut self, line: &str) -> Result<(), PlaceError>;

    /// True if it has ended.
    fn is_finished(&mut self) -> bool;

    /// Asks it to end, like SIGINT; [`Away::finish`] waits for the end.
    fn stop(&mut self);

    /// Waits for its end, and fetches its run file.
    ///
    /// # Errors
    /// It left no run file; the error has its output.
    fn finish(&mut self) -> Result<Returned, PlaceError>;
}

/// Results of a command.
#[derive(Debug)]
pub struct Returned {
    /// Its run file, on this machine; removed when this is dropped.
    pub run: TempPath,
    /// Its exit status.
    pub status: u8,
    /// Its output on standard error.
    pub said: String,
}
