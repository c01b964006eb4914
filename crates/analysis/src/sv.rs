//! One stream of sampled values: its counter, and changes that have to be reported. The rules are those of
//! [`wire::sequence`].

use crate::arrival::Arrival;
use crate::losses::{Loss, Losses};
use crate::sink::{Budget, EventKind, Notes};
use model::{Counter, Counters};
use wire::sequence::{self, Accounting, Contents, SampleStep, Sequence, Settled, What};
use wire::sv::{FastPath, Frame, Marks};

/// The changing parts of one ASDU.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) smp_cnt: u16,
    pub(crate) smp_synch: Option<u8>,
    pub(crate) contents: Contents,
}

#[derive(Debug)]
pub(crate) struct SvStream {
    pub(crate) fast: FastPath,
    pub(crate) sequence: Sequence,
    accounting: Accounting,
    /// The newest sample: its count, and the instant at which it came.
    newest: Option<(u16, Arrival)>,
    smp_synch: Option<u8>,
    marks: Marks,
    losses: Losses,
    /// Largest number of ASDUs in a frame.
    pub(crate) asdus: usize,
    pub(crate) lowest: u16,
    pub(crate) highest: u16,
}

impl SvStream {
    pub(crate) fn new(frame: &Frame<'_>, rate: Option<u32>) -> Self {
        let first = frame.asdus().next();
        Self {
            fast: FastPath::new(),
            sequence: rate.map_or_else(Sequence::learning, Sequence::new).comparing(),
            accounting: Accounting::default(),
            newest: None,
            smp_synch: first.as_ref().and_then(|asdu| asdu.smp_synch()),
            marks: Marks::of(frame),
            losses: Losses::default(),
            asdus: 0,
            lowest: u16::MAX,
            highest: 0,
        }
    }

    /// Reports changed header fields, which only the full parse sees.
    pub(crate) fn header(&mut self, frame: &Frame<'_>, budget: &mut Budget, notes: &mut Notes<'_>) {
        self.marks.follow(frame, &mut self.sequence);
        self.tell(budget, notes);
    }

    /// Takes the samples of a frame; returns how many of them are measured: all but repeated ones and those beyond the rate.
    #[inline]
    pub(crate) fn samples(
        &mut self,
        samples: impl Iterator<Item = Sample>,
        arrival: Arrival,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) -> u64 {
        let (mut all, mut measured) = (0, 0);
        let alone = self.is_alone(&arrival);
        for sample in samples {
            all += 1;
            if sample.smp_synch != self.smp_synch {
                self.synch(sample.smp_synch, budget, notes);
            }
            measured += u64::from(self.sample(&sample, arrival, alone));
            self.tell(budget, notes);
        }
        self.asdus = self.asdus.max(all);
        measured
    }

    /// True if the whole capture was silent before this frame.
    #[inline]
    fn is_alone(&self, arrival: &Arrival) -> bool {
        let before = self.newest.and_then(|(_, newest)| newest.time_ns);
        let silence = before.zip(arrival.time_ns);
        silence.is_some_and(|(before, now)| arrival.quiet.covers(before, now))
    }

    /// Reports the findings.
    #[inline]
    fn tell(&mut self, budget: &mut Budget, notes: &mut Notes<'_>) {
        while let Some(finding) = self.sequence.take_finding() {
            if finding.what == What::Held {
                self.losses.take_back(finding.b);
            }
            let frame = notes.frame;
            let kind = match finding.what.is_doubt() {
                true => EventKind::Doubt,
                false => EventKind::Change,
            };
            notes.write(budget, kind, || format!("{finding} (frame {frame})"));
        }
    }

    #[inline]
    fn sample(&mut self, sample: &Sample, arrival: Arrival, alone: bool) -> bool {
        let count = sample.smp_cnt;
        let step = self.sequence.accept(sequence::Sample {
            smp_cnt: count,
            contents: Some(sample.contents),
            at_ns: arrival.time_ns,
            alone,
        });
        self.lowest = self.lowest.min(count);
        self.highest = self.highest.max(count);
        match self.sequence.take_returned() {
            0 => {}
            returned => self.losses.take_back(returned),
        }
        if let SampleStep::Gap(missing) = step {
            self.note_loss(count, u64::from(missing), &arrival);
        }
        if step == SampleStep::OutOfOrder {
            self.losses.found(u64::from(count));
        }
        if step.is_newest() {
            self.newest = Some((count, arrival));
        }
        match step {
            SampleStep::First
            | SampleStep::Next
            | SampleStep::Gap(_)
            | SampleStep::OutOfOrder
            | SampleStep::Restart => true,
            SampleStep::Duplicate | SampleStep::Conflicting | SampleStep::TooLate | SampleStep::OutOfRange => false,
        }
    }

    #[cold]
    fn note_loss(&mut self, to: u16, missing: u64, arrival: &Arrival) {
        let Some((from, before)) = self.newest else { return };
        self.losses.add(Loss {
            after_frame: before.frame,
            frame: arrival.frame,
            at_ns: arrival.at_ns,
            counter: "smpCnt",
            from: u64::from(from),
            to: u64::from(to),
            missing,
        });
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

    /// Adds the counts that are final by now to `counts`.
    #[inline]
    pub(crate) fn count(&mut self, counts: &mut Counters) {
        if self.accounting.is_due(self.sequence.counters()) {
            let settled = self.accounting.look(self.sequence.counters());
            add(counts, settled);
        }
    }

    /// The same at the end of the capture, whose last stamp is `end_ns`.
    pub(crate) fn finish(
        &mut self,
        end_ns: Option<i64>,
        counts: &mut Counters,
        budget: &mut Budget,
        notes: &mut Notes<'_>,
    ) {
        self.sequence.end(end_ns);
        self.losses.take_back(self.sequence.take_returned());
        let settled = self.accounting.last_look(self.sequence.counters());
        add(counts, settled);
        self.tell(budget, notes);
    }

    /// Places at which samples were lost.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses).finish()
    }
}

fn add(counts: &mut Counters, settled: Settled) {
    counts.count(Counter::Lost, settled.lost);
    counts.duplicate += settled.duplicates;
    counts.conflicting += settled.conflicting;
    counts.reordered += settled.out_of_order;
}
