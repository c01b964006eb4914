//! One stream: its identity, its sequence and its series.

use super::expected::Watch;
use super::instants::Due;
use super::notice::Notice;
use super::proofs::Proofs;
use super::recording::Frames;
use super::series::{Family, families, slot};
use super::{ClockRelation, SubscribeConfig};
use crate::reception::Arrival;
use model::{Counter, StreamId};
use run::{Feed, TapeStream};
use streamset::StreamSpec;
use units::Monotonic;
use wire::ether::VlanTag;
use wire::routed::Proof;
use wire::sequence::{self, Accounting, Contents, History, SampleStep, Sequence, Settled};
use wire::sv::{FastPath, Frame, Marks};

/// Fields of one ASDU that change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) smp_cnt: u16,
    pub(super) smp_synch: Option<u8>,
    pub(super) contents: Contents,
}

pub(super) struct SvStream {
    pub(super) id: StreamId,
    pub(super) vlan: Option<VlanTag>,
    pub(super) fast: FastPath,
    number: u16,
    /// Identity at the time its series were announced.
    announced: StreamId,
    clock: ClockRelation,
    sequence: Sequence,
    accounting: Accounting,
    /// Receive stamp of the frame before, in ns on the clock that made it.
    last_stamp_ns: Option<i64>,
    /// Time of the newest sample.
    newest: Option<Monotonic>,
    frames: Frames,
    due: Due,
    smp_synch: Option<u8>,
    /// Header fields, once a frame has come.
    marks: Option<Marks>,
    rate_known: bool,
    lowest: u16,
    highest: u16,
    /// Expectation of the stream, if it is an expected one.
    pub(super) watch: Option<Watch>,
    proofs: Proofs,
}

impl SvStream {
    pub(super) fn new(
        number: u16,
        id: StreamId,
        vlan: Option<VlanTag>,
        config: &SubscribeConfig,
        history: History,
    ) -> Self {
        let sequence = config.rate.map_or_else(Sequence::learning, Sequence::new);
        let mut stream = Self::blank(number, id, sequence.remembering(history), config.clock);
        stream.vlan = vlan;
        stream
    }

    /// Makes an expected stream that has not come yet.
    pub(super) fn awaited(number: u16, expected: &StreamSpec, config: &SubscribeConfig) -> Self {
        let mut stream = Self::blank(
            number,
            super::expected::id(expected),
            Sequence::new(expected.rate).remembering(History::of_a_second()),
            config.clock,
        );
        stream.watch = Some(Watch::new(expected.clone()));
        stream
    }

    fn blank(number: u16, id: StreamId, sequence: Sequence, clock: ClockRelation) -> Self {
        Self {
            id,
            announced: id,
            vlan: None,
            fast: FastPath::new(),
            number,
            clock,
            rate_known: sequence.rate().is_some(),
            sequence,
            accounting: Accounting::default(),
            last_stamp_ns: None,
            newest: None,
            frames: Frames::default(),
            due: Due::default(),
            smp_synch: None,
            marks: None,
            lowest: u16::MAX,
            highest: 0,
            watch: None,
            proofs: Proofs::default(),
        }
    }

    /// Takes over the header fields of the first frame.
    fn take_over(&mut self, frame: &Frame<'_>) {
        self.smp_synch = frame.asdus().next().and_then(|asdu| asdu.smp_synch());
        self.marks = Some(Marks::of(frame));
    }

    /// Records the first frame.
    pub(super) fn begin(&mut self, frame: &Frame<'_>, at: Monotonic, feed: &mut Feed) {
        self.take_over(frame);
        self.name_on_tape(feed);
        self.say_without_smp_synch(at, feed);
    }

