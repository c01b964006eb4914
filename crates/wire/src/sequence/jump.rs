//! Jumps of the counter: a loss, a restart, or a sample that belongs to no part of the stream.
//!
//! What follows a jump tells. Where the stream goes on, a few samples later, where it was before, those in between were strays: samples
//! that came far too late, copies, or those of somebody else.

use super::history::{Contents, Likeness};
use super::line::Line;
use super::pace::Pace;
use super::{MOST_ASDUS, Sample, Sequence, Step, WINDOW, What};

/// Strays whose counts follow each other that make a sequence of its own.
const OWN_SEQUENCE: u32 = 3;

/// The stream as it was before a jump.
#[derive(Debug, Clone)]
pub(super) struct Before {
    newest: u32,
    index: u64,
    newest_ns: Option<i64>,
    line: Line,
    pace: Pace,
    seen: u32,
    missing: u32,
    lost: u64,
    gaps: u64,
    pending: usize,
    /// Whether the jump was counted as a restart.
    is_restart: bool,
    /// What would be remembered as skipped: before which count, and how many.
    skipped: (u32, u64),
    /// Samples that moved the stream on since, with the one that jumped.
    kept: [(u32, Option<Contents>); MOST_ASDUS as usize],
    moved: usize,
    /// Samples that followed, with the one that jumped.
    since: u32,
}

impl Before {
    pub(super) fn is_restart(&self) -> bool {
        self.is_restart
    }

    /// Remembers a sample that the stream moved on with.
    pub(super) fn keep(&mut self, count: u32, contents: Option<Contents>) {
        if let Some(place) = self.kept.get_mut(self.moved) {
            *place = (count, contents);
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

    fn kept(&self) -> &[(u32, Option<Contents>)] {
        &self.kept[..self.moved]
    }

    /// As [`super::history::History::compare`], with the samples since the jump.
    pub(super) fn likeness(&self, count: u32, contents: Option<Contents>) -> Likeness {
        let before = self.kept().iter().find(|(kept, _)| *kept == count);
        match before.and_then(|(_, before)| before.zip(contents)) {
            Some((before, now)) if before != now => Likeness::Other,
            Some(_) => Likeness::Usual,
            None => Likeness::Unknown,
        }
    }
}

/// Samples that belonged to no part of the stream.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Strays {
    last: Option<u32>,
    in_a_row: u32,
    /// Where the stream was before its last certain restart, and when.
    former: Option<(u32, Option<i64>)>,
}

impl Strays {
    /// Forgets where the last one was, if no count of `rate` is there.
    pub(super) fn within(&mut self, rate: u32) {
        self.last = self.last.filter(|last| *last < rate);
    }
}

impl Sequence {
    /// A count further away than samples that come late.
    #[cold]
    pub(super) fn jump(&mut self, count: u32, ahead: u32, sample: &Sample) -> Step {
        let is_a_loss = ahead < self.rate.div_ceil(2) && self.has_time_for(ahead, sample);
        if is_a_loss {
            self.doubt(false);
            return self.go_on(count, u64::from(ahead), sample);
        }
        if self.is_rate_known && self.too_late_in_a_row < self.rate / 4 {
            if self.is_skipped(count) {
                self.too_late_in_a_row += 1;
                self.counters.too_late += 1;
                return Step::TooLate;
            }
            if self.likeness(count, sample.contents) == Likeness::Same {
                self.too_late_in_a_row += 1;
                self.counters.duplicates += 1;
                return Step::Duplicate;
            }
        }
        self.restart(count, sample)
    }

    /// The counter jumped where no time takes it.
    pub(super) fn restart(&mut self, count: u32, sample: &Sample) -> Step {
        self.look_for_former(count, sample);
        self.doubt(self.is_rate_known);
        match self.is_rate_known {
            true => self.counters.restarts += 1,
            false => self.pend_wrap(count, sample),
        }
        self.begin(count, sample);
        Step::Restart
    }

