//! Watches the machine during a run: stolen time, real-time throttling, lost links, other measurements and their idle limits, use of the
//! cache.

use super::cache::CacheReadings;
use super::claims::Claims;
use super::links::Links;
use super::neighbours::Neighbours;
use super::others::OthersLimits;
use host::Host;
use model::EventKind;
use run::{Events, Stop};
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::thread::JoinHandle;
use std::time::Duration;
use units::Monotonic;

/// Interval between two looks: cheap enough not to disturb, and short enough to date events.
const EVERY: Duration = Duration::from_secs(1);

/// Reason why real-time throttling would not be noticed.
const DELAYS_UNSEEN: &str = "no /proc/self/schedstat (kernel option CONFIG_SCHED_INFO): real-time throttling of measuring threads would not be noticed";

/// Stack of the watching thread in bytes, all of it locked.
const STACK_BYTES: usize = 512 << 10;

/// A watching thread; ended by [`Watch::stop`].
pub(super) struct Watch {
    stop: Stop,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Watches the machine and these interfaces of the calling thread's network namespace, for a run that began at `start`; claims
    /// the interfaces `claimed`.
    pub(super) fn start(
        (events, start): (Events, Monotonic),
        interfaces: Vec<String>,
        claimed: Vec<String>,
        (mut cache, mut limits): (CacheReadings, OthersLimits),
    ) -> Self {
        let stop = Stop::new();
        let watched = stop.clone();
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let watch = move || {
            sys::thread::set_name("triptime-watch");
            let mut steal = Steal::default();
            let mut log = KernelLog::open(&events);
            if !run::are_delays_counted() {
                events.write(EventKind::Refused, DELAYS_UNSEEN);
            }
            let mut claims = Claims::new(&claimed, start);
            let mut neighbours = Neighbours::default();
            let mut links = Links::new(interfaces, start);
            look_around(&mut claims, &mut neighbours, &events);
            limits.look(&events);
            steal.look(&events);
            links.look(&events);
            let now_ns = || u64::try_from(sys::clock::monotonic() - start).unwrap_or(0);
            events.readings(cache.look(now_ns()));
            while !watched.requested() {
                std::thread::park_timeout(EVERY);
                steal.look(&events);
                links.look(&events);
                events.readings(cache.look(now_ns()));
                look_around(&mut claims, &mut neighbours, &events);
                limits.look(&events);
                if let Some(log) = &mut log {
                    log.look(&events);
                }
            }
            claims.close(&events);
            limits.close(&events);
            links.close(&events);
            events.readings(cache.close(now_ns()));
        };
        let thread = builder.spawn(watch).expect("the system has a thread left");
        Self { stop, thread }
    }

    pub(super) fn stop(self) {
        self.stop.request();
        self.thread.thread().unpark();
        let _ = self.thread.join();
    }
}

/// Reports others that measure on the same interfaces, or whose threads must share a CPU with the measuring threads.
fn look_around(claims: &mut Claims, neighbours: &mut Neighbours, events: &Events) {
    claims.look(events);
    for shared in neighbours.look() {
        events.write_on_cpu(shared.cpu, EventKind::SecondMeasurement, shared.text);
    }
}

/// Ticks stolen per CPU, as of the last look.
#[derive(Default)]
struct Steal(BTreeMap<u32, u64>);

impl Steal {
    fn look(&mut self, events: &Events) {
        let Ok(now) = Host::live().steal_ticks() else {
            return;
        };
        for steal in now {
            let before = self.0.insert(steal.cpu, steal.ticks);
            let stolen = before.map_or(0, |before| steal.ticks.saturating_sub(before));
            if stolen > 0 {
                let ms = stolen * 1_000 / host::USER_HZ;
                let text = format!("cpu{}: the hypervisor ran something else for about {ms} ms", steal.cpu);
                events.write(EventKind::Steal, text);
            }
        }
    }
}

/// The kernel's log, from the run's start on.
struct KernelLog {
    file: File,
    /// Instant of the last look: a new entry was written after it.
    looked: Monotonic,
}

impl KernelLog {
    /// Without the right to read the log, throttling is not noticed; then the run gets an event.
    fn open(events: &Events) -> Option<Self> {
        let looked = sys::clock::monotonic();
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0))
            .open("/dev/kmsg")
            .and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| file));
        match opened {
            Ok(file) => Some(Self { file, looked }),
            Err(error) => {
                let text = format!(
                    "/dev/kmsg: {error}: the kernel's messages about real-time throttling cannot be read (needs CAP_SYSLOG)"
                );
                events.write(EventKind::Refused, text);
                None
            }
        }
    }

    fn look(&mut self, events: &Events) {
        let since = std::mem::replace(&mut self.looked, sys::clock::monotonic());
        let mut record = [0; 4096];
        loop {
            match self.file.read(&mut record) {
                Ok(0) => return,
                Ok(length) => {
                    let text = String::from_utf8_lossy(&record[..length]);
                    if text.contains("RT throttling activated") {
                        let text = "the kernel throttled real-time threads, on a CPU that it does not name";
                        events.write_since(since, EventKind::RtThrottled, text);
                    }
                }
                // Records were overwritten before they were read: continues with the next one.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => return,
            }
        }
    }
}
