//! Samples that do not belong to the current sequence: copies, samples that are far too late, or samples of another
//! publisher.

use super::history::{Contents, Likeness};
use super::line::{Earliest, counts};
use super::pace::Pace;
use super::{MOST_ASDUS, Sample, SampleStep, Sequence, WINDOW, What};

/// Number of consecutive strays that make a sequence of their own.
const OWN_SEQUENCE: u32 = 3;

/// Maximum delay of copies, in ns.
const COPIES_NS: i64 = 1_000_000_000;

/// After this many consecutive strays, with no sample of the stream in between, the strays may be the stream itself,
/// which continues there.
const GONE_ON: u32 = 64;

/// Copies are late by at most one turn of the counter minus a turn divided by this number. A count that is closer ahead
/// of the stream is a jump of the stream.
const LATEST: u32 = 12;

/// The strays so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Strays {
    last: Option<u32>,
    last_ns: Option<i64>,
    /// Number of samples at the time of the last stray.
    last_asdus: u64,
    /// Consecutive strays, counted in frames if arrival times distinguish frames, otherwise in samples.
    in_a_row: u32,
    /// Strays of this row with other contents that are not counted as conflicting.
    others: u64,
    unproven: Option<Unproven>,
    /// Count of the stream before its last certain restart, and the time.
    pub(super) former: Option<(u32, Option<i64>)>,
}

/// A second sequence, with counts from before the stream's first sample. If every frame arrives again later, a stream
/// begins like this; one of the two sequences consists of copies.
#[derive(Debug, Clone, Copy)]
struct Unproven {
    /// Counts of the stream (`newest`) and of the second sequence (`count`) at the time.
    newest: u32,
    count: u32,
    since_ns: Option<i64>,
    /// Samples of the second sequence with other contents than a sample of the same count: they belong to another turn,
    /// or contradict it.
    conflicting: u64,
    /// True if the stream has sent samples that the second sequence had sent before: then the followed stream consists
    /// of copies.
    is_ahead: bool,
}

impl Strays {
    /// Forgets the count of the last stray if it is beyond `rate`.
    pub(super) fn within(&mut self, rate: u32) {
        self.last = self.last.filter(|last| *last < rate);
    }

    /// True if the strays form a sequence.
    pub(super) fn are_a_sequence(&self) -> bool {
        self.unproven.is_some() || self.in_a_row >= OWN_SEQUENCE
    }

    /// Forgets the second sequence: it was the stream itself, which has restarted.
    pub(super) fn forget_unproven(&mut self) {
        self.unproven = None;
    }

    /// Forgets the second sequence if the stream's samples are copies of its samples: the stream goes on there.
    pub(super) fn forget_followed(&mut self) {
        self.unproven = self.unproven.filter(|unproven| !unproven.is_ahead);
    }

    /// Forgets it if the stream has moved on by `ahead` to `count`, beyond its last sample.
    pub(super) fn forget_reached(&mut self, count: u32, rate: u32, ahead: u64) {
        let back = self.last.map(|last| u64::from((count + rate - last) % rate));
        if back.is_some_and(|back| back <= ahead + u64::from(WINDOW)) {
            self.forget_followed();
        }
    }

    pub(super) fn are_unproven(&self) -> bool {
        self.unproven.is_some()
    }

    /// True if the count continues a sequence of which the stream's samples are copies.
    pub(super) fn is_followed_by(&self, count: u32, rate: u32) -> bool {
        let is_ahead = self.unproven.is_some_and(|unproven| unproven.is_ahead);
        is_ahead
            && self
                .last
                .is_some_and(|last| (1..=WINDOW).contains(&((count + rate - last) % rate)))
    }
}

impl Sequence {
    /// Classifies a sample that the stream has passed, however late it is; `None` if that is not certain.
    pub(super) fn come_late(&mut self, count: u32, sample: &Sample) -> Option<SampleStep> {
        if self.is_skipped(count) && self.returns_to_gap(count, sample.contents) {
            return Some(SampleStep::OutOfOrder);
        }
        let step = match self.is_of_this_turn(count, sample) {
            true => self.come_again(count, sample),
            false => None,
        };
        let step = step.or_else(|| self.come_before_the_first(count, sample))?;
        self.too_late_in_a_row += u32::from(step != SampleStep::OutOfOrder);
        Some(step)
    }

    /// True if the stream may have passed this count: the stream continues meanwhile, and no full turn has elapsed, so
    /// the rate is not needed to decide.
    fn is_of_this_turn(&self, count: u32, sample: &Sample) -> bool {
        match self.is_rate_known {
            true => self.too_late_in_a_row < self.rate / 4,
            false => sample.at_ns.is_some_and(|at_ns| self.pace.has_passed(count, at_ns)),
        }
    }

