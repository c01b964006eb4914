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

#[derive(Debug)]
pub(crate) struct SvStream {
    pub(crate) fast: FastPath,
    pub(crate) sequence: Sequence,
    accounting: Accounting,
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
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> u64 {
        let (mut all, mut measured) = (0, 0);
        for sample in samples {
            all += 1;
            measured += u64::from(self.sample(sample, budget, notes));
        }
        self.asdus = self.asdus.max(all);
        measured
    }

    #[inline]
    fn sample(&mut self, sample: Sample, budget: &mut Budget, notes: &mut Notes<'_>) -> bool {
        if sample.smp_synch != self.smp_synch {
            self.synch(sample.smp_synch, budget, notes);
        }
        let count = sample.smp_cnt;
        let step = self.sequence.accept(count);
        self.lowest = self.lowest.min(count);
        self.highest = self.highest.max(count);
        match step {
            Step::First | Step::Next | Step::Gap(_) | Step::OutOfOrder => true,
            Step::Duplicate | Step::TooLate => false,
            Step::Restart => {
                let frame = notes.frame;
                notes.write(budget, EventKind::Uncountable, || {
                    format!(
                        "smpCnt jumped to {count} (frame {frame}): the publisher restarted or resynchronised, or half a \
                         second or more was lost"
                    )
                });
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
