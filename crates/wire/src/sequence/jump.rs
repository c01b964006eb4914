//! Jumps of the counter: a loss, a restart, or a sample that does not belong to the stream.
//!
//! The samples after a jump decide what it was. If the stream soon continues where it was before, the samples in
//! between were strays: far too late, copies, or from another publisher.

use super::early::Reached;
use super::finding::Findings;
use super::held::HeldLoss;
use super::history::{Contents, Likeness};
use super::line::Earliest;
use super::pace::Pace;
use super::{MOST_ASDUS, Sample, SampleStep, Sequence, WINDOW, What};

/// The maximum number of samples in a frame. A jump is confirmed once this many samples have followed it.
const FOLLOWED: u32 = MOST_ASDUS;

/// A sample since a jump.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    index: u64,
    count: u32,
    contents: Option<Contents>,
    at_ns: Option<i64>,
    /// True if a later one overtook it.
    is_late: bool,
}

/// The assumed meaning of a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Jump {
    Loss,
    Restart,
}

/// The stream as it was before a jump.
#[derive(Debug, Clone)]
pub(super) struct Before {
    newest: u32,
    index: u64,
    newest_ns: Option<i64>,
    line: Earliest,
    pace: Pace,
    seen: u32,
    missing: u32,
    lost: u64,
    gaps: u64,
    pending: usize,
    held: Option<HeldLoss>,
    jump: Jump,
    /// True if the time before the jump allows for samples that overtook others.
    is_timely: bool,
    /// True if the jump was counted as a restart.
    is_restart: bool,
    /// The gap to remember as skipped: the count after it, and its length.
    skipped: (u32, u64),
    /// The silence before the gap in ns, and the counts lost in it; zeros if it is not to be reported.
    interrupted: (u64, u64),
    /// Samples since the jump that were not copies, starting with the one that jumped.
    kept: [Kept; FOLLOWED as usize],
    moved: usize,
    /// Number of samples since the jump, including the one that jumped.
    since: u32,
}

impl Before {
    pub(super) fn is_restart(&self) -> bool {
        self.is_restart
    }

    /// Marks the sample `behind` the newest one before the jump as seen. Returns false if it was not missing, or if too many samples overtook it.
    fn fill_in(&mut self, behind: u32) -> bool {
        let bit = 1_u32.checked_shl(behind).unwrap_or(0);
        let later = (self.seen & bit.wrapping_sub(1)).count_ones() + self.since;
        let is_late = self.jump == Jump::Loss && self.missing & bit != 0 && later <= WINDOW;
        if is_late {
            self.seen |= bit;
            self.missing &= !bit;
            self.lost = self.lost.saturating_sub(1);
        }
        is_late
    }

    /// Number of the newest sample before the jump, and the counts that were seen up to it.
    pub(super) fn reached(&self) -> (u64, u32) {
        (self.index, self.seen)
    }

    pub(super) fn is_a_restart(&self) -> bool {
        self.jump == Jump::Restart
    }

    /// Remembers a sample number `index`; `is_late` is true if it did not move the stream on.
    pub(super) fn keep(&mut self, index: u64, count: u32, sample: &Sample, is_late: bool) {
        if let Some(place) = self.kept.get_mut(self.moved) {
            *place = Kept {
                index,
                count,
                contents: sample.contents,
                at_ns: sample.at_ns,
                is_late,
            };
            self.moved += 1;
        }
    }

    pub(super) fn skips(&mut self, count: u32, lost: u64) {
        if self.moved == 1 {
            self.skipped = (count, lost);
        }
    }

    /// Notes that the samples since the jump may have overtaken others.
    pub(super) fn allow_overtaking(&mut self) {
        self.is_timely = true;
    }

    /// Remembers that the gap was an interruption.
    pub(super) fn interrupts(&mut self, silent_ns: u64, lost: u64) {
        if self.moved == 1 {
            self.interrupted = (silent_ns, lost);
        }
    }

    pub(super) fn has_skipped(&self, count: u32, rate: u32) -> bool {
        let (behind, skipped) = self.skipped;
        let back = (behind + rate - count) % rate;
        back > 0 && u64::from(back) <= skipped
    }

    /// Reports the interruption that the jump ended.
    pub(super) fn tell_interruption(&self, findings: &mut Findings) {
        if let (silent_ns @ 1.., lost) = self.interrupted {
            findings.push(What::Interrupted, silent_ns, lost);
        }
    }

    fn kept(&self) -> &[Kept] {
        &self.kept[..self.moved]
    }

    /// True if the history has no contents for this count: the stream has restarted, it has just had the count, or it skipped it.
    pub(super) fn is_unlike_history(&self, count: u32, rate: u32) -> bool {
        let is_kept = self.kept().iter().any(|kept| kept.count == count);
        is_kept || self.jump == Jump::Restart || self.has_skipped(count, rate)
    }

