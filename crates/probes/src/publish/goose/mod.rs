//! Publishes GOOSE (IEC 61850-8-1) with the retransmission curve.
//!
//! Every control block has its own state: a change of a member at a stated second of the run makes a new stNum with sqNum 0, sent at
//! once; repetitions follow after T1, T1, 2 T1, 4 T1 … T0. `t` is the instant the change was due, so that a subscriber on the same
//! clock sees how long the change took. A repetition that was slept through is `missed`; a change never is, it is sent late.
//!
//! Hooks: AF_PACKET on one interface, one send(2) a message. Produces: `publish/goose-lateness`, instant a message is due -> its
//! send call returned. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod block;
mod config;
mod publisher;
mod series;

pub use config::GooseConfig;
pub(super) use publisher::thread;
