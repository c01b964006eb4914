//! Frames that a NIC stamps with its own clock: reads (`SIOCGHWTSTAMP`) and sets (`SIOCSHWTSTAMP`) the selection, as
//! Documentation/networking/timestamping.rst describes. The setting belongs to the interface: all its users share it.

use crate::error::{SysError, last_errno};
use crate::privilege::Capability;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Selection of the frames that a NIC stamps, by the numbers of linux/net_tstamp.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NicStamping {
    /// Received frames that it stamps: `HWTSTAMP_FILTER_*`.
    pub rx_filter: u32,
    /// Stamping of sent frames, if any: `HWTSTAMP_TX_*`.
    pub tx_type: u32,
}

impl NicStamping {
    /// No frames.
    pub const OFF: Self = Self {
        rx_filter: libc::HWTSTAMP_FILTER_NONE,
        tx_type: libc::HWTSTAMP_TX_OFF,
    };

    /// True if every received frame is stamped.
    pub fn stamps_all_received(self) -> bool {
        self.rx_filter == libc::HWTSTAMP_FILTER_ALL
    }

    /// True if any received frame is stamped.
    pub fn stamps_received(self) -> bool {
        self.rx_filter != libc::HWTSTAMP_FILTER_NONE
    }

    /// True if sent frames that ask for a stamp are stamped.
    pub fn stamps_sent(self) -> bool {
        self.tx_type != libc::HWTSTAMP_TX_OFF
    }

    /// Returns the same setting, extended where wanted: by all received frames, and by the sent frames that ask for it.
    #[must_use]
    pub fn with(self, received: bool, sent: bool) -> Self {
        Self {
            rx_filter: if received {
                libc::HWTSTAMP_FILTER_ALL
            } else {
                self.rx_filter
            },
            tx_type: match self.stamps_sent() {
                false if sent => libc::HWTSTAMP_TX_ON,
                _ => self.tx_type,
            },
        }
    }

    /// The word for the receive filter, as `ethtool -T` shows it.
    pub fn filter_word(self) -> &'static str {
        let known = crate::ethtool::RX_FILTERS.get(self.rx_filter as usize);
        known.copied().unwrap_or("unknown")
    }
}

/// An interface of the network namespace in which this was opened; the value refers to that namespace wherever it is used.
#[derive(Debug)]
pub struct NicStampControl {
    socket: OwnedFd,
    name: Arc<str>,
}

impl NicStampControl {
    /// Opens the control of the interface `name`.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn open(name: &str) -> Result<Self, SysError> {
        let name: Arc<str> = name.into();
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(|errno| SysError::refused("open a socket for", Arc::clone(&name), errno))?;
        Ok(Self { socket, name })
    }

    /// Reads which frames the NIC stamps now.
    ///
    /// # Errors
    /// The driver does not report it, or the interface is gone.
    pub fn read(&self) -> Result<NicStamping, SysError> {
        self.call(libc::SIOCGHWTSTAMP, NicStamping::OFF)
            .map_err(|errno| SysError::refused("read the time stamping of", Arc::clone(&self.name), errno))
    }

    /// Sets which frames the NIC stamps. Returns the setting now in effect: a driver may stamp more frames than requested.
    ///
    /// # Errors
    /// `CAP_NET_ADMIN` is missing, or the driver does not support it.
    pub fn set(&self, stamping: NicStamping) -> Result<NicStamping, SysError> {
        self.call(libc::SIOCSHWTSTAMP, stamping).map_err(|errno| {
            let operation = "change the time stamping of";
            SysError::or_capability(Capability::NetAdmin, operation, Arc::clone(&self.name), errno)
        })
    }

    fn call(&self, request: libc::c_ulong, stamping: NicStamping) -> Result<NicStamping, Errno> {
        let mut config = libc::hwtstamp_config {
            flags: 0,
            tx_type: stamping.tx_type.cast_signed(),
            rx_filter: stamping.rx_filter.cast_signed(),
        };
        let mut name = [0; libc::IFNAMSIZ];
        for (to, from) in name.iter_mut().zip(self.name.bytes().take(libc::IFNAMSIZ - 1)) {
            *to = from.cast_signed();
        }
        let mut interface = libc::ifreq {
            ifr_name: name,
            ifr_ifru: libc::__c_anonymous_ifr_ifru {
                ifru_data: (&raw mut config).cast(),
            },
        };
        // SAFETY: the request names an interface in a terminated array and points to a hwtstamp_config that outlives the call.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), request, &raw mut interface) };
        if done < 0 {
            return Err(last_errno());
        }
        Ok(NicStamping {
            rx_filter: config.rx_filter.cast_unsigned(),
            tx_type: config.tx_type.cast_unsigned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{NicStampControl, NicStamping};

    #[test]
    fn what_is_wanted_is_added_to_what_is_there() {
        let all = NicStamping::OFF.with(true, true);
        assert!(all.stamps_all_received() && all.stamps_sent());
        let one_step = NicStamping {
            tx_type: libc::HWTSTAMP_TX_ONESTEP_SYNC,
            ..NicStamping::OFF
        };
        assert_eq!(one_step.with(false, true), one_step, "it stamps sent frames already");
        assert_eq!(NicStamping::OFF.with(false, false), NicStamping::OFF);
        let of_ptp4l = NicStamping {
            rx_filter: libc::HWTSTAMP_FILTER_PTP_V2_EVENT,
            ..NicStamping::OFF
        };
        assert!(of_ptp4l.stamps_received() && !of_ptp4l.stamps_all_received());
        assert_eq!(of_ptp4l.filter_word(), "ptpv2-event");
    }

    #[test]
    fn the_loopback_interface_stamps_nothing_and_says_so() {
        let control = NicStampControl::open("lo").expect("a socket");
        let error = control.read().expect_err("no NIC");
        assert!(error.to_string().contains("lo"), "{error}");
    }
}
