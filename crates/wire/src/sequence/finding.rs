//! Findings of the rules in a stream, worded alike for every command that follows streams.

use super::WINDOW;
use crate::ether::Mac;
use std::fmt::{self, Display};
use units::Ns;

/// Kind of a finding. The fields `a` and `b` of the [`Finding`] hold its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// The rate: `a` counts a second.
    RateLearned,
    /// The rate is `a` counts a second, but `b` was stated.
    OtherRate,
    /// A rate of `a` counts a second belongs to no profile, and the arrival times do not confirm it.
    OddRate,
    /// Nothing has arrived for `a` ns so far.
    Silent,
    /// The stream continued after `a` ns of silence; `b` samples are lost.
    Interrupted,
    /// Nothing arrived for the last `a` ns of the run; `b` samples are lost.
    Stopped,
    /// Like [`What::Stopped`], for a stream whose rate is not known.
    StoppedUncounted,
    /// After `a` ns, the counter had advanced by `b`, which does not fit that time: the loss is not known.
    Uncountable,
    /// After `a` ns of silence, more samples arrived than were due since: they had been held back for whole turns of
    /// the counter, `b` counts.
    Held,
    /// The counter jumped from `a` to `b` without enough time for it.
    Restart,
    /// A second sequence with the same identity: the stream was at `a`, the second one at `b`.
    SecondSequence,
    /// A sample with count `a` contradicts an earlier one.
    Conflict,
    /// A sample with count `a`, which is beyond the rate `b`.
    OutOfRange,
    /// A sample with count `a` was far from the stream, which was at `b`: early, more than a turn late, or of another publisher.
    OutOfTurn,
    /// A sample with count `a` of a gap of `b` counts arrived, after more later samples than may overtake it.
    Overtaken,
    /// `a` samples arrived more than `b` counts late.
    TooLate,
    /// The source address changed from `a` to `b`.
    Source,
    /// The simulation bit changed from `a` to `b`.
    Simulation,
    /// confRev changed from `a` to `b`.
    ConfRev,
    /// `b` more findings of kind `a`.
    More,
}

impl What {
    /// Every kind, in the order of its number.
    const ALL: [Self; 20] = [
        Self::RateLearned,
        Self::OtherRate,
        Self::OddRate,
        Self::Silent,
        Self::Interrupted,
        Self::Stopped,
        Self::StoppedUncounted,
        Self::Uncountable,
        Self::Held,
        Self::Restart,
        Self::SecondSequence,
        Self::Conflict,
        Self::OutOfRange,
        Self::OutOfTurn,
        Self::Overtaken,
        Self::TooLate,
        Self::Source,
        Self::Simulation,
        Self::ConfRev,
        Self::More,
    ];

    /// The kind with this number; the inverse of [`What::number`].
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Number of the kind, for records of fixed size.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// True if something may have happened to the stream that its counters do not show: then no figure of the stream
    /// passes.
    pub fn is_doubt(self) -> bool {
        matches!(
            self,
            Self::OddRate
                | Self::StoppedUncounted
                | Self::Uncountable
                | Self::Held
                | Self::Restart
                | Self::SecondSequence
                | Self::Conflict
                | Self::OutOfRange
                | Self::OutOfTurn
                | Self::Overtaken
                | Self::Source
        )
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Restart => "jumps of smpCnt",
            Self::SecondSequence => "samples of a second sequence",
            Self::Conflict => "samples that contradict one of the same smpCnt",
            Self::OutOfRange => "samples with a smpCnt beyond the rate",
            Self::OutOfTurn => "samples out of their turn",
            Self::Source => "changes of the source address",
            Self::Simulation => "changes of the simulation bit",
            Self::ConfRev => "changes of confRev",
            Self::Interrupted | Self::Silent => "silences",
            _ => "findings of the same kind",
        }
    }
}

/// A finding in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub what: What,
    /// First figure.
    pub a: u64,
    /// Second figure.
    pub b: u64,
}

