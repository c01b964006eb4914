//! The table of streams: it finds the stream of each frame, and counts frames that belong to none.

use super::SubscribeConfig;
use super::goose::{Blocks, is_goose};
use super::inputs::Inputs;
use super::key;
use super::notice::Notice;
use super::series::{DELIVERY, Family, families, slots};
use super::stream::{Sample, SvStream};
use crate::reception::{Account, Arrival};
use model::StreamId;
use run::Feed;
use sys::link::LinkStatistics;
use units::{Monotonic, Realtime};
use wire::ether::{self, EthernetView, Hidden, VlanTag};
use wire::routed::Proof;
use wire::sequence::History;
use wire::sv::{Asdu, Fingerprints, Frame};

/// Number of streams whose sample memory is allocated at the start. Further streams allocate theirs when they appear.
const HISTORIES: u16 = 64;

/// Interval between checks for silent streams.
const LOOK_NS: i64 = 100_000_000;

/// The streams, and counts of frames that belong to none.
pub(super) struct StreamTable {
    pub(super) streams: Vec<SvStream>,
    /// Index of the stream to try first for the next frame: publishers send their streams in the same order each time.
    likely: usize,
    malformed: u64,
    first_malformed_at: u64,
    unplaced: u64,
    /// Number of datagrams that were not used because of their signatures.
    pub(super) refused: u64,
    /// Number of samples of streams that a relay does not expect.
    foreign: u64,
    /// Headers seen to hide sampled values or GOOSE, in the order of [`Hidden::ALL`].
    hidden: [bool; Hidden::ALL.len()],
    /// Number of frames whose VLAN tag the kernel removed.
    tagged: u64,
    prints: Fingerprints,
    /// Sample memory for streams that have not appeared yet, so that the receiving thread allocates none.
    histories: Vec<History>,
    /// Time of the last check for silence.
    looked: Monotonic,
    /// Start of the reception.
    pub(super) started: Monotonic,
    /// Time of the newest frame: the kernel's stamp, otherwise the application's time.
    pub(super) newest: Realtime,
    pub(super) goose: Blocks,
    /// The control blocks of a relay's inputs.
    pub(super) inputs: Inputs,
    /// Counters of the interface before the reception.
    counted_before: Option<LinkStatistics>,
    pub(super) config: SubscribeConfig,
}

impl StreamTable {
    /// Makes a table that knows the `awaited` streams; `counted_before` are the counters of the interface before the reception.
    pub(super) fn new(config: SubscribeConfig, awaited: Vec<SvStream>, counted_before: Option<LinkStatistics>) -> Self {
        let mut streams = Vec::with_capacity(usize::from(config.max_streams));
        streams.extend(awaited);
        let one_clock = families(config.clock).contains(&Family::Age);
        Self {
            counted_before,
            goose: Blocks::new(config.goose.clone(), slots(config.max_streams), one_clock),
            inputs: Inputs::of(&config),
            streams,
            likely: 0,
            malformed: 0,
            first_malformed_at: 0,
            unplaced: 0,
            refused: 0,
            foreign: 0,
            hidden: [false; Hidden::ALL.len()],
            tagged: 0,
            prints: Fingerprints::new(),
            histories: (0..config.max_streams.min(HISTORIES))
                .map(|_| History::of_a_second())
                .collect(),
            looked: Monotonic::from_ns(0),
            started: Monotonic::from_ns(0),
            newest: Realtime::from_ns(0),
            config,
        }
    }

    /// Closes the account, once, after all frames received before `now` have been taken.
    pub(super) fn end(&mut self, now: Monotonic, feed: &mut Feed) {
        let due = self.config.sender.until(now);
        for stream in &mut self.streams {
            stream.end(due, feed);
            stream.account_for_absence(self.started, now, feed);
        }
        self.goose.end(now, DELIVERY, feed);
        self.inputs.end(now, feed);
        for (number, _) in (0..).zip(self.hidden).filter(|(_, seen)| *seen) {
            feed.notice(DELIVERY, Notice::Hidden, now, number, 0);
        }
        for (notice, count, detail) in [
            (Notice::Malformed, self.malformed, self.first_malformed_at),
            (Notice::TooManyStreams, self.unplaced, 0),
            (Notice::Foreign, self.foreign, 0),
        ] {
            if count > 0 {
                feed.notice(DELIVERY, notice, now, count, detail);
            }
        }
    }

