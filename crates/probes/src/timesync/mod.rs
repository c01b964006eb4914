//! Watches how this machine's clock is kept, along a run.
//!
//! Asks `ptp4l` over its UNIX socket (IEEE 1588 management messages, `GET` only), the kernel (`adjtimex`), the network
//! card's clock where `ptp4l` steers that, and chrony. Produces `clock/ptp-offset` (distance from the master; magnitudes,
//! since a histogram has no place below zero: the signed extremes are in the event at the end), `clock/ptp-delay` and
//! `clock/phc-offset`, and events: `time-sync` for what changed, `clock-doubt` and `clock-good` for when one-way figures can
//! be trusted. Needs: the right to write to the daemon's socket, which is root's.
//!
//! An ordinary thread, of normal priority, on the CPUs of the recorder.

mod client;
mod facts;
mod judge;
mod series;
mod system;
mod watcher;

use crate::error::ProbeError;
use client::Client;
use model::EventKind;
use run::{Recorder, Stop};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;
use watcher::Watcher;

/// How the clock is to be watched.
#[derive(Debug, Clone)]
pub struct TimeSyncConfig {
    /// `ptp4l`'s socket; `None` looks in the usual places.
    pub socket: Option<PathBuf>,
    /// Its domain; `None` finds out.
    pub domain: Option<u8>,
    /// Without a `ptp4l` that answers, do not go on.
    pub required: bool,
    /// This host is the grandmaster that others follow.
    pub grandmaster: bool,
    /// Time between looks.
    pub interval_ns: u64,
    /// Distance from the master above which the clock is in doubt.
    pub limit_ns: u64,
}

/// Largest good distance when nothing is stated: SEAPATH's ptp4l steps its clock at this one.
pub const DEFAULT_LIMIT_NS: u64 = 10_000;

impl Default for TimeSyncConfig {
    /// The `ptp4l` in the usual place, once a second.
    fn default() -> Self {
        Self {
            socket: None,
            domain: None,
            required: false,
            grandmaster: false,
            interval_ns: 1_000_000_000,
            limit_ns: DEFAULT_LIMIT_NS,
        }
    }
}

/// A watch under way; ended by [`TimeSync::stop`], or when it is dropped.
#[derive(Debug)]
pub struct TimeSync {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl TimeSync {
    /// Has a first look, and goes on looking until it is stopped.
    ///
    /// # Errors
    /// There is no `ptp4l` that can be asked, and one is required.
    pub fn start(config: &TimeSyncConfig, recorder: &mut Recorder) -> Result<Self, ProbeError> {
        let events = recorder.events();
        let found = Client::find(config.socket.as_deref(), config.domain);
        let ptp = match found {
            Ok(found) => Some(found),
            Err(error) if config.required => return Err(ProbeError::Unsynchronised(error.to_string())),
            Err(error) => {
                events.write(EventKind::TimeSync, format!("PTP is not watched: {error}"));
                None
            }
        };
        let mut watcher = Watcher::new(config, ptp, recorder, events);
        recorder.add_facts(watcher.facts());
        watcher.look();
        let stop = Stop::new();
        let told = stop.clone();
        let every = Duration::from_nanos(config.interval_ns.max(10_000_000));
        let thread = std::thread::spawn(move || {
            sys::thread::set_name("triptime-clock");
            while !told.requested() {
                std::thread::park_timeout(every);
                watcher.look();
            }
            watcher.end();
        });
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Has a last look and ends.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop.request();
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Drop for TimeSync {
    fn drop(&mut self) {
        self.end();
    }
}