impl Display for Finding {
    /// Writes one sentence without the stream's name.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, a, b } = *self;
        match what {
            What::RateLearned => write!(out, "{a} samples/s, learned from the stream"),
            What::OtherRate => write!(out, "smpCnt runs at {a}/s, but {b}/s was stated"),
            What::OddRate => write!(
                out,
                "smpCnt wraps at {a}, which is not the rate of a profile, and the wrap takes longer than the time between \
                 frames: what is lost there is not known (state the rate with --rate)"
            ),
            What::Silent => write!(out, "silent for {} so far", Ns(a)),
            What::Interrupted => write!(out, "silent for {}, {b} samples lost", Ns(a)),
            What::Stopped => write!(out, "stopped {} before the end: {b} samples lost", Ns(a)),
            What::StoppedUncounted => write!(
                out,
                "stopped {} before the end: its rate is not known, so the loss is not known either",
                Ns(a)
            ),
            What::Uncountable => write!(
                out,
                "silent for {}, then smpCnt was {b} further, which does not fit that time: the publisher paused or \
                 restarted, or a clock stepped; what was lost is not known",
                Ns(a)
            ),
            What::Held => write!(
                out,
                "silent for {}, then the samples of that time came at once: they were held back and came late, or the publisher paused \
                 (whether {b} more are lost is not known)",
                Ns(a)
            ),
            What::Restart => write!(
                out,
                "smpCnt jumped from {a} to {b}: the publisher restarted or resynchronised, or it is another one; what was lost is not \
                 known"
            ),
            What::SecondSequence => write!(
                out,
                "two sequences under one identity: the stream was at smpCnt {a}, and a second one came with {b}: late copies whose \
                 contents do not show it, a second publisher, or injected frames"
            ),
            What::Conflict => write!(
                out,
                "a second sample with smpCnt {a} has other contents: two publishers, or injected frames"
            ),
            What::OutOfRange => write!(
                out,
                "smpCnt {a} is beyond the rate of {b}/s: the loss beyond it is not known (is the rate right?)"
            ),
            What::OutOfTurn => write!(
                out,
                "a sample with smpCnt {a} came out of its turn, when the stream was at {b}: it was more than a second late, came before earlier \
                 ones, or is of a second publisher"
            ),
            What::Overtaken => write!(
                out,
                "{b} samples were missing, and then came from smpCnt {a} on, overtaken by more than {WINDOW} later ones: held back, or of a \
                 second publisher"
            ),
            What::TooLate => write!(
                out,
                "{a} samples came more than {b} counts late, without a restart: the missing ones still count as lost"
            ),
            What::Source => write!(
                out,
                "source address changed from {} to {}: a second publisher?",
                mac(a),
                mac(b)
            ),
            What::Simulation => write!(out, "simulation bit changed from {a} to {b}"),
            What::ConfRev => write!(out, "confRev changed from {a} to {b}"),
            What::More => {
                let kind = u8::try_from(a).ok().and_then(What::of).unwrap_or(What::More);
                write!(out, "{b} more {}", kind.plural())
            }
        }
    }
}

/// A MAC address as one number.
pub(super) fn packed(mac: Mac) -> u64 {
    let [a, b, c, d, e, f] = mac.0;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

fn mac(packed: u64) -> Mac {
    let [_, _, a, b, c, d, e, f] = packed.to_be_bytes();
    Mac([a, b, c, d, e, f])
}

/// Number of findings per kind that are reported individually; further ones are only counted.
const TOLD: u32 = 10;

/// Capacity for findings that are not yet reported. No single frame causes more.
const WAITING: usize = 40;

/// Findings that wait to be reported, and the number of findings of each kind. Allocates nothing.
#[derive(Debug, Clone)]
pub(super) struct Findings {
    waiting: [Finding; WAITING],
    first: usize,
    count: usize,
    seen: [u32; What::ALL.len()],
}

impl Default for Findings {
    fn default() -> Self {
        let none = Finding {
            what: What::More,
            a: 0,
            b: 0,
        };
        Self {
            waiting: [none; WAITING],
            first: 0,
            count: 0,
            seen: [0; What::ALL.len()],
        }
    }
}

impl Findings {
    pub(super) fn push(&mut self, what: What, a: u64, b: u64) {
        let seen = &mut self.seen[usize::from(what.number())];
        *seen = seen.saturating_add(1);
        if *seen <= TOLD {
            self.wait(Finding { what, a, b });
        }
    }

    fn wait(&mut self, finding: Finding) {
        if self.count < WAITING {
            self.waiting[(self.first + self.count) % WAITING] = finding;
            self.count += 1;
        }
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<Finding> {
        if self.count == 0 {
            return None;
        }
        let finding = self.waiting[self.first];
        self.first = (self.first + 1) % WAITING;
        self.count -= 1;
        Some(finding)
    }

    /// Adds one finding per kind with the number of findings not reported. Call it once, at the end.
    pub(super) fn end(&mut self) {
        for what in What::ALL {
            let seen = &mut self.seen[usize::from(what.number())];
            let untold = seen.saturating_sub(TOLD);
            *seen = 0;
            if untold > 0 {
                self.wait(Finding {
                    what: What::More,
                    a: u64::from(what.number()),
                    b: u64::from(untold),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, Findings, What, mac, packed};
    use crate::ether::Mac;

    #[test]
    fn every_kind_is_told_by_its_number_and_in_words() {
        for what in What::ALL {
            assert_eq!(What::of(what.number()), Some(what));
            assert!(!Finding { what, a: 1, b: 2 }.to_string().is_empty());
        }
        assert_eq!(What::of(What::ALL.len() as u8), None);
        let address = Mac([2, 0, 0x5e, 3, 4, 0xff]);
        assert_eq!(mac(packed(address)), address);
    }

    #[test]
    fn a_flood_is_told_ten_times_and_counted() {
        let mut findings = Findings::default();
        let mut told = 0;
        for n in 0..1_000 {
            findings.push(What::Conflict, n, 0);
            told += u32::from(findings.take().is_some());
        }
        assert_eq!(told, 10);
        findings.end();
        let more = findings.take().expect("the rest");
        assert_eq!((more.what, more.b), (What::More, 990));
        assert_eq!(
            more.to_string(),
            "990 more samples that contradict one of the same smpCnt"
        );
        assert_eq!(findings.take(), None);
    }
}
