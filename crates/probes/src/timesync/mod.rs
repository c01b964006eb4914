//! Watches the synchronisation of this machine's clock during a run.
//!
//! Queries `ptp4l` over its UNIX socket (IEEE 1588 management messages, `GET` only), the kernel (`adjtimex`), the network card's
//! clock if `ptp4l` steers it, and chrony. Produces `clock/ptp-offset` (distance from the master, as magnitudes, since a
//! histogram has no place below zero; the signed extremes are in the event at the end), `clock/ptp-delay` and `clock/phc-offset`.
//! Also writes events: `time-sync` for changes, `clock-doubt` and `clock-good` for the times at which one-way figures can be
//! trusted. Needs: the right to write to the daemon's socket, which only root has.
//!
//! Runs as an ordinary thread, with normal priority, on the CPUs of the recorder.

mod client;
mod facts;
mod judge;
mod series;
mod system;
mod view;
mod watcher;

use crate::error::ProbeError;
use client::Client;
use model::EventKind;
use run::{Recorder, Stop};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;
pub use view::PtpView;
use watcher::Watcher;

/// Settings of the watch over the clock.
#[derive(Debug, Clone)]
pub struct TimeSyncConfig {
    /// Path of `ptp4l`'s socket; `None` tries the usual paths.
    pub socket: Option<PathBuf>,
    /// PTP domain; `None` tries all.
    pub domain: Option<u8>,
    /// True to fail if no `ptp4l` answers.
    pub required: bool,
    /// True if this host is the grandmaster that others follow.
    pub grandmaster: bool,
    /// Time between two readings.
    pub interval_ns: u64,
    /// Distance from the master above which the clock is in doubt.
    pub limit_ns: u64,
}

/// Largest good distance if none is given: SEAPATH's ptp4l steps its clock at this value.
pub const DEFAULT_LIMIT_NS: u64 = 10_000;

impl Default for TimeSyncConfig {
    /// The `ptp4l` at the usual path, once a second.
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

impl TimeSyncConfig {
    /// Whatever keeps this clock, which is stated to be within this many ns of others.
    pub fn within(limit_ns: u64) -> Self {
        Self {
            limit_ns,
            ..Self::default()
        }
    }
}

/// A running watch, ended by [`TimeSync::stop`] or when dropped.
#[derive(Debug)]
pub struct TimeSync {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    view: PtpView,
}

impl TimeSync {
    /// Takes a first reading, and continues until it is stopped.
    ///
    /// # Errors
    /// No `ptp4l` can be queried although one is required.
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
        let view = watcher.view();
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
            view,
        })
    }

    /// State of the host's PTP, for other threads.
    #[must_use]
    pub fn view(&self) -> PtpView {
        self.view.clone()
    }

    /// Takes a last reading and ends.
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
