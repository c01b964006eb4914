//! The thread that receives the relays' GOOSE messages. It only reads them; the conductor evaluates them.

use super::lans::Firsts;
use super::selection::Marks;
use crate::error::ProbeError;
use crate::reception::{Account, Arrival, Reception};
use run::{Feed, Stop};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use units::Monotonic;
use wire::ether::{EthernetView, Hidden, Mac, VlanTag};
use wire::goose::{Frame, MAX_NAME, Member, Said};
use wire::routed::Proof;

/// A control block reference, stored in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Name {
    octets: [u8; MAX_NAME],
    len: u8,
}

impl Name {
    /// Makes a reference from these bytes; a control block has at most [`MAX_NAME`].
    pub(super) fn of(octets: &[u8]) -> Self {
        let mut name = Self {
            octets: [0; MAX_NAME],
            len: 0,
        };
        let kept = octets.len().min(MAX_NAME);
        name.octets[..kept].copy_from_slice(&octets[..kept]);
        name.len = u8::try_from(kept).unwrap_or(u8::MAX);
        name
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.octets[..usize::from(self.len)]).into_owned()
    }
}

/// Sender of a control block, and its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) src: Mac,
    pub(super) dst: Mac,
    pub(super) appid: u16,
}

/// The fields of a message that a test set needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard {
    /// Time when the kernel received the message.
    pub(super) at: Monotonic,
    pub(super) name: Name,
    pub(super) source: Source,
    /// Source address in the frame: over UDP, the last router's.
    pub(super) src_on_wire: Mac,
    pub(super) said: Said,
    /// The trip bit; `None` if the member is missing, is neither a boolean nor a position, or is an intermediate position.
    pub(super) trip: Option<bool>,
    pub(super) start: Option<bool>,
    /// The members for phases and functions.
    pub(super) marks: Marks,
    /// confRev and number of entries of the dataset; while these stay the same, the members keep their places.
    pub(super) dataset: [u32; 2],
    /// True if the message is a test or simulated, or its relay needs commissioning: its values must not be used.
    pub(super) is_unusable: bool,
}

/// Counts of the listener, in addition to its messages.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    /// Number of messages for which the ring to the conductor had no room.
    pub(super) unheard: AtomicU64,
    /// Number of frames that the socket dropped.
    pub(super) dropped: AtomicU64,
    /// Results of the check of signatures, of the messages under the name of each relay.
    pub(super) proofs: Vec<ProofTally>,
    /// Number of messages under any name that were refused for their signatures while the relay's name was not known.
    pub(super) refused: AtomicU64,
    /// Number of packets that other headers, encryption or fragments hide.
    pub(super) hidden: AtomicU64,
    /// Number of GOOSE frames that could not be read.
    pub(super) malformed: AtomicU64,
    /// Number of times the link went down.
    pub(super) link_downs: AtomicU64,
    /// Instant in ns of `CLOCK_MONOTONIC`; all earlier frames have been taken.
    pub(super) looked_ns: AtomicI64,
    /// First frames with marks of redundancy; known when the listener of two LANs has ended.
    pub(super) firsts: OnceLock<Vec<Firsts>>,
    /// True if the listener has ended.
    pub(super) is_over: AtomicBool,
}

/// Numbers of messages by the result of the check of their signatures, in the order of [`Proof::COUNTED`].
#[derive(Debug, Default)]
pub(super) struct ProofTally([AtomicU64; Proof::COUNTED.len()]);

