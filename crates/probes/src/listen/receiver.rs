//! The receiving loop.

use super::ListenConfig;
use super::decode::{Key, decode};
use super::series::{DELIVERY, notice, slot};
use super::stream::{Arrival, Pace, Stream};
use crate::error::ProbeError;
use crate::port::{Frame as Received, Port};
use crate::record::{Feed, LABEL_BYTES};
use crate::reflect::Receive;
use crate::stop::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sys::packet::RxStamp;
use sys::wait::sleep_until;
use wire::ether::VlanTag;

/// How long a link that is down is left alone.
const LINK_DOWN_NS: i64 = 10_000_000;

/// How long the thread sleeps before it looks whether it is to stop.
const LOOK_UP_NS: u64 = 100_000_000;

pub(super) struct Receiver {
    port: Port,
    table: Table,
    config: ListenConfig,
    stop: Stop,
    frames: Arc<AtomicU64>,
}

/// The streams, and what belonged to none.
struct Table {
    streams: Vec<Stream>,
    most: usize,
    pace: Pace,
    /// Where the next frame is looked for first: talkers of one interval come in the same order each time.
    likely: usize,
    unplaced: u64,
}

impl Receiver {
    pub(super) fn new(config: ListenConfig, port: Port, stop: Stop, frames: Arc<AtomicU64>) -> Self {
        let most = usize::from(config.max_streams);
        let table = Table {
            streams: Vec::with_capacity(most),
            most,
            pace: Pace {
                interval_ns: config.period.whole_ns(),
                late_after_ns: config.late_after_ns,
            },
            likely: 0,
            unplaced: 0,
        };
        Self {
            port,
            table,
            config,
            stop,
            frames,
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
            self.frames.store(accepted, Ordering::Relaxed);
            let now = last.unwrap_or_else(sys::clock::monotonic);
            if end.is_some_and(|end| now >= end) {
                break;
            }
            if self.config.receive == Receive::Block && self.port.wait(LOOK_UP_NS).is_err() {
                // The link is down; frames come again when it is up.
                sleep_until(now + LINK_DOWN_NS);
            }
        }
        self.end(accepted, feed)
    }

    fn end(&mut self, accepted: u64, feed: &mut Feed) -> Result<(), ProbeError> {
        let now = sys::clock::monotonic();
        for stream in &mut self.table.streams {
            stream.end(now, feed);
        }
        let dropped = self.port.dropped();
        for (code, count) in [
            (notice::SOCKET_DROP, dropped),
            (notice::TOO_MANY_STREAMS, self.table.unplaced),
        ] {
            if count > 0 {
                feed.notice(DELIVERY, code, now, count, 0);
            }
        }
        if accepted > 0 {
            return Ok(());
        }
        let interface = self.port.interface();
        let wanted = self.config.framing.map_or("test, AVTP or SV", |framing| framing.word());
        Err(ProbeError::NoTraffic(format!(
            "listen: no stream ({wanted} frames) came on {interface}: is `triptime talk` or an AVB talker sending into this \
             network, and is the interface up?"
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
    /// Accounts for one frame; tells whether it belonged to a stream.
    fn take(&mut self, frame: &Received<'_>, arrival: &Arrival, config: &ListenConfig, feed: &mut Feed) -> bool {
        let vlan = frame.taken_tag().map(|tag| VlanTag {
            tpid: tag.tpid,
            tci: tag.tci,
        });
        let Some((key, number)) = decode(frame.data(), vlan, config.period) else {
            return false;
        };
        if let Some(kernel) = arrival.kernel {
            feed.sample(DELIVERY, arrival.at, arrival.wall - kernel, 0);
        }
        match self.find(&key, feed) {
            Some(stream) => stream.frame(number, arrival, feed),
            None => self.unplaced += 1,
        }
        true
    }

    /// The stream a frame belongs to; a new one if there is room.
    fn find(&mut self, key: &Key, feed: &mut Feed) -> Option<&mut Stream> {
        let count = self.streams.len();
        let known = (0..count)
            .map(|step| (self.likely + step) % count)
            .find(|index| self.streams[*index].key == *key);
        if let Some(index) = known {
            self.likely = (index + 1) % count;
            return self.streams.get_mut(index);
        }
        if count >= self.most {
            return None;
        }
        let number = u16::try_from(count).ok()?;
        let mut label = [0; LABEL_BYTES];
        let namesakes = self.streams.iter().filter(|stream| stream.key.is_namesake(key)).count();
        let octets = key.write_label(namesakes, &mut label);
        feed.announce_bytes(slot(number), &label[..octets]);
        self.streams.push(Stream::new(number, *key, self.pace));
        self.streams.last_mut()
    }
}
