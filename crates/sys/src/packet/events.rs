//! Messages of the kernel about sent frames, in the socket's error queue: when frames left, and which missed their launch time
//! (Documentation/networking/timestamping.rst, tc-etf(8)).

use crate::error::last_errno;
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use units::{Ptp, Realtime, Tai};

/// A message of the kernel about a sent frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxEvent {
    /// The frame passed a stage.
    Stamp(TxStamp),
    /// The ETF queueing discipline dropped the frame.
    Dropped(LaunchError),
}

/// The instant at which a sent frame passed a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxStamp {
    /// Number of the frame: frames that the kernel took from this socket are counted from 0, and each frame of a batch counts. A
    /// frame refused with `ENOBUFS` counts (the queueing discipline dropped it), one refused with `EAGAIN` or for its length does
    /// not.
    pub id: u32,
    /// The stage, and when the frame passed it.
    pub stage: TxStage,
}

/// A stage on the way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxStage {
    /// Passed to the queueing discipline. Not reported with `qdisc_bypass`.
    Qdisc(Realtime),
    /// The driver passes it to the NIC; on veth, just before the stack of the other end takes it.
    Driver(Realtime),
    /// On the wire, on the NIC's clock.
    Wire(Ptp),
}

/// A frame the ETF queueing discipline did not send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchError {
    /// The launch time of the frame.
    pub at: Tai,
    /// Why it was dropped.
    pub reason: LaunchFault,
}

/// Why a frame with a launch time was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchFault {
    /// The launch time had passed when the frame arrived, or before it could be passed to the driver.
    Missed,
    /// The launch time is invalid on the queueing discipline's clock.
    Invalid,
    /// A code this version does not know.
    Other(u8),
}

/// `SO_EE_ORIGIN_TXTIME` and its codes (linux/errqueue.h).
const ORIGIN_LAUNCH: u8 = 6;
const LAUNCH_INVALID: u8 = 1;
const LAUNCH_MISSED: u8 = 2;
/// `SCM_TSTAMP_SND` and `SCM_TSTAMP_SCHED` (linux/errqueue.h).
const STAMP_SENT: u32 = 0;
const STAMP_SCHEDULED: u32 = 1;

/// Buffer for the two control messages of an event (stamps, and error with address), aligned as they require.
#[repr(align(8))]
struct Control([MaybeUninit<u8>; 256]);

/// `struct scm_timestamping`: software, unused, hardware.
type Stamps = [libc::timespec; 3];

/// Returns the oldest event, or `None` if there is none: one system call that does not wait.
pub(super) fn next(fd: &OwnedFd) -> Result<Option<TxEvent>, Errno> {
    loop {
        let mut control = Control([MaybeUninit::uninit(); 256]);
        // SAFETY: a msghdr is pointers and integers, for which all-zero is a valid value: no address, no vector.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>();
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        // SAFETY: the message points to a control buffer of the given length, which outlives the call.
        let received = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, flags) };
        if received < 0 {
            return match last_errno() {
                Errno::AGAIN => Ok(None),
                errno => Err(errno),
            };
        }
        // SAFETY: the kernel has filled the control buffer and set its length in the message.
        let (stamps, error) = unsafe { contents(&message) };
        // Any other message is not about a sent frame.
        if let Some(event) = error.and_then(|error| event(&error, stamps.as_ref())) {
            return Ok(Some(event));
        }
    }
}

/// # Safety
/// The message must be as recvmsg(2) left it, with its control buffer.
unsafe fn contents(message: &libc::msghdr) -> (Option<Stamps>, Option<libc::sock_extended_err>) {
    let (mut stamps, mut error) = (None, None);
    // SAFETY: the macros stay inside the control buffer as long as its length is the one that the kernel set.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: there is an aligned control message header here, written by the kernel.
        let (level, kind, octets) = unsafe { ((*header).cmsg_level, (*header).cmsg_type, (*header).cmsg_len) };
        // SAFETY: as above; the data follows the header.
        let data = unsafe { libc::CMSG_DATA(header) };
        // SAFETY: only computes a length.
        let holds = |bytes: usize| octets >= unsafe { libc::CMSG_LEN(bytes as u32) } as usize;
        match (level, kind) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) if holds(size_of::<Stamps>()) => {
                // SAFETY: the message holds three timespecs.
                stamps = Some(unsafe { data.cast::<Stamps>().read_unaligned() });
            }
            (libc::SOL_PACKET, libc::PACKET_TX_TIMESTAMP) if holds(size_of::<libc::sock_extended_err>()) => {
                // SAFETY: the message begins with a sock_extended_err.
                error = Some(unsafe { data.cast::<libc::sock_extended_err>().read_unaligned() });
            }
            _ => {}
        }
        // SAFETY: as CMSG_FIRSTHDR.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    (stamps, error)
}

