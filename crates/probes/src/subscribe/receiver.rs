//! The receiving loop.

use super::SubscribeConfig;
use super::series::{DELIVERY, notice};
use super::stream::{Arrival, Key, Sample, Stream};
use crate::error::ProbeError;
use crate::port::{Frame as Received, Port};
use crate::record::Feed;
use crate::reflect::Receive;
use crate::stop::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::packet::RxStamp;
use sys::wait::sleep_until;
use units::Monotonic;
use wire::ether::{EthernetView, VlanTag};
use wire::sv::Frame;

/// How long a link that is down is left alone.
const LINK_DOWN_NS: i64 = 10_000_000;

/// How long the thread sleeps before it looks whether it is to stop.
const LOOK_UP_NS: u64 = 100_000_000;

pub(super) struct Receiver {
    port: Port,
    table: Table,
    config: SubscribeConfig,
    stop: Stop,
    frames: Arc<AtomicU64>,
    is_down: bool,
}

/// The streams, and what belonged to none.
struct Table {
    streams: Vec<Stream>,
    /// Where the next frame is looked for first: publishers send their streams in the same order each time.
    likely: usize,
    malformed: u64,
    first_malformed_at: u64,
    unplaced: u64,
}

impl Receiver {
    pub(super) fn new(config: SubscribeConfig, port: Port, stop: Stop, frames: Arc<AtomicU64>) -> Self {
        let table = Table {
            streams: Vec::with_capacity(usize::from(config.max_streams)),
            likely: 0,
            malformed: 0,
            first_malformed_at: 0,
            unplaced: 0,
        };
        Self {
            port,
            table,
            config,
            stop,
            frames,
            is_down: false,
        }
    }

    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let end = self
            .config
            .duration_ns
            .and_then(|ns| i64::try_from(ns).ok())
            .map(|ns| sys::clock::monotonic() + ns);
        let mut accepted = 0;
        while !self.stop.requested() {
            let mut last = None;
            while let Some(frame) = self.port.next() {
                let arrival = arrival(&frame);
                accepted += u64::from(self.table.take(&frame, &arrival, &self.config, feed));
                last = Some(arrival.at);
                // Looked at after every frame: a sender that is faster than we are never lets the ring run empty.
                if self.stop.requested() || end.is_some_and(|end| arrival.at >= end) {
                    break;
                }
            }
            if let Some(last) = last {
                self.link(false, last, feed);
            }
            self.frames.store(accepted, Ordering::Relaxed);
            let now = last.unwrap_or_else(sys::clock::monotonic);
            if end.is_some_and(|end| now >= end) {
                break;
            }
            if self.config.receive == Receive::Block {
                self.wait(now, feed);
            }
        }
        self.end(accepted, feed)
    }

    /// Sleeps until a frame comes.
    fn wait(&mut self, now: Monotonic, feed: &mut Feed) {
        if self.port.wait(LOOK_UP_NS).is_err() {
            // The kernel says once that the link is down; frames come again when it is up.
            self.link(true, now, feed);
            sleep_until(now + LINK_DOWN_NS);
        }
    }

    fn link(&mut self, is_down: bool, at: Monotonic, feed: &mut Feed) {
        if is_down != self.is_down {
            self.is_down = is_down;
            feed.notice(DELIVERY, notice::LINK, at, u64::from(is_down), 0);
        }
    }

    fn end(&mut self, accepted: u64, feed: &mut Feed) -> Result<(), ProbeError> {
        let now = sys::clock::monotonic();
        for stream in &mut self.table.streams {
            stream.end(now, feed);
        }
        let dropped = self.port.dropped();
        let table = &self.table;
        for (code, count, detail) in [
            (notice::SOCKET_DROP, dropped, 0),
            (notice::MALFORMED, table.malformed, table.first_malformed_at),
            (notice::TOO_MANY_STREAMS, table.unplaced, 0),
        ] {
            if count > 0 {
                feed.notice(DELIVERY, code, now, count, detail);
            }
        }
        if accepted > 0 {
            return Ok(());
        }
        let interface = self.port.interface();
        Err(ProbeError::NoTraffic(format!(
            "subscribe: no sampled values (EtherType 0x88BA) came on {interface}: is a merging unit or \
             `triptime publish` sending into this network, and is the interface up?"
        )))
    }
}

