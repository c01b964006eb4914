//! One stream: its sequence numbers and the time between its frames.

use super::decode::{Decoded, Mark, Number};
use super::notice::Notice;
use super::order::{Order, OrderStep};
use super::series::slot;
use crate::reception::Arrival;
use analysis::Credit;
use model::{Counter, StreamId};
use run::Feed;
use units::{Monotonic, Ns, SignedNs};
use wire::ether::Mac;
use wire::sequence::{self, Accounting, Contents, History, SampleStep, Sequence, Settled};

/// A counter up to this far below the newest one is late; one further below has wrapped.
const LATE_COUNTS: u32 = 16;

/// Number of restarts of one stream that are reported one by one; two talkers in one stream would otherwise fill the run with
/// them.
const RESTARTS_TOLD: u64 = 20;

/// Length of a silence that is reported. It is a loss if the stream does not return.
const STOPPED_NS: i64 = 500_000_000;

/// Limits by which a stream is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) interval_ns: u64,
    pub(super) late_after_ns: u64,
    /// Frames a second, if that is a whole number.
    pub(super) per_second: Option<u32>,
}

/// State of a stream of sampled values from another talker, by its smpCnt.
struct Samples {
    sequence: Sequence,
    accounting: Accounting,
}

impl Samples {
    fn new(per_second: Option<u32>, asdus: u16, history: History) -> Self {
        // The stream's rate may differ from the given one.
        let sequence = per_second.map_or_else(Sequence::learning, Sequence::checking);
        Self {
            sequence: sequence.of_frames(asdus).remembering(history),
            accounting: Accounting::default(),
        }
    }
}

pub(super) struct ListenedStream {
    pub(super) id: StreamId,
    number: u16,
    pace: Pace,
    order: Order,
    /// Set from the first frame on that is counted by its samples.
    samples: Option<Samples>,
    session: Option<u32>,
    epoch: Option<bool>,
    /// Number of sent frames that the talker reported.
    sent: Option<u64>,
    /// Receive stamp of the frame before, in ns on the clock that made it.
    before: Option<i64>,
    /// Time of the newest frame.
    heard: Monotonic,
    is_silent: bool,
    source: Option<Mac>,
    history: History,
    restarts: u64,
    stale: u64,
    /// Slot and state of the credit of its SR class; `None` if it is not judged.
    credit: Option<(u16, Credit)>,
}

impl ListenedStream {
    pub(super) fn new(number: u16, id: StreamId, pace: Pace, history: History) -> Self {
        Self {
            id,
            number,
            pace,
            order: Order::default(),
            samples: None,
            session: None,
            epoch: None,
            sent: None,
            before: None,
            heard: Monotonic::from_ns(0),
            is_silent: false,
            source: None,
            history,
            restarts: 0,
            stale: 0,
            credit: None,
        }
    }

    /// Measures how far frames come before their interval, into this slot.
    pub(super) fn judging(self, credit: Option<(u16, Credit)>) -> Self {
        Self { credit, ..self }
    }

    /// Accounts for one frame.
    pub(super) fn frame(&mut self, decoded: &Decoded, arrival: &Arrival, feed: &mut Feed) {
        self.follow_source(decoded.source, arrival, feed);
        self.follow_credit(arrival, feed);
        match decoded.number {
            Number::Own {
                session,
                sequence,
                mark,
            } => self.own(session, sequence, mark, arrival, feed),
            Number::Counter { value, modulus, epoch } => self.counted((value, modulus, epoch), arrival, feed),
            Number::Samples { count, asdus, contents } => self.sampled((count, contents), asdus, arrival, feed),
        }
        self.heard = arrival.heard;
        self.is_silent = false;
    }

    /// Every frame takes credit, whatever its number.
    #[inline]
    fn follow_credit(&mut self, arrival: &Arrival, feed: &mut Feed) {
        match (&mut self.credit, arrival.stamp_ns) {
            (Some((slot, credit)), Some(stamp_ns)) => feed.sample(*slot, arrival.at, credit.lead_ns(stamp_ns), 0),
            (Some((_, credit)), None) => credit.forget(),
            (None, _) => {}
        }
    }