    /// Like [`super::history::History::compare`], for the samples since the jump.
    pub(super) fn likeness(&self, count: u32, contents: Option<Contents>) -> Likeness {
        let before = self.kept().iter().find(|kept| kept.count == count);
        match before.and_then(|before| before.contents.zip(contents)) {
            Some((before, now)) if before != now => Likeness::Other,
            Some(_) => Likeness::Usual,
            None => Likeness::Unknown,
        }
    }
}

impl Sequence {
    /// Handles a count further away than any late sample can be.
    #[cold]
    pub(super) fn jump(&mut self, count: u32, ahead: u32, sample: &Sample) -> SampleStep {
        let is_known_way = self.is_rate_known || self.newest < Some(count);
        if is_known_way && self.strays.is_followed_by(count, self.rate) {
            return self.change_over(count, sample);
        }
        let is_a_loss = ahead < self.rate.div_ceil(2) && self.has_time_for(ahead, sample);
        if is_a_loss {
            self.doubt(Jump::Loss);
            if !self.is_rate_known {
                self.pend(count, sample, u64::from(ahead - 1), false);
            }
            return self.go_on(count, u64::from(ahead), sample);
        }
        if let Some(step) = self.come_late(count, sample) {
            return step;
        }
        self.restart(count, sample)
    }

    /// Handles a jump of the counter that the elapsed time does not explain.
    pub(super) fn restart(&mut self, count: u32, sample: &Sample) -> SampleStep {
        self.look_for_former(count, sample);
        self.doubt(Jump::Restart);
        match self.is_rate_known {
            true => self.counters.restarts += 1,
            false => self.pend_wrap(count, sample),
        }
        self.begin(count, sample);
        SampleStep::Restart
    }

    /// True if the time since the previous sample allows a loss of `ahead` counts.
    fn has_time_for(&self, ahead: u32, sample: &Sample) -> bool {
        let Some((at_ns, before_ns)) = sample.at_ns.zip(self.newest_ns) else {
            return true;
        };
        match self.is_rate_known {
            true => {
                let most = self.line.most_ahead(self.index, self.rate, at_ns);
                most.is_none_or(|most| u64::from(ahead) <= most)
            }
            false => {
                let took_ns = at_ns.saturating_sub(before_ns);
                match self.pace_before() {
                    Some(pace) => pace.allows(u64::from(ahead), took_ns),
                    None => self.pace.most_ahead(took_ns) >= u64::from(ahead),
                }
            }
        }
    }

    /// The pace before an unconfirmed jump, if the pace since the jump is not known: a stray's counter runs no faster
    /// than the stream's.
    fn pace_before(&self) -> Option<&Pace> {
        let before = self.before.as_ref().filter(|_| self.pace.rate().is_none())?;
        Some(&before.pace).filter(|pace| pace.has_moved())
    }

    /// Saves the current state: the next samples show whether the stream continues from it.
    pub(super) fn doubt(&mut self, jump: Jump) {
        self.confirm();
        let Some(newest) = self.newest else { return };
        self.before = Some(Before {
            newest,
            index: self.index,
            newest_ns: self.newest_ns,
            line: self.line,
            pace: self.pace,
            seen: self.seen,
            missing: self.missing,
            lost: self.counters.lost,
            gaps: self.counters.gaps,
            pending: self.pending.len(),
            held: self.held,
            jump,
            is_timely: jump == Jump::Loss,
            is_restart: jump == Jump::Restart && self.is_rate_known,
            skipped: (0, 0),
            interrupted: (0, 0),
            kept: [Kept::default(); FOLLOWED as usize],
            moved: 0,
            since: 1,
        });
    }

    /// Takes a jump back if the stream continues where it was before; confirms it once a frame's maximum number of
    /// samples has followed.
    #[cold]
    pub(super) fn doubt_jump(&mut self, count: u32, sample: &Sample) {
        let Some(before) = &mut self.before else { return };
        let ahead = (count + self.rate - before.newest) % self.rate;
        if (1..=WINDOW.min(self.rate / 4)).contains(&ahead) {
            self.take_back(Some((count, sample.contents)));
            return;
        }
        // A copy of an earlier sample shows nothing.
        let further = (count + self.rate - self.newest.unwrap_or(count)) % self.rate;
        let likeness = match before.is_unlike_history(count, self.rate) {
            true => before.likeness(count, sample.contents),
            false => self.history.compare(count, sample.contents),
        };
        let is_copy = !(1..=WINDOW).contains(&further) && matches!(likeness, Likeness::Same | Likeness::Usual);
        before.since += u32::from(!is_copy);
        if before.since > FOLLOWED {
            self.confirm();
        }
    }

