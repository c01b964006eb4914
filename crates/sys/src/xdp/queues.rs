//! Reads how many receive queues an interface has (`ETHTOOL_GCHANNELS`, linux/ethtool.h).

use rustix::net::{AddressFamily, SocketType, socket};
use std::os::fd::AsRawFd;

const SIOCETHTOOL: u32 = 0x8946;
const GET_CHANNELS: u32 = 0x3c;

/// `struct ethtool_channels`.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    most_rx: u32,
    most_tx: u32,
    most_other: u32,
    most_combined: u32,
    rx: u32,
    tx: u32,
    other: u32,
    combined: u32,
}

/// Receive queues in use now; `None` if the driver does not report it.
pub(super) fn receive_queues(name: &str) -> Option<u32> {
    // An AF_XDP socket does not accept this request; this kind does, and every kernel has it.
    let socket = socket(AddressFamily::UNIX, SocketType::DGRAM, None).ok()?;
    let mut channels = Channels {
        command: GET_CHANNELS,
        ..Channels::default()
    };
    let mut ifr_name = [0; libc::IFNAMSIZ];
    for (to, from) in ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from.cast_signed();
    }
    let mut request = libc::ifreq {
        ifr_name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru {
            ifru_data: (&raw mut channels).cast(),
        },
    };
    // SAFETY: the request names an interface in a terminated array and points to a whole ethtool_channels that outlives the call
    // and contains the command.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::Ioctl::from(SIOCETHTOOL), &raw mut request) };
    (done == 0 && channels.rx + channels.combined > 0).then(|| channels.rx + channels.combined)
}