    /// Reports losses in the NIC and the kernel during the run, to distinguish them from losses on the wire.
    pub(super) fn lost_before_the_socket(&self, counted: Option<LinkStatistics>, now: Monotonic, feed: &mut Feed) {
        let Some((before, after)) = self.counted_before.zip(counted) else {
            return;
        };
        let counted = after.since(before);
        if counted.missed + counted.damaged > 0 {
            feed.notice(DELIVERY, Notice::NicDrop, now, counted.missed, counted.damaged);
        }
        // These counters include frames other than sampled values, so they matter only if samples are missing. They also include
        // frames with a VLAN tag that only a packet socket received: the kernel counts these as dropped, although they were
        // received here.
        let dropped = counted
            .lost_behind_driver()
            .max(counted.dropped.saturating_sub(self.tagged));
        if dropped > 0 && self.streams.iter().any(SvStream::has_lost) {
            feed.notice(DELIVERY, Notice::KernelDrop, now, dropped, 0);
        }
    }
}

impl Account for StreamTable {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        self.newest = arrival.kernel.unwrap_or(arrival.wall);
        self.tagged += u64::from(vlan.is_some());
        if let Some(kernel) = arrival.kernel {
            feed.sample(DELIVERY, arrival.at, arrival.wall - kernel, 0);
        }
        if is_goose(data) {
            return self.goose.take(data, vlan, arrival, feed);
        }
        self.fast(data, vlan, arrival, feed) || self.full(data, vlan, arrival, feed)
    }

    fn proved(&mut self, data: &[u8], vlan: Option<VlanTag>, proof: Proof, arrival: &Arrival, feed: &mut Feed) {
        self.refused += u64::from(proof.is_refused());
        if is_goose(data) {
            return match self.config.relay {
                Some(_) => self.inputs.proved(data, vlan, proof, arrival.at, feed),
                None => self.goose.proved(data, vlan, proof, arrival.at, feed),
            };
        }
        let ethernet = EthernetView::with_tag(data, vlan);
        // One that breaks a rule is counted as such if it is used; otherwise it concerns no stream that is known.
        let Ok(frame) = ethernet.and_then(|ethernet| Frame::parse(&ethernet)) else {
            return;
        };
        for (number, asdu) in frame.asdus().enumerate() {
            let sv_id = asdu.sv_id();
            if !frame.asdus().take(number).any(|before| before.sv_id() == sv_id) {
                self.stream_proved(&frame, vlan, sv_id, proof, arrival.at, feed);
            }
        }
    }

    fn link(&mut self, is_down: bool, at: Monotonic, feed: &mut Feed) {
        feed.notice(DELIVERY, Notice::Link, at, u64::from(is_down), 0);
    }

    fn deadline(&self) -> Option<Monotonic> {
        self.goose.deadline()
    }

    fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        self.goose.look(now, feed);
        if now - self.looked >= LOOK_NS {
            self.looked = now;
            let due = self.config.sender.until(now);
            self.streams.iter_mut().for_each(|stream| stream.look(due, feed));
        }
    }
}

impl StreamTable {
    /// Takes the next frame of a known stream.
    fn fast(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        let count = self.streams.len();
        for step in 0..count {
            let index = (self.likely + step) % count;
            let (stream, prints) = (&mut self.streams[index], &self.prints);
            if stream.vlan != vlan {
                continue;
            }
            // The history is moved out for the moment, so that its samples can be read while the stream is changed.
            let fast = std::mem::take(&mut stream.fast);
            let recognised = match fast.accept(data) {
                Some(asdus) => {
                    let samples = asdus.map(|asdu| Sample {
                        smp_cnt: asdu.smp_cnt,
                        smp_synch: asdu.smp_synch,
                        contents: prints.of(asdu.seq_data, asdu.smp_synch),
                    });
                    stream.frame(samples, arrival, feed);
                    true
                }
                None => false,
            };
            stream.fast.put_back(fast);
            if recognised {
                self.likely = (index + 1) % count;
                return true;
            }
        }
        false
    }

    /// Takes a frame of a new stream, a frame with changed headers, or a malformed frame.
    fn full(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        let ethernet = EthernetView::with_tag(data, vlan);
        if ethernet.is_ok_and(|ethernet| ethernet.ether_type() == ether::GOOSE) {
            return self.goose.take(data, vlan, arrival, feed);
        }
        if let Some(header) = ethernet.as_ref().ok().and_then(Hidden::of) {
            self.hidden[header as usize] = true;
            return false;
        }
        let parsed = ethernet.and_then(|ethernet| Frame::parse(&ethernet));
        let frame = match parsed {
            Ok(frame) => frame,
            Err(error) => {
                if self.malformed == 0 {
                    self.first_malformed_at = error.offset as u64;
                }
                self.malformed += 1;
                return false;
            }
        };
        let mut asdus = frame.asdus();
        let Some(first) = asdus.next() else { return false };
        if asdus.all(|asdu| asdu.sv_id() == first.sv_id()) {
            self.samples(&frame, vlan, first.sv_id(), frame.asdus(), arrival, feed);
        } else {
            // A frame may hold ASDUs of several streams; each goes to its own stream.
            for asdu in frame.asdus() {
                self.samples(&frame, None, asdu.sv_id(), std::iter::once(asdu), arrival, feed);
            }
        }
        true
    }

