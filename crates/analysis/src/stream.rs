//! One stream: its identity, its spacing, and the state for the rules of its protocol.

use crate::arrival::Arrival;
use crate::goose::GooseStream;
use crate::losses::Loss;
use crate::numbered::Numbered;
use crate::shaping::{Shaped, SrClass};
use crate::sink::{Budget, EventKind, Notes, Sink, Window};
use crate::spacing::{Spacing, Stamp, Wraps};
use crate::summary::{Detail, StreamSummary};
use crate::sv::{Sample, SvStream};
use core::net::IpAddr;
use model::{Counter, Counters};
use model::{StreamId, StreamKind};
use units::{Ns, SignedNs};
use wire::ether::Mac;
use wire::goose;
use wire::routed::Proof;

/// Silence in ns at the end of the capture after which a stream counts as stopped.
const STOPPED_NS: i64 = 500_000_000;

/// State of a stream for its protocol.
#[derive(Debug)]
pub(crate) enum Protocol {
    SampledValues(Box<SvStream>),
    Goose(Box<GooseStream>),
    Counted(Numbered),
}

#[derive(Debug)]
pub(crate) struct AnalysedStream {
    pub(crate) identity: StreamId,
    pub(crate) label: String,
    pub(crate) protocol: Protocol,
    spacing: Spacing,
    pub(crate) budget: Budget,
    frames: u64,
    samples: u64,
    first: Arrival,
    last: Arrival,
    /// Counts of `Order` and `Rules`, which only grow, at the last call.
    counted: Counters,
    /// Of an AVTP stream with the priority of an SR class.
    credit: Option<Shaped>,
    /// No more frames of the stream are due.
    has_ended: bool,
    /// Source of its last frame, if the rules of its protocol do not check it.
    source: Option<Mac>,
    /// Sender of its last message that came over UDP.
    sender: Option<IpAddr>,
    /// True for each result of a check of signatures that was reported.
    told: [bool; Proof::COUNTED.len()],
    /// The stream whose frame followed the last time.
    pub(crate) successor: usize,
}

impl AnalysedStream {
    pub(crate) fn new(
        identity: StreamId,
        label: String,
        protocol: Protocol,
        threshold_ns: Option<u64>,
        first: Arrival,
    ) -> Self {
        let periodic = identity.kind.is_periodic();
        let wraps = match identity.kind {
            StreamKind::Avtp => Wraps::EveryFrames(256),
            // For sampled values, the rules of the sequence decide.
            StreamKind::SampledValues | StreamKind::Goose | StreamKind::TestFrames => Wraps::Never,
        };
        Self {
            identity,
            label,
            protocol,
            spacing: Spacing::new(threshold_ns, periodic, wraps),
            budget: Budget::default(),
            frames: 0,
            samples: 0,
            first,
            last: first,
            counted: Counters::default(),
            credit: None,
            has_ended: false,
            source: None,
            sender: None,
            told: Default::default(),
            successor: 0,
        }
    }

    /// The state of sampled values, if the stream carries them.
    #[inline]
    pub(crate) fn sv(&mut self) -> Option<&mut SvStream> {
        match &mut self.protocol {
            Protocol::SampledValues(sv) => Some(sv),
            _ => None,
        }
    }

    /// Takes the samples of a frame.
    #[inline]
    pub(crate) fn samples(
        &mut self,
        samples: impl ExactSizeIterator<Item = Sample>,
        arrival: Arrival,
        notes: &mut Notes<'_>,
    ) {
        let all = samples.len() as u64;
        let Protocol::SampledValues(sv) = &mut self.protocol else {
            return;
        };
        let measured = sv.samples(samples, arrival, &mut self.budget, notes);
        sv.count(&mut self.spacing.open.counters);
        self.came(arrival, all);
        self.measure(arrival, measured, notes);
    }

    /// Takes a GOOSE message.
    pub(crate) fn message(&mut self, frame: &goose::Frame<'_>, arrival: Arrival, notes: &mut Notes<'_>) {
        let Protocol::Goose(stream) = &mut self.protocol else {
            return;
        };
        let is_measured = stream.frame(frame, arrival.time_ns, &mut self.budget, notes);
        self.count();
        self.came(arrival, 1);
        self.measure(arrival, u64::from(is_measured), notes);
    }

    /// The signature or the number of its datagram puts a message under its name in doubt; the first of each kind is reported.
    #[cold]
    pub(crate) fn doubted(&mut self, proof: Proof, notes: &mut Notes<'_>) {
        let Some(told) = proof.place().and_then(|place| self.told.get_mut(place)) else {
            return;
        };
        if !std::mem::replace(told, true) {
            let frame = notes.frame;
            notes.write(&mut self.budget, EventKind::Uncountable, || {
                format!("messages under its name {} (first: frame {frame})", proof.words())
            });
        }
    }

