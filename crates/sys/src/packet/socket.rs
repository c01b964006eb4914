//! The packet socket. It is made without a protocol, set up, and only then bound, so that no frame of another interface or
//! EtherType ever enters the ring.

use crate::error::{SysError, last_errno};
use crate::hwtstamp::{NicStampControl, NicStamping};
use crate::privilege::Capability;
use crate::sockopt;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// Memory for waiting transmit events, in bytes; the kernel counts some 700 for each.
const EVENT_OCTETS: i32 = 4 << 20;

/// Directions in which the NIC stamps frames.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NicStamps {
    pub(super) received: bool,
    pub(super) sent: bool,
}

/// A packet socket that is not bound yet. `name` is the interface, for messages.
pub(super) struct Socket {
    pub(super) fd: OwnedFd,
    pub(super) name: Arc<str>,
}

impl Socket {
    /// Makes a raw packet socket that receives nothing yet (protocol 0).
    pub(super) fn new(name: &Arc<str>) -> Result<Self, SysError> {
        // SAFETY: no pointers.
        let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            let name = Arc::clone(name);
            return Err(match last_errno() {
                Errno::AFNOSUPPORT => SysError::MissingFeature {
                    what: format!("open a packet socket on {name}"),
                    needs: "the kernel option CONFIG_PACKET",
                },
                errno => SysError::or_capability(Capability::NetRaw, "open a packet socket on", name, errno),
            });
        }
        // SAFETY: the descriptor was just made by socket(2) and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self {
            fd,
            name: Arc::clone(name),
        })
    }

    /// Sets an option; `operation` names its purpose if the kernel refuses.
    pub(super) fn set<T: Copy>(
        &self,
        level: i32,
        option: i32,
        value: &T,
        operation: &'static str,
    ) -> Result<(), SysError> {
        sockopt::set(&self.fd, level, option, value)
            .map_err(|errno| SysError::refused(operation, Arc::clone(&self.name), errno))
    }

    /// Sets an option of packet sockets.
    pub(super) fn set_packet<T: Copy>(&self, option: i32, value: &T, operation: &'static str) -> Result<(), SysError> {
        self.set(libc::SOL_PACKET, option, value, operation)
    }

    /// Excludes frames that are sent from this interface, by this or any other program.
    pub(super) fn ignore_outgoing(&self) -> Result<(), SysError> {
        self.set_packet(libc::PACKET_IGNORE_OUTGOING, &1_i32, "ignore outgoing frames on")
            .map_err(|error| match error.errno() {
                Some(libc::ENOPROTOOPT) => SysError::MissingFeature {
                    what: format!("ignore outgoing frames on {}", self.name),
                    needs: "PACKET_IGNORE_OUTGOING, Linux 4.20 or newer",
                },
                _ => error,
            })
    }

    /// Attaches a filter.
    pub(super) fn attach(&self, program: &mut [libc::sock_filter]) -> Result<(), SysError> {
        let program = libc::sock_fprog {
            len: libc::c_ushort::try_from(program.len()).unwrap_or(libc::c_ushort::MAX),
            filter: program.as_mut_ptr(),
        };
        self.set(libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program, "attach a filter on")
    }

    /// Has the kernel stamp frames: received ones when the driver delivers them, sent ones when they pass the queueing discipline
    /// and the driver. With `by_nic`, the NIC's stamps are used as well, in the directions that it already stamps. Returns these
    /// directions. Changes nothing on the NIC.
    pub(super) fn stamp(&self, received: bool, sent: bool, by_nic: bool) -> Result<NicStamps, SysError> {
        if !received && !sent {
            return Ok(NicStamps::default());
        }
        let on = if by_nic {
            self.nic_stamps()
        } else {
            NicStamps::default()
        };
        let nic = NicStamps {
            received: received && on.received,
            sent: sent && on.sent,
        };
        let mut flags = libc::SOF_TIMESTAMPING_SOFTWARE;
        if received {
            flags |= libc::SOF_TIMESTAMPING_RX_SOFTWARE;
        }
        if sent {
            flags |= libc::SOF_TIMESTAMPING_TX_SOFTWARE | libc::SOF_TIMESTAMPING_TX_SCHED;
            // Stamps come with the number of the frame instead of a copy of it.
            flags |= libc::SOF_TIMESTAMPING_OPT_ID | libc::SOF_TIMESTAMPING_OPT_TSONLY;
            self.hold_events();
        }
        if nic.sent {
            flags |= libc::SOF_TIMESTAMPING_TX_HARDWARE | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
            flags |= libc::SOF_TIMESTAMPING_OPT_TX_SWHW;
        }
        self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags, "enable time stamps on")?;
        if received {
            let mut source = libc::SOF_TIMESTAMPING_SOFTWARE;
            if nic.received {
                source |= libc::SOF_TIMESTAMPING_RAW_HARDWARE;
            }
            self.set_packet(libc::PACKET_TIMESTAMP, &source, "choose receive time stamps on")?;
        }
        Ok(nic)
    }

    /// Makes room for some thousands of waiting events; without the privilege, for as many as the system's limit allows.
    fn hold_events(&self) {
        for option in [libc::SO_RCVBUFFORCE, libc::SO_RCVBUF] {
            if sockopt::set(&self.fd, libc::SOL_SOCKET, option, &EVENT_OCTETS).is_ok() {
                break;
            }
        }
    }

    /// Directions in which the NIC's stamps are turned on; only reads. A filter that stamps some frames counts: the others carry no
    /// stamp of the NIC.
    fn nic_stamps(&self) -> NicStamps {
        let stamping = NicStampControl::open(&self.name).and_then(|control| control.read());
        let stamping = stamping.unwrap_or(NicStamping::OFF);
        NicStamps {
            received: stamping.stamps_received(),
            sent: stamping.stamps_sent(),
        }
    }

    /// Joins a multicast address, or turns on promiscuous mode; the kernel undoes it when the socket closes.
    pub(super) fn join(&self, index: u32, kind: libc::c_int, address: [u8; 6]) -> Result<(), SysError> {
        let mut request = libc::packet_mreq {
            mr_ifindex: index.cast_signed(),
            mr_type: libc::c_ushort::try_from(kind).unwrap_or_default(),
            mr_alen: 6,
            mr_address: [0; 8],
        };
        request.mr_address[..6].copy_from_slice(&address);
        self.set_packet(libc::PACKET_ADD_MEMBERSHIP, &request, "join an address on")
    }

    /// Binds to the interface and, if the protocol is not 0, starts to receive.
    pub(super) fn bind(&self, index: u32, protocol: u16) -> Result<(), SysError> {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as libc::c_ushort,
            sll_protocol: protocol.to_be(),
            sll_ifindex: index.cast_signed(),
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the pointer is to a whole sockaddr_ll, and the length is its own.
        let done = unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) };
        if done == 0 {
            Ok(())
        } else {
            Err(SysError::refused("bind to", Arc::clone(&self.name), last_errno()))
        }
    }
}

/// Number of the interface that a packet socket is bound to: -1 if that is gone. `None` if the kernel does not report it.
pub(super) fn bound_to(fd: &OwnedFd) -> Option<i32> {
    // SAFETY: a structure of integers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: there is room for a whole sockaddr_ll, and the length is its own; both are locals that outlive the call.
    let done = unsafe { libc::getsockname(fd.as_raw_fd(), (&raw mut address).cast(), &raw mut length) };
    (done == 0).then_some(address.sll_ifindex)
}

/// `PACKET_STATISTICS`: frames (including dropped ones) and drops since the last call.
pub(super) fn statistics(fd: &OwnedFd) -> Result<libc::tpacket_stats, Errno> {
    sockopt::get(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS).map(|(statistics, _)| statistics)
}
