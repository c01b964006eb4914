//! Notices of the kernel that settings or links of interfaces were changed.

use super::model::Silence;
use super::netlink::{MONITOR, multicast_group};
use crate::error::errno_of;
use crate::link::request::open;
use netlink_sys::Socket;
use netlink_sys::protocols::{NETLINK_GENERIC, NETLINK_ROUTE};
use std::io::ErrorKind;

/// Group of changes of interfaces (`RTNLGRP_LINK`, linux/rtnetlink.h).
const LINK_GROUP: u32 = 1;

/// Sockets that hear of every change of an interface in the network namespace in which they were opened.
pub struct Monitor {
    sockets: [Socket; 2],
}

impl Monitor {
    /// Hears of changes from now on. Needs no privilege.
    ///
    /// # Errors
    /// This kernel has no such notices (before Linux 5.6), or it refused.
    pub fn open() -> Result<Self, Silence> {
        let group = multicast_group(MONITOR)?;
        Ok(Self {
            sockets: [hearing(NETLINK_GENERIC, group)?, hearing(NETLINK_ROUTE, LINK_GROUP)?],
        })
    }

    /// True if there was a notice since the last call, or if notices were lost. Never waits.
    pub fn has_heard(&mut self) -> bool {
        // Each socket is emptied.
        self.sockets.iter().map(heard).fold(false, |any, one| any | one)
    }
}

fn hearing(protocol: isize, group: u32) -> Result<Socket, Silence> {
    let failed = |error: std::io::Error| Silence::of(errno_of(&error));
    let socket = open(protocol).map_err(failed)?;
    socket.add_membership(group).map_err(failed)?;
    socket.set_non_blocking(true).map_err(failed)?;
    Ok(socket)
}

fn heard(socket: &Socket) -> bool {
    let mut any = false;
    loop {
        match socket.recv_from_full() {
            Ok(_) => any = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return any,
            // Its buffer overflowed, which the kernel says once.
            Err(_) if !any => any = true,
            Err(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Monitor;
    use crate::netns::NetNs;

    #[test]
    fn a_changed_interface_is_heard_once_and_silence_is_not() {
        let Ok(namespace) = NetNs::create() else {
            return needs_the_right();
        };
        let heard = namespace.run(|| {
            let mut monitor = Monitor::open().expect("this kernel has notices");
            let quiet = monitor.has_heard();
            crate::link::set_down("lo").expect("down");
            (quiet, monitor.has_heard(), monitor.has_heard())
        });
        assert_eq!(heard.expect("entered"), (false, true, false));
    }

    /// Without the right to make a namespace, nothing can be changed.
    fn needs_the_right() {
        assert!(crate::privilege::require(crate::privilege::Capability::SysAdmin, "make a network namespace").is_err());
    }
}
