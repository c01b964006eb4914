//! Layer-2 frames from the ingress of an interface into memory of ours: a program at its tcx hook (Linux 6.6) copies them into a map
//! that is mapped here.
//!
//! On veth it is the shortest way into an application: no socket is looked up, no packet socket filters, locks and wakes
//! (docs/journal, engines of the round trip). It works with every driver, for all receive queues together.
//!
//! What is different from a [packet port](crate::packet):
//! - Frames taken end here: neither the host's stack nor a bridge sees them.
//! - There are no receive stamps, and nobody is woken: who waits asleep looks every [`NAP_NS`].
//! - It only receives.

mod program;
mod ring;

pub use ring::TcxFrame;

use crate::bpf;
use crate::error::SysError;
use crate::link;
use crate::wait::sleep_until;
use ring::Ring;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// How long a sleep between two looks is.
pub const NAP_NS: i64 = 100_000;

/// How a receiver is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcxOptions {
    /// EtherTypes to take, behind no tag or the outermost one; at least one, at most
    /// [`MOST_ETHERTYPES`](crate::packet::MOST_ETHERTYPES).
    pub ethertypes: Vec<u16>,
    /// Frames that can wait at least.
    pub ring_frames: usize,
    /// Longest frame in octets without FCS; longer ones are cut, see [`TcxFrame::original_len`].
    pub frame_bytes: usize,
}

/// An open receiver. Its program is detached when it is dropped, and by the kernel when the process ends.
#[derive(Debug)]
pub struct TcxPort {
    ring: Ring,
    _link: OwnedFd,
    name: Arc<str>,
    mac: [u8; 6],
    mtu: u32,
    /// Frames without room that were told.
    told: u64,
}

impl TcxPort {
    /// Opens a receiver on `interface`.
    ///
    /// # Errors
    /// No such interface (lists those there are), not Ethernet, down, a kernel without tcx, `CAP_NET_ADMIN` or `CAP_BPF` missing,
    /// options that cannot be, or what the kernel refused.
    pub fn open(interface: &str, options: &TcxOptions) -> Result<Self, SysError> {
        let link = link::find_ready(interface)?;
        let name: Arc<str> = link.name.into();
        let ring = Ring::new(&name, options.ring_frames, options.frame_bytes)?;
        let code = program::assemble(&options.ethertypes, &ring.shape())?;
        let program = bpf::load(bpf::PROGRAM_TYPE_TC, &code).map_err(|errno| match errno {
            // Before Linux 5.12 an exchange with memory is refused already, and that says nothing to anybody.
            Errno::INVAL if !has_hook(link.index) => no_hook(&name),
            _ => bpf::refused("load a tcx program for", &name, errno),
        })?;
        let attached = bpf::attach(&program, link.index, bpf::ATTACH_TCX_INGRESS, bpf::BEFORE);
        let attached = attached.map_err(|errno| match errno {
            Errno::INVAL => no_hook(&name),
            _ => bpf::refused("attach a tcx program to", &name, errno),
        })?;
        Ok(Self {
            ring,
            _link: attached,
            name,
            mac: link.mac,
            mtu: link.mtu,
            told: 0,
        })
    }

    /// The interface's hardware address when the receiver was opened.
    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// The interface's largest payload when the receiver was opened, in octets, without the 14 of the Ethernet header.
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        &self.name
    }

    /// How many frames can wait.
    pub fn ring_frames(&self) -> usize {
        self.ring.room()
    }

    /// The oldest received frame not yet taken: one read of memory. Its place is free when the frame is dropped.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows the port, which no Iterator's item can"
    )]
    pub fn next(&mut self) -> Option<TcxFrame<'_>> {
        self.ring.next()
    }

    /// Sleeps until a frame is there, at most `timeout_ns`; returns at once when one is already. False when the time is over.
    pub fn wait(&self, timeout_ns: u64) -> bool {
        let begin = crate::clock::monotonic();
        let end = begin + i64::try_from(timeout_ns).unwrap_or(i64::MAX / 2);
        loop {
            if self.ring.has_one() {
                return true;
            }
            let now = crate::clock::monotonic();
            if now >= end {
                return false;
            }
            sleep_until(end.min(now + NAP_NS));
        }
    }

    /// Frames that found no room since this was last asked.
    pub fn dropped(&mut self) -> u64 {
        let now = self.ring.dropped();
        now - std::mem::replace(&mut self.told, now)
    }
}

/// What the program must know of the ring.
struct Shape {
    control: i32,
    slots: i32,
    /// Slots are a power of two; this is one less.
    mask: u32,
    /// Frames that may wait, so that every CPU can write one more.
    room: u32,
    /// Octets of a frame that a slot holds.
    frame_bytes: u32,
}

impl Shape {
    fn of(control: &OwnedFd, slots: &OwnedFd, mask: u32, room: u32, frame_bytes: u32) -> Self {
        Self {
            control: control.as_raw_fd(),
            slots: slots.as_raw_fd(),
            mask,
            room,
            frame_bytes,
        }
    }
}

fn no_hook(name: &str) -> SysError {
    SysError::MissingFeature {
        what: format!("attach a tcx program to {name}"),
        needs: "tcx, Linux 6.6 or newer with CONFIG_NET_XGRESS",
    }
}

/// Whether the interface has the hook: a program that lets every frame go on can be attached, and is gone again.
fn has_hook(interface: u32) -> bool {
    let attached = bpf::load(bpf::PROGRAM_TYPE_TC, &program::all_go_on())
        .and_then(|program| bpf::attach(&program, interface, bpf::ATTACH_TCX_INGRESS, bpf::BEFORE));
    attached.err() != Some(Errno::INVAL)
}
