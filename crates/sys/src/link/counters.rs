//! Counters of an interface: received frames, and lost frames by the place of their loss.

use super::LinkInfo;
use super::backlog::Backlog;
use super::parse::{self, HEADER_OCTETS};
use super::request::{open_route, request, take};
use crate::error::{SysError, errno_of};
use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NlasIterator};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::LinkMessage;
use netlink_sys::Socket;
use rustix::io::Errno;
use std::sync::{Arc, Mutex, PoisonError};

/// Received frames of an interface since it was created (struct rtnl_link_stats64, include/uapi/linux/if_link.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStatistics {
    /// Frames received without error.
    pub received: u64,
    /// Frames that the NIC had no room for: in its own memory, or in the ring that the driver fills.
    pub missed: u64,
    /// Frames received damaged: wrong check sequence, length or alignment.
    pub damaged: u64,
    /// Frames that the kernel dropped after the driver: its queue was full, they did not fit, or no protocol of this host accepts
    /// them. The last group includes frames that a packet socket did get: every frame whose VLAN tag belongs to no VLAN interface.
    pub dropped: u64,
    /// Frames that a queue after the drivers had no room for, on all interfaces of the host together; `None`: unknown.
    pub no_room: Option<u64>,
}

impl LinkStatistics {
    /// The counts since `before`. A counter that the interface restarted counts from 0.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        Self {
            received: since(self.received, before.received),
            missed: since(self.missed, before.missed),
            damaged: since(self.damaged, before.damaged),
            dropped: since(self.dropped, before.dropped),
            no_room: self.no_room.zip(before.no_room).map(|(now, before)| since(now, before)),
        }
    }

    /// The counts of two interfaces together. The queues after the drivers serve both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            received: self.received + other.received,
            missed: self.missed + other.missed,
            damaged: self.damaged + other.damaged,
            dropped: self.dropped + other.dropped,
            no_room: self.no_room.max(other.no_room),
        }
    }

    /// Of the frames counted by [`LinkStatistics::since`], those that were lost between the driver and the sockets. `dropped` alone
    /// is no evidence of a loss: with tagged streams it includes every received frame. The result is an upper bound, since the
    /// queues serve all interfaces; 0 if the host does not report its queues.
    pub fn lost_behind_driver(self) -> u64 {
        self.no_room.map_or(0, |frames| frames.min(self.dropped))
    }
}

/// The counters of one interface; they can also be read from a thread in another network namespace.
pub struct LinkCounters {
    /// One exchange at a time.
    socket: Arc<Mutex<Socket>>,
    /// The request, and a buffer for the answer: reading allocates nothing.
    request: Vec<u8>,
    answer: Box<[u8]>,
    backlog: Backlog,
    name: Arc<str>,
}

/// Bytes of the longest answer: that of a NIC with hundreds of virtual functions.
const ANSWER_OCTETS: usize = 64 << 10;

impl std::fmt::Debug for LinkCounters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkCounters")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl LinkCounters {
    /// Opens the counters of interface number `index` in the calling thread's network namespace.
    pub(crate) fn open(index: u32, name: &Arc<str>) -> Result<Self, SysError> {
        let socket =
            open_route().map_err(|errno| SysError::refused("read the counters of", Arc::clone(name), errno))?;
        let mut message = LinkMessage::default();
        message.header.index = index;
        Ok(Self {
            socket: Arc::new(Mutex::new(socket)),
            request: request(RouteNetlinkMessage::GetLink(message), NLM_F_REQUEST | NLM_F_ACK),
            answer: vec![0; ANSWER_OCTETS].into(),
            backlog: Backlog::open(),
            name: Arc::clone(name),
        })
    }

    /// Reads the counters. Allocates nothing.
    ///
    /// # Errors
    /// The interface is gone, or the kernel refused for another reason.
    pub fn read(&mut self) -> Result<LinkStatistics, SysError> {
        let name = Arc::clone(&self.name);
        let counted = self
            .ask(statistics)
            .map_err(|errno| SysError::refused("read the counters of", name, errno))?;
        Ok(LinkStatistics {
            no_room: self.backlog.read(&mut self.answer),
            ..counted.unwrap_or_default()
        })
    }

    /// The present state of the interface; `None` if it is gone, or the kernel does not report it.
    pub fn link(&mut self) -> Option<LinkInfo> {
        self.ask(parse::link).ok().flatten()
    }

    /// The same counters for another thread. A reading waits for that of another thread.
    pub(crate) fn again(&self) -> Self {
        Self {
            socket: Arc::clone(&self.socket),
            request: self.request.clone(),
            answer: vec![0; ANSWER_OCTETS].into(),
            backlog: Backlog::open(),
            name: Arc::clone(&self.name),
        }
    }

    fn ask<T>(&mut self, of: impl Fn(&[u8]) -> Option<T>) -> Result<Option<T>, Errno> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        socket.send(&self.request, 0).map_err(|error| errno_of(&error))?;
        let mut read = None;
        let mut consistent = true;
        loop {
            let mut room = &mut self.answer[..];
            let octets = match socket.recv(&mut room, 0) {
                Ok(octets) => octets,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(errno_of(&error)),
            };
            let mut each = |payload: &[u8]| {
                if read.is_none() {
                    read = of(payload);
                }
            };
            if take(&self.answer[..octets], &mut consistent, &mut each)? {
                return Ok(read);
            }
        }
    }
}

