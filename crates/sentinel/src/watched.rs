//! The time in which a relay was watched, and that in which it was not.

/// Time of a watch, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Watched {
    /// Time in which all that a judgement of the relay needs was heard.
    pub watched_ns: u64,
    /// Time in which something was missing: the link, its samples, its messages, or frames that the watch lost.
    pub unwatched_ns: u64,
}

/// Adds up the time from one look to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stopwatch {
    last_ns: Option<i64>,
    time: Watched,
}

impl Stopwatch {
    /// The time since the last call was watched, or it was not.
    pub(crate) fn pass(&mut self, now_ns: i64, is_watched: bool) {
        let passed = self.last_ns.map_or(0, |last| now_ns.saturating_sub(last).max(0));
        self.last_ns = Some(self.last_ns.map_or(now_ns, |last| last.max(now_ns)));
        let passed = passed.unsigned_abs();
        match is_watched {
            true => self.time.watched_ns += passed,
            false => self.time.unwatched_ns += passed,
        }
    }

    pub(crate) fn time(&self) -> Watched {
        self.time
    }
}
