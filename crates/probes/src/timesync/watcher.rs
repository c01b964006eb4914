//! The watching thread, which reads the state of the clocks at regular intervals.

use super::client::{Client, Daemon};
use super::judge::{Judge, Look, Rules};
use super::series::{CARD, Clocks, DELAY, OFFSET, SLOTS};
use super::system::{self, CardClock, Chrony};
use super::view::PtpView;
use super::{TimeSyncConfig, facts};
use model::{Counter, EventKind, Fact};
use run::{ClockWatch, Events, Feed, Recorder};
use sys::timex::KernelClock;
use units::{Monotonic, Ns, SignedNs, format_ns};

/// Number of readings between two queries of chrony, since a query starts a program.
const CHRONY_EVERY_NS: i64 = 10_000_000_000;

/// Number of records between two reads of the recorder's ring: three a reading, at most 100 readings a second.
const RING: usize = 1_024;

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

/// State of the watching thread.
pub(super) struct Watcher {
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
    view: PtpView,
}

impl Watcher {
    pub(super) fn new(
        config: &TimeSyncConfig,
        ptp: Option<(Client, Daemon)>,
        recorder: &mut Recorder,
        events: Events,
    ) -> Self {
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
            ("looked every".into(), Ns(config.interval_ns).to_string()),
            ("good up to".into(), Ns(config.limit_ns).to_string()),
        ];
        if let Some(daemon) = daemon {
            settings.push(("ptp4l".into(), daemon.socket.display().to_string()));
        }
        let mut feed = recorder.feed(RING, SLOTS, Box::new(Clocks { settings }));
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
            clock: ClockWatch::start(),
            kernel: sys::timex::kernel_clock().ok(),
            chrony: None,
            chrony_asked: None,
            offsets: Signed::default(),
            looks: 0,
            view: PtpView::new(config.interval_ns),
        }
    }

    /// State of the host's PTP, for other threads.
    pub(super) fn view(&self) -> PtpView {
        self.view.clone()
    }

    /// Facts known before the first reading.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let daemon = self.ptp.as_ref().map(|(_, daemon)| daemon);
        facts::of(self.kernel.as_ref(), daemon, self.card.as_ref())
    }

    /// Reads the state of all clocks once.
    pub(super) fn look(&mut self) {
        let at = sys::clock::monotonic();
        self.looks += 1;
        let mut look = Look {
            step_ns: self.clock.step(),
            ..Look::default()
        };
        if let Some((client, daemon)) = &mut self.ptp {
            look.ptp = Some(client.look(daemon.clock.ports));
        }
        look.card = self.look_at_card(at);
        self.look_at_kernel();
        self.look_at_chrony(at);
        if self.ptp.is_none() {
            look.unsynchronised = self.unsynchronised();
        }
        let found = self.judge.look(at, &look);
        self.view.set(at, found.ptp);
        if let Some(offset_ns) = found.offset_ns {
            self.offsets.add(offset_ns);
            let size = i64::try_from(offset_ns.unsigned_abs()).unwrap_or(i64::MAX);
            self.feed.sample(OFFSET, at, size, self.looks);
        } else if found.missing {
            self.feed.count(OFFSET, Counter::Lost, at, 1);
        }
        if let Some(delay_ns) = found.delay_ns {
            self.feed.sample(DELAY, at, delay_ns, self.looks);
        }
        for (at, kind, text) in found.said {
            self.events.write_at(at, kind, text);
        }
    }

    /// The clock of a network card is read only if `ptp4l` steers it.
    fn look_at_card(&mut self, at: Monotonic) -> Option<Result<u64, String>> {
        let distance = match self.card.as_ref()? {
            Err(why) => Err(why.clone()),
            // The error of both clocks is at most the distance plus the uncertainty of the reading.
            Ok(card) => card.distance().map(|(ns, unsure, _)| ns + unsure),
        };
        match &distance {
            Ok(ns) => {
                let ns = i64::try_from(*ns).unwrap_or(i64::MAX);
                self.feed.sample(CARD, at, ns, self.looks);
            }
            Err(_) if matches!(self.card, Some(Ok(_))) => {
                self.feed.count(CARD, Counter::Lost, at, 1);
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
        let is_first = self.chrony_asked.replace(at).is_none();
        if !system::processes().contains(&"chronyd") {
            if self.chrony.take().is_some() {
                self.events.write(EventKind::TimeSync, "chronyd has ended");
            }
            return;
        }
        let now = Chrony::ask();
        let changed = match (&self.chrony, &now) {
            (Some(before), Some(now)) => before.reference != now.reference || before.leap != now.leap,
            (before, now) => is_first || before.is_some() != now.is_some(),
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

    /// Reason why no source other than `ptp4l` keeps this clock either.
    fn unsynchronised(&self) -> Option<String> {
        if self.chrony.as_ref().is_some_and(Chrony::synchronised) {
            return None;
        }
        match &self.kernel {
            Some(kernel) if !kernel.unsynchronised => None,
            Some(kernel) => Some(format!(
                "no known source keeps this clock: no ptp4l answers, and the kernel's clock is {}",
                system::kernel_text(kernel)
            )),
            None => Some("the state of this clock is unknown: the kernel does not report it".to_owned()),
        }
    }

    /// Writes the signed extremes, which the series does not contain.
    pub(super) fn end(&self) {
        let offsets = &self.offsets;
        if offsets.count > 0 {
            let mean = offsets.sum_ns as f64 / offsets.count as f64;
            let text = format!(
                "this clock minus its master: {} to {}, mean {}, of {} readings",
                SignedNs(offsets.least_ns),
                SignedNs(offsets.most_ns),
                format_ns(mean),
                offsets.count
            );
            self.events.write(EventKind::TimeSync, text);
        }
    }
}