    /// Takes a frame with a counter of its own.
    pub(crate) fn counted(
        &mut self,
        arrival: Arrival,
        notes: &mut Notes<'_>,
        number: impl FnOnce(&mut Numbered) -> bool,
    ) {
        let Protocol::Counted(numbered) = &mut self.protocol else {
            return;
        };
        let measured = number(numbered);
        if let Some(credit) = &mut self.credit
            && measured
        {
            credit.take(arrival.time_ns, arrival.frame);
        }
        self.count();
        self.came(arrival, 1);
        self.measure(arrival, u64::from(measured), notes);
    }

    /// A second source with the same identity may hide losses of the first one.
    pub(crate) fn follow_source(&mut self, source: Mac, notes: &mut Notes<'_>) {
        let before = self.source.replace(source);
        if let Some(before) = before.filter(|before| *before != source) {
            let frame = notes.frame;
            notes.write(&mut self.budget, EventKind::Doubt, || {
                format!("source address changed from {before} to {source}: a second talker? (frame {frame})")
            });
        }
    }

    /// The same for a message that came over UDP: several senders behind one router have its MAC address.
    pub(crate) fn follow_sender(&mut self, sender: IpAddr, notes: &mut Notes<'_>) {
        let before = self.sender.replace(sender);
        if let Some(before) = before.filter(|before| *before != sender) {
            let frame = notes.frame;
            notes.write(&mut self.budget, EventKind::Doubt, || {
                format!("sender changed from {before} to {sender}: a second publisher? (frame {frame})")
            });
        }
    }

    /// True before its first frame was taken.
    pub(crate) fn is_new(&self) -> bool {
        self.frames == 0
    }

    /// Judges the stream by the shaper of its class, if its first frame has the priority of one.
    pub(crate) fn shaped_as(&mut self, class: Option<SrClass>, port_mbit: Option<u32>) {
        self.credit = class.map(|class| Shaped::new(class, port_mbit));
    }

    /// Notes the end mark of the stream.
    pub(crate) fn ended_itself(&mut self) {
        self.has_ended = true;
    }

    /// Reports that a stream of frames stopped before the capture's last stamp. Frames of an AVTP stream that were due afterwards are lost.
    fn stopped(&mut self, last_ns: Option<i64>, notes: &mut Notes<'_>) {
        let silent_ns = last_ns
            .zip(self.last.time_ns)
            .map_or(0, |(end, last)| end.saturating_sub(last));
        let nominal_ns = self.spacing.nominal_ns().unwrap_or(0).max(1);
        let is_paced = matches!(self.identity.kind, StreamKind::Avtp | StreamKind::TestFrames) && !self.has_ended;
        if !is_paced || silent_ns <= STOPPED_NS.max(nominal_ns.saturating_mul(3)) {
            return;
        }
        let silent = SignedNs(silent_ns);
        if self.identity.kind == StreamKind::Avtp && nominal_ns > 1 {
            let lost = silent_ns.unsigned_abs() / nominal_ns.unsigned_abs();
            self.spacing.open.count(Counter::Lost, lost);
            notes.write(&mut self.budget, EventKind::Loss, || {
                format!("stopped {silent} before the end of the capture: {lost} frames lost")
            });
        } else {
            notes.write(&mut self.budget, EventKind::Uncountable, || {
                format!(
                    "stopped {silent} before the end of the capture, without an end mark: what was lost is not known"
                )
            });
        }
    }

    #[inline]
    fn came(&mut self, arrival: Arrival, samples: u64) {
        self.frames += 1;
        self.samples += samples;
        self.last = arrival;
        if self.first.time_ns.is_none() {
            self.first.time_ns = arrival.time_ns;
        }
    }

    #[inline]
    fn measure(&mut self, arrival: Arrival, samples: u64, notes: &mut Notes<'_>) {
        if samples == 0 {
            return;
        }
        let stamp = self
            .spacing
            .frame(arrival.time_ns, arrival.frame, arrival.at_ns, samples);
        if stamp != Stamp::Fine {
            self.odd_stamp(stamp, notes);
        }
    }

    /// Steps back and missing stamps are reported only the first time: the summary has their number.
    #[cold]
    fn odd_stamp(&mut self, stamp: Stamp, notes: &mut Notes<'_>) {
        let frame = notes.frame;
        if let Stamp::Silent(ns) = stamp {
            notes.write(&mut self.budget, EventKind::Uncountable, || {
                let silent = SignedNs(ns);
                format!(
                    "silent for {silent} (until frame {frame}): its counter may have wrapped, so what was lost is not \
                     known"
                )
            });
            return;
        }
        let sink = &mut notes.sink;
        let mut say = |kind, text| {
            sink.event(crate::sink::Event {
                stream: notes.stream,
                at_ns: notes.at_ns,
                kind,
                text,
            });
        };
        match stamp {
            Stamp::Back(ns) if self.spacing.back == 1 => {
                let back = Ns(ns);
                say(
                    EventKind::StampsBack,
                    format!("frame {frame} is stamped {back} before the stream's previous frame"),
                );
            }
            Stamp::Missing if self.spacing.unstamped == 1 => {
                say(
                    EventKind::Unstamped,
                    format!("frame {frame} has no stamp: the spacing before and after it is not known"),
                );
            }
            _ => {}
        }
    }

