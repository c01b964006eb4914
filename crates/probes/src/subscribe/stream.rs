//! One stream: who it is, its sequence, and its series.

use super::expected::{ExpectedStream, Watch};
use super::instants::one_way;
use super::key::Key;
use super::record::Frames;
use super::series::{Family, families, notice, slot};
use super::{ClockRelation, SubscribeConfig};
use crate::reception::Arrival;
use crate::record::{Counter, Feed, TapeLabel, TapeStream};
use units::{Monotonic, Realtime};
use wire::ether::VlanTag;
use wire::sequence::{Accounting, Sequence, Settled, Step, WINDOW};
use wire::sv::{FastPath, Frame};

const SECOND_NS: i64 = 1_000_000_000;

/// A loss in a silence this long is an event.
const INTERRUPTION_NS: u64 = 100_000_000;

/// The changing parts of one ASDU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) smp_cnt: u16,
    pub(super) smp_synch: Option<u8>,
}

pub(super) struct Stream {
    pub(super) key: Key,
    pub(super) vlan: Option<VlanTag>,
    pub(super) fast: FastPath,
    number: u16,
    /// What its series are called.
    label: TapeLabel,
    clock: ClockRelation,
    sequence: Sequence,
    accounting: Accounting,
    last_kernel: Option<Realtime>,
    /// When the newest sample came.
    newest: Option<Arrival>,
    frames: Frames,
    smp_synch: Option<u8>,
    simulate: bool,
    conf_rev: u32,
    rate_known: bool,
    out_of_range: u64,
    first_out_of_range: u16,
    lowest: u16,
    highest: u16,
    /// What is held against it, if it was expected.
    pub(super) watch: Option<Watch>,
}

impl Stream {
    pub(super) fn new(
        number: u16,
        key: Key,
        vlan: Option<VlanTag>,
        frame: &Frame<'_>,
        config: &SubscribeConfig,
    ) -> Self {
        let sequence = config.rate.map_or_else(Sequence::learning, Sequence::new);
        let mut stream = Self::blank(number, key, sequence, config.clock);
        stream.vlan = vlan;
        stream.take_over(frame);
        stream
    }

    /// A stream that has not come yet.
    pub(super) fn awaited(number: u16, key: Key, expected: &ExpectedStream, config: &SubscribeConfig) -> Self {
        let mut stream = Self::blank(number, key, Sequence::new(expected.rate), config.clock);
        stream.watch = Some(Watch::new(expected.clone()));
        stream
    }

    fn blank(number: u16, key: Key, sequence: Sequence, clock: ClockRelation) -> Self {
        Self {
            key,
            vlan: None,
            fast: FastPath::new(),
            number,
            clock,
            rate_known: sequence.rate().is_some(),
            sequence,
            accounting: Accounting::default(),
            last_kernel: None,
            newest: None,
            label: TapeLabel::of(&[]),
            frames: Frames::default(),
            smp_synch: None,
            simulate: false,
            conf_rev: 0,
            out_of_range: 0,
            first_out_of_range: 0,
            lowest: u16::MAX,
            highest: 0,
            watch: None,
        }
    }

    /// What the first frame says.
    fn take_over(&mut self, frame: &Frame<'_>) {
        let first = frame.asdus().next();
        self.simulate = frame.simulate();
        self.smp_synch = first.as_ref().and_then(|asdu| asdu.smp_synch());
        self.conf_rev = first.map_or(0, |asdu| asdu.conf_rev());
    }

