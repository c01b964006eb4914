//! Jumps of the counter: a loss, a restart, or a sample that does not belong to the stream.
//!
//! The samples after a jump decide what it was. If the stream soon continues where it was before, the samples in
//! between were strays: far too late, copies, or from another publisher.

use super::held::HeldLoss;
use super::history::{Contents, Likeness};
use super::line::Earliest;
use super::pace::Pace;
use super::{MOST_ASDUS, Sample, SampleStep, Sequence, WINDOW, What};

/// The maximum number of samples in a frame. A jump is confirmed once this many samples have followed it.
const FOLLOWED: u32 = MOST_ASDUS;

/// Count and contents of a sample, and its arrival time.
type Kept = (u32, Option<Contents>, Option<i64>);

/// The assumed meaning of a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Jump {
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
    /// True if the jump was counted as a restart.
    is_restart: bool,
    /// The gap to remember as skipped: the count after it, and its length.
    skipped: (u32, u64),
    /// Samples that moved the stream on since the jump, starting with the one that jumped: count, contents, arrival
    /// time.
    kept: [Kept; FOLLOWED as usize],
    moved: usize,
    /// Number of samples since the jump, including the one that jumped.
    since: u32,
}

impl Before {
    pub(super) fn is_restart(&self) -> bool {
        self.is_restart
    }

    /// Remembers a sample that moved the stream on.
    pub(super) fn keep(&mut self, count: u32, sample: &Sample) {
        if let Some(place) = self.kept.get_mut(self.moved) {
            *place = (count, sample.contents, sample.at_ns);
            self.moved += 1;
        }
    }

    pub(super) fn skips(&mut self, count: u32, lost: u64) {
        if self.moved == 1 {
            self.skipped = (count, lost);
        }
    }

    pub(super) fn has_skipped(&self, count: u32, rate: u32) -> bool {
        let (behind, skipped) = self.skipped;
        let back = (behind + rate - count) % rate;
        back > 0 && u64::from(back) <= skipped
    }

    fn kept(&self) -> &[Kept] {
        &self.kept[..self.moved]
    }

    /// Like [`super::history::History::compare`], for the samples since the jump.
    pub(super) fn likeness(&self, count: u32, contents: Option<Contents>) -> Likeness {
        let before = self.kept().iter().find(|(kept, ..)| *kept == count);
        match before.and_then(|(_, before, _)| before.zip(contents)) {
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
    fn doubt(&mut self, jump: Jump) {
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
            is_restart: jump == Jump::Restart && self.is_rate_known,
            skipped: (0, 0),
            kept: [(0, None, None); FOLLOWED as usize],
            moved: 0,
            since: 1,
        });
    }

    /// Takes a jump back if the stream continues where it was before; confirms it once a frame's maximum number of
    /// samples has followed.
    #[cold]
    pub(super) fn doubt_jump(&mut self, count: u32) {
        let Some(before) = &mut self.before else { return };
        let ahead = (count + self.rate - before.newest) % self.rate;
        if (1..=WINDOW.min(self.rate / 4)).contains(&ahead) {
            self.take_back();
            return;
        }
        before.since += 1;
        if before.since > FOLLOWED {
            self.confirm();
        }
    }

    /// Decides about a jump at the wrap that shows the rate.
    pub(super) fn settle_jump(&mut self, count: u32, rate: u32) {
        let Some(before) = &self.before else { return };
        let ahead = (count + rate).checked_sub(before.newest).map(|ahead| ahead % rate);
        let goes_on_before = matches!(ahead, Some(1..=WINDOW));
        match before.jump {
            Jump::Loss if !goes_on_before && !self.strays.are_unproven() => self.confirm(),
            _ => self.take_back(),
        }
    }

    /// Decides about a jump at the end of the run. It is not a loss if another sequence arrived between the samples all
    /// the time.
    pub(super) fn end_jump(&mut self) {
        match &self.before {
            Some(before) if before.jump == Jump::Loss && self.strays.are_a_sequence() => self.take_back(),
            _ => self.confirm(),
        }
    }

    /// The stream continues where it was before the jump.
    fn take_back(&mut self) {
        let Some(before) = self.before.take() else { return };
        (self.counters.lost, self.counters.gaps) = (before.lost, before.gaps);
        self.counters.restarts -= u64::from(before.is_restart);
        (self.newest, self.index, self.newest_ns) = (Some(before.newest), before.index, before.newest_ns);
        (self.line, self.pace, self.held) = (before.line, before.pace, before.held);
        (self.seen, self.missing) = (before.seen, before.missing);
        self.pending.truncate(before.pending);
        for (count, contents, at_ns) in before.kept() {
            self.stray(*count, *contents, *at_ns);
        }
    }

    /// The stream continues from the count that it jumped to.
    pub(super) fn confirm(&mut self) {
        let Some(before) = self.before.take() else { return };
        if before.is_restart {
            self.settle_held();
            // Gaps and held samples from before the restart do not belong to the new sequence.
            self.skipped.fill(0);
            self.history.clear();
            self.strays.forget_unproven();
            self.strays.former = Some((before.newest, before.newest_ns));
            let to = before.kept().first().map_or(0, |(count, ..)| *count);
            self.findings
                .push(What::Restart, u64::from(before.newest), u64::from(to));
        } else {
            self.skip(before.skipped.0, before.skipped.1);
        }
        for (count, contents, _) in before.kept() {
            self.history.set(*count, *contents);
        }
    }
}
