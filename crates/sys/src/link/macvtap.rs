//! Macvtaps: macvlans whose frames go to a program, such as a hypervisor, instead of a network namespace.

use super::made::MACVTAP;
use super::request::change;
use super::{check_name, find, local_mac};
use crate::error::{SysError, errno_of};
use crate::netns::NetNs;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoMacVtap, LinkAttribute, LinkFlags, LinkInfo, LinkMessage, MacVtapMode,
};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first index to try: far above the indices that the kernel assigns.
const FIRST_INDEX: u32 = 1 << 20;
/// Number of attempts to find a free index.
const TRIES: u32 = 64;

/// Makes a macvtap in bridge mode over `lower`, which is in the calling thread's namespace; the macvtap is in `namespace` from the
/// start. It is down. Its MAC address is [`local_mac`] of its name, and the program that uses it must send from that address.
///
/// Its device file is named after its index, the same in all namespaces. So it gets an index that no other macvtap of the machine
/// has.
///
/// # Errors
/// The name is invalid or taken, there is no interface `lower`, `CAP_NET_ADMIN` is missing, there is no device file because `/dev`
/// is no devtmpfs, or the kernel refused for another reason ([`SysError::MissingFeature`]: it was built without `CONFIG_MACVTAP`).
pub fn add_macvtap(name: &str, lower: &str, namespace: &NetNs) -> Result<(), SysError> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    check_name(name)?;
    let below = find(lower)?.index;
    // Processes begin at different indices, so that they seldom collide.
    let begin = std::process::id().wrapping_mul(TRIES);
    for _ in 0..TRIES {
        let offset = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let index = FIRST_INDEX + offset % FIRST_INDEX;
        if device(index).exists() {
            continue;
        }
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Address(local_mac(name).to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::MacVtap),
                LinkInfo::Data(InfoData::MacVtap(vec![InfoMacVtap::Mode(MacVtapMode::Bridge)])),
            ]),
            LinkAttribute::Link(below),
            LinkAttribute::NetNsFd(namespace.as_fd().as_raw_fd()),
        ];
        MACVTAP.ask(name, message)?;
        return match device(index).exists() {
            true => Ok(()),
            false => Err(SysError::MissingFeature {
                what: format!("open {}, the frames of a macvtap", device(index).display()),
                needs: "a devtmpfs at /dev, where the kernel makes the file: a container needs the machine's /dev",
            }),
        };
    }
    Err(SysError::Invalid {
        what: format!("{name}: {TRIES} files /dev/tapN are already taken"),
    })
}

/// Opens the device file of the macvtap `name` in the calling thread's namespace, for the program that will use it.
///
/// # Errors
/// There is no such interface, or its device file cannot be opened.
pub fn open_macvtap(name: &str) -> Result<File, SysError> {
    let path = device(find(name)?.index);
    let opened = OpenOptions::new().read(true).write(true).open(&path);
    opened.map_err(|error| SysError::refused("open", path.display().to_string(), errno_of(&error)))
}

/// Makes `name` receive the frames of every group, as a switch's port does, because its user joins no groups on this machine.
///
/// # Errors
/// The interface does not exist, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn set_all_multicast(name: &str) -> Result<(), SysError> {
    let mut message = LinkMessage::default();
    message.header.index = find(name)?.index;
    message.header.flags = LinkFlags::Allmulti;
    message.header.change_mask = LinkFlags::Allmulti;
    change("receive all groups on", name, RouteNetlinkMessage::SetLink(message), 0)
}

fn device(index: u32) -> PathBuf {
    PathBuf::from(format!("/dev/tap{index}"))
}