fn arrival(frame: &Received<'_>) -> Arrival {
    let at = sys::clock::monotonic();
    let wall = sys::clock::realtime();
    let kernel = match frame.stamp() {
        Some(RxStamp::Software(stamp) | RxStamp::Socket(stamp)) => Some(stamp),
        Some(RxStamp::Hardware(_)) | None => None,
    };
    Arrival { at, wall, kernel }
}

impl Table {
    /// Accounts for one frame; tells whether it was well-formed.
    fn take(&mut self, frame: &Received<'_>, arrival: &Arrival, config: &SubscribeConfig, feed: &mut Feed) -> bool {
        let vlan = frame.taken_tag().map(|tag| VlanTag {
            tpid: tag.tpid,
            tci: tag.tci,
        });
        if let Some(kernel) = arrival.kernel {
            feed.sample(DELIVERY, arrival.at, arrival.wall - kernel, 0);
        }
        self.fast(frame.data(), vlan, arrival, feed) || self.full(frame.data(), vlan, arrival, config, feed)
    }

    /// The next frame of a stream that is known.
    fn fast(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        let count = self.streams.len();
        for step in 0..count {
            let index = (self.likely + step) % count;
            let stream = &mut self.streams[index];
            if stream.vlan != vlan {
                continue;
            }
            // Taken out for the moment, so that its samples can be read while the stream is changed.
            let fast = std::mem::take(&mut stream.fast);
            let recognised = match fast.accept(data) {
                Some(asdus) => {
                    let samples = asdus.map(|asdu| Sample {
                        smp_cnt: asdu.smp_cnt,
                        smp_synch: asdu.smp_synch,
                    });
                    stream.frame(samples, arrival, feed);
                    true
                }
                None => false,
            };
            stream.fast = fast;
            if recognised {
                self.likely = (index + 1) % count;
                return true;
            }
        }
        false
    }

    /// A new stream, or a change in one that is known, or a frame that breaks a rule.
    fn full(
        &mut self,
        data: &[u8],
        vlan: Option<VlanTag>,
        arrival: &Arrival,
        config: &SubscribeConfig,
        feed: &mut Feed,
    ) -> bool {
        let parsed = EthernetView::with_tag(data, vlan).and_then(|ethernet| Frame::parse(&ethernet));
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
        let Some(stream) = self.find(&frame, vlan, config, arrival.at, feed) else {
            self.unplaced += 1;
            return true;
        };
        stream.fully_parsed(&frame, vlan, arrival.at, feed);
        let samples = frame.asdus().map(|asdu| Sample {
            smp_cnt: asdu.smp_cnt(),
            smp_synch: asdu.smp_synch(),
        });
        stream.frame(samples, arrival, feed);
        true
    }

    /// The stream a frame belongs to; a new one if there is room.
    fn find(
        &mut self,
        frame: &Frame<'_>,
        vlan: Option<VlanTag>,
        config: &SubscribeConfig,
        at: Monotonic,
        feed: &mut Feed,
    ) -> Option<&mut Stream> {
        let key = Key::of(frame);
        if let Some(index) = self.streams.iter().position(|stream| stream.key == key) {
            return self.streams.get_mut(index);
        }
        if self.streams.len() >= usize::from(config.max_streams) {
            return None;
        }
        let number = u16::try_from(self.streams.len()).ok()?;
        let stream = Stream::new(number, key, vlan, frame, config);
        let namesakes = self
            .streams
            .iter()
            .filter(|other| other.key.sv_id() == key.sv_id())
            .count();
        if namesakes == 0 {
            stream.announce(key.sv_id(), at, feed);
        } else {
            let label = format!("{}#{}", String::from_utf8_lossy(key.sv_id()), namesakes + 1);
            stream.announce(label.as_bytes(), at, feed);
        }
        self.streams.push(stream);
        self.streams.last_mut()
    }
}
