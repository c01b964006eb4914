//! Supervises the GOOSE control blocks of a port, in addition to the sampled values that `subscribe` receives.
//!
//! Control blocks are distinguished by destination, APPID and gocbRef. A message of a known block causes no allocation.

mod block;
mod config;
mod key;
mod notice;
mod words;

pub use config::SuperviseConfig;
pub(super) use notice::Notice;
pub(super) use words::Words;

use crate::reception::Arrival;
use block::Watched;
use model::StreamId;
use run::Feed;
use units::Monotonic;
use wire::ether::{EthernetView, VlanTag};
use wire::goose::Frame;
use wire::routed::Proof;

/// Slots of one control block: its spacing, and its transfer times.
const SLOTS: u16 = 2;

/// Number of slots for `blocks` control blocks.
pub(super) fn slots(blocks: u16) -> u16 {
    blocks.saturating_mul(SLOTS)
}

/// EtherTypes as the bytes of a frame.
const ETHERTYPE: [u8; 2] = wire::ether::GOOSE.to_be_bytes();
const HSR: [u8; 2] = wire::ether::HSR.to_be_bytes();

/// True if a frame without a VLAN tag in its data is GOOSE.
#[inline]
pub(crate) fn is_goose(data: &[u8]) -> bool {
    let is_at = |at: usize| data.get(at..at + 2) == Some(&ETHERTYPE);
    is_at(12) || is_at(18) && data.get(12..14) == Some(&HSR)
}

/// The control blocks of a port, and counts of messages that belong to none.
pub(super) struct Blocks {
    config: SuperviseConfig,
    /// Slot of the first control block.
    first_slot: u16,
    /// True if `t` is on this machine's clock.
    times_changes: bool,
    blocks: Vec<Watched>,
    /// Earliest expiry of a control block.
    deadline: Option<Monotonic>,
    malformed: u64,
    first_malformed_at: u64,
    unplaced: u64,
    /// Number of unreadable messages that may belong to any control block, including those that appear later.
    unread_by_all: u64,
}

impl Blocks {
    /// Starts without any message. `times_changes` is true if the publishers use this machine's clock.
    pub(super) fn new(config: SuperviseConfig, first_slot: u16, times_changes: bool) -> Self {
        let mut blocks = Vec::with_capacity(usize::from(config.max_blocks));
        let expected = config.expected.iter().zip((first_slot..).step_by(usize::from(SLOTS)));
        blocks.extend(expected.map(|(block, slot)| Watched::expected(block, slot, times_changes, &config)));
        Self {
            blocks,
            config,
            first_slot,
            times_changes,
            deadline: None,
            malformed: 0,
            first_malformed_at: 0,
            unplaced: 0,
            unread_by_all: 0,
        }
    }

    /// Announces the series of the expected control blocks.
    pub(super) fn begin(&self, feed: &mut Feed) {
        for block in &self.blocks {
            block.announce(feed);
        }
    }

    /// Accounts for one frame; returns true if it was a GOOSE message.
    pub(super) fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, feed: &mut Feed) -> bool {
        let ethernet = EthernetView::with_tag(data, vlan);
        let frame = match ethernet.and_then(|ethernet| Frame::parse(&ethernet)) {
            Ok(frame) => frame,
            Err(error) => {
                if self.malformed == 0 {
                    self.first_malformed_at = error.offset as u64;
                }
                self.malformed += 1;
                self.blame(ethernet.ok().as_ref(), arrival.at, feed);
                return false;
            }
        };
        match self.find(&frame, arrival.at, feed) {
            Some(index) => {
                let block = &mut self.blocks[index];
                if frame.header().extension_octets() > 0 {
                    block.proved(Proof::NotChecked, arrival.at, feed);
                }
                block.message(&frame, arrival, feed);
            }
            None => self.unplaced += 1,
        }
        self.deadline = self.blocks.iter().filter_map(Watched::deadline).min();
        true
    }

    /// Counts a datagram whose signature is not known to be right for the control block of its message.
    pub(super) fn proved(&mut self, data: &[u8], vlan: Option<VlanTag>, proof: Proof, at: Monotonic, feed: &mut Feed) {
        // One that breaks a rule is counted as such if it is used; otherwise it concerns no control block that is known.
        let Some(Ok(frame)) = Frame::within(data, vlan) else {
            return;
        };
        match self.find(&frame, at, feed) {
            Some(index) => self.blocks[index].proved(proof, at, feed),
            // One that is used is counted when it is taken.
            None => self.unplaced += u64::from(proof.is_refused()),
        }
    }

    /// Counts an unreadable message for the control block that it names, or for each block that it may belong to.
    fn blame(&mut self, ethernet: Option<&EthernetView<'_>>, at: Monotonic, feed: &mut Feed) {
        let Some(id) = ethernet.and_then(key::of_unreadable) else {
            self.unread_by_all += 1;
            self.blocks.iter_mut().for_each(|block| block.unread += 1);
            return;
        };
        let known = self.blocks.iter().position(|block| block.id == id);
        match known.or_else(|| self.open(id, at, feed)) {
            Some(index) => self.blocks[index].unread += 1,
            None => self.unplaced += 1,
        }
    }

    /// Time at which the first control block expires.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Monotonic> {
        self.deadline
    }

    /// Checks for expired control blocks; everything received before `now` has been taken.
    #[inline]
    pub(super) fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        if self.deadline.is_some_and(|deadline| now > deadline) {
            for block in &mut self.blocks {
                block.look(now, feed);
            }
            self.deadline = self.blocks.iter().filter_map(Watched::deadline).min();
        }
    }

    /// Ends the supervision; called once. Notices about no particular control block go to the series in slot `common`.
    pub(super) fn end(&mut self, now: Monotonic, common: u16, feed: &mut Feed) {
        for block in &mut self.blocks {
            block.end(now, feed);
            block.doubt(Notice::Unplaced, now, self.unplaced, feed);
        }
        if self.blocks.is_empty() && self.malformed > 0 {
            feed.notice(common, Notice::Unreadable, now, self.malformed, 0);
        }
        for (notice, count, detail) in [
            (Notice::Malformed, self.malformed, self.first_malformed_at),
            (Notice::TooMany, self.unplaced, u64::from(self.config.max_blocks)),
        ] {
            if count > 0 {
                feed.notice(common, notice, now, count, detail);
            }
        }
    }

    /// Finds the control block of a message, or adds a new one if there is room.
    fn find(&mut self, frame: &Frame<'_>, at: Monotonic, feed: &mut Feed) -> Option<usize> {
        let known = self.blocks.iter().position(|block| key::is_of(&block.id, frame));
        if known.is_some() {
            return known;
        }
        self.open(key::block_of(frame), at, feed)
    }

    fn open(&mut self, id: StreamId, at: Monotonic, feed: &mut Feed) -> Option<usize> {
        let number = self.blocks.len();
        if number >= usize::from(self.config.max_blocks) {
            return None;
        }
        let slot = self.first_slot + u16::try_from(number).ok()? * SLOTS;
        let mut block = Watched::new(id, slot, self.times_changes, &self.config);
        block.unread = self.unread_by_all;
        block.announce(feed);
        if !self.config.expected.is_empty() {
            feed.notice(slot, Notice::Unexpected, at, 0, 0);
        }
        self.blocks.push(block);
        Some(number)
    }
}