    /// Handles a late sample that was missing before a jump which is not confirmed.
    #[cold]
    pub(super) fn come_late_over_jump(&mut self, count: u32, contents: Option<Contents>) -> Option<SampleStep> {
        let before = self.before.as_mut()?;
        let behind = (before.newest + self.rate - count) % self.rate;
        if behind > self.rate / 4 || !before.fill_in(behind) {
            return None;
        }
        let newest = self.newest.unwrap_or(count);
        self.mark_seen(u64::from((newest + self.rate - count) % self.rate));
        self.unskip(count);
        self.history.set(count, contents);
        self.counters.out_of_order += 1;
        self.found_one();
        Some(SampleStep::OutOfOrder)
    }

    /// Decides about a jump at the wrap that shows the rate.
    pub(super) fn settle_jump(&mut self, count: u32, rate: u32) {
        let Some(before) = &self.before else { return };
        let ahead = (count + rate).checked_sub(before.newest).map(|ahead| ahead % rate);
        let goes_on_before = matches!(ahead, Some(1..=WINDOW));
        match before.jump {
            Jump::Loss if !goes_on_before && !self.strays.are_unproven() => self.confirm(),
            _ => self.take_back(None),
        }
    }

    /// Decides about a jump at the end of the run. It is not a loss if another sequence arrived between the samples all
    /// the time.
    pub(super) fn end_jump(&mut self) {
        match &self.before {
            Some(before) if before.jump == Jump::Loss && self.strays.are_a_sequence() => self.take_back(None),
            _ => self.confirm(),
        }
    }

    /// The stream continues where it was before the jump, with this sample if there is one.
    fn take_back(&mut self, next: Option<(u32, Option<Contents>)>) {
        let Some(before) = self.before.take() else { return };
        self.counters.undecided = 0;
        let held = self
            .held
            .filter(|_| before.held.is_none())
            .map_or(0, |held| held.lost());
        let lost = self.counters.lost.saturating_sub(before.lost).saturating_add(held);
        self.returned = self.returned.saturating_add(lost);
        (self.counters.lost, self.counters.gaps) = (before.lost, before.gaps);
        self.counters.restarts -= u64::from(before.is_restart);
        (self.newest, self.index, self.newest_ns) = (Some(before.newest), before.index, before.newest_ns);
        (self.line, self.pace, self.held) = (before.line, before.pace, before.held);
        (self.seen, self.missing) = (before.seen, before.missing);
        self.pending.truncate(before.pending);
        let repeats = next.is_some_and(|(count, contents)| {
            matches!(self.history.compare(count, contents), Likeness::Same | Likeness::Usual)
        });
        for kept in before.kept() {
            let Kept {
                count,
                contents,
                at_ns,
                is_late,
                ..
            } = *kept;
            self.counters.out_of_order -= u64::from(is_late);
            // Whole turns that seemed to be lost before the jump were not.
            let ahead = (count + self.rate - before.newest) % self.rate;
            let index = before.index.saturating_add(u64::from(ahead));
            match before.is_timely {
                true => self.come_early(Reached { index, count, contents }, repeats),
                false => self.stray(count, contents, at_ns),
            }
        }
    }

    /// The stream continues from the count that it jumped to.
    pub(super) fn confirm(&mut self) {
        let Some(before) = self.before.take() else { return };
        self.counters.undecided = 0;
        if before.is_restart {
            self.confirm_restart(&before);
        } else {
            let (count, lost) = before.skipped;
            let index = before.kept().first().map_or(self.index, |kept| kept.index);
            let found = self.skip(index, count, lost);
            self.returned = self.returned.saturating_add(found);
        }
        before.tell_interruption(&mut self.findings);
        for kept in before.kept() {
            self.history.set(kept.count, kept.contents);
        }
        if !self.overtaking.is_empty() {
            self.meet_since(&before);
        }
    }

    fn confirm_restart(&mut self, before: &Before) {
        self.settle_held();
        // Gaps and held samples from before the restart do not belong to the new sequence.
        self.skipped.fill(0);
        self.lacked.fill(0);
        self.gap = None;
        self.history.clear();
        self.strays.forget_unproven();
        self.overtaking.clear();
        self.strays.former = Some((before.newest, before.newest_ns));
        let to = before.kept().first().map_or(0, |kept| kept.count);
        self.findings
            .push(What::Restart, u64::from(before.newest), u64::from(to));
    }

    /// Decides about the samples that came early, for a jump that is confirmed.
    fn meet_since(&mut self, before: &Before) {
        let mut from = before.index;
        for kept in before.kept().iter().filter(|kept| !kept.is_late) {
            let Kept {
                index, count, contents, ..
            } = *kept;
            let found = self.meet_early(from, Reached { index, count, contents });
            self.returned = self.returned.saturating_add(found);
            from = index;
        }
    }
}
