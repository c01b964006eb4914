//! SPDU numbers of senders, as a receiver remembers them.

use super::Datagram;
use crate::hash::{NOTHING, mix_octets};
use crate::{ether, goose, sv};
use core::net::IpAddr;

/// Largest number of datagrams by which one may come behind the newest of its sender: of GOOSE, and of sampled values, of which a switch may hold back a
/// second.
const GOOSE_BEHIND: u32 = 64;
const SV_BEHIND: u32 = 4_096;

/// Most streams and control blocks that are remembered.
const MOST: usize = 1_024;

/// The newest number of each stream and control block, by its sender. Only its creation allocates.
#[derive(Debug)]
pub struct SpduNumbers {
    /// Hash of sender, key and name, and the newest number.
    newest: Vec<(u64, u32)>,
}

impl Default for SpduNumbers {
    fn default() -> Self {
        Self {
            newest: Vec::with_capacity(MOST),
        }
    }
}

impl SpduNumbers {
    /// Takes the number of a datagram. True if its sender was far beyond it already: the datagram was recorded and sent again, or the sender has begun
    /// anew. Each stream and control block is followed by itself, since some publishers count each of them. Nothing is known of a datagram without a
    /// message that can be read, nor of the 1025th stream.
    pub fn is_behind(&mut self, datagram: &Datagram<'_>) -> bool {
        let Some((identity, behind)) = identity(datagram) else {
            return false;
        };
        let number = datagram.number();
        let Some((_, newest)) = self.newest.iter_mut().find(|(known, _)| *known == identity) else {
            if self.newest.len() < MOST {
                self.newest.push((identity, number));
            }
            return false;
        };
        let ahead = number.wrapping_sub(*newest).cast_signed();
        if ahead > 0 {
            *newest = number;
        }
        ahead < 0 && ahead.unsigned_abs() > behind
    }
}

/// Hash of the sender, the key and the name of the first message, and how far its datagrams may be behind.
fn identity(datagram: &Datagram<'_>) -> Option<(u64, u32)> {
    let message = datagram.messages().next()?.ok()?;
    let mut hash = match datagram.source() {
        IpAddr::V4(address) => mix_octets(NOTHING, &address.octets()),
        IpAddr::V6(address) => mix_octets(NOTHING, &address.octets()),
    };
    hash = mix_octets(hash, &datagram.key_id().to_be_bytes());
    if message.ether_type() == ether::SV {
        let frame = sv::Frame::parse(&message).ok()?;
        Some((mix_octets(hash, frame.asdus().next()?.sv_id()), SV_BEHIND))
    } else {
        let frame = goose::Frame::parse(&message).ok()?;
        Some((mix_octets(hash, frame.gocb_ref()), GOOSE_BEHIND))
    }
}