    /// Records the first frame, if it has not come before: a refused datagram may have been the first sign of the stream.
    #[inline]
    pub(super) fn begin_once(&mut self, frame: &Frame<'_>, at: Monotonic, feed: &mut Feed) {
        if self.marks.is_none() {
            self.begin(frame, at, feed);
        }
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    pub(super) fn clock(&self) -> ClockRelation {
        self.clock
    }

    /// True if samples of the stream are missing.
    pub(super) fn has_lost(&self) -> bool {
        self.sequence.counters().lost > 0
    }

    /// True if any sample of the stream came.
    pub(super) fn has_come(&self) -> bool {
        self.newest.is_some()
    }

    /// Announces the stream to the recording: once when it is new, and once when its rate is learned.
    fn name_on_tape(&self, feed: &mut Feed) {
        if let Some(tape) = feed.tape() {
            tape.announce(TapeStream {
                number: self.number,
                announced: self.announced,
                stream: self.id,
                rate: self.sequence.rate(),
            });
        }
    }

    /// Announces the names of the stream's series.
    pub(super) fn announce(&self, feed: &mut Feed) {
        for family in families(self.clock) {
            feed.announce_stream(slot(self.number, *family), &self.announced);
        }
    }

    fn say_without_smp_synch(&self, at: Monotonic, feed: &mut Feed) {
        if self.smp_synch.is_none() {
            self.notice(feed, Notice::NoSmpSynch, at, 0, 0);
        }
        if !is_synchronised(self.smp_synch) {
            self.trust(Notice::PublisherDoubt, at, feed);
        }
    }

    /// Records the publisher's statement about its own clock, if one-way figures depend on it.
    fn trust(&self, notice: Notice, at: Monotonic, feed: &mut Feed) {
        if let ClockRelation::Ptp { .. } = self.clock {
            let value = u64::from(self.smp_synch.unwrap_or(0));
            for family in [Family::Arrival, Family::Age] {
                feed.notice(slot(self.number, family), notice, at, value, 0);
            }
        }
    }

    /// Checks for changed header fields, which only the full parse sees. A frame of several streams is parsed each time.
    pub(super) fn fully_parsed(&mut self, frame: &Frame<'_>, is_whole: bool, arrival: &Arrival, feed: &mut Feed) {
        if is_whole {
            self.fast.learn(frame);
        }
        if let Some(marks) = &mut self.marks {
            marks.follow(frame, &mut self.sequence);
        }
        self.tell(arrival.at, feed);
        self.compare(frame, arrival.at, feed);
    }

    /// Reports findings in the stream. A finding that puts its figures in doubt goes to each of its series.
    #[inline]
    fn tell(&mut self, at: Monotonic, feed: &mut Feed) {
        while let Some(finding) = self.sequence.take_finding() {
            let notice = Notice::Found(finding.what);
            let all = families(self.clock);
            let told = if finding.what.is_doubt() { all } else { &all[..1] };
            for family in told {
                feed.notice(slot(self.number, *family), notice, at, finding.a, finding.b);
            }
        }
    }

    /// Checks for silence; every frame received before `now` has been taken.
    pub(super) fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        self.sequence.look(now.as_ns());
        self.tell(now, feed);
    }

    /// Accounts for one frame.
    pub(super) fn frame(&mut self, samples: impl Iterator<Item = Sample>, arrival: &Arrival, feed: &mut Feed) {
        let mut counted = 0;
        let mut last = 0;
        for sample in samples {
            last = sample.smp_cnt;
            counted += u16::from(self.sample(sample, arrival, feed));
        }
        self.frames.end_frame(self.number, arrival, feed);
        if counted > 0 {
            self.measure(last, counted, arrival, feed);
        }
        self.tell(arrival.at, feed);
        if self.accounting.is_due(self.sequence.counters()) {
            let settled = self.accounting.look(self.sequence.counters());
            self.report(settled, arrival.at, feed);
        }
    }

