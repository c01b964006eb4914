//! Waits for frames at two ports.

use super::port::PacketPort;
use crate::clock;
use crate::error::{SysError, last_errno};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// Sleeps until a frame is in the ring of one of two ports, at most `timeout_ns`. Returns for each port what [`PacketPort::wait`]
/// would: an interface that goes down is reported once, by its port.
pub fn wait_either(ports: [&PacketPort; 2], timeout_ns: u64) -> [Result<bool, SysError>; 2] {
    let timeout = clock::timespec(i64::try_from(timeout_ns).unwrap_or(i64::MAX));
    let timeout = libc::timespec {
        tv_sec: timeout.tv_sec,
        tv_nsec: timeout.tv_nsec,
    };
    let mut polls = ports.map(|port| libc::pollfd {
        fd: port.as_fd().as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: two pollfds in an array and one timespec, all locals that outlive the call; no signal mask.
    let ready = unsafe { libc::ppoll(polls.as_mut_ptr(), 2, &raw const timeout, std::ptr::null()) };
    let refused = (ready < 0).then(last_errno).filter(|errno| *errno != Errno::INTR);
    let mut at = 0;
    ports.map(|port| {
        let poll = polls[at];
        at += 1;
        match refused {
            Some(errno) => Err(port.wait_refusal(errno)),
            None if ready <= 0 => Ok(false),
            None if poll.revents & libc::POLLERR != 0 => port.socket_error().map(|()| poll.revents & libc::POLLIN != 0),
            None => Ok(poll.revents & libc::POLLIN != 0),
        }
    })
}
