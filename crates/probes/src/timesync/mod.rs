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
mod judge;
mod series;
mod system;

use crate::error::ProbeError;
use crate::record::{ClockWatch, Events, Feed, Recorder};
use crate::stop::Stop;
use client::{Client, Daemon, PtpError};
use judge::{Judge, Look, Rules};
use series::{CARD, DELAY, OFFSET, SLOTS};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;
use store::model::{EventKind, Fact};
use sys::timex::KernelClock;
use system::{CardClock, Chrony};
use units::{Monotonic, format_ns};

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

/// Looks after which chrony is asked again: it takes starting a program.
const CHRONY_EVERY_NS: i64 = 10_000_000_000;

/// Records between two drains of the recorder's ring: three a look, at the most 100 looks a second.
const RING: usize = 1_024;

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

/// Smallest, largest and sum of the signed distances.
#[derive(Debug, Default)]
struct Signed {
    count: u64,
    least_ns: i64,
    most_ns: i64,
    sum_ns: i128,
}

impl Signed {
    fn add(&mut self, ns: i64) {
        let first = self.count == 0;
        self.least_ns = if first { ns } else { self.least_ns.min(ns) };
        self.most_ns = if first { ns } else { self.most_ns.max(ns) };
        self.sum_ns += i128::from(ns);
        self.count += 1;
    }
}

/// The watching thread's state.
struct Watcher {
    ptp: Option<(Client, Daemon)>,
    card: Option<Result<CardClock, String>>,
    judge: Judge,
    feed: Feed,
    events: Events,
    clock: ClockWatch,
    kernel: Option<KernelClock>,
    chrony: Option<Chrony>,
    chrony_asked: Option<Monotonic>,
    offsets: Signed,
    looks: u64,
}

impl Watcher {
    fn new(config: &TimeSyncConfig, ptp: Option<(Client, Daemon)>, recorder: &mut Recorder, events: Events) -> Self {
        let daemon = ptp.as_ref().map(|(_, daemon)| daemon);
        let rules = Rules {
            limit_ns: config.limit_ns,
            own: daemon.map(|daemon| daemon.clock.identity),
            grandmaster: config.grandmaster,
        };
        let card = daemon.and_then(|daemon| {
            let stamped = daemon.interfaces.iter().find(|port| port.hardware_stamps)?;
            Some(CardClock::of(&stamped.interface))
        });
        let mut settings = vec![
            ("looked every".into(), format_ns(config.interval_ns as f64)),
            ("good up to".into(), format_ns(config.limit_ns as f64)),
        ];
        if let Some(daemon) = daemon {
            settings.push(("ptp4l".into(), daemon.socket.display().to_string()));
        }
        let mut feed = recorder.feed(RING, SLOTS, Box::new(series::Clocks { settings }));
        if daemon.is_some() {
            feed.announce(OFFSET, "ptp-offset");
            feed.announce(DELAY, "ptp-delay");
        }
        if matches!(card, Some(Ok(_))) {
            feed.announce(CARD, "phc-offset");
        }
        Self {
            ptp,
            card,
            judge: Judge::new(rules),
            feed,
            events,
            clock: ClockWatch::new(),
            kernel: sys::timex::kernel_clock().ok(),
            chrony: None,
            chrony_asked: None,
            offsets: Signed::default(),
            looks: 0,
        }
    }

    /// What is known before the first look.
    fn facts(&mut self) -> Vec<Fact> {
        let fact = |name: &str, value: Result<String, String>, source: &str| Fact {
            group: "time".into(),
            name: name.into(),
            value,
            source: source.into(),
        };
        let mut facts = Vec::new();
        let kernel = self.kernel.as_ref().map(system::kernel_text);
        facts.push(fact("kernel clock", kernel.ok_or("refused".into()), "adjtimex"));
        let Some((_, daemon)) = &self.ptp else {
            return facts;
        };
        let source = daemon.socket.display().to_string();
        let clock = &daemon.clock;
        let kind = if clock.slave_only { ", slave only" } else { "" };
        let text = format!(
            "{}, domain {}, PTP 2.{}, class {}, {} ports{kind}",
            clock.identity, clock.domain, daemon.minor_version, clock.quality.class, clock.ports
        );
        facts.push(fact("PTP clock of this host", Ok(text), &source));
        if let Some(settings) = &daemon.settings {
            let text = format!(
                "class {}, accuracy {:#04x}, TAI {:+} s",
                settings.quality.class, settings.quality.accuracy, settings.time.utc_offset_s
            );
            facts.push(fact("announces as a grandmaster", Ok(text), &source));
        }
        let profile = if daemon.transport_specific == 1 {
            "gPTP (802.1AS)"
        } else {
            "IEEE 1588"
        };
        facts.push(fact("PTP profile", Ok(profile.into()), &source));
        let ports: Vec<String> = daemon.interfaces.iter().map(port_text).collect();
        let ports = match ports.is_empty() {
            true => Err("ptp4l does not say (PORT_PROPERTIES_NP came with linuxptp 3.0)".into()),
            false => Ok(ports.join(", ")),
        };
        facts.push(fact("PTP ports", ports, &source));
        let card = match &self.card {
            None => Ok("not applicable: ptp4l stamps in software, with the system clock".to_owned()),
            Some(Ok(card)) => card.distance().map(|(ns, unsure, method)| {
                format!("{} ± {} ({method:?})", format_ns(ns as f64), format_ns(unsure as f64))
            }),
            Some(Err(why)) => Err(why.clone()),
        };
        let path = match &self.card {
            Some(Ok(card)) => card.path.clone(),
            _ => "/dev/ptp*".to_owned(),
        };
        facts.push(fact("system clock from the card's", card, &path));
        facts
    }