    /// Handles a sample that was missing, or a copy of an earlier one.
    fn come_again(&mut self, count: u32, sample: &Sample) -> Option<SampleStep> {
        if self.is_skipped(count) {
            self.counters.too_late += 1;
            return Some(SampleStep::TooLate);
        }
        match self.likeness(count, sample.contents) {
            Likeness::Same => self.prove(count),
            Likeness::Usual if self.too_late_in_a_row < GONE_ON => self.follow_stray(count, sample.at_ns),
            Likeness::Usual | Likeness::Other | Likeness::Unknown => return None,
        }
        self.counters.duplicates += 1;
        Some(SampleStep::Duplicate)
    }

    /// Handles a sample from before the stream's first one: a copy, or the stream itself if the stream so far consisted
    /// of copies.
    fn come_before_the_first(&mut self, count: u32, sample: &Sample) -> Option<SampleStep> {
        let ahead = self.newest.map_or(0, |newest| (count + self.rate - newest) % self.rate);
        let may_be_a_wrap = !self.is_rate_known && count <= WINDOW;
        let may_be_a_restart = self.too_late_in_a_row >= GONE_ON || (self.is_rate_known && ahead < self.rate / LATEST);
        let is_provable = sample.contents.is_some() && sample.at_ns.is_some();
        if may_be_a_wrap
            || may_be_a_restart
            || !is_provable
            || !self.is_before_the_first(count)
            || self.before.is_some()
        {
            return None;
        }
        if self.likeness(count, sample.contents) != Likeness::Unknown {
            return None;
        }
        self.counters.too_late += 1;
        self.history.set(count, sample.contents);
        self.follow_stray(count, sample.at_ns);
        Some(SampleStep::TooLate)
    }

    /// Handles a sample that does not belong to the stream, which continued elsewhere.
    pub(super) fn stray(&mut self, count: u32, contents: Option<Contents>, at_ns: Option<i64>) {
        if self.is_rate_known && self.is_skipped(count) {
            match self.returns_to_gap(count, contents) {
                true => self.returned = self.returned.saturating_add(1),
                false => self.counters.too_late += 1,
            }
            return;
        }
        match self.history.compare(count, contents) {
            Likeness::Same => {
                self.counters.duplicates += 1;
                self.prove(count);
                return;
            }
            Likeness::Usual => self.counters.duplicates += 1,
            Likeness::Other if self.is_withheld(count, at_ns) => {
                self.counters.too_late += 1;
                self.history.set(count, contents);
            }
            // The earlier sample may belong to the previous turn.
            Likeness::Other if !self.is_rate_known => {
                self.counters.too_late += 1;
                self.second_sequence(count);
                return;
            }
            Likeness::Other => {
                self.counters.too_late += 1;
                self.follow_stray(count, at_ns);
                self.accuse(count);
                return;
            }
            Likeness::Unknown => {
                self.counters.too_late += 1;
                if self.is_before_the_first(count) {
                    self.history.set(count, contents);
                }
            }
        }
        self.follow_stray(count, at_ns);
    }

    /// Handles a stray with other contents than the sample of the same count. One alone may be more than a turn late; a sequence of them is another
    /// publisher's.
    fn accuse(&mut self, count: u32) {
        let may_be_of_another_turn = self.held.is_some() || self.has_lacked(count);
        if self.strays.in_a_row == 0 {
            self.strays.others = 0;
        }
        self.strays.others += u64::from(!may_be_of_another_turn);
        if may_be_of_another_turn || self.strays.in_a_row < OWN_SEQUENCE {
            self.out_of_turn(count);
            return;
        }
        let others = std::mem::take(&mut self.strays.others);
        self.counters.conflicting += others;
        self.counters.too_late = self.counters.too_late.saturating_sub(others);
        for _ in 0..others {
            self.findings.push(What::Conflict, u64::from(count), 0);
        }
    }

    /// Checks whether consecutive strays form a sequence. Strays in one frame count as one.
    pub(super) fn follow_stray(&mut self, count: u32, at_ns: Option<i64>) {
        let strays = &mut self.strays;
        let last = strays.last.replace(count);
        let ahead = last.map(|last| (count + self.rate - last) % self.rate);
        let last_ns = std::mem::replace(&mut strays.last_ns, at_ns);
        // Nothing arrives between the samples of a frame, but a delayed receiver may give many frames the same time
        // stamp.
        let between = self.counters.asdus.saturating_sub(strays.last_asdus);
        strays.last_asdus = self.counters.asdus;
        let is_of_the_same_frame = at_ns.is_some() && at_ns == last_ns && between <= 1;
        strays.in_a_row = match ahead {
            Some(1..=WINDOW) => strays.in_a_row + u32::from(!is_of_the_same_frame),
            // A copy of the frame itself.
            Some(ahead) if ahead == 0 || ahead + MOST_ASDUS > self.rate => strays.in_a_row,
            _ => 0,
        };
        if strays.in_a_row < OWN_SEQUENCE {
            return;
        }
        match self.newest.filter(|_| self.is_before_the_first(count)) {
            _ if self.strays.unproven.is_some() => {}
            Some(newest) => {
                self.strays.unproven = Some(Unproven {
                    newest,
                    count,
                    since_ns: at_ns,
                    conflicting: 0,
                    is_ahead: false,
                });
            }
            None => self.second_sequence(count),
        }
    }

