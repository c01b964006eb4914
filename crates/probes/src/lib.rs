//! The probes. Each measures one line of the trip-time budget and passes its samples to the recorder.
//!
//! Each probe is a folder with the same parts: `mod.rs` (configuration, check of needs, start), the measuring thread, and
//! `series.rs` (names and meaning of its series). Measuring threads follow three rules after their warm-up: they allocate no
//! memory, take no lock, and make no system call except the one they measure.

#![forbid(unsafe_code)]

mod captured;
pub mod copier;
mod cpus;
mod credit;
mod departures;
mod error;
mod found;
mod frame;
mod framing;
mod hot;
mod keys;
pub mod listen;
mod messages;
mod need;
mod nic;
pub mod noise;
mod notice;
pub mod observe;
pub mod options;
pub mod ping_pong;
mod port;
mod probe;
pub mod publish;
mod reception;
mod redundant;
pub mod reflect;
pub mod relay;
pub mod replay;
mod rest;
mod second;
mod sender;
pub mod subscribe;
pub mod talk;
pub mod timesync;
pub mod trace;
pub mod trip;
pub mod wakeup;
pub mod watch;

pub use cpus::{CpuProbe, OnCpus};
pub use error::ProbeError;
pub use frame::Frame;
pub use framing::Framing;
pub use hot::Running;
pub use keys::read_keys;
pub use need::{Machine, Need};
pub use nic::{Directions, NicStamps, ReceiveStamps, Stamps};
pub use port::Port;
pub use probe::{About, Probe};
pub use reception::{Listen, Listening, Overheard, Receive};
pub use redundant::{LanFault, Numbers, Pair};
pub use rest::Rest;
pub use sender::SenderEnd;

/// The example probe of the guide "adding a probe".
#[cfg(test)]
#[path = "../../../docs/adding-a-probe/turn.rs"]
pub mod turn;

/// Every probe, in the order of the command line.
pub static LIST: [&About; 14] = [
    &wakeup::ABOUT,
    &noise::ABOUT,
    &reflect::ABOUT,
    &talk::ABOUT,
    &listen::ABOUT,
    &publish::ABOUT,
    &replay::ABOUT,
    &subscribe::ABOUT,
    &trace::ABOUT,
    &relay::ABOUT,
    &trip::ABOUT,
    &ping_pong::ABOUT,
    &watch::ABOUT,
    &observe::ABOUT,
];