    fn look(&mut self) {
        let at = sys::clock::monotonic();
        self.looks += 1;
        let mut look = Look {
            step_ns: self.clock.step(),
            ..Look::default()
        };
        if let Some((client, daemon)) = &mut self.ptp {
            let answer = client.look(daemon.clock.ports);
            look.ptp = Some(answer.map_err(|error: PtpError| error.to_string()));
        }
        look.card = self.look_at_card(at);
        self.look_at_kernel();
        self.look_at_chrony(at);
        if self.ptp.is_none() {
            look.unsynchronised = self.unsynchronised();
        }
        let found = self.judge.look(at, &look);
        if let Some(offset_ns) = found.offset_ns {
            self.offsets.add(offset_ns);
            let size = i64::try_from(offset_ns.unsigned_abs()).unwrap_or(i64::MAX);
            self.feed.sample(OFFSET, at, size, self.looks);
        } else if found.missing {
            self.feed.count(OFFSET, crate::record::Counter::Lost, at, 1);
        }
        if let Some(delay_ns) = found.delay_ns {
            self.feed.sample(DELAY, at, delay_ns, self.looks);
        }
        for (at, kind, text) in found.said {
            self.events.write_at(at, kind, text);
        }
    }

    /// Only a card's clock that `ptp4l` steers matters.
    fn look_at_card(&mut self, at: Monotonic) -> Option<Result<u64, String>> {
        let distance = match self.card.as_ref()? {
            Err(why) => Err(why.clone()),
            // Both clocks are off by no more than the distance and the doubt in reading it.
            Ok(card) => card.distance().map(|(ns, unsure, _)| ns + unsure),
        };
        match &distance {
            Ok(ns) => {
                let ns = i64::try_from(*ns).unwrap_or(i64::MAX);
                self.feed.sample(CARD, at, ns, self.looks);
            }
            Err(_) if matches!(self.card, Some(Ok(_))) => {
                self.feed.count(CARD, crate::record::Counter::Lost, at, 1);
            }
            Err(_) => {}
        }
        Some(distance)
    }

    fn look_at_kernel(&mut self) {
        let now = sys::timex::kernel_clock().ok();
        if let (Some(before), Some(now)) = (&self.kernel, &now) {
            for text in system::kernel_changes(before, now) {
                self.events.write(EventKind::TimeSync, text);
            }
        }
        self.kernel = now;
    }

    fn look_at_chrony(&mut self, at: Monotonic) {
        if self.chrony_asked.is_some_and(|last| at - last < CHRONY_EVERY_NS) {
            return;
        }
        self.chrony_asked = Some(at);
        if !system::processes().contains(&"chronyd") {
            if self.chrony.take().is_some() {
                self.events.write(EventKind::TimeSync, "chronyd has ended");
            }
            return;
        }
        let now = Chrony::ask();
        let changed = match (&self.chrony, &now) {
            (Some(before), Some(now)) => before.reference != now.reference || before.leap != now.leap,
            (before, now) => before.is_some() != now.is_some(),
        };
        if changed {
            let text = now.as_ref().map_or_else(
                || "chronyd does not answer".to_owned(),
                |now| {
                    let offset = format_ns(now.offset_ns);
                    format!(
                        "chronyd follows {}, {}, system clock {offset} off",
                        now.reference, now.leap
                    )
                },
            );
            self.events.write(EventKind::TimeSync, text);
        }
        self.chrony = now;
    }

    /// Why nothing but `ptp4l` keeps this clock, either.
    fn unsynchronised(&self) -> Option<String> {
        if self.chrony.as_ref().is_some_and(Chrony::synchronised) {
            return None;
        }
        match &self.kernel {
            Some(kernel) if !kernel.unsynchronised => None,
            Some(kernel) => Some(format!(
                "nothing is known to keep this clock: no ptp4l answers, and the kernel's clock is {}",
                system::kernel_text(kernel)
            )),
            None => Some("nothing is known of this clock: the kernel does not say".to_owned()),
        }
    }

    /// The signed figures, which the series does not have.
    fn end(&self) {
        let offsets = &self.offsets;
        if offsets.count > 0 {
            let mean = offsets.sum_ns as f64 / offsets.count as f64;
            let text = format!(
                "this clock minus its master: {} to {}, mean {}, of {} readings",
                format_ns(offsets.least_ns as f64),
                format_ns(offsets.most_ns as f64),
                format_ns(mean),
                offsets.count
            );
            self.events.write(EventKind::TimeSync, text);
        }
    }
}

fn port_text(info: &client::PortInfo) -> String {
    let stamps = match info.hardware_stamps {
        true => "stamped by hardware",
        false => "stamped in software",
    };
    format!("{}: {}, {stamps}", info.port, info.interface)
}
