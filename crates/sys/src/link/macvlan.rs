//! Macvlans, and which of their frames go through a work queue of the kernel.

use super::Below;
use super::parse::{self, HEADER_OCTETS};
use super::request::{change, dump};
use crate::error::SysError;
use netlink_packet_core::{DefaultNla, NlasIterator};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoData, InfoKind, InfoMacVlan, LinkAttribute, LinkInfo, LinkMessage};

/// `IFLA_MACVLAN_*` (linux/if_link.h).
const BC_QUEUE_LEN: u16 = 7;
const BC_QUEUE_LEN_USED: u16 = 8;
const BC_CUTOFF: u16 = 9;

/// A macvlan or macvtap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Macvlan {
    /// Name of the interface.
    pub name: String,
    /// The interface it is made on.
    pub below: Below,
    /// A group that more macvlans than this have joined goes through the work queue; negative: none does. `None`: the kernel does
    /// not report it; then it is 1 since Linux 6.4, and every group before.
    pub queued_above: Option<i32>,
    /// Largest number of frames in the work queue. `None`: the kernel is older than 5.11.
    pub queue_frames: Option<u32>,
    /// Number of frames that this one wants the queue to hold; the largest such number of all macvlans is used.
    pub queue_frames_asked: Option<u32>,
}

/// The macvlans and macvtaps of the calling thread's network namespace, by index.
///
/// # Errors
/// An error of the netlink socket.
pub fn macvlans() -> Result<Vec<Macvlan>, SysError> {
    let mut found = Vec::new();
    let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
    dump(&request, "the network interfaces", |payload| {
        found.extend(macvlan(payload));
    })?;
    Ok(found)
}

/// Makes the macvlan `name` use the work queue for a group that more than `above` macvlans have joined; negative: never. The last
/// value set counts for all macvlans on the same interface. Kernels before Linux 6.4 ignore it.
///
/// # Errors
/// The interface does not exist or is no macvlan, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn set_queued_above(name: &str, above: i32) -> Result<(), SysError> {
    let value = above.to_ne_bytes().to_vec();
    set_data(name, InfoMacVlan::Other(DefaultNla::new(BC_CUTOFF, value)))
}

/// Makes the macvlan `name` request a work queue of that many frames.
///
/// # Errors
/// As for [`set_queued_above`].
pub fn set_queue_frames(name: &str, frames: u32) -> Result<(), SysError> {
    set_data(name, InfoMacVlan::BcQueueLen(frames))
}

fn set_data(name: &str, data: InfoMacVlan) -> Result<(), SysError> {
    let link = super::find(name)?;
    let (kind, data) = match link.kind.as_deref() {
        Some("macvlan") => (InfoKind::MacVlan, InfoData::MacVlan(vec![data])),
        _ => {
            return Err(SysError::Invalid {
                what: format!("{name} is not a macvlan"),
            });
        }
    };
    let mut message = LinkMessage::default();
    message.header.index = link.index;
    message.attributes = vec![LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(kind),
        LinkInfo::Data(data),
    ])];
    // Properties of one kind of interface are changed with the message that creates one, without the flag to create it.
    change("change the queue of", name, RouteNetlinkMessage::NewLink(message), 0)
}

fn macvlan(payload: &[u8]) -> Option<Macvlan> {
    let link = parse::link(payload)?;
    if !matches!(link.kind.as_deref(), Some("macvlan" | "macvtap")) {
        return None;
    }
    let mut macvlan = Macvlan {
        name: link.name,
        below: link.below,
        queued_above: None,
        queue_frames: None,
        queue_frames_asked: None,
    };
    let (_, attributes) = payload.split_at_checked(HEADER_OCTETS)?;
    let nested = |octets: &[u8], kind: u16| {
        let mut all = NlasIterator::new(octets).flatten();
        all.find(|one| one.kind() == kind).map(|one| one.value().to_vec())
    };
    let info = nested(attributes, libc::IFLA_LINKINFO)?;
    let data = nested(&info, libc::IFLA_INFO_DATA).unwrap_or_default();
    for one in NlasIterator::new(data.as_slice()).flatten() {
        let number = one.value().try_into().ok().map(u32::from_ne_bytes);
        match one.kind() {
            BC_QUEUE_LEN => macvlan.queue_frames_asked = number,
            BC_QUEUE_LEN_USED => macvlan.queue_frames = number,
            BC_CUTOFF => macvlan.queued_above = number.map(u32::cast_signed),
            _ => {}
        }
    }
    Some(macvlan)
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::attribute;
    use super::{Below, macvlan};

    fn message(kind: &[u8], data: &[u8]) -> Vec<u8> {
        let mut octets = vec![0, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        octets.extend(attribute(libc::IFLA_IFNAME, b"mac0\0"));
        octets.extend(attribute(libc::IFLA_LINK, &3_u32.to_ne_bytes()));
        let info = [
            attribute(libc::IFLA_INFO_KIND, kind),
            attribute(libc::IFLA_INFO_DATA, data),
        ];
        octets.extend(attribute(libc::IFLA_LINKINFO, &info.concat()));
        octets
    }

    #[test]
    fn what_is_queued_is_read_of_macvlans_only() {
        let data = [
            attribute(8, &1000_u32.to_ne_bytes()),
            attribute(9, &(-1_i32).to_ne_bytes()),
        ]
        .concat();
        let found = macvlan(&message(b"macvtap\0", &data)).expect("a macvtap");
        assert_eq!((found.name.as_str(), found.below), ("mac0", Below::Here(3)));
        assert_eq!((found.queued_above, found.queue_frames), (Some(-1), Some(1000)));
        let silent = macvlan(&message(b"macvlan\0", &[])).expect("a macvlan");
        assert_eq!((silent.queued_above, silent.queue_frames), (None, None));
        assert_eq!(macvlan(&message(b"vlan\0", &data)), None);
    }

    #[test]
    fn a_message_cut_anywhere_does_not_panic() {
        let whole = message(b"macvlan\0", &attribute(9, &[1, 0, 0, 0]));
        for length in 0..whole.len() {
            let _ = macvlan(&whole[..length]);
        }
    }
}
