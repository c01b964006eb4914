//! Facts that the driver of an interface reports: those that `ethtool` shows, read from the kernel directly.
//!
//! The kernel is queried over generic netlink (family `ethtool`, Linux 5.6), and by `SIOCETHTOOL` if that family or one of its
//! requests is missing. Queries change nothing and need no privilege; only [`change`] changes a [`Setting`]. Every function acts in
//! the calling thread's network namespace.
//!
//! Every answer is independent: a driver may lack one and report another in full. A missing answer is a [`Silence`], a missing part
//! of an answer is a `None`, and neither is ever zero.

mod attribute;
mod bits;
mod change;
mod decode;
mod ioctl;
mod legacy;
mod model;
mod monitor;
mod netlink;
#[cfg(test)]
mod tests;

pub(crate) use bits::RX_FILTERS;
pub use change::{Setting, change, setting};
pub use model::{
    Channels, Coalesce, Driver, Duplex, Eee, Features, LinkSettings, Pause, Rings, Rss, Silence, TimeStamping,
};
pub use monitor::Monitor;

use crate::error::SysError;
use ioctl::Control;
use netlink::{Family, Request};

/// An answer, or the reason why there is none.
pub type Told<T> = Result<T, Silence>;

/// All the facts that a driver was queried for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ethtool {
    /// Driver of the interface.
    pub driver: Told<Driver>,
    /// Speed, duplex, negotiation.
    pub link: Told<LinkSettings>,
    /// True if the driver detects a link.
    pub detected: Told<bool>,
    /// How interrupts are delayed.
    pub coalesce: Told<Coalesce>,
    /// Energy-efficient Ethernet.
    pub eee: Told<Eee>,
    /// Pause frames.
    pub pause: Told<Pause>,
    /// Offloads and other features.
    pub features: Told<Features>,
    /// Lengths of the rings.
    pub rings: Told<Rings>,
    /// Numbers of queues.
    pub channels: Told<Channels>,
    /// How received frames are spread over queues.
    pub rss: Told<Rss>,
    /// Time stamps that the interface can make.
    pub stamping: Told<TimeStamping>,
}

/// Queries the driver of the interface `name` for everything.
///
/// If the interface disappears meanwhile, the remaining answers are [`Silence::Gone`].
///
/// # Errors
/// There is no such interface (the error lists the existing ones).
pub fn read(name: &str) -> Result<Ethtool, SysError> {
    crate::link::find(name)?;
    Ok(Asker::new(name).everything())
}

/// Queries the time stamps that the interface `name` can make.
///
/// # Errors
/// There is no such interface (the error lists the existing ones).
pub fn stamping(name: &str) -> Result<Told<TimeStamping>, SysError> {
    crate::link::find(name)?;
    Ok(Asker::new(name).stamping())
}

/// Rate of the link of the interface `name` in Mbit/s; `None` if its driver does not report it.
pub fn speed_mbit(name: &str) -> Option<u32> {
    Asker::new(name).link().ok()?.speed_mbit
}

/// Both kinds of query.
struct Asker<'a> {
    family: Told<Family>,
    control: Told<Control>,
    name: &'a str,
}

impl<'a> Asker<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            family: Family::open(),
            control: Control::open(name),
            name,
        }
    }
}

impl Asker<'_> {
    fn everything(&self) -> Ethtool {
        Ethtool {
            // Generic netlink has no such request.
            driver: self.legacy(|control| control.ask(ioctl::GET_DRIVER).map(|octets| legacy::driver(&octets))),
            link: self.link(),
            detected: self
                .ask(Request::LinkState, decode::detected, |control| {
                    control.ask(ioctl::GET_LINK).map(|octets| legacy::detected(&octets))
                })
                .and_then(|detected| detected.ok_or(Silence::Unsupported)),
            coalesce: self.ask(Request::Coalesce, decode::coalesce, |control| {
                control.ask(ioctl::GET_COALESCE).map(|octets| legacy::coalesce(&octets))
            }),
            eee: self.ask(Request::Eee, decode::eee, |control| {
                control.ask(ioctl::GET_EEE).map(|octets| legacy::eee(&octets))
            }),
            pause: self.ask(Request::Pause, decode::pause, |control| {
                control.ask(ioctl::GET_PAUSE).map(|octets| legacy::pause(&octets))
            }),
            features: self.ask(Request::Features, decode::features, |control| {
                let names = control.feature_names()?;
                control
                    .features(names.len())
                    .map(|octets| legacy::features(&names, &octets))
            }),
            rings: self.ask(Request::Rings, decode::rings, |control| {
                control.ask(ioctl::GET_RINGS).map(|octets| legacy::rings(&octets))
            }),
            channels: self.ask(Request::Channels, decode::channels, |control| {
                control.ask(ioctl::GET_CHANNELS).map(|octets| legacy::channels(&octets))
            }),
            rss: self.ask(Request::Rss, decode::rss, |control| {
                control.ask(ioctl::GET_RSS_TABLE).map(|octets| legacy::rss(&octets))
            }),
            stamping: self.stamping(),
        }
    }

    fn link(&self) -> Told<LinkSettings> {
        self.ask(Request::LinkModes, decode::link, |control| {
            control.link_settings().map(|octets| legacy::link(&octets))
        })
    }

    fn stamping(&self) -> Told<TimeStamping> {
        self.ask(Request::TimeStamping, decode::stamping, |control| {
            control
                .ask(ioctl::GET_TIME_STAMPING)
                .map(|octets| legacy::stamping(&octets))
        })
    }

    /// Queries over netlink, and by ioctl if that gives no answer: an older kernel may have the family without some requests, and
    /// then returns the same error as for a driver without support.
    fn ask<T>(&self, question: Request, decode: fn(&[u8]) -> T, legacy: impl Fn(&Control) -> Told<T>) -> Told<T> {
        let answer = match &self.family {
            Ok(family) => family.ask(question, self.name).map(|octets| decode(&octets)),
            Err(silence) => Err(silence.clone()),
        };
        match answer {
            Err(Silence::Unsupported | Silence::NotInKernel) => self.legacy(legacy),
            answer => answer,
        }
    }

    fn legacy<T>(&self, ask: impl Fn(&Control) -> Told<T>) -> Told<T> {
        match &self.control {
            Ok(control) => ask(control),
            Err(silence) => Err(silence.clone()),
        }
    }
}
