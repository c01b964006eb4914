//! The older interface to drivers: `SIOCETHTOOL`.

use super::model::Silence;
use crate::error::last_errno;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::os::fd::{AsRawFd, OwnedFd};

/// `SIOCETHTOOL` (linux/sockios.h).
const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// Commands whose structure has a fixed size (linux/ethtool.h).
pub(super) const GET_DRIVER: u32 = 0x03;
pub(super) const GET_LINK: u32 = 0x0a;
pub(super) const GET_COALESCE: u32 = 0x0e;
pub(super) const GET_RINGS: u32 = 0x10;
pub(super) const GET_PAUSE: u32 = 0x12;
pub(super) const GET_RSS_TABLE: u32 = 0x38;
pub(super) const GET_CHANNELS: u32 = 0x3c;
pub(super) const GET_TIME_STAMPING: u32 = 0x41;
pub(super) const GET_EEE: u32 = 0x44;
/// Commands whose structure has a size that must be queried first.
const GET_STRINGS: u32 = 0x1b;
const GET_STRING_COUNTS: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const GET_LINK_SETTINGS: u32 = 0x4c;

/// The set of feature names, `ETH_SS_FEATURES`.
const FEATURES: u32 = 4;
/// `ETH_GSTRING_LEN`, and the size of `struct ethtool_gstrings` before the strings.
const STRING: usize = 32;
const STRINGS_HEADER: usize = 12;

/// Size of the answer buffer: the largest fixed structure has 196 bytes, link settings at most 48 + 3 * 127 * 4, and strings are
/// requested only if they fit.
const ROOM: usize = 8192;

/// A socket for the queries, and the interface.
pub(super) struct Control {
    socket: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
}

impl Control {
    pub(super) fn open(name: &str) -> Result<Self, Silence> {
        let socket =
            socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).map_err(Silence::of)?;
        let mut octets = [0; libc::IFNAMSIZ];
        for (to, from) in octets.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
            *to = from.cast_signed();
        }
        Ok(Self { socket, name: octets })
    }

    /// Returns the structure of a command as the kernel filled it in.
    pub(super) fn ask(&self, command: u32) -> Result<Vec<u8>, Silence> {
        let mut room = room(&[command]);
        self.call(&mut room).map(|()| room)
    }

    /// `struct ethtool_link_settings`. The kernel first returns the number of words in its masks, with a minus sign.
    pub(super) fn link_settings(&self) -> Result<Vec<u8>, Silence> {
        const WORDS: usize = 15;
        let mut room = room(&[GET_LINK_SETTINGS]);
        self.call(&mut room)?;
        let words = room[WORDS].cast_signed();
        if words >= 0 {
            return Ok(room);
        }
        room[..4].copy_from_slice(&GET_LINK_SETTINGS.to_ne_bytes());
        room[WORDS] = words.wrapping_neg().cast_unsigned();
        self.call(&mut room).map(|()| room)
    }

    /// Names of all features of this kernel, in the order of their numbers.
    pub(super) fn feature_names(&self) -> Result<Vec<String>, Silence> {
        // The mask of the wanted sets is a u64 after a reserved word; the counts follow it.
        let mut counts = room(&[GET_STRING_COUNTS, 0, 1 << FEATURES, 0]);
        self.call(&mut counts)?;
        let count = counts.get(16..).and_then(|octets| octets.first_chunk());
        let count = count.map_or(0, |count| u32::from_ne_bytes(*count)) as usize;
        if count == 0 || STRINGS_HEADER + count * STRING > ROOM {
            return Err(Silence::Refused(Errno::PROTO));
        }
        let mut strings = room(&[GET_STRINGS, FEATURES]);
        self.call(&mut strings)?;
        let (strings, _) = strings[STRINGS_HEADER..].as_chunks::<STRING>();
        Ok(strings
            .iter()
            .take(count)
            .map(|string| crate::link::text(string))
            .collect())
    }

    /// `struct ethtool_gfeatures` for this many features.
    pub(super) fn features(&self, count: usize) -> Result<Vec<u8>, Silence> {
        let blocks = u32::try_from(count.div_ceil(32)).unwrap_or(0);
        let mut room = room(&[GET_FEATURES, blocks]);
        self.call(&mut room).map(|()| room)
    }

    fn call(&self, room: &mut [u8]) -> Result<(), Silence> {
        let mut request = libc::ifreq {
            ifr_name: self.name,
            ifr_ifru: libc::__c_anonymous_ifr_ifru {
                ifru_data: room.as_mut_ptr().cast(),
            },
        };
        // SAFETY: the request names an interface in a terminated array and points to ROOM bytes that outlive the call. The kernel
        // writes the structure of the command into them. All structures are shorter than that, and the two with a length given by
        // the request (strings, features) were requested only as far as they fit.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
        if done == 0 {
            Ok(())
        } else {
            Err(Silence::of(last_errno()))
        }
    }
}

/// An answer buffer that begins with the first words of the request.
fn room(words: &[u32]) -> Vec<u8> {
    let mut room: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    room.resize(ROOM, 0);
    room
}