    /// Adds the counts of the protocol since the last call.
    fn count(&mut self) {
        let now = match &self.protocol {
            Protocol::SampledValues(_) => return,
            Protocol::Goose(goose) => Counters {
                lost: goose.lost(),
                duplicate: goose.duplicates(),
                conflicting: goose.conflicting(),
                reordered: goose.late(),
                late: goose.counts().expired,
                ..Counters::default()
            },
            Protocol::Counted(numbered) => Counters {
                lost: numbered.order.lost,
                duplicate: numbered.order.duplicates,
                reordered: numbered.order.late,
                ..Counters::default()
            },
        };
        let before = std::mem::replace(&mut self.counted, now);
        for counter in Counter::ALL {
            self.spacing.open.count(counter, now.get(counter) - before.get(counter));
        }
    }

    /// Closes a window, unless nothing was counted in it. The first one of a stream begins with its first frame.
    pub(crate) fn close(&mut self, stream: usize, start_ns: u64, end_ns: u64, sink: &mut dyn Sink) {
        let start_ns = start_ns.max(self.first.at_ns.min(end_ns));
        self.spacing.close(|tally, worst| {
            sink.window(&Window {
                stream,
                start_ns,
                end_ns,
                tally,
                worst,
            });
        });
    }

    /// Closes the last window at the end of the capture, whose last stamp is `last_ns`.
    pub(crate) fn finish(
        mut self,
        start_ns: u64,
        end_ns: u64,
        last_ns: Option<i64>,
        notes: &mut Notes<'_>,
    ) -> StreamSummary {
        notes.frame = self.last.frame;
        match &mut self.protocol {
            Protocol::SampledValues(sv) => {
                sv.finish(last_ns, &mut self.spacing.open.counters, &mut self.budget, notes);
            }
            Protocol::Goose(goose) => goose.finish(last_ns, &mut self.budget, notes),
            Protocol::Counted(numbered) => numbered.settle(),
        }
        self.count();
        self.stopped(last_ns, notes);
        let losses = self.take_losses(notes);
        // The measured time is that between its first and its last frame.
        let start_ns = start_ns.max(self.first.at_ns.min(end_ns));
        let end_ns = end_ns.min(self.last.at_ns.max(start_ns + 1));
        let detail = self.detail();
        let (back, unstamped) = (self.spacing.back, self.spacing.unstamped);
        let stamp_step_ns = self.spacing.resolution.step_ns();
        let stream = notes.stream;
        let total = self.spacing.finish(|tally, worst| {
            notes.sink.window(&Window {
                stream,
                start_ns,
                end_ns,
                tally,
                worst,
            });
        });
        StreamSummary {
            identity: self.identity,
            label: self.label,
            frames: self.frames,
            samples: self.samples,
            first_frame: self.first.frame,
            last_frame: self.last.frame,
            first_ns: self.first.time_ns,
            last_ns: self.last.time_ns,
            tally: total.tally,
            worst: total.worst,
            losses,
            nominal_ns: total.nominal_ns,
            bursts: total.bursts,
            stamps_back: back,
            unstamped,
            stamp_step_ns,
            shaping: self.credit.as_ref().map(Shaped::shaping),
            leads: self.credit.and_then(Shaped::leads),
            events_unlisted: self.budget.unlisted,
            detail,
        }
    }

    /// Places at which samples are missing; each place is an event.
    fn take_losses(&mut self, notes: &mut Notes<'_>) -> Vec<Loss> {
        let losses = match &mut self.protocol {
            Protocol::SampledValues(sv) => sv.take_losses(),
            Protocol::Counted(numbered) => numbered.take_losses(),
            Protocol::Goose(_) => Vec::new(),
        };
        for loss in &losses {
            notes.write_at(loss.at_ns, &mut self.budget, EventKind::Loss, || loss.to_string());
        }
        losses
    }

    fn detail(&self) -> Detail {
        match &self.protocol {
            Protocol::SampledValues(sv) => {
                let counters = sv.sequence.counters();
                Detail::SampledValues {
                    rate: sv.sequence.rate(),
                    asdus: sv.asdus,
                    lowest: sv.lowest,
                    highest: sv.highest,
                    gaps: counters.gaps,
                    restarts: counters.restarts,
                    out_of_range: counters.out_of_range,
                    too_late: counters.too_late,
                }
            }
            Protocol::Goose(goose) => Detail::Goose {
                counts: goose.counts(),
                gaps: goose.gaps(),
            },
            Protocol::Counted(numbered) => Detail::Counted {
                gaps: numbered.order.gaps,
                restarts: numbered.order.restarts,
                too_late: numbered.too_late,
            },
        }
    }
}
