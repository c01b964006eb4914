//! Adds the RCT or the HSR tag to a frame, and changes it from frame to frame.

use super::{LAN_A, Lan, Protocol, RCT, Redundancy, SUFFIX};
use crate::ether::{EthernetView, HEADER, HSR, TAG};
use crate::frame_error::FrameError;

/// Octets of a frame of least length, without VLAN tags and frame check sequence.
const LEAST_FRAME: usize = 60;
/// Greatest size that 12 bits state.
const MOST_SIZE: usize = 0x0fff;

/// Error: a frame cannot be sent redundantly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// The frame has no whole header.
    #[error(transparent)]
    Header(#[from] FrameError),
    /// The frame has an RCT or an HSR tag.
    #[error("the frame has an {0} mark already")]
    Present(&'static str),
    /// The size does not fit in 12 bits.
    #[error("{0} octets after the EtherType: the size of PRP and HSR goes up to 4095")]
    TooLong(usize),
}

/// The changing fields of an RCT or an HSR tag in a frame made by [`add`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patch {
    protocol: Protocol,
    sequence_at: usize,
    path_at: usize,
}

impl Patch {
    /// Sets the sequence number. Does nothing to a frame shorter than the one that was made.
    #[inline]
    pub fn set_sequence(&self, frame: &mut [u8], sequence: u16) {
        if let Some(place) = frame.get_mut(self.sequence_at..self.sequence_at + 2) {
            place.copy_from_slice(&sequence.to_be_bytes());
        }
    }

    /// Marks the frame as the copy for `lan`; the number of an HSR network becomes 0.
    #[inline]
    pub fn set_lan(&self, frame: &mut [u8], lan: Lan) {
        if let Some(octet) = frame.get_mut(self.path_at) {
            *octet = (*octet & 0x0f) | (path(self.protocol, lan) << 4);
        }
    }
}

const fn path(protocol: Protocol, lan: Lan) -> u8 {
    let first = match protocol {
        Protocol::Prp => LAN_A,
        Protocol::Hsr => 0,
    };
    first + lan as u8
}

/// Makes `frame` the copy for `lan` with this sequence number. Short frames are padded before: a bridge that removes a VLAN tag
/// does not pad them after their RCT.
///
/// # Errors
/// The frame has no whole header, has an RCT or an HSR tag, or is too long.
pub fn add(frame: &mut Vec<u8>, protocol: Protocol, lan: Lan, sequence: u16) -> Result<Patch, AddError> {
    let ethernet = EthernetView::parse(frame)?;
    if let Some(found) = Redundancy::of(&ethernet) {
        return Err(AddError::Present(found.protocol.word()));
    }
    if ethernet.ether_type() == HSR || !ethernet.hsr_fields().is_empty() {
        return Err(AddError::Present(Protocol::Hsr.word()));
    }
    let payload_at = ethernet.payload_offset();
    let tags = (payload_at - HEADER) / TAG;
    let padded = frame.len().max(LEAST_FRAME + tags * TAG);
    let size = padded - payload_at + RCT;
    if size > MOST_SIZE {
        return Err(AddError::TooLong(size));
    }
    frame.resize(padded, 0);
    let path_and_size = (u16::from(path(protocol, lan)) << 12 | size as u16).to_be_bytes();
    Ok(match protocol {
        Protocol::Prp => {
            frame.extend_from_slice(&sequence.to_be_bytes());
            frame.extend_from_slice(&path_and_size);
            frame.extend_from_slice(&SUFFIX.to_be_bytes());
            Patch {
                protocol,
                sequence_at: padded,
                path_at: padded + 2,
            }
        }
        Protocol::Hsr => {
            let at = payload_at - 2;
            // No memory is allocated for a frame that has room: measured threads mark frames.
            let [a, b, c] = [HSR.to_be_bytes(), path_and_size, sequence.to_be_bytes()];
            frame.splice(at..at, [a[0], a[1], b[0], b[1], c[0], c[1]]);
            Patch {
                protocol,
                sequence_at: at + 4,
                path_at: at + 2,
            }
        }
    })
}
