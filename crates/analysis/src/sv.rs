//! One stream of sampled values: its counter, and what else must not change unseen.

use crate::sink::{Budget, EventKind, Notes};
use crate::spacing::Counts;
use wire::ether::Mac;
use wire::sequence::{Accounting, Sequence, Settled, Step};
use wire::sv::{FastPath, Frame};

/// The changing parts of one ASDU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) smp_cnt: u16,
    pub(crate) smp_synch: Option<u8>,
}

/// A jump of smpCnt by half a second or more.
#[derive(Debug, Clone, Copy, Default)]
struct Jump {
    frame: u64,
    at_ns: u64,
    smp_cnt: u16,
}

#[derive(Debug)]
pub(crate) struct SvStream {
    pub(crate) fast: FastPath,
    pub(crate) sequence: Sequence,
    accounting: Accounting,
    /// Stamp of the newest sample.
    newest_ns: Option<i64>,
    /// Whether the last frame came after a silence whose samples are counted.
    is_silence_counted: bool,
    /// The last jump of smpCnt: where it was, and when.
    jump: Jump,
    /// Restarts that were told.
    restarts: u64,
    smp_synch: Option<u8>,
    simulate: bool,
    conf_rev: u32,
    source: Mac,
    /// Most ASDUs of a frame.
    pub(crate) asdus: usize,
    pub(crate) lowest: u16,
    pub(crate) highest: u16,
    /// Where the first sample beyond the rate was: frame and smpCnt.
    first_out_of_range: Option<(u64, u16)>,
}

impl SvStream {
    pub(crate) fn new(frame: &Frame<'_>, rate: Option<u32>) -> Self {
        let first = frame.asdus().next();
        Self {
            fast: FastPath::new(),
            sequence: rate.map_or_else(Sequence::learning, Sequence::new),
            accounting: Accounting::default(),
            newest_ns: None,
            is_silence_counted: false,
            jump: Jump::default(),
            restarts: 0,
            smp_synch: first.as_ref().and_then(|asdu| asdu.smp_synch()),
            simulate: frame.simulate(),
            conf_rev: first.map_or(0, |asdu| asdu.conf_rev()),
            source: frame.ethernet().src(),
            asdus: 0,
            lowest: u16::MAX,
            highest: 0,
            first_out_of_range: None,
        }
    }

    /// What only the full parse sees: header fields that changed.
    pub(crate) fn header(&mut self, frame: &Frame<'_>, budget: &mut Budget, notes: &mut Notes<'_>) {
        let number = notes.frame;
        let simulate = frame.simulate();
        let conf_rev = frame.asdus().next().map_or(self.conf_rev, |asdu| asdu.conf_rev());
        let source = frame.ethernet().src();
        let mut changed = |what: &str, from: &dyn std::fmt::Display, to: &dyn std::fmt::Display| {
            notes.write(budget, EventKind::Change, || {
                format!("{what} changed from {from} to {to} (frame {number})")
            });
        };
        if simulate != self.simulate {
            changed("simulation bit", &u8::from(self.simulate), &u8::from(simulate));
        }
        if conf_rev != self.conf_rev {
            changed("confRev", &self.conf_rev, &conf_rev);
        }
        if source != self.source {
            changed("source address", &self.source, &source);
        }
        (self.simulate, self.conf_rev, self.source) = (simulate, conf_rev, source);
    }

