//! The receiving loop.

use super::SubscribeConfig;
use super::lans::tell_lans;
use super::notice::Notice;
use super::series::{DELIVERY, lan_slot};
use super::stream::SvStream;
use super::table::StreamTable;
use crate::error::ProbeError;
use crate::port::Port;
use crate::reception::{Account, Arrival, Lans, Polling, Reception};
use run::{Feed, Stop};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use units::Monotonic;
use wire::ether::VlanTag;
use wire::routed::Proof;

/// Receives frames and accounts for them.
pub(crate) struct Receiver {
    reception: Reception,
    table: StreamTable,
}

/// Consumer of the frames, in addition to the account of them.
pub(crate) trait Taker {
    /// True if the consumer uses the frame alone; it is then not accounted for.
    fn takes_alone(&mut self, _data: &[u8], _vlan: Option<VlanTag>, _arrival: &Arrival) -> bool {
        false
    }

    /// Passes on a frame that was accounted for.
    fn take(&mut self, _data: &[u8], _vlan: Option<VlanTag>, _arrival: &Arrival, _ages: &Ages<'_>) {}

    /// Signals that no further frame is waiting at the moment.
    fn has_taken(&mut self) {}
}

/// No consumer.
impl Taker for () {}

/// Ages of a frame's samples.
pub(crate) struct Ages<'a>(&'a [SvStream], &'a Arrival);

impl Ages<'_> {
    /// Age of the sample of stream number `stream`, from its due instant until the application has it, in ns. `None` if the
    /// clocks' relation or the rate is not known.
    pub(crate) fn of(&self, stream: usize) -> Option<i64> {
        self.0.get(stream)?.age_ns(self.1)
    }
}

/// Accounts for frames and also passes them to a consumer.
struct Shared<'a, T> {
    table: &'a mut StreamTable,
    taker: &'a mut T,
}

impl<T: Taker> Account for Shared<'_, T> {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        if self.taker.takes_alone(data, vlan, arrival) {
            self.table.inputs.used(data, vlan, arrival.at, feed);
            return true;
        }
        let is_accepted = self.table.take(data, vlan, arrival, feed);
        self.taker
            .take(data, vlan, arrival, &Ages(&self.table.streams, arrival));
        is_accepted
    }

    fn proved(&mut self, data: &[u8], vlan: Option<VlanTag>, proof: Proof, arrival: &Arrival, feed: &mut Feed) {
        self.table.proved(data, vlan, proof, arrival, feed);
    }

    fn link(&mut self, is_down: bool, at: Monotonic, feed: &mut Feed) {
        self.table.link(is_down, at, feed);
    }

    fn deadline(&self) -> Option<Monotonic> {
        self.table.deadline()
    }

    fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        self.taker.has_taken();
        self.table.look(now, feed);
    }
}

impl Receiver {
    /// Makes a receiver that already knows the `awaited` streams.
    pub(super) fn new(
        config: SubscribeConfig,
        awaited: Vec<SvStream>,
        mut port: Port,
        stop: Stop,
        frames: Arc<AtomicU64>,
    ) -> Self {
        let counted_before = port.link_statistics();
        let table = StreamTable::new(config, awaited, counted_before);
        Self {
            reception: Reception {
                lans: Lans::of(&port, Some(lan_slot(&table.config))),
                routed: port.routed(),
                port,
                receive: table.config.receive,
                gather_ns: table.config.relay.as_ref().and_then(|relay| relay.gather_ns),
                duration_ns: table.config.duration_ns,
                stop,
                frames,
                unstamped: 0,
            },
            table,
        }
    }

    /// Receives until its duration is over or a stop is requested.
    ///
    /// # Errors
    /// The interface was removed, or no frame came at all.
    pub(crate) fn run(&mut self, taker: &mut impl Taker, feed: &mut Feed) -> Result<(), ProbeError> {
        self.begin(feed);
        let mut accepted = 0;
        let table = &mut self.table;
        let (until, received) = self.reception.run(&mut accepted, &mut Shared { table, taker }, feed);
        self.end_recording(feed);
        let ended = self.end(accepted, until, feed);
        received.and(ended)
    }

    /// Starts the reception now.
    pub(crate) fn begin(&mut self, feed: &mut Feed) {
        self.table.started = sys::clock::monotonic();
        if let Some(tape) = feed.tape() {
            tape.begin(sys::clock::realtime());
        }
        self.table.goose.begin(feed);
    }

    /// Discards frames that came before the start of the reception.
    pub(crate) fn skip_waiting(&mut self) {
        while self.reception.port.next().is_some() {}
    }

    /// Takes the waiting frames, for a thread that polls at its own times.
    ///
    /// # Errors
    /// The interface was removed.
    pub(crate) fn poll(
        &mut self,
        polling: &mut Polling,
        feed: &mut Feed,
        taker: &mut impl Taker,
    ) -> Result<(), ProbeError> {
        let table = &mut self.table;
        self.reception.poll(polling, &mut Shared { table, taker }, feed)
    }

    /// Ends the reception, once, after the last [`Receiver::poll`].
    ///
    /// # Errors
    /// No frame came at all.
    pub(crate) fn polled(&mut self, polling: &Polling, feed: &mut Feed) -> Result<(), ProbeError> {
        let now = sys::clock::monotonic();
        self.end_recording(feed);
        self.end(polling.accepted, now, feed)
    }

    /// The port of the frames.
    pub(crate) fn port(&mut self) -> &mut Port {
        &mut self.reception.port
    }

    /// Reports the instant up to which the recording is complete: frames that still wait are not in it.
    fn end_recording(&mut self, feed: &mut Feed) {
        let Some(tape) = feed.tape() else { return };
        let now = sys::clock::realtime();
        tape.end(match self.reception.port.wait(0) {
            Ok(true) => self.table.newest,
            Ok(false) | Err(_) => now,
        });
    }

    fn end(&mut self, accepted: u64, now: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        self.table.end(now, feed);
        if let Some(lans) = &mut self.reception.lans {
            lans.end(now, feed);
            tell_lans(lans, lan_slot(&self.table.config), now, feed);
        }
        let dropped = self.reception.port.dropped();
        if dropped > 0 {
            feed.notice(DELIVERY, Notice::SocketDrop, now, dropped, 0);
        }
        let unstamped = self.reception.unstamped;
        if unstamped > 0 {
            feed.notice(DELIVERY, Notice::Unstamped, now, unstamped, 0);
        }
        let counted = self.reception.port.link_statistics();
        self.table.lost_before_the_socket(counted, now, feed);
        let table = &self.table;
        if accepted > 0 {
            return Ok(());
        }
        let interface = self.reception.port.interface();
        let command = match table.config.relay {
            Some(_) => "relay",
            None => "subscribe",
        };
        if table.refused > 0 {
            let refused = table.refused;
            return Err(ProbeError::NoTraffic(format!(
                "{command}: {refused} messages came on {interface}, and none was used: they are not signed, or not by a key of --key"
            )));
        }
        let routed = match self.reception.routed {
            Some(_) => ", nor any over UDP port 102 that could be used",
            None => "",
        };
        let none_of = match table.config.expected.len() {
            0 => String::new(),
            expected => format!(" of any of the {expected} expected streams"),
        };
        Err(ProbeError::NoTraffic(format!(
            "{command}: no sampled values (EtherType 0x88BA){none_of} and no GOOSE (0x88B8) came on {interface}{routed}: is a merging unit or \
             `triptime publish` sending into this network, and is the interface up?"
        )))
    }
}
