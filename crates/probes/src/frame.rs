//! A received frame, whichever mechanism of the kernel has it.

use sys::packet::{RxFrame, RxStamp, VlanTag};
use sys::xdp::XdpFrame;

/// A received frame in the kernel's buffer.
#[derive(Debug)]
pub enum Frame<'a> {
    /// In a packet socket's ring.
    Packet(RxFrame<'a>),
    /// In an AF_XDP socket's memory.
    Xdp(XdpFrame<'a>),
}

impl Frame<'_> {
    /// The frame from its destination address on, without FCS and without the tag in [`Frame::taken_tag`].
    #[inline]
    pub fn data(&self) -> &[u8] {
        match self {
            Self::Packet(frame) => frame.data(),
            Self::Xdp(frame) => frame.data(),
        }
    }

    /// Outer VLAN tag, if the kernel removed it from the data.
    #[inline]
    pub fn taken_tag(&self) -> Option<VlanTag> {
        match self {
            Self::Packet(frame) => frame.vlan(),
            Self::Xdp(_) => None,
        }
    }

    /// Time of reception, if the mechanism reports it.
    #[inline]
    pub fn stamp(&self) -> Option<RxStamp> {
        match self {
            Self::Packet(frame) => Some(frame.stamp()),
            Self::Xdp(_) => None,
        }
    }

    /// Number of bytes of the frame when it was received.
    pub fn original_len(&self) -> usize {
        match self {
            Self::Packet(frame) => frame.original_len(),
            Self::Xdp(frame) => frame.data().len(),
        }
    }
}
