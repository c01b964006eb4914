//! Publishes GOOSE (IEC 61850-8-1) with the retransmission curve.
//!
//! Every control block has its own state. A change of a member at a given second of the run makes a new stNum with sqNum 0, sent
//! at once; repetitions follow after T1, T1, 2 T1, 4 T1 … T0. `t` is the due instant of the change, so that a subscriber on the
//! same clock measures the transfer time. A repetition whose time passed during an overrun is `missed`; a change is never missed
//! but sent late.
//!
//! Hooks: AF_PACKET on one interface, one send(2) a message. Produces: `publish/goose-lateness`, from the due instant of a
//! message to the return of its send call. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod block;
mod config;
mod publisher;
mod series;

pub use config::GooseConfig;
pub(super) use publisher::thread;
