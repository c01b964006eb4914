//! Launch times: the instant at which a frame must leave, kept by the ETF queueing discipline (tc-etf(8)).

use super::socket::Socket;
use crate::error::{SysError, last_errno};
use crate::link::{self, Etf, Qdisc};
use crate::privilege::Capability;
use crate::sockopt;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use units::Tai;

impl Socket {
    /// Allows launch times on `CLOCK_TAI`, and has dropped frames reported.
    ///
    /// The kernel silently accepts launch times that nothing keeps, so the queueing disciplines are checked first.
    pub(super) fn launch_times(&self) -> Result<(), SysError> {
        check(&self.name, &link::qdiscs(&self.name)?)?;
        let wanted = libc::sock_txtime {
            clockid: libc::CLOCK_TAI,
            flags: libc::SOF_TXTIME_REPORT_ERRORS,
        };
        sockopt::set(&self.fd, libc::SOL_SOCKET, libc::SO_TXTIME, &wanted).map_err(|errno| match errno {
            Errno::NOPROTOOPT => SysError::MissingFeature {
                what: format!("set launch times on {}", self.name),
                needs: "SO_TXTIME, Linux 4.19 or newer",
            },
            _ => {
                let operation = "set launch times on";
                SysError::or_capability(Capability::NetAdmin, operation, Arc::clone(&self.name), errno)
            }
        })
    }
}

/// Checks that the queueing disciplines include an ETF on `CLOCK_TAI`.
fn check(name: &Arc<str>, qdiscs: &[Qdisc]) -> Result<(), SysError> {
    let etfs: Vec<Etf> = qdiscs.iter().filter_map(|qdisc| qdisc.etf).collect();
    if etfs
        .iter()
        .any(|etf| etf.clock == libc::CLOCK_TAI && !etf.deadline_mode)
    {
        return Ok(());
    }
    let why = if etfs.is_empty() {
        let kinds: Vec<&str> = qdiscs.iter().map(|qdisc| qdisc.kind.as_str()).collect();
        let have = if kinds.is_empty() {
            "none".to_owned()
        } else {
            kinds.join(", ")
        };
        format!(
            "launch time needs the etf queueing discipline; the interface has {have}: \
             tc qdisc add dev {name} root etf clockid CLOCK_TAI delta 300000"
        )
    } else {
        "launch time needs an etf queueing discipline with clockid CLOCK_TAI and without deadline_mode; the interface has \
         one with another clock or mode (tc qdisc show)"
            .to_owned()
    };
    Err(SysError::NoLaunchTime {
        interface: Arc::clone(name),
        why,
    })
}

/// Buffer for one control message with a launch time.
#[repr(align(8))]
struct Control([u8; CONTROL_OCTETS]);

// SAFETY: only computes a length.
const CONTROL_OCTETS: usize = unsafe { libc::CMSG_SPACE(size_of::<u64>() as u32) } as usize;

/// Sends one frame that must leave at `at`, without waiting for room.
pub(super) fn send_at(fd: &OwnedFd, frame: &[u8], at: Tai) -> Result<(), Errno> {
    let mut control = Control([0; CONTROL_OCTETS]);
    let mut vector = libc::iovec {
        iov_base: frame.as_ptr().cast_mut().cast(),
        iov_len: frame.len(),
    };
    // SAFETY: a msghdr is pointers and integers, for which all-zero is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut vector;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_OCTETS;
    // SAFETY: the control buffer is aligned and has room for this one message.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_TXTIME;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<u64>() as u32) as usize;
        libc::CMSG_DATA(header)
            .cast::<u64>()
            .write_unaligned(at.as_ns().cast_unsigned());
    }
    // SAFETY: the message points to one vector over the frame and to the control buffer, which outlive the call; sendmsg only reads
    // them.
    let sent = unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
    if sent >= 0 { Ok(()) } else { Err(last_errno()) }
}

#[cfg(test)]
mod tests {
    use super::{check, send_at};
    use crate::link::{Etf, QDISC_ROOT, Qdisc};
    use rustix::io::Errno;

    fn qdisc(kind: &str, etf: Option<(i32, bool)>) -> Qdisc {
        Qdisc {
            kind: kind.to_owned(),
            handle: 0,
            parent: QDISC_ROOT,
            etf: etf.map(|(clock, deadline_mode)| Etf {
                clock,
                delta_ns: 300_000,
                offload: false,
                deadline_mode,
                skip_sock_check: false,
            }),
            cbs: None,
        }
    }

    /// A datagram socket needs no privilege for this: the control message is the same. Without SO_TXTIME the kernel reads it and
    /// refuses; with it, the whole datagram is sent.
    #[test]
    fn the_control_message_is_one_the_kernel_takes() {
        let far = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        let near = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        near.connect(far.local_addr().expect("bound")).expect("connected");
        let fd = near.into();
        let at = crate::clock::tai();
        assert_eq!(send_at(&fd, b"early", at), Err(Errno::INVAL));
        let wanted = libc::sock_txtime {
            clockid: libc::CLOCK_MONOTONIC,
            flags: 0,
        };
        crate::sockopt::set(&fd, libc::SOL_SOCKET, libc::SO_TXTIME, &wanted).expect("Linux 4.19 or newer");
        send_at(&fd, b"in time", at).expect("sent");
        let mut octets = [0; 16];
        let count = far.recv(&mut octets).expect("received");
        assert_eq!(&octets[..count], b"in time");
    }

    #[test]
    fn only_an_etf_on_tai_keeps_launch_times() {
        let name = "veth0".into();
        let tai = qdisc("etf", Some((libc::CLOCK_TAI, false)));
        let monotonic = qdisc("etf", Some((libc::CLOCK_MONOTONIC, false)));
        let deadline = qdisc("etf", Some((libc::CLOCK_TAI, true)));
        assert!(check(&name, &[qdisc("mqprio", None), monotonic.clone(), tai]).is_ok());
        assert_eq!(
            check(&name, &[qdisc("noqueue", None)]).expect_err("none").to_string(),
            "veth0: launch time needs the etf queueing discipline; the interface has noqueue: \
             tc qdisc add dev veth0 root etf clockid CLOCK_TAI delta 300000"
        );
        for other in [monotonic, deadline] {
            let error = check(&name, &[other]).expect_err("another").to_string();
            assert!(
                error.contains("with clockid CLOCK_TAI and without deadline_mode"),
                "{error}"
            );
        }
    }
}