impl ProofTally {
    fn add(&self, proof: Proof) {
        if let Some(count) = proof.place().and_then(|place| self.0.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The results that came, with their numbers.
    pub(super) fn counted(&self) -> impl Iterator<Item = (Proof, u64)> {
        let all = Proof::COUNTED.into_iter().zip(&self.0);
        all.map(|(proof, count)| (proof, count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
    }

    /// Number of messages that were refused.
    pub(super) fn refused(&self) -> u64 {
        let refused = self.counted().filter(|(proof, _)| proof.is_refused());
        refused.map(|(_, count)| count).sum()
    }
}

impl Tallies {
    /// Starts without messages, for this number of relays.
    pub(super) fn of(relays: usize) -> Self {
        Self {
            proofs: (0..relays).map(|_| ProofTally::default()).collect(),
            ..Self::default()
        }
    }

    /// Counts the result for a message of this relay.
    fn prove(&self, relay: usize, proof: Proof) {
        if let Some(tally) = self.proofs.get(relay) {
            tally.add(proof);
        }
    }
}

/// Members of a relay's dataset that are read.
pub(super) struct Members {
    pub(super) trip: Member,
    pub(super) start: Option<Member>,
    /// Members for phases and functions.
    pub(super) marked: Vec<Option<Member>>,
}

/// Selection of messages for the listener.
pub(super) struct Wanted {
    /// The control blocks of the relays; every control block until they are known.
    pub(super) names: Arc<OnceLock<Vec<Name>>>,
    /// Members of each relay. Until its control block is known there is only one relay.
    pub(super) members: Vec<Members>,
}

/// The listener.
pub(super) struct Listener {
    pub(super) reception: Reception,
    pub(super) ears: Ears,
    /// Stop request for the whole test set.
    pub(super) ended: Stop,
}

/// Account of the frames that the listener receives.
pub(super) struct Ears {
    pub(super) wanted: Wanted,
    pub(super) heard: rtrb::Producer<Heard>,
    pub(super) tallies: Arc<Tallies>,
}

impl Listener {
    pub(super) fn run(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let mut accepted = 0;
        let (_, received) = self.reception.run(&mut accepted, &mut self.ears, feed);
        let tallies = &self.ears.tallies;
        tallies.dropped.store(self.reception.port.dropped(), Ordering::Relaxed);
        if let Some(lans) = &self.reception.lans {
            let _ = tallies.firsts.set(Firsts::of(&lans.discard));
        }
        tallies.is_over.store(true, Ordering::Release);
        self.ended.request();
        received
    }
}

impl Account for Ears {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, _feed: &mut Feed) -> bool {
        match Frame::within(data, vlan) {
            None => {
                let ethernet = EthernetView::with_tag(data, vlan).ok();
                let is_hidden = ethernet.as_ref().and_then(Hidden::of).is_some();
                self.tallies.hidden.fetch_add(u64::from(is_hidden), Ordering::Relaxed);
                false
            }
            Some(Ok(frame)) => self.message(&frame, arrival.heard),
            Some(Err(_)) => {
                self.tallies.malformed.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }

    fn proved(&mut self, data: &[u8], vlan: Option<VlanTag>, proof: Proof, _arrival: &Arrival, _feed: &mut Feed) {
        let Some(Ok(frame)) = Frame::within(data, vlan) else {
            return;
        };
        if self.wanted.names.get().is_none() {
            // Nobody knows yet whether it names the relay.
            self.tallies
                .refused
                .fetch_add(u64::from(proof.is_refused()), Ordering::Relaxed);
        } else if let Some(relay) = self.relay_of(Name::of(frame.gocb_ref())) {
            self.tallies.prove(relay, proof);
        }
    }

    fn link(&mut self, is_down: bool, _at: Monotonic, _feed: &mut Feed) {
        self.tallies.link_downs.fetch_add(u64::from(is_down), Ordering::Relaxed);
    }

    fn look(&mut self, now: Monotonic, _feed: &mut Feed) {
        self.tallies.looked_ns.store(now.as_ns(), Ordering::Release);
    }
}

impl Ears {
    /// Number of the relay whose control block has this name; the first while its name is not known.
    fn relay_of(&self, name: Name) -> Option<usize> {
        match self.wanted.names.get() {
            Some(names) => names.iter().position(|wanted| *wanted == name),
            None => Some(0),
        }
    }

    fn message(&mut self, frame: &Frame<'_>, at: Monotonic) -> bool {
        let name = Name::of(frame.gocb_ref());
        let relay = self.relay_of(name);
        let Some((relay, members)) = relay.and_then(|relay| Some((relay, self.wanted.members.get(relay)?))) else {
            return false;
        };
        // The signature of layer 2; a datagram has none of this kind.
        if frame.header().extension_octets() > 0 && self.wanted.names.get().is_some() {
            self.tallies.prove(relay, Proof::NotChecked);
        }
        let ethernet = frame.ethernet();
        let heard = Heard {
            at,
            name,
            source: Source {
                src: ethernet.src(),
                dst: ethernet.dst(),
                appid: frame.header().appid,
            },
            src_on_wire: ethernet.src_on_wire(),
            said: Said::of(frame),
            trip: members.trip.tripped(frame.all_data()),
            start: members.start.and_then(|member| member.of(frame.all_data())),
            marks: Marks::of(&members.marked, frame.all_data()),
            dataset: [frame.conf_rev(), frame.num_dat_set_entries()],
            is_unusable: frame.simulate() || frame.simulation() || frame.nds_com() || frame.is_test(),
        };
        if self.heard.push(heard).is_err() {
            self.tallies.unheard.fetch_add(1, Ordering::Relaxed);
        }
        true
    }
}