    /// Whether the time since the sample before allows a loss of so many counts.
    fn has_time_for(&self, ahead: u32, sample: &Sample) -> bool {
        let Some((at_ns, before_ns)) = sample.at_ns.zip(self.newest_ns) else {
            return true;
        };
        match self.is_rate_known {
            true => {
                let most = self.line.most_ahead(self.index, self.rate, at_ns);
                most.is_none_or(|most| u64::from(ahead) <= most)
            }
            false => self
                .pace
                .most_ahead(at_ns.saturating_sub(before_ns))
                .is_none_or(|most| u64::from(ahead) <= most),
        }
    }

    /// Remembers the stream as it is: the next samples tell whether it goes on here.
    fn doubt(&mut self, is_restart: bool) {
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
            is_restart,
            skipped: (0, 0),
            kept: [(0, None); MOST_ASDUS as usize],
            moved: 0,
            since: 1,
        });
    }

    /// Takes a jump back when the stream goes on where it was before; makes it certain when as many samples have followed as a frame has.
    #[cold]
    pub(super) fn doubt_jump(&mut self, count: u32) {
        let Some(before) = &mut self.before else { return };
        let ahead = (count + self.rate - before.newest) % self.rate;
        if (1..=WINDOW.min(self.rate / 4)).contains(&ahead) {
            self.take_back();
            return;
        }
        before.since += 1;
        if before.since > MOST_ASDUS {
            self.confirm();
        }
    }

    /// The stream goes on where it was before the jump.
    fn take_back(&mut self) {
        let Some(before) = self.before.take() else { return };
        (self.counters.lost, self.counters.gaps) = (before.lost, before.gaps);
        self.counters.restarts -= u64::from(before.is_restart);
        (self.newest, self.index, self.newest_ns) = (Some(before.newest), before.index, before.newest_ns);
        (self.line, self.pace) = (before.line, before.pace);
        (self.seen, self.missing) = (before.seen, before.missing);
        self.pending.truncate(before.pending);
        for (count, contents) in before.kept() {
            self.stray(*count, *contents);
        }
    }

    /// The stream goes on from where it jumped to.
    pub(super) fn confirm(&mut self) {
        let Some(before) = self.before.take() else { return };
        if before.is_restart {
            // What the stream before skipped, and held, is no part of this one.
            self.skipped.fill(0);
            self.history.clear();
            self.strays.former = Some((before.newest, before.newest_ns));
            let to = before.kept().first().map_or(0, |(count, _)| *count);
            self.findings
                .push(What::Restart, u64::from(before.newest), u64::from(to));
        } else {
            self.skip(before.skipped.0, before.skipped.1);
        }
        for (count, contents) in before.kept() {
            self.history.set(*count, *contents);
        }
    }

    /// A sample that is no part of the stream, which went on elsewhere.
    fn stray(&mut self, count: u32, contents: Option<Contents>) {
        if self.is_rate_known && self.is_skipped(count) {
            self.counters.too_late += 1;
            return;
        }
        let likeness = self.history.compare(count, contents);
        match likeness {
            Likeness::Same => {
                self.counters.duplicates += 1;
                return;
            }
            Likeness::Usual => self.counters.duplicates += 1,
            Likeness::Other => {
                self.counters.conflicting += 1;
                self.findings.push(What::Conflict, u64::from(count), 0);
            }
            Likeness::Unknown => self.counters.too_late += 1,
        }
        self.follow_stray(count);
    }

    /// Strays whose counts follow each other are somebody's sequence.
    fn follow_stray(&mut self, count: u32) {
        let last = self.strays.last.replace(count);
        let ahead = last.map(|last| (count + self.rate - last) % self.rate);
        let follows = ahead.is_some_and(|ahead| (1..=WINDOW).contains(&ahead));
        self.strays.in_a_row = if follows { self.strays.in_a_row + 1 } else { 0 };
        if self.strays.in_a_row >= OWN_SEQUENCE {
            self.second_sequence(count);
        }
    }

    /// A restart to where the stream was before the last one, moved on by the time since: both are there all the while.
    fn look_for_former(&mut self, count: u32, sample: &Sample) {
        let Some((former, former_ns)) = self.strays.former else {
            return;
        };
        let ahead = u64::from((count + self.rate - former % self.rate) % self.rate);
        let elapsed = sample.at_ns.zip(former_ns).filter(|_| self.is_rate_known);
        let elapsed =
            elapsed.map(|(now, then)| super::line::counts(now.saturating_sub(then), self.rate) % u64::from(self.rate));
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
