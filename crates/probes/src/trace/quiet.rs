//! Streams that become silent at the first point, and pairs of streams with the same name.

use ::trace::hops::{Progress, SILENCE_NS};
use std::collections::HashMap;
use units::{Monotonic, Ns, SignedNs};

/// smpCnt wraps once a second; a span of whole seconds may include one wrap more.
const WRAPS_MORE: i64 = 1;

const SECOND_NS: i64 = 1_000_000_000;

/// State of the reports about each stream.
#[derive(Debug)]
pub(super) struct Quiet {
    since: Monotonic,
    streams: HashMap<u32, Told>,
}

#[derive(Debug, Default)]
struct Told {
    is_silent: bool,
    silences: u32,
    turned: u32,
    /// The newest frame at the last check.
    turned_until: Option<Monotonic>,
    is_two: bool,
}

/// News about a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// Silent until now, for this many ns.
    Silent(i64),
    /// Frames come again after a reported silence.
    Again,
    /// Frames came again before the silence was reported; the longest silence so far, in ns.
    WasSilent(u64),
}

impl Quiet {
    /// Starts at this instant; earlier frames do not count.
    pub(super) fn since(since: Monotonic) -> Self {
        Self {
            since,
            streams: HashMap::new(),
        }
    }

    /// Checks a stream. `progress` was read at `until` or later; frames after `until` are not missed.
    pub(super) fn look(&mut self, stream: u32, progress: &Progress, until: Monotonic) -> Option<News> {
        let last = progress.last?;
        let told = self.streams.entry(stream).or_default();
        if progress.silences != told.silences {
            told.silences = progress.silences;
            return Some(match std::mem::take(&mut told.is_silent) {
                true => News::Again,
                false => News::WasSilent(progress.longest_silence_ns),
            });
        }
        let silent_ns = until - last;
        let is_silent = SignedNs(silent_ns) >= Ns(SILENCE_NS);
        if told.is_silent || !is_silent {
            return None;
        }
        told.is_silent = true;
        Some(News::Silent(silent_ns))
    }

    /// Number of times that smpCnt went back since the last check, and the time in ns, if that is more often than one sequence
    /// wraps; reported once. The time is that of the frames, since the reader may have been held up.
    pub(super) fn is_two(&mut self, stream: u32, progress: &Progress) -> Option<(u32, i64)> {
        let last = progress.last?;
        let told = self.streams.entry(stream).or_default();
        let turned = progress
            .turned
            .wrapping_sub(std::mem::replace(&mut told.turned, progress.turned));
        let elapsed_ns = last - told.turned_until.replace(last).unwrap_or(self.since);
        let wraps = (elapsed_ns + SECOND_NS - 1) / SECOND_NS + WRAPS_MORE;
        if told.is_two || i64::from(turned) <= wraps {
            return None;
        }
        told.is_two = true;
        Some((turned, elapsed_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::{News, Quiet, SECOND_NS};
    use ::trace::hops::{Progress, SILENCE_NS};
    use units::Monotonic;

    const SILENCE: i64 = SILENCE_NS as i64;

    fn at(ns: i64) -> Monotonic {
        Monotonic::from_ns(ns)
    }

    fn came(last: i64, silences: u32) -> Progress {
        Progress {
            last: Some(at(last)),
            longest_silence_ns: 7,
            silences,
            ..Progress::default()
        }
    }

    #[test]
    fn a_silence_is_told_once_while_it_lasts_and_when_it_ends() {
        let mut quiet = Quiet::since(at(0));
        assert_eq!(quiet.look(0, &Progress::default(), at(SECOND_NS)), None, "never came");
        assert_eq!(quiet.look(0, &came(10, 0), at(10 + SILENCE - 1)), None);
        assert_eq!(
            quiet.look(0, &came(10, 0), at(10 + SILENCE)),
            Some(News::Silent(SILENCE))
        );
        assert_eq!(quiet.look(0, &came(10, 0), at(10 + 2 * SILENCE)), None);
        let later = 10 + 3 * SILENCE;
        assert_eq!(quiet.look(0, &came(later, 1), at(later)), Some(News::Again));
        assert_eq!(quiet.look(0, &came(later, 1), at(later)), None);
        let next = later + SILENCE;
        assert_eq!(quiet.look(0, &came(next, 2), at(next)), Some(News::WasSilent(7)));
        assert_eq!(
            quiet.look(1, &came(10, 0), at(10 + SILENCE)),
            Some(News::Silent(SILENCE))
        );
    }

    #[test]
    fn wraps_are_one_sequence_and_more_turns_are_two() {
        let mut quiet = Quiet::since(at(0));
        let turned = |seconds: i64, turned| Progress {
            turned,
            ..came(seconds * SECOND_NS, 0)
        };
        assert_eq!(quiet.is_two(0, &turned(1, 2)), None, "a wrap at each end");
        assert_eq!(quiet.is_two(0, &turned(2, 3)), None);
        assert_eq!(quiet.is_two(0, &turned(3, 6)), Some((3, SECOND_NS)));
        assert_eq!(quiet.is_two(0, &turned(4, 100)), None, "already reported");
    }

    #[test]
    fn frames_of_forty_seconds_are_one_sequence_whenever_they_are_looked_at() {
        let mut quiet = Quiet::since(at(0));
        let wraps = |seconds: u32| Progress {
            turned: seconds,
            ..came(i64::from(seconds) * SECOND_NS, 0)
        };
        for seconds in [1, 41, 42, 43] {
            assert_eq!(quiet.is_two(0, &wraps(seconds)), None, "{seconds} s");
        }
    }
}
