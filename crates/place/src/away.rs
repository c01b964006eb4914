//! A command in a place: what it is given, how it is spoken to, and what it leaves.

use crate::error::PlaceError;
use std::sync::mpsc::Receiver;
use tempfile::TempPath;

/// Files of a command, by name.
pub type Files = Vec<(String, String)>;

/// A command for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The words behind `triptime`.
    pub words: Vec<String>,
    /// Files that stand in its working directory.
    pub files: Files,
}

/// A command under way in a place. It is ended when it is dropped. Its standard input and output are lines of text; standard error is
/// for people.
pub trait Away: Send {
    /// The lines that it says on standard output, until it has said all. To be taken once.
    fn lines(&mut self) -> Receiver<String>;

    /// Number that this kernel has for a thread of it; `None`: it has none, or it is not known.
    fn thread_here(&self, _there: i32) -> Option<i32> {
        None
    }

    /// Says a line to its standard input.
    ///
    /// # Errors
    /// The way there is broken.
    fn say(&mut self, line: &str) -> Result<(), PlaceError>;

    /// True if it has ended.
    fn is_finished(&mut self) -> bool;

    /// Tells it to end, as SIGINT does; [`Away::finish`] waits for it.
    fn stop(&mut self);

    /// Waits for its end, and has its run file here.
    ///
    /// # Errors
    /// It left no run file; what it said.
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
