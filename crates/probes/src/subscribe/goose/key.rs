//! What tells one control block from another.

use streamset::goose::ExpectedBlock;
use wire::ether::{EthernetView, Mac};
use wire::goose::{Frame, MAX_NAME, inspect};

/// Destination, APPID and gocbRef.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    destination: Mac,
    appid: u16,
    length: usize,
    name: [u8; MAX_NAME],
}

impl Key {
    /// The control block of a message.
    pub(super) fn of(frame: &Frame<'_>) -> Self {
        Self::new(frame.ethernet().dst(), frame.header().appid, frame.gocb_ref())
    }

    /// One that has to come.
    pub(super) fn expected(block: &ExpectedBlock) -> Self {
        Self::new(block.destination, block.appid, &block.gocb_ref)
    }

    /// The control block of a message that breaks a rule behind its gocbRef.
    pub(super) fn of_unreadable(ethernet: &EthernetView<'_>) -> Option<Self> {
        let found = inspect(ethernet);
        Some(Self::new(ethernet.dst(), found.header?.appid, found.fields.gocb_ref?))
    }

    fn new(destination: Mac, appid: u16, reference: &[u8]) -> Self {
        let length = reference.len().min(MAX_NAME);
        let mut name = [0; MAX_NAME];
        name[..length].copy_from_slice(&reference[..length]);
        Self {
            destination,
            appid,
            length,
            name,
        }
    }

    /// Whether a message is of it.
    pub(super) fn is_of(&self, frame: &Frame<'_>) -> bool {
        self.appid == frame.header().appid
            && self.destination == frame.ethernet().dst()
            && self.name() == frame.gocb_ref()
    }

    /// gocbRef.
    pub(super) fn name(&self) -> &[u8] {
        &self.name[..self.length]
    }
}
