//! Stream that a frame is of.

use model::{StreamId, StreamKind};
use wire::ether::{Mac, VlanTag};
use wire::sv::Frame;

/// The stream of an ASDU that is called `sv_id`, in `frame`.
pub(super) fn stream_of(frame: &Frame<'_>, sv_id: &[u8]) -> StreamId {
    let ethernet = frame.ethernet();
    stream(ethernet.dst(), ethernet.vlan(), frame.appid(), sv_id)
}

/// The stream that is sent so.
pub(super) fn stream(destination: Mac, vlan: Option<VlanTag>, appid: u16, sv_id: &[u8]) -> StreamId {
    StreamId {
        destination: Some(destination),
        vid: vlan.map(VlanTag::vid),
        appid: Some(appid),
        ..StreamId::named(StreamKind::SampledValues, sv_id)
    }
}

/// Destination and APPID in one number.
pub(super) fn packed(stream: &StreamId) -> u64 {
    let [a, b, c, d, e, f] = stream.destination.unwrap_or(Mac([0; 6])).0;
    let [high, low] = stream.appid.unwrap_or_default().to_be_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, high, low])
}

/// The VLAN as a number: 0 without a tag, else one more than the VID.
pub(super) fn vid_code(stream: &StreamId) -> u64 {
    stream.vid.map_or(0, |vid| u64::from(vid) + 1)
}