    /// A second source with the same identity may hide losses of the first one.
    #[inline]
    fn follow_source(&mut self, source: Mac, arrival: &Arrival, feed: &mut Feed) {
        let before = self.source.replace(source);
        if let Some(before) = before.filter(|before| *before != source) {
            self.other_source(before, source, arrival.at, feed);
        }
    }

    #[cold]
    fn other_source(&mut self, before: Mac, now: Mac, at: Monotonic, feed: &mut Feed) {
        match &mut self.samples {
            Some(samples) => samples.sequence.source_changed(before, now),
            None => self.began_again(at, feed),
        }
    }

    fn sampled(&mut self, (count, contents): (u16, Contents), asdus: u16, arrival: &Arrival, feed: &mut Feed) {
        let per_second = self.pace.per_second;
        let history = &mut self.history;
        let samples = self
            .samples
            .get_or_insert_with(|| Samples::new(per_second, asdus, std::mem::take(history)));
        let step = samples.sequence.accept(sequence::Sample {
            smp_cnt: count,
            contents: Some(contents),
            at_ns: Some(arrival.heard.as_ns()),
            alone: false,
        });
        match step {
            SampleStep::First | SampleStep::Next | SampleStep::OutOfOrder => {
                self.measure(u64::from(count), 0, arrival, feed);
            }
            SampleStep::Gap(missing) => {
                feed.suspect(arrival.at);
                self.measure(u64::from(count), u64::from(missing), arrival, feed);
            }
            // The time since the earlier frames is no delta. A frame beyond the rate is not measured, but it came: the next frame
            // is not late.
            SampleStep::Restart | SampleStep::OutOfRange => self.before = arrival.stamp_ns,
            SampleStep::Duplicate | SampleStep::Conflicting | SampleStep::TooLate => {}
        }
        self.tell_samples(arrival.at, feed);
    }

    /// Reports findings about frames that are counted by their samples, and the losses that are certain by now.
    fn tell_samples(&mut self, at: Monotonic, feed: &mut Feed) {
        let number = self.number;
        let Some(Samples { sequence, accounting }) = &mut self.samples else {
            return;
        };
        while let Some(finding) = sequence.take_finding() {
            feed.notice(slot(number), Notice::Found(finding.what), at, finding.a, finding.b);
        }
        if accounting.is_due(sequence.counters()) {
            let settled = accounting.look(sequence.counters());
            self.report(settled, at, feed);
        }
    }

