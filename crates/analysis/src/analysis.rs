//! Brings every frame to its stream, window by window.

use crate::arrival::Arrival;
use crate::avtp::{self, StreamHeader};
use crate::goose::GooseStream;
use crate::lans::Lans;
use crate::numbered::Numbered;
use crate::shaping::SrClass;
use crate::sink::{Notes, Sink};
use crate::stream::{AnalysedStream, Protocol};
use crate::summary::{FirstMalformed, Summary};
use crate::sv::{Sample, SvStream};
use crate::table::{Lookup, StreamTable};
use capture::{Frame, LinkType};
use model::{StreamId, StreamKind};
use wire::FrameError;
use wire::ether::{self, EthernetView, Hidden, VlanTag};
use wire::redundancy::{Lan, SUPERVISION, Supervision};
use wire::routed::{Datagram, Key, Proof, Security, SpduNumbers};
use wire::sequence::Quiet;
use wire::sv::Fingerprints;
use wire::test_frame::{self, TestFrame};
use wire::{goose, sv};

/// How a capture is to be analysed.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// Largest number of streams to follow; frames of further ones are only counted.
    pub max_streams: usize,
    /// Samples a second of every SV stream; `None`: learned from the wrap of smpCnt.
    pub rate: Option<u32>,
    /// Length of a window of capture time; `None`: one window for the whole capture.
    pub window_ns: Option<u64>,
    /// Rate of the port that the talkers of AVTP streams send on, in Mbit/s; `None`: their shapers are not judged.
    pub port_mbit: Option<u32>,
}

/// An unfinished analysis.
pub struct Analysis<'a> {
    config: Config,
    sink: &'a mut dyn Sink,
    table: StreamTable,
    summary: Summary,
    begun: bool,
    /// Stamp from which instants are counted.
    start_ns: Option<i64>,
    /// Latest instant so far.
    newest_ns: u64,
    /// Stamp of the frame before.
    previous_ns: i64,
    quiet: Quiet,
    prints: Fingerprints,
    pub(crate) lans: Lans,
    /// Keys of datagrams.
    keys: Vec<Key>,
    numbers: SpduNumbers,
    window_start_ns: u64,
    window_end_ns: u64,
}

impl<'a> Analysis<'a> {
    /// Begins an analysis whose windows and events go to `sink`.
    pub fn new(config: Config, sink: &'a mut dyn Sink) -> Self {
        Self {
            config,
            sink,
            table: StreamTable::new(config.max_streams),
            summary: Summary::default(),
            begun: false,
            start_ns: None,
            newest_ns: 0,
            previous_ns: i64::MIN,
            quiet: Quiet::default(),
            prints: Fingerprints::new(),
            lans: Lans::new(),
            keys: Vec::new(),
            numbers: SpduNumbers::default(),
            window_start_ns: 0,
            window_end_ns: config.window_ns.unwrap_or(u64::MAX),
        }
    }

    /// Checks signatures of datagrams with these keys, if there are any.
    #[must_use]
    pub fn with_keys(mut self, keys: Vec<Key>) -> Self {
        self.keys = keys;
        self
    }

    /// True if the sink accepts nothing more.
    pub fn is_refused(&self) -> bool {
        self.sink.refuses()
    }

