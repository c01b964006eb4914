//! Standing of a run now, by its file.

use super::entry::{Entry, Phase};
use super::process::Life;
use units::Ns;

/// Windows without which a run stands still.
const WINDOWS: u64 = 5;

/// The shortest time after which one is said to stand still: a machine that is shared can be held up for seconds.
const AT_LEAST_NS: u64 = 30_000_000_000;

/// After how long without a window a run is stuck.
pub fn stuck_after_ns(window_ns: u64) -> u64 {
    window_ns.saturating_mul(WINDOWS).max(AT_LEAST_NS)
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It gets ready.
    Starting,
    /// It measures.
    Measuring,
    /// It closes its file and writes its report.
    Finishing,
    /// Its process is there, and something in it does not go on: what.
    Stuck(String),
    /// It ended, and said how.
    Ended,
    /// Its process is gone, and did not say why: what is known.
    WithoutAWord(String),
    /// Its process cannot be looked at from here: why.
    Unknown(String),
}

impl Standing {
    /// Its word in a document.
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

    /// Further words about it.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Stuck(why) | Self::WithoutAWord(why) | Self::Unknown(why) => Some(why),
            Self::Starting | Self::Measuring | Self::Finishing | Self::Ended => None,
        }
    }

    /// True if nothing goes on any more.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Ended | Self::WithoutAWord(_))
    }
}

impl Entry {
    /// How the run stands now, by a file that belongs to `owner`.
    pub fn standing(&self, owner: u32) -> Standing {
        self.standing_of(self.process.life(owner), sys::clock::monotonic().as_ns())
    }

    /// The same, of a process that is known to be so, at `now_ns` on CLOCK_MONOTONIC.
    pub(super) fn standing_of(&self, life: Life, now_ns: i64) -> Standing {
        let pid = self.process.pid;
        if self.end.is_some() {
            return Standing::Ended;
        }
        match life {
            Life::Gone => Standing::WithoutAWord(format!(
                "process {pid} is gone: it was killed, or the machine took it; what it measured is in its file up to the last closed window"
            )),
            Life::BeforeBoot => Standing::WithoutAWord("the machine was booted since".to_owned()),
            Life::Elsewhere => Standing::Unknown(format!(
                "process {pid} counts in another PID namespace: look from inside that container"
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

    /// Finds the part of a measuring run that does not go on, in words.
    pub fn stands_still(&self, now_ns: i64) -> Option<String> {
        if self.phase != Phase::Measuring {
            return None;
        }
        let limit_ns = stuck_after_ns(self.window_ns);
        let silent = |at_ns: i64| u64::try_from(now_ns - at_ns).ok().filter(|ns| *ns > limit_ns);
        if let Some(ns) = silent(self.seen_ns) {
            return Some(format!(
                "the process has said nothing for {}: it is stopped or held up",
                Ns(ns)
            ));
        }
        if let Some(ns) = self.recorder_seen_ns.and_then(silent) {
            return Some(format!("its recorder stands still for {}", Ns(ns)));
        }
        let ns = self.window_seen_ns.and_then(silent)?;
        Some(format!(
            "no window was closed for {}, of {} each: its measuring threads stand still",
            Ns(ns),
            Ns(self.window_ns)
        ))
    }
}
