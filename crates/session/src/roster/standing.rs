//! State of a run now, judged by its file.

use super::entry::{Entry, Phase};
use super::process::Life;
use units::Ns;

/// Number of missing windows after which a run counts as stuck.
const WINDOWS: u64 = 5;

/// Shortest time in ns after which a run counts as stuck: a shared machine can be delayed for seconds.
const AT_LEAST_NS: u64 = 30_000_000_000;

/// Time in ns without a window after which a run counts as stuck.
pub fn stuck_after_ns(window_ns: u64) -> u64 {
    window_ns.saturating_mul(WINDOWS).max(AT_LEAST_NS)
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is in preparation.
    Starting,
    /// It measures.
    Measuring,
    /// It closes its file and writes its report.
    Finishing,
    /// Its process exists, but a part of it is stuck: the part.
    Stuck(String),
    /// It ended, and left its result.
    Ended,
    /// Its process is gone without a result: a text with what is known.
    WithoutAWord(String),
    /// The state of its process is not visible from here: the reason.
    Unknown(String),
}

impl Standing {
    /// The word in a document.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Measuring => "measuring",
            Self::Finishing => "finishing",
            Self::Stuck(_) => "stuck",
            Self::Ended => "ended",
            Self::WithoutAWord(_) => "ended-without-a-word",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The text that explains it, if there is one.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Stuck(why) | Self::WithoutAWord(why) | Self::Unknown(why) => Some(why),
            Self::Starting | Self::Measuring | Self::Finishing | Self::Ended => None,
        }
    }

    /// True if the run is over.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Ended | Self::WithoutAWord(_))
    }
}

impl Entry {
    /// The state of the run now, by a file that belongs to `owner`.
    pub fn standing(&self, owner: u32) -> Standing {
        self.standing_of(self.process.life(owner), sys::clock::monotonic().as_ns())
    }

    /// The same, for a process whose state is known, at `now_ns` on CLOCK_MONOTONIC.
    pub(super) fn standing_of(&self, life: Life, now_ns: i64) -> Standing {
        let pid = self.process.pid;
        if self.end.is_some() {
            return Standing::Ended;
        }
        match life {
            Life::Gone => Standing::WithoutAWord(format!(
                "process {pid} is gone: it was killed or it crashed; its file has all measurements up to the last closed window"
            )),
            Life::BeforeBoot => Standing::WithoutAWord("the machine was rebooted since".to_owned()),
            Life::Elsewhere => Standing::Unknown(format!(
                "process {pid} belongs to another PID namespace: look from inside that container"
            )),
            Life::Alive => self.stands_still(now_ns).map_or(self.going_on(), Standing::Stuck),
        }
    }

    fn going_on(&self) -> Standing {
        match self.phase {
            Phase::Starting => Standing::Starting,
            Phase::Measuring => Standing::Measuring,
            Phase::Finishing | Phase::Ended => Standing::Finishing,
        }
    }

    /// The part of a measuring run that is stuck, in words; `None` if none is.
    pub fn stands_still(&self, now_ns: i64) -> Option<String> {
        if self.phase != Phase::Measuring {
            return None;
        }
        let limit_ns = stuck_after_ns(self.window_ns);
        let silent = |at_ns: i64| u64::try_from(now_ns - at_ns).ok().filter(|ns| *ns > limit_ns);
        if let Some(ns) = silent(self.seen_ns) {
            return Some(format!(
                "the process has not reported for {}: it is stopped or blocked",
                Ns(ns)
            ));
        }
        if let Some(ns) = self.recorder_seen_ns.and_then(silent) {
            return Some(format!("its recorder has stood still for {}", Ns(ns)));
        }
        let ns = self.window_seen_ns.and_then(silent)?;
        Some(format!(
            "no window was closed for {} (one is due every {}): its measuring threads stand still",
            Ns(ns),
            Ns(self.window_ns)
        ))
    }
}
