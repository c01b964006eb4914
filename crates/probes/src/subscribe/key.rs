//! Identity of the stream that a frame belongs to.

use model::{StreamId, StreamKind};
use wire::ether::{Mac, VlanTag};
use wire::sv::Frame;

/// Identity of the stream with the svID `sv_id` in `frame`.
pub(super) fn stream_of(frame: &Frame<'_>, sv_id: &[u8]) -> StreamId {
    let ethernet = frame.ethernet();
    stream(ethernet.dst(), ethernet.vlan(), frame.appid(), sv_id)
}

/// Identity of the stream with these fields.
pub(super) fn stream(destination: Mac, vlan: Option<VlanTag>, appid: u16, sv_id: &[u8]) -> StreamId {
    StreamId {
        destination: Some(destination),
        vid: vlan.map(VlanTag::vid),
        appid: Some(appid),
        ..StreamId::named(StreamKind::SampledValues, sv_id)
    }
}

/// Destination and APPID packed into one number.
pub(super) fn packed(stream: &StreamId) -> u64 {
    let [a, b, c, d, e, f] = stream.destination.unwrap_or(Mac([0; 6])).0;
    let [high, low] = stream.appid.unwrap_or_default().to_be_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, high, low])
}

/// The VLAN as a number: 0 without a tag, otherwise the VID plus one.
pub(super) fn vid_code(stream: &StreamId) -> u64 {
    stream.vid.map_or(0, |vid| u64::from(vid) + 1)
}
