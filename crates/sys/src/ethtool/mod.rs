//! Facts that the driver of an interface states: those that `ethtool` shows, asked of the kernel directly.
//!
//! The kernel is asked over generic netlink (family `ethtool`, Linux 5.6), and where that family or one of its questions is
//! missing, by `SIOCETHTOOL`. Questions change nothing and need no privilege; only [`change`] changes a [`Setting`]. Every function
//! acts in the calling thread's network namespace.
//!
//! Every answer stands alone: a driver that says nothing of one thing may say all of another. A missing answer is a
//! [`Silence`], and within an answer a `None`: never zero.

mod attribute;
mod bits;
mod change;
mod decode;
mod ioctl;
mod legacy;
mod model;
mod netlink;
#[cfg(test)]
mod tests;

pub(crate) use bits::RX_FILTERS;
pub use change::{Setting, change, setting};
pub use model::{
    Channels, Coalesce, Driver, Duplex, Eee, Features, LinkSettings, Pause, Rings, Rss, Silence, TimeStamping,
};

use crate::error::SysError;
use ioctl::Control;
use netlink::{Family, Request};

/// An answer, or why there is none.
pub type Told<T> = Result<T, Silence>;

/// Everything a driver was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ethtool {
    /// Driver of the interface.
    pub driver: Told<Driver>,
    /// Speed, duplex, negotiation.
    pub link: Told<LinkSettings>,
    /// True if the driver sees a link.
    pub detected: Told<bool>,
    /// How interrupts are held back.
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

/// Asks the driver of the interface `name` for everything.
///
/// An interface that goes away meanwhile leaves the answers that are still open as [`Silence::Gone`].
///
/// # Errors
/// No such interface (lists those there are).
pub fn read(name: &str) -> Result<Ethtool, SysError> {
    crate::link::find(name)?;
    Ok(Asker::new(name).everything())
}

/// Asks the driver of the interface `name` what it can stamp.
///
/// # Errors
/// No such interface (lists those there are).
pub fn stamping(name: &str) -> Result<Told<TimeStamping>, SysError> {
    crate::link::find(name)?;
    Ok(Asker::new(name).stamping())
}

/// Both ways to ask.
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
            // Generic netlink has no such question.
            driver: self.legacy(|control| control.ask(ioctl::GET_DRIVER).map(|octets| legacy::driver(&octets))),
            link: self.ask(Request::LinkModes, decode::link, |control| {
                control.link_settings().map(|octets| legacy::link(&octets))
            }),
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

    fn stamping(&self) -> Told<TimeStamping> {
        self.ask(Request::TimeStamping, decode::stamping, |control| {
            control
                .ask(ioctl::GET_TIME_STAMPING)
                .map(|octets| legacy::stamping(&octets))
        })
    }

    /// Over netlink; where that has no answer, by ioctl: an older kernel has the family without some of its questions, and
    /// says so with the word that also means "the driver does not".
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
