//! The thread that receives what is observed, and the one that writes what was seen.

use super::{kept, slot};
use crate::error::ProbeError;
use crate::reception::{Account, Arrival, Reception, link_text};
use model::EventKind;
use observation::{Count, Observer, Seen, Series};
use run::{Events, Feed, Stop};
use std::time::Duration;
use units::Monotonic;
use wire::ether::VlanTag;

/// How often the thread that writes looks for more.
const LOOK: Duration = Duration::from_millis(20);

/// Something to be written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    Seen(Seen),
    /// The link went down, or frames come again.
    Link {
        is_down: bool,
        at: Monotonic,
    },
    /// So many frames of what is observed had no stamp.
    Unstamped {
        count: u64,
        at: Monotonic,
    },
    /// So many frames were dropped by the socket.
    Dropped {
        count: u64,
        at: Monotonic,
    },
    /// So many findings found no room.
    Unwritten {
        count: u64,
        at: Monotonic,
    },
}

/// The thread that receives.
pub(super) struct Listener {
    pub(super) reception: Reception,
    pub(super) seeing: Seeing,
}

/// Account of the frames: what they mean goes to the series at once, and to the other thread.
pub(super) struct Seeing {
    observer: Observer,
    has_start: bool,
    found: rtrb::Producer<Found>,
    unwritten: u64,
}

impl Listener {
    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        // Frames that waited are of before it.
        while self.reception.port.next().is_some() {}
        let mut accepted = 0;
        let (until, received) = self.reception.run(&mut accepted, &mut self.seeing, feed);
        let (dropped, unstamped) = (self.reception.port.dropped(), self.reception.unstamped);
        self.seeing.end(until, [dropped, unstamped], feed);
        match (received, accepted) {
            (Ok(()), 0) => Err(ProbeError::NoTraffic(format!(
                "trip: neither samples of the injector nor GOOSE of the relay came on {}: does this interface hear both, and are those \
                 their names (--sv-id, --goose)?",
                self.reception.port.interface()
            ))),
            (received, _) => received,
        }
    }
}

impl Seeing {
    pub(super) fn new(observer: Observer, has_start: bool, found: rtrb::Producer<Found>) -> Self {
        Self {
            observer,
            has_start,
            found,
            unwritten: 0,
        }
    }

    /// Counts what was seen.
    fn count(&mut self, feed: &mut Feed) {
        while let Some(seen) = self.observer.next_seen() {
            self.count_one(&seen, feed);
            self.tell(Found::Seen(seen));
        }
    }

    fn count_one(&self, seen: &Seen, feed: &mut Feed) {
        for count in seen.counts().into_iter().flatten() {
            match count {
                Count::Sample {
                    of,
                    at_ns,
                    value_ns,
                    number,
                } if self.is_measured(of) => feed.sample(slot(of), Monotonic::from_ns(at_ns), value_ns, number),
                Count::Counter { of, counter, at_ns } if self.is_measured(of) => {
                    feed.count(slot(of), counter, Monotonic::from_ns(at_ns), 1);
                }
                Count::Sample { .. } | Count::Counter { .. } => {}
            }
        }
    }

    fn is_measured(&self, of: Series) -> bool {
        of == Series::Trips || self.has_start
    }

    fn tell(&mut self, found: Found) {
        self.unwritten += u64::from(self.found.push(found).is_err());
    }

    fn end(&mut self, at: Monotonic, [dropped, unstamped]: [u64; 2], feed: &mut Feed) {
        self.observer.end(at.as_ns());
        self.count(feed);
        if dropped > 0 {
            self.tell(Found::Dropped { count: dropped, at });
        }
        if unstamped > 0 {
            self.tell(Found::Unstamped { count: unstamped, at });
        }
        // The other thread empties the ring: the last word finds room.
        while self.unwritten > 0 {
            let count = std::mem::take(&mut self.unwritten);
            std::thread::sleep(LOOK);
            if self.found.push(Found::Unwritten { count, at }).is_err() {
                self.unwritten = count;
            }
        }
    }
}

impl Account for Seeing {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        let is_observed = self.observer.take(data, vlan, arrival.heard.as_ns());
        self.count(feed);
        is_observed
    }

    fn link(&mut self, is_down: bool, at: Monotonic, _feed: &mut Feed) {
        self.tell(Found::Link { is_down, at });
    }

    fn deadline(&self) -> Option<Monotonic> {
        self.observer.deadline_ns().map(Monotonic::from_ns)
    }

    fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        self.observer.look(now.as_ns());
        self.count(feed);
    }
}

/// Writes what was seen, until the thread that sees has ended.
pub(super) fn write(mut found: rtrb::Consumer<Found>, events: &Events, over: &Stop) {
    loop {
        let is_over = over.requested();
        while let Ok(found) = found.pop() {
            write_one(&found, events);
        }
        if is_over {
            return;
        }
        std::thread::park_timeout(LOOK);
    }
}

fn write_one(found: &Found, events: &Events) {
    match *found {
        Found::Seen(seen) => {
            let at = Monotonic::from_ns(seen.at_ns());
            let (kind, text) = seen.told();
            events.write_at(at, kind, format!("trip/{}: {text}", super::LABEL));
            if let Some(shot) = kept(&seen) {
                events.shot(at, shot);
            }
        }
        Found::Link { is_down, at } => events.write_at(at, EventKind::StreamDoubt, link_text(is_down, "the interface")),
        Found::Unstamped { count, at } => {
            let text = format!(
                "{count} frames had no stamp of the kernel or the NIC: their instant is when the program had them"
            );
            events.write_at(at, EventKind::StreamDoubt, text);
        }
        Found::Dropped { count, at } => {
            let text = format!("{count} frames were dropped by the socket before they were read");
            events.write_at(at, EventKind::SocketDrop, text);
        }
        Found::Unwritten { count, at } => {
            let text = format!("{count} findings were not written: the program was held up");
            events.write_at(at, EventKind::RecorderOverrun, text);
        }
    }
}