    /// True if a sample with other contents belongs to a sequence that may still turn out to be the stream itself.
    /// Copies arrive within a second.
    fn is_withheld(&mut self, count: u32, at_ns: Option<i64>) -> bool {
        let (rate, is_next) = (self.rate, self.strays.last);
        let is_next = is_next.is_some_and(|last| (0..=WINDOW).contains(&((count + rate - last) % rate)));
        let Some(unproven) = self.strays.unproven.as_mut() else {
            return false;
        };
        let is_over = at_ns
            .zip(unproven.since_ns)
            .is_none_or(|(now, since)| now - since > COPIES_NS);
        if is_over {
            self.give_up_strays();
            return false;
        }
        unproven.conflicting += u64::from(is_next);
        is_next
    }

    /// Records a copy of a count that the stream had: it proves that the sequence it continues consists of copies.
    pub(super) fn prove(&mut self, count: u32) {
        let Some((unproven, last)) = self.strays.unproven.zip(self.strays.last) else {
            return;
        };
        // A copy of the second sequence's own sample proves nothing.
        if !(1..=WINDOW).contains(&((count + self.rate - last) % self.rate)) {
            return;
        }
        match unproven.conflicting {
            0 => self.strays.unproven = None,
            _ => self.give_up_strays(),
        }
    }

    /// True if this count was due before the stream's first sample.
    fn is_before_the_first(&self, count: u32) -> bool {
        let behind = self.newest.map_or(0, |newest| (newest + self.rate - count) % self.rate);
        u64::from(behind) >= self.index
    }

    /// Checks whether the stream's next sample was sent by another sequence before.
    #[cold]
    pub(super) fn look_at_unproven(&mut self, count: u32, sample: &Sample) {
        let is_next = self.newest.is_some_and(|newest| (newest + 1) % self.rate == count);
        let is_a_copy = is_next && self.history.compare(count, sample.contents) == Likeness::Same;
        if let Some(unproven) = self.strays.unproven.as_mut().filter(|_| is_a_copy) {
            unproven.is_ahead = true;
        }
    }

    /// Changes to the original sequence: the stream so far consisted of copies. Counts that neither sequence sent are
    /// lost.
    pub(super) fn change_over(&mut self, count: u32, sample: &Sample) -> SampleStep {
        let newest = self.newest.unwrap_or(count);
        let ahead = (count + self.rate - newest) % self.rate;
        self.give_up_early();
        let mut lost = 0;
        for further in 1..ahead {
            let between = (newest + further) % self.rate;
            if !self.history.knows(between) {
                lost += 1;
                self.mark_skipped(between);
            }
        }
        self.counters.lost = self.counters.lost.saturating_add(lost);
        self.counters.gaps += u64::from(lost > 0);
        self.strays.unproven = None;
        self.pace = Pace::default();
        self.move_on(count, u64::from(ahead), sample);
        (self.seen, self.missing) = (u32::MAX, 0);
        for back in (1..ahead.min(u32::BITS)).filter(|back| !self.history.knows((count + self.rate - back) % self.rate))
        {
            self.seen &= !(1 << back);
            self.missing |= 1 << back;
        }
        self.line = sample
            .at_ns
            .map_or_else(Earliest::default, |at_ns| Earliest::from(self.index, at_ns));
        SampleStep::Restart
    }

    /// Reports a second sequence at the end of the run if no sample proved that it consisted of copies.
    pub(super) fn give_up_strays(&mut self) {
        let Some(unproven) = self.strays.unproven.take() else {
            return;
        };
        let Unproven {
            newest,
            count,
            conflicting,
            ..
        } = unproven;
        self.findings
            .push(What::SecondSequence, u64::from(newest), u64::from(count));
        if conflicting > 0 {
            self.counters.conflicting += conflicting;
            self.counters.too_late = self.counters.too_late.saturating_sub(conflicting);
            self.findings.push(What::Conflict, u64::from(count), 0);
        }
    }

    /// Checks whether a restart returns to the count where the stream would be without its last restart: then two
    /// sequences run at the same time.
    pub(super) fn look_for_former(&mut self, count: u32, sample: &Sample) {
        let Some((former, former_ns)) = self.strays.former else {
            return;
        };
        let ahead = u64::from((count + self.rate - former % self.rate) % self.rate);
        let elapsed = sample.at_ns.zip(former_ns).filter(|_| self.is_rate_known);
        let elapsed = elapsed.map(|(now, then)| counts(now.saturating_sub(then), self.rate) % u64::from(self.rate));
        let slack = u64::from(WINDOW.max(self.rate / 200));
        let is_former = match elapsed {
            Some(elapsed) => ahead.abs_diff(elapsed) <= slack,
            None => (1..=u64::from(WINDOW)).contains(&ahead),
        };
        if is_former {
            self.second_sequence(count);
        }
    }

    fn second_sequence(&mut self, count: u32) {
        let newest = self.newest.unwrap_or(0);
        self.findings
            .push(What::SecondSequence, u64::from(newest), u64::from(count));
    }
}