/// Counters of `struct rtnl_link_stats64` by their position (include/uapi/linux/if_link.h).
mod place {
    pub(super) const RX_PACKETS: usize = 0;
    pub(super) const RX_DROPPED: usize = 6;
    /// Length, CRC and frame errors.
    pub(super) const RX_DAMAGED: [usize; 3] = [10, 12, 13];
    /// Over, FIFO and missed errors.
    pub(super) const RX_MISSED: [usize; 3] = [11, 14, 15];
}

fn statistics(payload: &[u8]) -> Option<LinkStatistics> {
    let (_, attributes) = payload.split_at_checked(HEADER_OCTETS)?;
    let counted = NlasIterator::new(attributes)
        .flatten()
        .find(|attribute| attribute.kind() == libc::IFLA_STATS64)?;
    let (words, _) = counted.value().as_chunks::<8>();
    let counter = |place: usize| words.get(place).map_or(0, |word| u64::from_ne_bytes(*word));
    Some(LinkStatistics {
        received: counter(place::RX_PACKETS),
        missed: place::RX_MISSED.map(counter).iter().sum(),
        damaged: place::RX_DAMAGED.map(counter).iter().sum(),
        dropped: counter(place::RX_DROPPED),
        no_room: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::attribute;
    use super::{LinkStatistics, statistics};

    #[test]
    fn counters_are_read_by_their_place() {
        let words: Vec<u8> = (0..24_u64).flat_map(|place| (1_u64 << place).to_ne_bytes()).collect();
        let mut message = vec![0; 16];
        message.extend(attribute(libc::IFLA_STATS64, &words));
        let expected = LinkStatistics {
            received: 1,
            missed: 1 << 11 | 1 << 14 | 1 << 15,
            damaged: 1 << 10 | 1 << 12 | 1 << 13,
            dropped: 1 << 6,
            no_room: None,
        };
        assert_eq!(statistics(&message), Some(expected));
        assert_eq!(statistics(&message[..12]), None);
    }

    #[test]
    fn counters_that_began_anew_count_from_nothing() {
        let before = LinkStatistics {
            received: 100,
            missed: 5,
            damaged: 0,
            dropped: 7,
            no_room: Some(3),
        };
        let now = LinkStatistics {
            received: 160,
            missed: 2,
            damaged: 1,
            dropped: 7,
            no_room: None,
        };
        let since = now.since(before);
        assert_eq!(
            (since.received, since.missed, since.damaged, since.dropped),
            (60, 2, 1, 0)
        );
        assert_eq!(since.no_room, None, "it can no longer be read");
    }

    #[test]
    fn what_nobody_but_a_packet_socket_took_is_not_lost() {
        let lost = |dropped, no_room| {
            let counted = LinkStatistics {
                received: 59_862,
                dropped,
                no_room,
                ..LinkStatistics::default()
            };
            counted.lost_behind_driver()
        };
        assert_eq!(lost(59_862, Some(0)), 0);
        assert_eq!(lost(59_862, None), 0, "unknown");
        assert_eq!(lost(59_872, Some(10)), 10);
        assert_eq!(lost(4, Some(10)), 4, "the others were another interface's");
    }
}
