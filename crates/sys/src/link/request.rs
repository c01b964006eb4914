//! One request to rtnetlink and its answer, on its own socket.

use crate::error::{SysError, errno_of};
use crate::privilege::Capability;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use rustix::io::Errno;

/// Netlink messages start on multiples of this in a datagram (`NLMSG_ALIGNTO`).
const ALIGNMENT: usize = 4;

/// Most attempts to get a dump that the kernel does not call inconsistent, after which the last answer is used. A dump is
/// inconsistent if an interface changed meanwhile.
const DUMP_ATTEMPTS: usize = 8;

/// Requests a change and waits for the kernel's answer.
pub(super) fn change(
    operation: &'static str,
    target: &str,
    message: RouteNetlinkMessage,
    flags: u16,
) -> Result<(), SysError> {
    exchange(message, NLM_F_REQUEST | NLM_F_ACK | flags, |_| ())
        .map(|_| ())
        .map_err(|errno| SysError::or_capability(Capability::NetAdmin, operation, target, errno))
}

/// Requests a dump of `what` and passes the payload of each message to `each`.
pub(super) fn dump(message: &RouteNetlinkMessage, what: &str, mut each: impl FnMut(&[u8])) -> Result<(), SysError> {
    let mut payloads = Vec::new();
    for _ in 0..DUMP_ATTEMPTS {
        payloads.clear();
        let answer = exchange(message.clone(), NLM_F_REQUEST | NLM_F_DUMP, |payload| {
            payloads.push(payload.to_vec());
        });
        let consistent = answer.map_err(|errno| SysError::refused("list", what, errno))?;
        if consistent {
            break;
        }
    }
    payloads.iter().for_each(|payload| each(payload));
    Ok(())
}

/// Sends one request and reads until the answer is complete. Returns true if it is consistent, that is, nothing changed during a
/// dump (`NLM_F_DUMP_INTR`).
pub(super) fn exchange(message: RouteNetlinkMessage, flags: u16, mut each: impl FnMut(&[u8])) -> Result<bool, Errno> {
    let socket = open_route()?;
    socket
        .send(&request(message, flags), 0)
        .map_err(|error| errno_of(&error))?;
    let mut consistent = true;
    loop {
        let datagram = receive(&socket)?;
        if take(&datagram, &mut consistent, &mut each)? {
            return Ok(consistent);
        }
    }
}

/// The bytes of a request.
pub(super) fn request(message: RouteNetlinkMessage, flags: u16) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
    message.finalize();
    let mut request = vec![0; message.buffer_len()];
    message.serialize(&mut request);
    request
}

/// Opens a socket to rtnetlink, which stays in the calling thread's network namespace wherever it is used.
pub(super) fn open_route() -> Result<Socket, Errno> {
    open(NETLINK_ROUTE).map_err(|error| errno_of(&error))
}

/// Opens a socket to the kernel's side of `protocol`.
pub(crate) fn open(protocol: isize) -> std::io::Result<Socket> {
    let mut socket = Socket::new(protocol)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// Receives the next datagram.
pub(crate) fn receive(socket: &Socket) -> Result<Vec<u8>, Errno> {
    loop {
        match socket.recv_from_full() {
            Ok((datagram, _)) => return Ok(datagram),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(errno_of(&error)),
        }
    }
}

/// Passes on the messages of one datagram; returns true once the answer is complete.
pub(crate) fn take(datagram: &[u8], consistent: &mut bool, each: &mut impl FnMut(&[u8])) -> Result<bool, Errno> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let message = NetlinkBuffer::new_checked(rest).map_err(|_| Errno::PROTO)?;
        *consistent &= i32::from(message.flags()) & libc::NLM_F_DUMP_INTR == 0;
        match message.message_type() {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => return verdict(message.payload()).map(|()| true),
            _ => each(message.payload()),
        }
        let length = usize::try_from(message.length())
            .unwrap_or(usize::MAX)
            .next_multiple_of(ALIGNMENT);
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(false)
}

/// The result in an error message: 0, or an errno with a minus sign (netlink(7)).
fn verdict(payload: &[u8]) -> Result<(), Errno> {
    let code = payload.first_chunk().ok_or(Errno::PROTO)?;
    match i32::from_ne_bytes(*code) {
        0 => Ok(()),
        code => Err(Errno::from_raw_os_error(code.saturating_neg())),
    }
}
