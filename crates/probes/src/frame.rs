//! A received frame, whichever mechanism of the kernel has it.

use sys::packet::{RxFrame, RxStamp, VlanTag};
use sys::xdp::XdpFrame;
use wire::redundancy::Lan;

/// A received frame in the kernel's buffer.
#[derive(Debug)]
pub enum Frame<'a> {
    /// In a packet socket's ring.
    Packet(RxFrame<'a>),
    /// In the ring of a packet socket in a LAN of a redundant network.
    Lan(Lan, RxFrame<'a>),
    /// In an AF_XDP socket's memory.
    Xdp(XdpFrame<'a>),
}

impl Frame<'_> {
    /// LAN at whose port it came; `None` at a port that is none of two LANs.
    #[inline]
    pub fn lan(&self) -> Option<Lan> {
        match self {
            Self::Lan(lan, _) => Some(*lan),
            Self::Packet(_) | Self::Xdp(_) => None,
        }
    }

    /// The frame from its destination address on, without FCS and without the tag in [`Frame::taken_tag`].
    #[inline]
    pub fn data(&self) -> &[u8] {
        match self {
            Self::Packet(frame) | Self::Lan(_, frame) => frame.data(),
            Self::Xdp(frame) => frame.data(),
        }
    }

    /// Outer VLAN tag, if the kernel removed it from the data.
    #[inline]
    pub fn taken_tag(&self) -> Option<VlanTag> {
        match self {
            Self::Packet(frame) | Self::Lan(_, frame) => frame.vlan(),
            Self::Xdp(_) => None,
        }
    }

    /// Time of reception, if the mechanism reports it.
    #[inline]
    pub fn stamp(&self) -> Option<RxStamp> {
        match self {
            Self::Packet(frame) | Self::Lan(_, frame) => Some(frame.stamp()),
            Self::Xdp(_) => None,
        }
    }

    /// Number of bytes of the frame when it was received.
    pub fn original_len(&self) -> usize {
        match self {
            Self::Packet(frame) | Self::Lan(_, frame) => frame.original_len(),
            Self::Xdp(frame) => frame.data().len(),
        }
    }
}