    /// Takes the next frame of the capture.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.frame_of(frame, None);
    }

    /// Takes the next frame of the capture, which came at the port of a LAN. The stream of the frame does not see copies of PRP and HSR.
    pub fn frame_of(&mut self, frame: &Frame<'_>, port: Option<Lan>) {
        self.summary.frames += 1;
        let arrival = self.arrive(frame);
        if frame.link_type != LinkType::ETHERNET {
            self.summary.not_ethernet += 1;
            return;
        }
        if !self.lans.take(frame, port, &self.prints) && !self.next_of_likely(frame.data, arrival) {
            self.any(frame, arrival);
        }
    }

    /// Places the frame in time; closes the window if the frame is beyond its end.
    #[inline]
    fn arrive(&mut self, frame: &Frame<'_>) -> Arrival {
        if !self.begun {
            self.begun = true;
            self.sink.begin(frame.time_ns);
        }
        if let Some(time_ns) = frame.time_ns {
            if time_ns < self.previous_ns {
                self.summary.stamps_back += 1;
            }
            self.quiet.came(time_ns);
            self.previous_ns = time_ns;
            let start_ns = *self.start_ns.get_or_insert(time_ns);
            // A stamp before the start counts as the start.
            let at_ns = u64::try_from(time_ns.saturating_sub(start_ns)).unwrap_or(0);
            self.newest_ns = self.newest_ns.max(at_ns);
            if self.newest_ns >= self.window_end_ns {
                self.close_windows();
            }
            let summary = &mut self.summary;
            summary.first_ns = Some(summary.first_ns.map_or(time_ns, |first| first.min(time_ns)));
            summary.last_ns = Some(summary.last_ns.map_or(time_ns, |last| last.max(time_ns)));
        } else {
            self.summary.unstamped += 1;
        }
        Arrival {
            frame: frame.number,
            time_ns: frame.time_ns,
            at_ns: self.newest_ns,
            quiet: self.quiet,
        }
    }

    #[cold]
    fn close_windows(&mut self) {
        let (start_ns, end_ns) = (self.window_start_ns, self.window_end_ns);
        for (at, stream) in self.table.streams.iter_mut().enumerate() {
            stream.close(at, start_ns, end_ns, self.sink);
        }
        let window_ns = self.config.window_ns.unwrap_or(u64::MAX).max(1);
        self.window_start_ns = self.newest_ns / window_ns * window_ns;
        self.window_end_ns = self.window_start_ns.saturating_add(window_ns);
    }

    /// Takes a frame of sampled values without parsing it, if it is the expected next frame of the stream that is due.
    #[inline]
    fn next_of_likely(&mut self, data: &[u8], arrival: Arrival) -> bool {
        let Some(at) = self.table.likely() else {
            return false;
        };
        let Some(stream) = self.table.streams.get_mut(at) else {
            return false;
        };
        let Some(sv) = stream.sv() else { return false };
        // Taken out temporarily, so that its samples can be read while the stream is changed.
        let fast = std::mem::take(&mut sv.fast);
        let recognised = fast.accept(data);
        let taken = recognised.is_some();
        if let Some(asdus) = recognised {
            let samples = asdus.map(|asdu| Sample {
                smp_cnt: asdu.smp_cnt,
                smp_synch: asdu.smp_synch,
                contents: self.prints.of(asdu.seq_data, asdu.smp_synch),
            });
            stream.samples(samples, arrival, &mut notes(self.sink, at, arrival));
        }
        if let Some(sv) = stream.sv() {
            sv.fast.put_back(fast);
        }
        if taken {
            self.table.came(at);
        }
        taken
    }

    fn any(&mut self, frame: &Frame<'_>, arrival: Arrival) {
        let Ok(ethernet) = EthernetView::parse(frame.data) else {
            self.summary.other += 1;
            return;
        };
        let parsed = match ethernet.ether_type() {
            ether::SV => sv::Frame::parse(&ethernet).map(|parsed| self.sampled_values(&parsed, arrival)),
            ether::GOOSE => goose::Frame::parse(&ethernet).map(|parsed| self.goose(&parsed, arrival)),
            test_frame::ETHER_TYPE => return self.test_frame(frame, &ethernet, arrival),
            avtp::ETHER_TYPE => return self.avtp(frame, &ethernet, arrival),
            SUPERVISION if Supervision::parse(&ethernet).is_ok() => return,
            _ => return self.other(frame, &ethernet, arrival),
        };
        if let Err(error) = parsed {
            self.unreadable(frame, &error);
        }
    }

    /// The messages of a datagram; each is followed like a frame of layer 2.
    fn routed(&mut self, frame: &Frame<'_>, datagram: &Datagram<'_>, arrival: Arrival) {
        let proof = Proof::followed(datagram, &self.keys, &mut self.numbers);
        let counts = &mut self.summary.routed;
        match (datagram.security(), proof) {
            (Security::Encrypted, _) => {
                counts.encrypted += 1;
                *self.summary.hidden.entry(Hidden::Routed).or_default() += 1;
            }
            (_, Proof::None) => counts.unsigned += 1,
            (_, Proof::NotChecked) => counts.signed += 1,
            (_, Proof::Right | Proof::Behind) => counts.right += 1,
            (_, Proof::Wrong) => counts.wrong += 1,
            (_, Proof::Unsigned | Proof::UnknownKey) => counts.refused += 1,
        }
        if proof.is_doubt() {
            self.doubted(datagram, proof, arrival);
        }
        if proof.is_refused() {
            return;
        }
        for message in datagram.messages() {
            let read = message.and_then(|view| match view.ether_type() {
                ether::SV => sv::Frame::parse(&view).map(|parsed| self.sampled_values(&parsed, arrival)),
                _ => goose::Frame::parse(&view).map(|parsed| self.goose(&parsed, arrival)),
            });
            if let Err(error) = read {
                return self.unreadable(frame, &error);
            }
        }
    }

    /// The messages of a datagram that is not used because of its signature, or is left behind by its sender: a doubt of each stream that they name.
    #[cold]
    fn doubted(&mut self, datagram: &Datagram<'_>, proof: Proof, arrival: Arrival) {
        for view in datagram.messages().flatten() {
            let at = match view.ether_type() {
                ether::SV => sv::Frame::parse(&view).ok().and_then(|frame| {
                    let asdu = frame.asdus().next()?;
                    self.sv_stream(&frame, asdu.sv_id(), arrival)
                }),
                _ => goose::Frame::parse(&view)
                    .ok()
                    .and_then(|frame| self.goose_stream(&frame, arrival)),
            };
            if let Some(at) = at {
                let notes = &mut notes(self.sink, at, arrival);
                self.table.streams[at].doubted(proof, notes);
            }
        }
    }

    /// A frame of a protocol that is not followed; a followed protocol may be inside it.
    fn other(&mut self, frame: &Frame<'_>, ethernet: &EthernetView<'_>, arrival: Arrival) {
        match Datagram::within(ethernet) {
            Some(Ok(datagram)) => return self.routed(frame, &datagram, arrival),
            Some(Err(error)) => return self.unreadable(frame, &error),
            None => {}
        }
        match Hidden::of(ethernet) {
            Some(header) => *self.summary.hidden.entry(header).or_default() += 1,
            None => self.summary.other += 1,
        }
    }

    /// A frame of a followed protocol that cannot be read.
    #[cold]
    fn unreadable(&mut self, frame: &Frame<'_>, error: &FrameError) {
        if frame.is_cut() {
            self.summary.cut += 1;
            return;
        }
        self.summary.malformed += 1;
        self.summary.first_malformed.get_or_insert_with(|| FirstMalformed {
            frame: frame.number,
            why: error.to_string(),
        });
    }

    fn sampled_values(&mut self, frame: &sv::Frame<'_>, arrival: Arrival) {
        self.summary.extended += u64::from(frame.header().extension_octets() > 0);
        let mut asdus = frame.asdus();
        let Some(first) = asdus.next() else { return };
        let prints = self.prints.clone();
        let samples = |asdu: sv::Asdu<'_>| Sample {
            smp_cnt: asdu.smp_cnt(),
            smp_synch: asdu.smp_synch(),
            contents: prints.of(asdu.seq_data(), asdu.smp_synch()),
        };
        if asdus.all(|asdu| asdu.sv_id() == first.sv_id()) {
            let Some(at) = self.sv_stream(frame, first.sv_id(), arrival) else {
                return;
            };
            let notes = &mut notes(self.sink, at, arrival);
            let stream = &mut self.table.streams[at];
            let data = frame.ethernet().frame();
            if let Protocol::SampledValues(sv) = &mut stream.protocol {
                sv.header(frame, &mut stream.budget, notes);
                if sv.fast.accept(data).is_none() {
                    sv.fast.learn(frame);
                }
            }
            stream.samples(frame.asdus().map(samples), arrival, notes);
            self.table.came(at);
            return;
        }
        // ASDUs of several streams in one frame: each belongs to its own stream.
        for asdu in frame.asdus() {
            if let Some(at) = self.sv_stream(frame, asdu.sv_id(), arrival) {
                let notes = &mut notes(self.sink, at, arrival);
                self.table.streams[at].samples(std::iter::once(samples(asdu)), arrival, notes);
            }
        }
    }

    fn sv_stream(&mut self, frame: &sv::Frame<'_>, sv_id: &[u8], arrival: Arrival) -> Option<usize> {
        let (rate, appid) = (self.config.rate, Some(frame.appid()));
        self.stream(
            StreamKind::SampledValues,
            frame.ethernet(),
            appid,
            sv_id,
            arrival,
            || Protocol::SampledValues(Box::new(SvStream::new(frame, rate))),
        )
    }

    fn goose_stream(&mut self, frame: &goose::Frame<'_>, arrival: Arrival) -> Option<usize> {
        let appid = Some(frame.header().appid);
        let new = || Protocol::Goose(Box::new(GooseStream::new()));
        self.stream(
            StreamKind::Goose,
            frame.ethernet(),
            appid,
            frame.gocb_ref(),
            arrival,
            new,
        )
    }

    fn goose(&mut self, frame: &goose::Frame<'_>, arrival: Arrival) {
        self.summary.extended += u64::from(frame.header().extension_octets() > 0);
        if let Some(at) = self.goose_stream(frame, arrival) {
            let notes = &mut notes(self.sink, at, arrival);
            self.table.streams[at].message(frame, arrival, notes);
            self.table.came(at);
        }
    }

    fn test_frame(&mut self, frame: &Frame<'_>, ethernet: &EthernetView<'_>, arrival: Arrival) {
        let test = match TestFrame::parse(ethernet) {
            Ok(test) => test,
            Err(error) if frame.is_cut() => return self.unreadable(frame, &error),
            // The EtherType is for local experiments, so other programs may use it, too.
            Err(_) => {
                self.summary.other += 1;
                return;
            }
        };
        // Round trips, and the frames of a paced stream, which are marked before its begin and after its end.
        let is_numbered = match test.kind {
            test_frame::TestFrameKind::Probe => true,
            test_frame::TestFrameKind::Stream => test.flags == 0,
            _ => false,
        };
        let session = test.session.to_be_bytes();
        if !is_numbered {
            self.summary.other += 1;
            self.ended_itself(ethernet, &session);
            return;
        }
        self.counted(StreamKind::TestFrames, ethernet, &session, arrival, |numbered| {
            numbered.accept_of_session(test.sequence, &arrival)
        });
        if test.kind == test_frame::TestFrameKind::Probe {
            // A round trip has no end mark.
            self.ended_itself(ethernet, &session);
        }
    }

    /// A known stream of test frames marks its end: frames that do not come after the mark are not lost.
    fn ended_itself(&mut self, ethernet: &EthernetView<'_>, session: &[u8]) {
        if let Some(at) = self.table.known(StreamKind::TestFrames, ethernet, None, session) {
            self.table.streams[at].ended_itself();
        }
    }

    fn avtp(&mut self, frame: &Frame<'_>, ethernet: &EthernetView<'_>, arrival: Arrival) {
        let Some(header) = StreamHeader::parse(ethernet.payload()) else {
            if frame.is_cut() {
                self.summary.cut += 1;
            } else {
                self.summary.other += 1;
            }
            return;
        };
        self.counted(StreamKind::Avtp, ethernet, &header.stream_id, arrival, |numbered| {
            numbered.accept_u8(header.sequence_num, &arrival)
        });
    }

    fn counted(
        &mut self,
        kind: StreamKind,
        ethernet: &EthernetView<'_>,
        name: &[u8],
        arrival: Arrival,
        number: impl FnOnce(&mut Numbered) -> bool,
    ) {
        let new = || Protocol::Counted(Numbered::default());
        if let Some(at) = self.stream(kind, ethernet, None, name, arrival, new) {
            let notes = &mut notes(self.sink, at, arrival);
            let stream = &mut self.table.streams[at];
            if kind == StreamKind::Avtp && stream.is_new() {
                let class = ethernet.vlan().map(VlanTag::pcp).and_then(SrClass::of);
                stream.shaped_as(class, self.config.port_mbit);
            }
            stream.follow_source(ethernet.src(), notes);
            stream.counted(arrival, notes, number);
            self.table.came(at);
        }
    }

    /// Index of the stream; adds the stream if there is room.
    fn stream(
        &mut self,
        kind: StreamKind,
        ethernet: &EthernetView<'_>,
        appid: Option<u16>,
        name: &[u8],
        arrival: Arrival,
        protocol: impl FnOnce() -> Protocol,
    ) -> Option<usize> {
        let at = match self.table.find(kind, ethernet, appid, name) {
            Lookup::At(at) => at,
            Lookup::New(identity, label) => self.open(identity, label, protocol(), arrival),
            Lookup::Full => {
                self.summary.unplaced += 1;
                return None;
            }
        };
        if let Some([sender, _]) = ethernet.ip_addresses() {
            self.table.streams[at].follow_sender(sender, &mut notes(self.sink, at, arrival));
        }
        Some(at)
    }

    fn open(&mut self, identity: StreamId, label: String, protocol: Protocol, arrival: Arrival) -> usize {
        let threshold_ns = self.sink.opened(self.table.streams.len(), &identity, &label);
        let stream = AnalysedStream::new(identity, label, protocol, threshold_ns, arrival);
        self.table.add(stream)
    }

    /// Ends the analysis, at the end of the capture or earlier.
    pub fn finish(mut self) -> Summary {
        let (start_ns, end_ns) = (self.window_start_ns, self.newest_ns.max(self.window_start_ns + 1));
        let last = Arrival {
            frame: 0,
            time_ns: None,
            at_ns: self.newest_ns,
            quiet: self.quiet,
        };
        for (at, stream) in std::mem::take(&mut self.table.streams).into_iter().enumerate() {
            let notes = &mut notes(self.sink, at, last);
            let summary = stream.finish(start_ns, end_ns, self.summary.last_ns, notes);
            self.summary.streams.push(summary);
        }
        self.summary.redundancy = self.lans.finish(self.summary.last_ns);
        self.summary
    }
}

fn notes<'a>(sink: &'a mut dyn Sink, stream: usize, arrival: Arrival) -> Notes<'a> {
    Notes {
        sink,
        stream,
        at_ns: arrival.at_ns,
        frame: arrival.frame,
    }
}
