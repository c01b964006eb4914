//! Control block that a message is of: destination, APPID and gocbRef, in whatever VLAN.

use model::{StreamId, StreamKind};
use streamset::goose::ExpectedBlock;
use wire::ether::{EthernetView, Mac};
use wire::goose::{Frame, inspect};

/// The control block of a message.
pub(super) fn block_of(frame: &Frame<'_>) -> StreamId {
    block(frame.ethernet().dst(), frame.header().appid, frame.gocb_ref())
}

/// One that has to come.
pub(super) fn expected(expected: &ExpectedBlock) -> StreamId {
    block(expected.destination, expected.appid, &expected.gocb_ref)
}

/// The control block of a message that breaks a rule behind its gocbRef.
pub(super) fn of_unreadable(ethernet: &EthernetView<'_>) -> Option<StreamId> {
    let found = inspect(ethernet);
    Some(block(ethernet.dst(), found.header?.appid, found.fields.gocb_ref?))
}

fn block(destination: Mac, appid: u16, reference: &[u8]) -> StreamId {
    StreamId {
        destination: Some(destination),
        appid: Some(appid),
        ..StreamId::named(StreamKind::Goose, reference)
    }
}

/// True if a message is of `block`.
pub(super) fn is_of(block: &StreamId, frame: &Frame<'_>) -> bool {
    block.appid == Some(frame.header().appid)
        && block.destination == Some(frame.ethernet().dst())
        && block.name() == frame.gocb_ref()
}
