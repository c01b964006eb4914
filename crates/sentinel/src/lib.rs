//! A watch over relays in service, for years: frames in, alarms and counts out. No file, no socket, no clock.
//!
//! Give every frame to [`Sentinel::take`] with its stamps, tell it of [lost frames](Sentinel::checked) and of the
//! [link](Sentinel::link), and call [`Sentinel::look`] now and then. Take what it found by [`Sentinel::next_found`], the counts
//! by [`Sentinel::close_windows`], and the frames around a problem from its [ring](Sentinel::frames).
//!
//! Memory is bounded whatever happens: the ring by octets, what was found and not yet taken by a number, alarms of one cause by an
//! allowance for each hour. Whatever finds no room is counted.
//!
//! *Unknown is an alarm.* A trip that may have been missed by the watch itself is neither a failure of the relay nor all well:
//! it is an alarm of its own kind ([`AlarmKind::Unknown`]).
#![forbid(unsafe_code)]

mod alarm;
mod block;
mod calendar;
mod desk;
mod file;
mod flood;
mod found;
mod gaps;
mod open;
mod parts;
mod relay;
mod ring;
mod sentinel;
mod specs;
mod stream;
mod watched;

pub use alarm::{Alarm, AlarmKind};
pub use block::WatchedBlock;
pub use calendar::{Month, stamp};
pub use file::{AlarmKeys, Allowed, BlockKeys, File, FileError, RelayKeys, RingKeys, RunKeys, StreamKeys, WakeupKeys};
pub use found::Found;
pub use relay::WatchedRelay;
pub use ring::{Kept, Ring};
pub use sentinel::{Config, Frame, Sentinel, WAKEUP};
pub use stream::WatchedStream;
pub use watched::Watched;