    /// The first frame of an awaited stream.
    pub(super) fn begin(&mut self, frame: &Frame<'_>, at: Monotonic, feed: &mut Feed) {
        self.take_over(frame);
        self.say_without_smp_synch(at, feed);
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    pub(super) fn clock(&self) -> ClockRelation {
        self.clock
    }

    /// Whether samples of it are missing.
    pub(super) fn has_lost(&self) -> bool {
        self.sequence.counters().lost > 0
    }

    /// When its newest sample came.
    pub(super) fn newest_at(&self) -> Option<Monotonic> {
        self.newest.map(|newest| newest.at)
    }

    /// Makes the stream known to the recording, once when it is new and once when its rate is learned.
    fn name_on_tape(&self, feed: &mut Feed) {
        if let Some(tape) = feed.tape() {
            tape.announce(TapeStream {
                number: self.number,
                label: self.label,
                sv_id: Some(TapeLabel::of(self.key.sv_id())).filter(|sv_id| *sv_id != self.label),
                source: None,
                destination: self.key.destination.0,
                vid: self.key.vid,
                appid: self.key.appid,
                rate: self.sequence.rate(),
            });
        }
    }

    /// Gives the stream's series their names.
    pub(super) fn announce(&mut self, label: &[u8], at: Monotonic, feed: &mut Feed) {
        self.label = TapeLabel::of(label);
        self.name_on_tape(feed);
        for family in families(self.clock) {
            feed.announce_bytes(slot(self.number, *family), label);
        }
        self.say_without_smp_synch(at, feed);
    }

    fn say_without_smp_synch(&self, at: Monotonic, feed: &mut Feed) {
        if self.smp_synch.is_none() {
            self.notice(feed, notice::NO_SMP_SYNCH, at, 0, 0);
        }
        if !is_synchronised(self.smp_synch) {
            self.trust(notice::PUBLISHER_DOUBT, at, feed);
        }
    }

    /// What the publisher says of its own clock, where one-way figures follow from it.
    fn trust(&self, code: u16, at: Monotonic, feed: &mut Feed) {
        if let ClockRelation::Ptp { .. } = self.clock {
            let value = u64::from(self.smp_synch.unwrap_or(0));
            for family in [Family::Arrival, Family::Age] {
                feed.notice(slot(self.number, family), code, at, value, 0);
            }
        }
    }

    /// What only the full parse sees: header fields that changed.
    pub(super) fn fully_parsed(&mut self, frame: &Frame<'_>, vlan: Option<VlanTag>, at: Monotonic, feed: &mut Feed) {
        self.vlan = vlan;
        self.fast.learn(frame);
        let simulate = frame.simulate();
        if simulate != self.simulate {
            self.notice(
                feed,
                notice::SIMULATION,
                at,
                u64::from(self.simulate),
                u64::from(simulate),
            );
            self.simulate = simulate;
        }
        let conf_rev = frame.asdus().next().map_or(self.conf_rev, |asdu| asdu.conf_rev());
        if conf_rev != self.conf_rev {
            self.notice(
                feed,
                notice::CONF_REV,
                at,
                u64::from(self.conf_rev),
                u64::from(conf_rev),
            );
            self.conf_rev = conf_rev;
        }
        self.compare(frame, at, feed);
    }

    /// Accounts for one frame.
    pub(super) fn frame(&mut self, samples: impl Iterator<Item = Sample>, arrival: &Arrival, feed: &mut Feed) {
        let mut counted = 0;
        let mut last = 0;
        let mut silent_ns = self
            .newest
            .map_or(0, |newest| u64::try_from(arrival.heard - newest.heard).unwrap_or(0));
        for sample in samples {
            last = sample.smp_cnt;
            counted += u16::from(self.sample(sample, silent_ns, arrival, feed));
            silent_ns = 0;
        }
        self.frames.end_frame(self.number, arrival, feed);
        if counted > 0 {
            self.measure(last, counted, arrival, feed);
        }
        if self.accounting.is_due(self.sequence.counters()) {
            let settled = self.accounting.look(self.sequence.counters());
            self.report(settled, arrival.at, feed);
        }
    }

    /// Accounts for one sample; tells whether it is to be measured.
    fn sample(&mut self, sample: Sample, silent_ns: u64, arrival: &Arrival, feed: &mut Feed) -> bool {
        let at = arrival.at;
        self.watch_rate(sample.smp_cnt, at, feed);
        if sample.smp_synch != self.smp_synch {
            let value = |synch: Option<u8>| u64::from(synch.unwrap_or(0));
            self.notice(
                feed,
                notice::SMP_SYNCH,
                at,
                value(self.smp_synch),
                value(sample.smp_synch),
            );
            let was = std::mem::replace(&mut self.smp_synch, sample.smp_synch);
            match (is_synchronised(was), is_synchronised(sample.smp_synch)) {
                (true, false) => self.trust(notice::PUBLISHER_DOUBT, at, feed),
                (false, true) => self.trust(notice::PUBLISHER_GOOD, at, feed),
                _ => {}
            }
        }
        let step = self.sequence.accept_after(sample.smp_cnt, silent_ns);
        if matches!(step, Step::First | Step::Next | Step::Gap(_) | Step::Restart) {
            self.newest = Some(*arrival);
        }
        if !self.rate_known
            && let Some(rate) = self.sequence.rate()
        {
            self.rate_known = true;
            self.notice(feed, notice::RATE_LEARNED, at, u64::from(rate), 0);
            self.name_on_tape(feed);
        }
        if feed.tape().is_some() {
            let rate = self.sequence.rate();
            self.frames
                .sample(self.number, sample.smp_cnt, step, rate, arrival, feed);
        }
        self.lowest = self.lowest.min(sample.smp_cnt);
        self.highest = self.highest.max(sample.smp_cnt);
        match step {
            Step::First | Step::Next | Step::OutOfOrder => true,
            Step::Gap(skipped) => {
                feed.suspect(at);
                if silent_ns >= INTERRUPTION_NS {
                    self.notice(feed, notice::INTERRUPTED, at, silent_ns, u64::from(skipped));
                }
                true
            }
            Step::Duplicate | Step::TooLate => false,
            Step::Restart => {
                self.notice(feed, notice::RESTART, at, u64::from(sample.smp_cnt), 0);
                true
            }
            Step::OutOfRange => {
                if self.out_of_range == 0 {
                    self.first_out_of_range = sample.smp_cnt;
                }
                self.out_of_range += 1;
                false
            }
        }
    }

    fn measure(&mut self, smp_cnt: u16, samples: u16, arrival: &Arrival, feed: &mut Feed) {
        let number = u64::from(smp_cnt);
        if let Some(kernel) = arrival.kernel {
            if let Some(before) = self.last_kernel {
                feed.samples(
                    slot(self.number, Family::Spacing),
                    arrival.at,
                    kernel - before,
                    number,
                    samples,
                );
            }
            self.last_kernel = Some(kernel);
        }
        let Some(rate) = self.sequence.rate().filter(|_| self.clock.is_known()) else {
            return;
        };
        let due_ns = number as i64 * SECOND_NS / i64::from(rate);
        if let Some(kernel) = arrival.kernel {
            feed.samples(
                slot(self.number, Family::Arrival),
                arrival.at,
                one_way(kernel, due_ns),
                number,
                samples,
            );
        }
        feed.samples(
            slot(self.number, Family::Age),
            arrival.at,
            one_way(arrival.wall, due_ns),
            number,
            samples,
        );
    }

    fn report(&self, settled: Settled, at: Monotonic, feed: &mut Feed) {
        if settled == Settled::default() {
            return;
        }
        for family in families(self.clock) {
            let slot = slot(self.number, *family);
            feed.count(slot, Counter::Lost, at, settled.lost);
            feed.count(slot, Counter::Duplicate, at, settled.duplicates);
            feed.count(slot, Counter::Reordered, at, settled.out_of_order);
        }
    }

    /// Said once, at the end.
    pub(super) fn end(&mut self, at: Monotonic, feed: &mut Feed) {
        let settled = self.accounting.last_look(self.sequence.counters());
        self.report(settled, at, feed);
        if self.newest.is_some() || self.out_of_range > 0 {
            self.notice(
                feed,
                notice::SMP_CNT_RANGE,
                at,
                u64::from(self.lowest),
                u64::from(self.highest),
            );
        }
        let too_late = self.sequence.counters().too_late;
        if too_late > 0 {
            self.notice(feed, notice::TOO_LATE, at, too_late, u64::from(WINDOW));
        }
        if self.out_of_range > 0 {
            self.notice(
                feed,
                notice::OUT_OF_RANGE,
                at,
                self.out_of_range,
                u64::from(self.first_out_of_range),
            );
        }
    }

    pub(super) fn notice(&self, feed: &mut Feed, code: u16, at: Monotonic, a: u64, b: u64) {
        feed.notice(slot(self.number, Family::Spacing), code, at, a, b);
    }
}

/// Whether a publisher says that it follows a clock: 0 is none, 3, 4 and 255 are reserved and count as 0 (IEC 61850-9-2).
fn is_synchronised(smp_synch: Option<u8>) -> bool {
    !matches!(smp_synch, None | Some(0 | 3 | 4 | 255))
}
