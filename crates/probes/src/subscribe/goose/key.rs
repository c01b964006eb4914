//! Identity of a message's control block: destination, APPID and gocbRef, regardless of the VLAN.

use model::{StreamId, StreamKind};
use streamset::goose::ExpectedBlock;
use wire::ether::{EthernetView, Mac};
use wire::goose::{Frame, inspect};

/// Identity of the control block of a message.
pub(super) fn block_of(frame: &Frame<'_>) -> StreamId {
    block(frame.ethernet().dst(), frame.header().appid, frame.gocb_ref())
}

/// Identity of an expected control block.
pub(super) fn expected(expected: &ExpectedBlock) -> StreamId {
    block(expected.destination, expected.appid, &expected.gocb_ref)
}

/// Identity of the control block of a message that breaks a rule after its gocbRef.
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

/// True if a message belongs to `block`.
pub(super) fn is_of(block: &StreamId, frame: &Frame<'_>) -> bool {
    block.appid == Some(frame.header().appid)
        && block.destination == Some(frame.ethernet().dst())
        && block.name() == frame.gocb_ref()
}