    /// Takes the samples of a frame; how many of them are measured: not those that came again, nor those beyond the rate.
    #[inline]
    pub(crate) fn samples(
        &mut self,
        samples: impl Iterator<Item = Sample>,
        time_ns: Option<i64>,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> u64 {
        let (mut all, mut measured) = (0, 0);
        let mut silent_ns = self.silence_ns(time_ns);
        let silences = self.sequence.silences();
        for sample in samples {
            all += 1;
            measured += u64::from(self.sample(sample, time_ns, silent_ns, budget, notes));
            silent_ns = 0;
        }
        self.is_silence_counted = self.sequence.silences() > silences;
        self.asdus = self.asdus.max(all);
        if self.sequence.certain_restarts() > self.restarts {
            self.tell_restart(budget, notes);
        }
        measured
    }

    /// How long the stream was silent at `time_ns`; 0 where the stamps do not tell.
    #[inline]
    fn silence_ns(&self, time_ns: Option<i64>) -> u64 {
        let (Some(now), Some(before)) = (time_ns, self.newest_ns) else {
            return 0;
        };
        u64::try_from(now.saturating_sub(before)).unwrap_or(0)
    }

    /// Whether the last frame came after a silence, and the samples of that time are among those that are lost.
    pub(crate) fn is_silence_counted(&self) -> bool {
        self.is_silence_counted
    }

    #[cold]
    fn tell_restart(&mut self, budget: &mut Budget, notes: &mut Notes<'_>) {
        self.restarts += 1;
        let Jump { frame, at_ns, smp_cnt } = self.jump;
        notes.write_at(at_ns, budget, EventKind::Uncountable, || {
            format!(
                "smpCnt jumped to {smp_cnt} (frame {frame}): the publisher restarted or resynchronised, or half a second or \
                 more was lost"
            )
        });
    }

    #[inline]
    fn sample(
        &mut self,
        sample: Sample,
        time_ns: Option<i64>,
        silent_ns: u64,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> bool {
        if sample.smp_synch != self.smp_synch {
            self.synch(sample.smp_synch, budget, notes);
        }
        let count = sample.smp_cnt;
        let step = self.sequence.accept_after(count, silent_ns);
        self.lowest = self.lowest.min(count);
        self.highest = self.highest.max(count);
        if matches!(step, Step::First | Step::Next | Step::Gap(_) | Step::Restart) {
            self.newest_ns = time_ns;
        }
        match step {
            Step::First | Step::Next | Step::Gap(_) | Step::OutOfOrder => true,
            Step::Duplicate | Step::TooLate => false,
            Step::Restart => {
                self.jump = Jump {
                    frame: notes.frame,
                    at_ns: notes.at_ns,
                    smp_cnt: count,
                };
                true
            }
            Step::OutOfRange => {
                self.first_out_of_range.get_or_insert((notes.frame, count));
                false
            }
        }
    }

    #[cold]
    fn synch(&mut self, smp_synch: Option<u8>, budget: &mut Budget, notes: &mut Notes<'_>) {
        let word = |synch: Option<u8>| synch.map_or_else(|| "absent".to_owned(), |synch| synch.to_string());
        let (from, to, frame) = (word(self.smp_synch), word(smp_synch), notes.frame);
        notes.write(budget, EventKind::Change, || {
            format!("smpSynch changed from {from} to {to} (frame {frame})")
        });
        self.smp_synch = smp_synch;
    }

    /// Adds to `counts` what is settled by now.
    #[inline]
    pub(crate) fn count(&mut self, counts: &mut Counts) {
        if self.accounting.is_due(self.sequence.counters()) {
            let settled = self.accounting.look(self.sequence.counters());
            add(counts, settled);
        }
    }

    /// The same at the end of the capture.
    pub(crate) fn finish(&mut self, counts: &mut Counts, budget: &mut Budget, notes: &mut Notes<'_>) {
        let settled = self.accounting.last_look(self.sequence.counters());
        add(counts, settled);
        if self.sequence.counters().restarts > self.restarts {
            self.tell_restart(budget, notes);
        }
        if let Some((frame, count)) = self.first_out_of_range {
            let all = self.sequence.counters().out_of_range;
            let rate = self.sequence.rate().unwrap_or_default();
            notes.write(budget, EventKind::Change, || {
                format!("{all} samples with a smpCnt beyond the rate of {rate} (the first: {count} in frame {frame})")
            });
        }
    }
}

fn add(counts: &mut Counts, settled: Settled) {
    counts.lost += settled.lost;
    counts.duplicate += settled.duplicates;
    counts.reordered += settled.out_of_order;
}
