//! Supervises the GOOSE control blocks of a port, beside the sampled values that `subscribe` receives.
//!
//! Control blocks are told apart by destination, APPID and gocbRef. Nothing is allocated for a message of a known
//! block.

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

/// Slots of one control block: its spacing, and how long its changes took.
const SLOTS: u16 = 2;

/// Slots needed for `blocks` control blocks.
pub(super) fn slots(blocks: u16) -> u16 {
    blocks.saturating_mul(SLOTS)
}

/// EtherTypes as they lie in a frame.
const ETHERTYPE: [u8; 2] = wire::ether::GOOSE.to_be_bytes();
const HSR: [u8; 2] = wire::ether::HSR.to_be_bytes();

/// True where a frame without a VLAN tag in its data is GOOSE.
#[inline]
pub(crate) fn is_goose(data: &[u8]) -> bool {
    let is_at = |at: usize| data.get(at..at + 2) == Some(&ETHERTYPE);
    is_at(12) || is_at(18) && data.get(12..14) == Some(&HSR)
}

/// The control blocks of a port, and what belonged to none.
pub(super) struct Blocks {
    config: SuperviseConfig,
    /// Slot of the first control block.
    first_slot: u16,
    /// True if `t` and our clock are one.
    times_changes: bool,
    blocks: Vec<Watched>,
    /// When the first of them expires.
    deadline: Option<Monotonic>,
    malformed: u64,
    first_malformed_at: u64,
    unplaced: u64,
    /// Messages that could not be read and may be of any control block, those that come later too.
    unread_by_all: u64,
}

impl Blocks {
    /// Nothing seen yet. `times_changes`: the publishers' clock is this machine's.
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

    /// Gives the series of the control blocks that have to come their names.
    pub(super) fn begin(&self, feed: &mut Feed) {
        for block in &self.blocks {
            block.announce(feed);
        }
    }

    /// Accounts for one frame; tells whether it was a GOOSE message.
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
            Some(index) => self.blocks[index].message(&frame, arrival, feed),
            None => self.unplaced += 1,
        }
        self.deadline = self.blocks.iter().filter_map(Watched::deadline).min();
        true
    }

    /// Counts a message that cannot be read for the control block it names, or for each that it may be of.
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

    /// When the first control block expires.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Monotonic> {
        self.deadline
    }

    /// Looks for control blocks that have expired; everything that came before `now` was taken.
    #[inline]
    pub(super) fn look(&mut self, now: Monotonic, feed: &mut Feed) {
        if self.deadline.is_some_and(|deadline| now > deadline) {
            for block in &mut self.blocks {
                block.look(now, feed);
            }
            self.deadline = self.blocks.iter().filter_map(Watched::deadline).min();
        }
    }

    /// Said once, at the end. What belongs to no control block is said of the series in slot `common`.
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

    /// The control block a message belongs to; a new one if there is room.
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