fn event(error: &libc::sock_extended_err, stamps: Option<&Stamps>) -> Option<TxEvent> {
    match error.ee_origin {
        libc::SO_EE_ORIGIN_TIMESTAMPING => {
            let stage = stage(error.ee_info, stamps?)?;
            let id = error.ee_data;
            Some(TxEvent::Stamp(TxStamp { id, stage }))
        }
        ORIGIN_LAUNCH => {
            let ns = u64::from(error.ee_data) << 32 | u64::from(error.ee_info);
            let reason = match error.ee_code {
                LAUNCH_INVALID => LaunchFault::Invalid,
                LAUNCH_MISSED => LaunchFault::Missed,
                code => LaunchFault::Other(code),
            };
            let at = Tai::from_ns(ns.cast_signed());
            Some(TxEvent::Dropped(LaunchError { at, reason }))
        }
        _ => None,
    }
}

fn stage(kind: u32, stamps: &Stamps) -> Option<TxStage> {
    let ns = |stamp: &libc::timespec| stamp.tv_sec * 1_000_000_000 + stamp.tv_nsec;
    let [software, _, hardware] = stamps;
    match kind {
        STAMP_SCHEDULED => Some(TxStage::Qdisc(Realtime::from_ns(ns(software)))),
        STAMP_SENT if ns(software) == 0 => Some(TxStage::Wire(Ptp::from_ns(ns(hardware)))),
        STAMP_SENT => Some(TxStage::Driver(Realtime::from_ns(ns(software)))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{LaunchError, LaunchFault, ORIGIN_LAUNCH, Stamps, TxEvent, TxStage, TxStamp, event};
    use units::{Ptp, Realtime, Tai};

    fn error(origin: u8, code: u8, info: u32, data: u32) -> libc::sock_extended_err {
        libc::sock_extended_err {
            ee_errno: libc::ENOMSG as u32,
            ee_origin: origin,
            ee_type: 0,
            ee_code: code,
            ee_pad: 0,
            ee_info: info,
            ee_data: data,
        }
    }

    fn stamps(software_ns: i64, hardware_ns: i64) -> Stamps {
        [software_ns, 0, hardware_ns].map(|ns| libc::timespec {
            tv_sec: ns / 1_000_000_000,
            tv_nsec: ns % 1_000_000_000,
        })
    }

    #[test]
    fn a_stamp_names_its_frame_and_stage() {
        let of = |kind, stamps: Stamps| event(&error(libc::SO_EE_ORIGIN_TIMESTAMPING, 0, kind, 7), Some(&stamps));
        let stamp = |stage| Some(TxEvent::Stamp(TxStamp { id: 7, stage }));
        let at = 1_700_000_000_123_456_789;
        assert_eq!(of(0, stamps(at, 0)), stamp(TxStage::Driver(Realtime::from_ns(at))));
        assert_eq!(of(0, stamps(0, at)), stamp(TxStage::Wire(Ptp::from_ns(at))));
        assert_eq!(of(1, stamps(at, 0)), stamp(TxStage::Qdisc(Realtime::from_ns(at))));
        assert_eq!(of(2, stamps(at, 0)), None, "a TCP acknowledgement");
    }

    /// The launch time in two halves, in the form that `report_sock_error` of net/sched/sch_etf.c writes.
    #[test]
    fn a_dropped_frame_names_its_launch_time() {
        let at = 1_700_000_037_000_000_001_i64;
        let halves = (at as u32, (at >> 32) as u32);
        for (code, reason) in [
            (1, LaunchFault::Invalid),
            (2, LaunchFault::Missed),
            (9, LaunchFault::Other(9)),
        ] {
            let told = event(&error(ORIGIN_LAUNCH, code, halves.0, halves.1), None);
            let at = Tai::from_ns(at);
            assert_eq!(told, Some(TxEvent::Dropped(LaunchError { at, reason })));
        }
        assert_eq!(event(&error(libc::SO_EE_ORIGIN_ICMP, 0, 0, 0), None), None);
    }
}
