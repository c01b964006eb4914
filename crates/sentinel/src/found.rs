//! Findings of a watch, in the order in which it made them.

use crate::alarm::Alarm;
use model::{EventKind, Shot};
use std::collections::VecDeque;

/// Findings that wait until they are taken.
const WAITING: usize = 4_096;

/// Something that was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Something to be told.
    Alarm(Alarm),
    /// Something to be written down.
    Event {
        /// When, in ns of the watch's clock.
        at_ns: i64,
        /// An instant at which it had not happened yet, where it lasted.
        since_ns: Option<i64>,
        /// Its kind.
        kind: EventKind,
        /// The series that it touches; `None` for all that such an event can touch.
        series: Option<usize>,
        /// Its words.
        text: String,
    },
    /// A shot of a relay; its instant is in ns of the watch's clock.
    Shot {
        /// When its fault began.
        at_ns: i64,
        /// The shot.
        shot: Shot,
    },
}

/// Findings that wait.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    waiting: VecDeque<Found>,
    untold: u64,
}

impl Findings {
    /// Keeps a finding until it is taken. Counts one that finds no room.
    pub(crate) fn push(&mut self, found: Found) {
        match self.waiting.len() < WAITING {
            true => self.waiting.push_back(found),
            false => self.untold += 1,
        }
    }

    pub(crate) fn take(&mut self) -> Option<Found> {
        self.waiting.pop_front()
    }

    /// Findings for which there was no room, since the last call.
    pub(crate) fn take_untold(&mut self) -> u64 {
        std::mem::take(&mut self.untold)
    }
}