    /// Accounts for one sample; returns true if it is to be measured.
    fn sample(&mut self, sample: Sample, arrival: &Arrival, feed: &mut Feed) -> bool {
        let at = arrival.at;
        self.watch_rate(sample.smp_cnt, at, feed);
        if sample.smp_synch != self.smp_synch {
            let value = |synch: Option<u8>| u64::from(synch.unwrap_or(0));
            self.notice(
                feed,
                Notice::SmpSynch,
                at,
                value(self.smp_synch),
                value(sample.smp_synch),
            );
            let was = std::mem::replace(&mut self.smp_synch, sample.smp_synch);
            match (is_synchronised(was), is_synchronised(sample.smp_synch)) {
                (true, false) => self.trust(Notice::PublisherDoubt, at, feed),
                (false, true) => self.trust(Notice::PublisherGood, at, feed),
                _ => {}
            }
        }
        let step = self.sequence.accept(sequence::Sample {
            smp_cnt: sample.smp_cnt,
            contents: Some(sample.contents),
            at_ns: Some(arrival.heard.as_ns()),
            alone: false,
        });
        if step.is_newest() {
            self.newest = Some(arrival.at);
        }
        self.due.place(sample.smp_cnt, step, self.sequence.rate(), arrival);
        if !self.rate_known && self.sequence.rate().is_some() {
            self.rate_known = true;
            self.name_on_tape(feed);
        }
        if feed.tape().is_some() {
            let rate = self.sequence.rate();
            self.frames
                .sample(self.number, sample.smp_cnt, step, rate, arrival, feed);
        }
        self.lowest = self.lowest.min(sample.smp_cnt);
        self.highest = self.highest.max(sample.smp_cnt);
        if let SampleStep::Gap(_) = step {
            feed.suspect(at);
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

    /// Age of the latest sample in ns; `None` if the clocks' relation or the rate is not known.
    pub(super) fn age_ns(&self, arrival: &Arrival) -> Option<i64> {
        let ages = self.clock.is_known().then(|| self.due.ages(arrival))?;
        ages.map(|ages| ages.age_ns)
    }

    fn measure(&mut self, smp_cnt: u16, samples: u16, arrival: &Arrival, feed: &mut Feed) {
        let number = u64::from(smp_cnt);
        if let (Some(stamp_ns), Some(before_ns)) = (arrival.stamp_ns, self.last_stamp_ns) {
            let slot = slot(self.number, Family::Spacing);
            feed.samples(slot, arrival.at, stamp_ns - before_ns, number, samples);
        }
        // After a frame without a stamp, the time to the next frame is not known.
        self.last_stamp_ns = arrival.stamp_ns;
        if !self.clock.is_known() {
            return;
        }
        let Some(ages) = self.due.ages(arrival) else { return };
        if let Some(arrived_ns) = ages.arrival_ns {
            let slot = slot(self.number, Family::Arrival);
            feed.samples(slot, arrival.at, arrived_ns, number, samples);
        }
        let slot = slot(self.number, Family::Age);
        feed.samples(slot, arrival.at, ages.age_ns, number, samples);
    }

    fn report(&self, settled: Settled, at: Monotonic, feed: &mut Feed) {
        if settled == Settled::default() {
            return;
        }
        for family in families(self.clock) {
            let slot = slot(self.number, *family);
            feed.count(slot, Counter::Lost, at, settled.lost);
            feed.count(slot, Counter::Duplicate, at, settled.duplicates);
            feed.count(slot, Counter::Conflicting, at, settled.conflicting);
            feed.count(slot, Counter::Reordered, at, settled.out_of_order);
        }
    }

    /// Counts a datagram whose signature is not known to be right; the first of each kind is told at once.
    pub(super) fn proved(&mut self, proof: Proof, at: Monotonic, feed: &mut Feed) {
        if self.proofs.count(proof) == 1 {
            self.say_proof(proof, 1, at, feed);
        }
    }

    fn say_proof(&self, proof: Proof, count: u64, at: Monotonic, feed: &mut Feed) {
        let all = families(self.clock);
        let told = if proof.is_doubt() { all } else { &all[..1] };
        for family in told {
            feed.notice(slot(self.number, *family), Notice::Proof(proof), at, count, 0);
        }
    }

    /// Closes the account, once, after all frames received before `at` have been taken.
    pub(super) fn end(&mut self, at: Monotonic, feed: &mut Feed) {
        self.sequence.end(Some(at.as_ns()));
        let settled = self.accounting.last_look(self.sequence.counters());
        self.report(settled, at, feed);
        self.tell(at, feed);
        for (proof, count) in self.proofs.repeated() {
            self.say_proof(proof, count, at, feed);
        }
        if self.newest.is_some() {
            let [lowest, highest] = [self.lowest, self.highest].map(u64::from);
            self.notice(feed, Notice::SmpCntRange, at, lowest, highest);
        }
    }

    pub(super) fn notice(&self, feed: &mut Feed, notice: Notice, at: Monotonic, a: u64, b: u64) {
        feed.notice(slot(self.number, Family::Spacing), notice, at, a, b);
    }
}

/// True if a publisher states that it follows a clock: 0 means none; 3, 4 and 255 are reserved and count as 0 (IEC 61850-9-2).
fn is_synchronised(smp_synch: Option<u8>) -> bool {
    !matches!(smp_synch, None | Some(0 | 3 | 4 | 255))
}