    /// Takes the samples of one stream in a frame. `vlan` is the tag for recognising the next frame, if the frame has only one
    /// stream.
    fn samples<'a>(
        &mut self,
        frame: &Frame<'_>,
        vlan: Option<VlanTag>,
        sv_id: &[u8],
        asdus: impl Iterator<Item = Asdu<'a>>,
        arrival: &Arrival,
        feed: &mut Feed,
    ) {
        let is_whole = frame.asdus().all(|asdu| asdu.sv_id() == sv_id);
        let Some(index) = self.find(frame, vlan, sv_id, arrival.at, feed) else {
            match self.is_foreign(sv_id) {
                true => self.foreign += 1,
                false => self.unplaced += 1,
            }
            return;
        };
        let (stream, prints) = (&mut self.streams[index], &self.prints);
        if is_whole {
            stream.vlan = vlan;
        }
        stream.begin_once(frame, arrival.at, feed);
        // Its extension differs from frame to frame, so each is parsed in full.
        if frame.header().extension_octets() > 0 {
            stream.proved(Proof::NotChecked, arrival.at, feed);
        }
        stream.fully_parsed(frame, is_whole, arrival, feed);
        let samples = asdus.map(|asdu| Sample {
            smp_cnt: asdu.smp_cnt(),
            smp_synch: asdu.smp_synch(),
            contents: prints.of(asdu.seq_data(), asdu.smp_synch()),
        });
        stream.frame(samples, arrival, feed);
    }

    /// Counts a datagram whose signature is not known to be right for a stream that it names. Nothing else of the stream changes: the
    /// datagram may be forged.
    fn stream_proved(
        &mut self,
        frame: &Frame<'_>,
        vlan: Option<VlanTag>,
        sv_id: &[u8],
        proof: Proof,
        at: Monotonic,
        feed: &mut Feed,
    ) {
        let id = key::stream_of(frame, sv_id);
        // In another VLAN, a forged one still names this stream.
        let named = |stream: &SvStream| proof.is_refused() && stream.id.is_same_but_vlan(&id);
        let known = self.known(&id).or_else(|| self.streams.iter().position(named));
        match known.or_else(|| self.open(id, vlan, at, feed)) {
            Some(index) => self.streams[index].proved(proof, at, feed),
            // One that is used is counted when it is taken.
            None if !proof.is_refused() => {}
            None if self.is_foreign(sv_id) => self.foreign += 1,
            None => self.unplaced += 1,
        }
    }

    /// True if a relay does not use streams with this svID. A second stream with an expected svID does not count as such.
    fn is_foreign(&self, sv_id: &[u8]) -> bool {
        let expected = &self.config.expected;
        self.config.relay.is_some() && !expected.iter().any(|spec| spec.sv_id.as_bytes() == sv_id)
    }

    /// Finds the stream of a frame, or adds a new one if there is room.
    fn find(
        &mut self,
        frame: &Frame<'_>,
        vlan: Option<VlanTag>,
        sv_id: &[u8],
        at: Monotonic,
        feed: &mut Feed,
    ) -> Option<usize> {
        let id = key::stream_of(frame, sv_id);
        let Some(index) = self.known(&id) else {
            return self.open(id, vlan, at, feed);
        };
        let stream = self.streams.get_mut(index)?;
        stream.note_coming(id, frame, self.started, at, feed);
        Some(index)
    }

    /// The stream with this identity, or the expected one that it may be.
    fn known(&self, id: &StreamId) -> Option<usize> {
        let known = self.streams.iter().position(|stream| stream.id == *id);
        known.or_else(|| self.streams.iter().position(|stream| stream.awaits(id)))
    }

    /// Adds a stream, of which no frame has been used yet, if there is room.
    fn open(&mut self, id: StreamId, vlan: Option<VlanTag>, at: Monotonic, feed: &mut Feed) -> Option<usize> {
        if self.streams.len() >= usize::from(self.config.max_streams) {
            return None;
        }
        let number = u16::try_from(self.streams.len()).ok()?;
        let stream = SvStream::new(
            number,
            id,
            vlan,
            &self.config,
            self.histories.pop().unwrap_or_else(History::of_a_second),
        );
        stream.announce(feed);
        if !self.config.expected.is_empty() {
            stream.notice(feed, Notice::NotExpected, at, key::packed(&id), key::vid_code(&id));
        }
        self.streams.push(stream);
        Some(usize::from(number))
    }
}
