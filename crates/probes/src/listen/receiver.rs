//! The receiving loop.

use super::ListenConfig;
use super::decode::{Broken, are_namesakes, decode, write_label};
use super::notice::Notice;
use super::series::{DELIVERY, credit_slot, slot};
use super::stream::{ListenedStream, Pace};
use crate::error::ProbeError;
use crate::framing::Framing;
use crate::port::Port;
use crate::reception::{Account, Arrival, Lans, Reception};
use analysis::{Credit, SrClass};
use model::StreamId;
use run::{Feed, LABEL_BYTES, Stop};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use units::Monotonic;
use wire::ether::VlanTag;
use wire::sequence::History;
use wire::sv::Fingerprints;

/// Number of streams whose sample memory is allocated at the start. Further streams allocate theirs when they appear.
const HISTORIES: usize = 64;

/// Interval between checks for silent streams.
const LOOK_NS: i64 = 100_000_000;

pub(super) struct Receiver {
    reception: Reception,
    table: StreamTable,
    /// The wanted frames, in words.
    wanted: &'static str,
}

/// The streams, and counts of frames that belong to none.
struct StreamTable {
    streams: Vec<ListenedStream>,
    most: usize,
    pace: Pace,
    /// Index of the stream to try first for the next frame: talkers with the same interval arrive in the same order each time.
    likely: usize,
    unplaced: u64,
    malformed: u64,
    /// True if frames of the SR classes are judged by the credit of a shaper.
    judges_credit: bool,
    prints: Fingerprints,
    /// Sample memory for streams that have not appeared yet, so that the receiving thread allocates none.
    histories: Vec<History>,
    /// Time of the last check for silence.
    looked: Monotonic,
}

impl Receiver {
    pub(super) fn new(
        config: &ListenConfig,
        port: Port,
        stop: Stop,
        frames: Arc<AtomicU64>,
        judges_credit: bool,
    ) -> Self {
        let most = usize::from(config.max_streams);
        let table = StreamTable {
            streams: Vec::with_capacity(most),
            most,
            pace: Pace {
                interval_ns: config.period.whole_ns(),
                late_after_ns: config.late_after_ns,
                per_second: crate::framing::per_second(config.period).and_then(|rate| u32::try_from(rate).ok()),
            },
            likely: 0,
            unplaced: 0,
            malformed: 0,
            judges_credit,
            prints: Fingerprints::new(),
            histories: (0..most.min(HISTORIES)).map(|_| History::of_a_second()).collect(),
            looked: Monotonic::from_ns(0),
        };
        Self {
            reception: Reception {
                lans: Lans::of(&port, None),
                routed: port.routed(),
                port,
                receive: config.receive,
                gather_ns: None,
                duration_ns: config.duration_ns,
                stop,
                frames,
                unstamped: 0,
            },
            table,
            wanted: config.framing.map_or("test, AVTP or SV", Framing::word),
        }
    }

    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let mut accepted = 0;
        let (until, received) = self.reception.run(&mut accepted, &mut self.table, feed);
        let ended = self.end(accepted, until, feed);
        received.and(ended)
    }

    fn end(&mut self, accepted: u64, now: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        for stream in &mut self.table.streams {
            stream.end(now, feed);
        }
        let dropped = self.reception.port.dropped();
        for (notice, count) in [
            (Notice::SocketDrop, dropped),
            (Notice::TooManyStreams, self.table.unplaced),
            (Notice::Malformed, self.table.malformed),
            (Notice::Unstamped, self.reception.unstamped),
        ] {
            if count > 0 {
                feed.notice(DELIVERY, notice, now, count, 0);
            }
        }
        if accepted > 0 {
            return Ok(());
        }
        let interface = self.reception.port.interface();
        let wanted = self.wanted;
        Err(ProbeError::NoTraffic(format!(
            "listen: no stream ({wanted} frames) came on {interface}: is `triptime talk` or an AVB talker sending into this \
             network, and is the interface up?"
        )))
    }
}

impl Account for StreamTable {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        let decoded = match decode(data, vlan, &self.prints) {
            Ok(Some(decoded)) => decoded,
            Ok(None) => return false,
            Err(Broken) => {
                self.malformed += 1;
                return false;
            }
        };
        if let Some(kernel) = arrival.kernel {
            feed.sample(DELIVERY, arrival.at, arrival.wall - kernel, 0);
        }
        let class = decoded.pcp.and_then(SrClass::of).filter(|_| self.judges_credit);
        match self.find(&decoded.stream, class, feed) {
            Some(stream) => stream.frame(&decoded, arrival, feed),
            None => self.unplaced += 1,
        }
        true
    }

    fn link(&mut self, is_down: bool, at: Monotonic, feed: &mut Feed) {
        feed.notice(DELIVERY, Notice::Link, at, u64::from(is_down), 0);
    }

    fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        if now - self.looked >= LOOK_NS {
            self.looked = now;
            self.streams.iter_mut().for_each(|stream| stream.look(now, feed));
        }
    }
}

impl StreamTable {
    /// Finds the stream of a frame, or adds a new one if there is room.
    fn find(&mut self, id: &StreamId, class: Option<SrClass>, feed: &mut Feed) -> Option<&mut ListenedStream> {
        let count = self.streams.len();
        let known = (0..count)
            .map(|step| (self.likely + step) % count)
            .find(|index| self.streams[*index].id == *id);
        if let Some(index) = known {
            self.likely = (index + 1) % count;
            return self.streams.get_mut(index);
        }
        if count >= self.most {
            return None;
        }
        let number = u16::try_from(count).ok()?;
        let mut label = [0; LABEL_BYTES];
        let namesakes = self
            .streams
            .iter()
            .filter(|stream| are_namesakes(&stream.id, id))
            .count();
        let octets = write_label(id, namesakes, &mut label);
        feed.announce_bytes(slot(number), &label[..octets]);
        let credit = class.map(Credit::of_class);
        let credit = credit.and_then(|credit| Some((credit_slot(number, u16::try_from(self.most).ok()?), credit)));
        if let Some((slot, _)) = credit {
            feed.announce_bytes(slot, &label[..octets]);
        }
        let history = self.histories.pop().unwrap_or_else(History::of_a_second);
        self.streams
            .push(ListenedStream::new(number, *id, self.pace, history).judging(credit));
        self.streams.last_mut()
    }
}
