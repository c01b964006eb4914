//! The interface to the kernel: clocks, waiting, real-time threads, locked memory, privileges, packet sockets, AF_XDP sockets,
//! network namespaces, links and their drivers' reports.
//!
//! Everything here acts for the calling thread or in the calling thread's network namespace unless it says otherwise.
//! A refusal is a [`SysError`] that names the operation, the kernel's answer, and the remedy.

// The only crate of the workspace that may use unsafe code: packet rings, scheduler calls and memory locking have no safe wrapper.
// Every block says why it is sound, and nothing unsafe is part of the public interface.
#![allow(unsafe_code)]

pub mod alloc;
pub mod bell;
mod bpf;
pub mod clock;
pub mod cycles;
mod error;
pub mod ethtool;
pub mod functions;
pub mod hwtstamp;
pub mod kmsg;
#[cfg(test)]
mod layout;
pub mod link;
pub mod mapping;
pub mod memory;
pub mod netns;
pub mod packet;
pub mod perf;
pub mod phc;
pub mod privilege;
pub mod readout;
mod sockopt;
pub mod swap;
pub mod tap;
pub mod thread;
pub mod timex;
pub mod wait;
pub mod xdp;

pub use error::{ErrorKind, SysError};