    /// Checks for silence; every frame received before `now` has been taken.
    pub(super) fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        if let Some(samples) = &mut self.samples {
            samples.sequence.look(now.as_ns());
            self.tell_samples(now, feed);
        } else if !self.is_silent
            && let Some(silent_ns) = self.stopped_for(now)
        {
            self.is_silent = true;
            feed.notice(slot(self.number), Notice::Silent, now, silent_ns, 0);
        }
    }

    /// Time without a frame, in ns, if it is long and the talker sent no end mark.
    fn stopped_for(&self, now: Monotonic) -> Option<u64> {
        let allowed_ns = i64::try_from(self.pace.interval_ns).map_or(i64::MAX, |ns| ns.saturating_mul(3));
        let silent_ns = now - self.heard;
        let is_silent = self.sent.is_none() && silent_ns > STOPPED_NS.max(allowed_ns);
        is_silent.then_some(silent_ns.unsigned_abs())
    }

    fn report(&self, settled: Settled, at: Monotonic, feed: &mut Feed) {
        for (counter, count) in [
            (Counter::Lost, settled.lost),
            (Counter::Duplicate, settled.duplicates),
            (Counter::Conflicting, settled.conflicting),
            (Counter::Reordered, settled.out_of_order),
        ] {
            feed.count(slot(self.number), counter, at, count);
        }
    }

    fn own(&mut self, session: u32, sequence: u64, mark: Mark, arrival: &Arrival, feed: &mut Feed) {
        if self.session != Some(session) {
            if self.session.is_some() {
                self.new_session(arrival.at, feed);
            }
            self.session = Some(session);
            if mark == Mark::Begin {
                self.order.begin_with(0);
            }
        }
        match mark {
            Mark::None => self.number(sequence, arrival, feed),
            // Uses the same grid as the first counted frame.
            Mark::Begin => self.before = arrival.stamp_ns,
            Mark::End => {
                self.sent = Some(sequence);
                self.before = None;
            }
        }
    }

    fn counted(&mut self, (value, modulus, epoch): (u32, u32, bool), arrival: &Arrival, feed: &mut Feed) {
        let began_anew = self.epoch.is_some_and(|before| before != epoch);
        self.epoch = Some(epoch);
        let number = match began_anew {
            false => self.unwrapped(value % modulus, modulus, arrival, feed),
            true => {
                self.settle(arrival.at, feed);
                self.before = None;
                self.began_again(arrival.at, feed);
                first_number(value % modulus, modulus)
            }
        };
        self.number(number, arrival, feed);
    }

    /// Extends an 8-bit counter to a full number. After a silence of half a turn or more, either the counter has wrapped or the
    /// talker paused: the two cases look the same, so the loss is not known.
    fn unwrapped(&self, value: u32, modulus: u32, arrival: &Arrival, feed: &mut Feed) -> u64 {
        let Some(expected) = self.order.expected() else {
            return first_number(value, modulus);
        };
        let modulus_wide = u64::from(modulus);
        let ahead = (u64::from(value) + modulus_wide - expected % modulus_wide) % modulus_wide;
        let behind = modulus_wide - ahead;
        let silent_ns = u64::try_from(arrival.heard - self.heard).unwrap_or(0);
        if silent_ns / self.pace.interval_ns.max(1) >= ahead + modulus_wide / 2 {
            feed.notice(
                slot(self.number),
                Notice::Uncountable,
                arrival.at,
                silent_ns,
                modulus_wide,
            );
        }
        match behind <= u64::from(LATE_COUNTS.min(modulus / 4)) {
            true => expected - behind,
            false => expected + ahead,
        }
    }

    /// Starts a new run of the talker: closes the account of the earlier frames; the time since then is no delta.
    fn new_session(&mut self, at: Monotonic, feed: &mut Feed) {
        let has_ended = self.sent.is_some();
        self.settle(at, feed);
        self.before = None;
        match has_ended {
            true => feed.notice(slot(self.number), Notice::NewSession, at, 0, 0),
            false => self.began_again(at, feed),
        }
    }

    /// Records a restart of the talker without an end mark: the loss is not known.
    fn began_again(&mut self, at: Monotonic, feed: &mut Feed) {
        self.restarts += 1;
        if self.restarts <= RESTARTS_TOLD {
            feed.notice(slot(self.number), Notice::Restart, at, self.restarts, 0);
        }
    }

    fn number(&mut self, number: u64, arrival: &Arrival, feed: &mut Feed) {
        let missing = match self.order.accept(number) {
            OrderStep::First => 0,
            OrderStep::Next(missing) => {
                if missing > 0 {
                    feed.suspect(arrival.at);
                }
                missing
            }
            OrderStep::Late => {
                feed.count(slot(self.number), Counter::Reordered, arrival.at, 1);
                0
            }
            OrderStep::Again => {
                feed.count(slot(self.number), Counter::Duplicate, arrival.at, 1);
                return;
            }
            OrderStep::Stale => {
                self.stale += 1;
                return;
            }
        };
        let lost = self.order.take_lost();
        feed.count(slot(self.number), Counter::Lost, arrival.at, lost);
        self.measure(number, missing, arrival, feed);
    }

    fn measure(&mut self, number: u64, missing: u64, arrival: &Arrival, feed: &mut Feed) {
        // After a frame without a stamp, the time to the next frame is not known.
        let before = std::mem::replace(&mut self.before, arrival.stamp_ns);
        if let (Some(stamp_ns), Some(before_ns)) = (arrival.stamp_ns, before) {
            let delta_ns = stamp_ns - before_ns;
            feed.sample(slot(self.number), arrival.at, delta_ns, number);
            let allowed = missing
                .saturating_mul(self.pace.interval_ns)
                .saturating_add(self.pace.late_after_ns);
            let late = SignedNs(delta_ns) > Ns(allowed);
            feed.count(slot(self.number), Counter::Late, arrival.at, u64::from(late));
        }
    }

    /// Counts missing frames as lost, since they can no longer arrive.
    fn settle(&mut self, at: Monotonic, feed: &mut Feed) {
        self.order.end(self.sent.take());
        feed.count(slot(self.number), Counter::Lost, at, self.order.take_lost());
    }

    /// Does the same for frames counted by samples, after the end of the stream.
    fn settle_samples(&mut self, at: Monotonic, feed: &mut Feed) {
        let Some(Samples { sequence, accounting }) = &mut self.samples else {
            return;
        };
        sequence.end(Some(at.as_ns()));
        let settled = accounting.last_look(sequence.counters());
        self.report(settled, at, feed);
        self.tell_samples(at, feed);
    }

    /// Counts the frames due since the stream stopped as lost, if there was no end mark.
    fn settle_silence(&mut self, at: Monotonic, feed: &mut Feed) {
        let Some(silent_ns) = self.stopped_for(at).filter(|_| self.samples.is_none()) else {
            return;
        };
        let lost = silent_ns / self.pace.interval_ns.max(1);
        feed.count(slot(self.number), Counter::Lost, at, lost);
        feed.notice(slot(self.number), Notice::Stopped, at, silent_ns, lost);
    }

    /// Closes the account, once, after all frames received before `at` have been taken.
    pub(super) fn end(&mut self, at: Monotonic, feed: &mut Feed) {
        self.settle_silence(at, feed);
        self.settle(at, feed);
        self.settle_samples(at, feed);
        let untold = self.restarts.saturating_sub(RESTARTS_TOLD);
        for (notice, count) in [(Notice::MoreRestarts, untold), (Notice::Stale, self.stale)] {
            if count > 0 {
                feed.notice(slot(self.number), notice, at, count, 0);
            }
        }
    }
}

