//! The account of the LANs of a doubly attached receiver.

use super::Arrival;
use crate::port::Port;
use model::Counter;
use run::Feed;
use units::Monotonic;
use wire::ether::{EthernetView, VlanTag};
use wire::redundancy::{
    Came, Discard, Lan, LanCounts, Nodes, Protocol, Received, Redundancy, SUPERVISION, Supervision,
};
use wire::sv::Fingerprints;

/// Greatest number of sources that are followed; further ones are counted.
const MOST_SOURCES: usize = 64;
/// Number of sources whose memory is allocated at the start (1.2 MB each), so that the receiving thread allocates none: the merging units of
/// a large bay, and their neighbours.
const READY: usize = 32;
/// Greatest number of nodes in the list.
const MOST_NODES: usize = 256;
/// Time between two looks at losses, in ns.
const LOOK_NS: i64 = 50_000_000;

/// Discards copies, and counts what each LAN delivered.
pub(crate) struct Lans {
    pub(crate) discard: Discard,
    pub(crate) nodes: Nodes,
    prints: Fingerprints,
    /// Frames without marks on each LAN.
    pub(crate) unmarked: [u64; 2],
    /// Of these, frames of sampled values or GOOSE.
    pub(crate) unproven: [u64; 2],
    /// Slot of the series of LAN A, which that of LAN B follows; `None` without series.
    slot: Option<u16>,
    /// Counts that the series have.
    told: [LanCounts; 2],
    looked: Monotonic,
    has_begun: bool,
}

impl Lans {
    /// The account for a port of two LANs; `None` for another port.
    pub(crate) fn of(port: &Port, slot: Option<u16>) -> Option<Self> {
        port.is_redundant().then(|| Self {
            discard: Discard::new(MOST_SOURCES, READY),
            nodes: Nodes::new(MOST_NODES),
            prints: Fingerprints::new(),
            unmarked: [0; 2],
            unproven: [0; 2],
            slot,
            told: Default::default(),
            looked: Monotonic::from_ns(0),
            has_begun: false,
        })
    }

    /// Takes a frame of a LAN; false if the application has no use for it: a copy, or a supervision frame.
    pub(super) fn is_for_application(
        &mut self,
        data: &[u8],
        vlan: Option<VlanTag>,
        lan: Lan,
        arrival: &Arrival,
        feed: &mut Feed,
    ) -> bool {
        let Ok(ethernet) = EthernetView::with_tag(data, vlan) else {
            return true;
        };
        if !self.has_begun {
            self.has_begun = true;
            self.discard.begins(arrival.at.as_ns());
        }
        let at_ns = arrival.heard.as_ns();
        let is_supervision = ethernet.ether_type() == SUPERVISION;
        if is_supervision && let Ok(frame) = Supervision::parse(&ethernet) {
            self.nodes.take(ethernet.src(), frame, Some(lan), at_ns);
        }
        let Some(mark) = Redundancy::of(&ethernet) else {
            self.unmarked[lan.number()] += u64::from(!is_supervision);
            self.unproven[lan.number()] += u64::from(!is_supervision && ethernet.is_of_protection());
            return !is_supervision;
        };
        let came = self.discard.take(&Received {
            dst: ethernet.dst(),
            src: ethernet.src(),
            mark,
            port: Some(lan),
            at_ns,
            contents: mark
                .equal_contents(&ethernet)
                .map(|octets| self.prints.of(octets, None)),
        });
        let after_ns = match came {
            Some(Came::First) => Some(0),
            Some(Came::Copy { after_ns }) => i64::try_from(after_ns).ok(),
            _ => None,
        };
        let is_wrong = mark.protocol == Protocol::Prp && mark.lan() != lan;
        if let Some((slot, after_ns)) = self.slot.zip(after_ns).filter(|_| !is_wrong) {
            let slot = slot + lan.number() as u16;
            feed.sample(slot, arrival.at, after_ns, u64::from(mark.sequence));
        }
        !is_supervision && !came.is_some_and(Came::is_discarded)
    }

    /// Decides losses from time to time; every frame received before `now` has been taken.
    pub(super) fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        if now - self.looked < LOOK_NS {
            return;
        }
        self.looked = now;
        self.discard.look(now.as_ns());
        self.tell(now, feed);
    }

    /// Ends the account.
    pub(crate) fn end(&mut self, now: Monotonic, feed: &mut Feed) {
        self.discard.end(now.as_ns());
        self.tell(now, feed);
    }

    fn tell(&mut self, now: Monotonic, feed: &mut Feed) {
        let Some(slot) = self.slot else { return };
        for (slot, lan) in (slot..).zip(Lan::BOTH) {
            let counts = self.discard.lan(lan);
            let before = std::mem::replace(&mut self.told[lan.number()], counts);
            for (counter, more) in [
                (Counter::Lost, counts.lost - before.lost),
                (Counter::Late, counts.late - before.late),
                (Counter::Duplicate, counts.again - before.again),
                (Counter::Conflicting, counts.conflicting - before.conflicting),
                (Counter::Reordered, counts.reordered - before.reordered),
                (Counter::Wrong, counts.wrong - before.wrong),
            ] {
                if more > 0 {
                    feed.count(slot, counter, now, more);
                }
            }
        }
    }
}
