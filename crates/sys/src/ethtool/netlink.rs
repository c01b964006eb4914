//! One request to the generic netlink family `ethtool`, and its answer.

use super::model::Silence;
use crate::error::errno_of;
use crate::link::request::{open, receive, take};
use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NlasIterator};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_GENERIC;
use rustix::io::Errno;

/// The family of generic netlink that lists the others, and its request (linux/genetlink.h).
const CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// Attribute with the groups of a family, and the name and number in each of them.
const GROUPS: u16 = 7;
const GROUP_NAME: u16 = 1;
const GROUP_ID: u16 = 2;

/// The group of the family that hears of changes (`ETHTOOL_MCGRP_MONITOR_NAME`).
pub(super) const MONITOR: &str = "monitor";

/// `NLA_F_NESTED`.
const NESTED: u16 = 1 << 15;
/// Attribute with the header of every request of the family, and attribute with the name in it (`ETHTOOL_A_HEADER_DEV_NAME`).
const HEADER: u16 = 1;
const DEVICE_NAME: u16 = 2;

/// Sizes of `struct nlmsghdr` and `struct genlmsghdr`.
const MESSAGE_HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;

/// Requests, by their numbers in linux/ethtool_netlink.h (`ETHTOOL_MSG_*_GET`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Request {
    LinkModes = 4,
    LinkState = 6,
    Features = 11,
    Rings = 15,
    Channels = 17,
    Coalesce = 19,
    Pause = 21,
    Eee = 23,
    TimeStamping = 25,
    /// Since Linux 6.3.
    Rss = 38,
}

/// The family, with its own socket.
pub(super) struct Family {
    socket: Socket,
    id: u16,
}

impl Family {
    /// Opens a socket and looks up the family.
    pub(super) fn open() -> Result<Self, Silence> {
        let (socket, answer) = look_up()?;
        let id = NlasIterator::new(answer.as_slice())
            .flatten()
            .find(|found| found.kind() == FAMILY_ID);
        let id = id.and_then(|id| id.value().try_into().ok().map(u16::from_ne_bytes));
        Ok(Self {
            socket,
            id: id.ok_or(Silence::NotInKernel)?,
        })
    }

    /// Returns the attributes of the answer for the interface `name`.
    pub(super) fn ask(&self, question: Request, name: &str) -> Result<Vec<u8>, Silence> {
        exchange(&self.socket, self.id, question as u8, &header(name)).map_err(Silence::of)
    }

    /// Changes `attributes` of the object of `question`: the changing request has the number after the reading one.
    pub(super) fn change(&self, question: Request, name: &str, attributes: &[u8]) -> Result<(), Errno> {
        let request = [header(name).as_slice(), attributes].concat();
        exchange(&self.socket, self.id, question as u8 + 1, &request).map(|_| ())
    }
}

/// Looks up the family; returns the socket that was used, and the attributes of the answer.
fn look_up() -> Result<(Socket, Vec<u8>), Silence> {
    let socket = open(NETLINK_GENERIC).map_err(|error| Silence::of(errno_of(&error)))?;
    let answer = exchange(&socket, CONTROL, GET_FAMILY, &attribute(FAMILY_NAME, b"ethtool\0"));
    let answer = answer.map_err(|errno| match errno {
        // No such family: CONFIG_ETHTOOL_NETLINK is off, or the kernel is older than the family.
        Errno::NOENT => Silence::NotInKernel,
        errno => Silence::of(errno),
    })?;
    Ok((socket, answer))
}

/// Number of the family's multicast group of this name.
pub(super) fn multicast_group(name: &str) -> Result<u32, Silence> {
    let (_, answer) = look_up()?;
    let within = |octets: &[u8], kind: u16| {
        let mut found = NlasIterator::new(octets).flatten();
        found.find(|one| one.kind() == kind).map(|one| one.value().to_vec())
    };
    let groups = within(&answer, GROUPS).ok_or(Silence::NotInKernel)?;
    let each = NlasIterator::new(groups.as_slice()).flatten();
    let mut found = each.filter_map(|group| {
        let is_it = within(group.value(), GROUP_NAME)?.strip_suffix(b"\0")? == name.as_bytes();
        let id = within(group.value(), GROUP_ID)?;
        is_it.then_some(u32::from_ne_bytes(id.try_into().ok()?))
    });
    found.next().ok_or(Silence::NotInKernel)
}

/// Header that names the interface of a request.
fn header(name: &str) -> Vec<u8> {
    let name = attribute(DEVICE_NAME, &[name.as_bytes(), b"\0"].concat());
    attribute(HEADER | NESTED, &name)
}

/// Sends one request and reads until the answer is complete; returns its attributes.
fn exchange(socket: &Socket, family: u16, command: u8, attributes: &[u8]) -> Result<Vec<u8>, Errno> {
    let request = message(family, command, attributes);
    socket.send(&request, 0).map_err(|error| errno_of(&error))?;
    let mut answer = Vec::new();
    let mut each = |payload: &[u8]| answer.extend_from_slice(payload.get(GENERIC_HEADER..).unwrap_or_default());
    loop {
        let datagram = receive(socket)?;
        if take(&datagram, &mut true, &mut each)? {
            return Ok(answer);
        }
    }
}

/// A request with both headers; the command's version is 1, for the control family and for `ethtool`.
fn message(family: u16, command: u8, attributes: &[u8]) -> Vec<u8> {
    let length = MESSAGE_HEADER + GENERIC_HEADER + attributes.len();
    let mut message = Vec::with_capacity(length);
    message.extend(u32::try_from(length).unwrap_or(u32::MAX).to_ne_bytes());
    message.extend(family.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    // Sequence number and port: there is one request at a time, and the kernel knows the socket's port.
    message.extend([0; 8]);
    message.extend([command, 1, 0, 0]);
    message.extend_from_slice(attributes);
    message
}

/// One attribute, padded as netlink requires.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut octets = Vec::with_capacity(length.next_multiple_of(4));
    octets.extend(u16::try_from(length).unwrap_or(u16::MAX).to_ne_bytes());
    octets.extend(kind.to_ne_bytes());
    octets.extend_from_slice(value);
    octets.resize(length.next_multiple_of(4), 0);
    octets
}