/// Full number of a counter's first value: far enough above 0 that an earlier frame arriving late has a number, too.
fn first_number(value: u32, modulus: u32) -> u64 {
    u64::from(value) + u64::from(modulus)
}

#[cfg(test)]
mod tests {
    use super::{ListenedStream, Pace};
    use crate::listen::decode::{Decoded, Mark, Number};
    use crate::reception::Arrival;
    use analysis::{Credit, SrClass};
    use model::{SeriesSpec, StreamId, StreamKind, kind};
    use run::{Describe, FeedItem, Heard};
    use units::{Monotonic, Realtime};
    use wire::ether::Mac;
    use wire::sequence::History;

    struct Nameless;

    impl Describe for Nameless {
        fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
            SeriesSpec::of(&kind::CREDIT, label, "x")
        }
    }

    /// Leads in slot 9 of frames with these stamps.
    fn leads(stamps: &[Option<i64>]) -> Vec<i64> {
        let id = StreamId::named(StreamKind::Avtp, b"1");
        let pace = Pace {
            interval_ns: 125_000,
            late_after_ns: 187_500,
            per_second: Some(8_000),
        };
        let credit = Some((9, Credit::of_class(SrClass::A)));
        let mut stream = ListenedStream::new(0, id, pace, History::of_a_second()).judging(credit);
        let (mut feed, mut heard) = Heard::of(1 << 8, 10, Box::new(Nameless));
        for (sequence, stamp_ns) in (0_u64..).zip(stamps) {
            let decoded = Decoded {
                stream: id,
                number: Number::Own {
                    session: 1,
                    sequence,
                    mark: Mark::None,
                },
                source: Mac([2; 6]),
                pcp: Some(3),
            };
            let at = Monotonic::from_ns(sequence.cast_signed() * 125_000);
            let arrival = Arrival {
                stamp_ns: *stamp_ns,
                kernel: None,
                heard: at,
                at,
                wall: Realtime::from_ns(at.as_ns()),
            };
            stream.frame(&decoded, &arrival, &mut feed);
        }
        let of_credit = |item| match item {
            FeedItem::Sample { slot: 9, value_ns, .. } => Some(value_ns),
            _ => None,
        };
        heard.take().into_iter().filter_map(of_credit).collect()
    }

    #[test]
    fn a_frame_after_a_late_one_has_taken_its_credit() {
        let even = [0, 125_000, 250_000].map(Some);
        assert_eq!(leads(&even), [0, 0, 0]);
        let held = leads(&[0, 165_000, 250_000, 375_000].map(Some));
        assert!((39_900..=40_000).contains(&held[2]), "{held:?}");
        assert_eq!(leads(&[Some(0), None, Some(10)]), [0, 0], "a frame without a stamp");
    }
}
