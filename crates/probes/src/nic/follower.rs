//! The thread that reads a NIC's clock together with the system clock, and reports when their relation was broken.

use super::clock::NicClock;
use super::relation::{ClockStep, FURTHEST_NS, Found, Reading, Relation};
use model::{EventKind, STEP_NOTICED_NS};
use run::{Events, Stop};
use std::thread::JoinHandle;
use std::time::Duration;
use sys::SysError;
use sys::phc::{Phc, PhcMethod};
use units::{Monotonic, Ns};

/// Interval between two readings of both clocks.
const EACH: Duration = Duration::from_millis(100);

/// Number of readings before the first frame, and the time between them.
const FIRST_READINGS: u32 = 8;
const FIRST_EACH: Duration = Duration::from_millis(20);

/// Factor from the error in the first readings to the stated error of stamps, which is at least [`LEAST_NS`]: a servo steers
/// harder at times, but the rate is known better later.
const MARGIN: u64 = 4;
const LEAST_NS: u64 = 500;

/// Largest rate difference of two clocks that both count seconds.
const MOST_PPB: f64 = 1_000_000.0;

/// Maximum number of events in one run; after that, no stamp is converted any more.
const MOST_EVENTS: u32 = 100;

/// Reads both clocks.
///
/// # Errors
/// Same as [`Phc::offset`].
fn read(phc: &Phc) -> Result<(Reading, PhcMethod), SysError> {
    let offset = phc.offset()?;
    let pair = sys::clock::pair();
    let read = Reading {
        phc_ns: offset.at.as_ns() + offset.offset_ns,
        offset_ns: -offset.offset_ns,
        uncertainty_ns: offset.uncertainty_ns,
        at_ns: (pair.monotonic + (offset.at - pair.realtime)).as_ns(),
    };
    Ok((read, offset.method))
}

/// A relation that was checked for several readings.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) relation: Relation,
    /// Largest error of stamps, in ns.
    pub(super) within_ns: u64,
    pub(super) method: PhcMethod,
}

/// Reads both clocks several times to find their relation and its error.
///
/// # Errors
/// The clock cannot be read, or does not run at the rate of the system clock; the text says why.
pub(super) fn look(phc: &Phc) -> Result<Looked, String> {
    let mut relation = Relation::default();
    let mut worst_ns = 0;
    let mut method = PhcMethod::Extended;
    let mut before: Option<Reading> = None;
    for number in 0..FIRST_READINGS {
        if number > 0 {
            std::thread::sleep(FIRST_EACH);
        }
        let (reading, by) = read(phc).map_err(|error| error.to_string())?;
        method = by;
        match relation.add(reading) {
            Found::Follows(off_ns) => worst_ns = worst_ns.max(off_ns),
            Found::Step(step) => return Err(not_steady(step, before.as_ref(), &reading)),
        }
        before = Some(reading);
    }
    if relation.drift_ppb().abs() > MOST_PPB {
        return Err("it does not run as fast as the system clock".to_owned());
    }
    Ok(Looked {
        relation,
        within_ns: stated(worst_ns),
        method,
    })
}

/// Stated error for stamps that had an error of `worst_ns` in the first readings.
fn stated(worst_ns: u64) -> u64 {
    worst_ns.saturating_mul(MARGIN).max(LEAST_NS)
}

fn not_steady(step: ClockStep, before: Option<&Reading>, now: &Reading) -> String {
    let moved_ns = before.map_or(0, |before| now.phc_ns - before.phc_ns);
    let elapsed_ns = before.map_or(0, |before| now.at_ns - before.at_ns);
    if moved_ns.abs() < elapsed_ns / 100 {
        return "it does not run".to_owned();
    }
    let [parted, elapsed] = [step.by_ns.unsigned_abs(), elapsed_ns.unsigned_abs()].map(Ns);
    format!("it and the system clock moved apart by {parted} within {elapsed}")
}

/// Counts of the readings of a run.
#[derive(Debug, Default)]
struct Account {
    readings: u64,
    worst_ns: u64,
    told: u32,
    unread: u64,
}

/// The thread that follows a clock; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Follower {
    over: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Follows the clock of `interface` from now on.
    ///
    /// # Errors
    /// The kernel cannot create another thread.
    pub(super) fn start(following: Following) -> std::io::Result<Self> {
        let over = Stop::new();
        let told = over.clone();
        let thread = std::thread::Builder::new().name("triptime-phc".to_owned());
        let thread = thread.spawn(move || following.run(&told))?;
        Ok(Self {
            over,
            thread: Some(thread),
        })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.over.request();
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of this thread is its own defect; the frames were received.
            let _ = thread.join();
        }
    }
}

/// State of the thread.
pub(super) struct Following {
    pub(super) interface: String,
    pub(super) phc: Phc,
    pub(super) relation: Relation,
    pub(super) clock: NicClock,
    pub(super) events: Events,
}

impl Following {
    fn run(mut self, over: &Stop) {
        let mut account = Account::default();
        let mut before = sys::clock::monotonic();
        while !over.requested() && account.told < MOST_EVENTS {
            std::thread::park_timeout(EACH);
            // The last reading is after the last frame, so every stamp is between two readings.
            before = self.take(before, &mut account);
        }
        self.say(&account);
    }

    /// Reads both clocks once; returns the instant of the last good reading.
    fn take(&mut self, before: Monotonic, account: &mut Account) -> Monotonic {
        let Ok((reading, _)) = read(&self.phc) else {
            account.unread += 1;
            return before;
        };
        // The reading is too uncertain to use: stamps are extrapolated from the previous reading.
        if reading.uncertainty_ns > self.clock.within_ns() {
            account.unread += 1;
            return before;
        }
        account.readings += 1;
        let found = self.relation.add(reading);
        if let Some(line) = self.relation.line() {
            self.clock.set(&line);
        }
        let now = Monotonic::from_ns(reading.at_ns);
        if let Found::Follows(off_ns) = found {
            account.worst_ns = account.worst_ns.max(off_ns);
        }
        if let Some(text) = text(&self.interface, found, self.clock.within_ns()) {
            account.told += 1;
            for at in noticed(before, now) {
                self.events.write_at(at, EventKind::ClockStep, text.clone());
            }
        }
        now
    }

    /// Writes the totals at the end.
    fn say(&self, account: &Account) {
        let interface = &self.interface;
        if account.told >= MOST_EVENTS {
            let text = format!("{interface}: its clock is not stable: its stamps are not used any more");
            self.events.write(EventKind::ClockStep, text);
        }
        let unread = match account.unread {
            0 => String::new(),
            n => format!("; {n} times it could not be read, or not precisely enough"),
        };
        let text = format!(
            "{interface}: its clock was read {} times; stamps were converted to the system clock within {} (stated: {}), drift {:.1} ppm{unread}",
            account.readings,
            Ns(account.worst_ns),
            Ns(self.clock.within_ns()),
            self.relation.drift_ppb() / 1e3,
        );
        self.events.write(EventKind::Note, text);
    }
}

/// Instants of the events for a step between two readings. Each event affects the windows shortly before it, so several cover the
/// whole time in which stamps were converted.
fn noticed(before: Monotonic, now: Monotonic) -> Vec<Monotonic> {
    let each_ns = STEP_NOTICED_NS.cast_signed();
    let end = now.min(before + (FURTHEST_NS + each_ns));
    let mut instants = vec![now];
    let mut at = end;
    while at - before > 0 {
        instants.push(at);
        at = at + -each_ns;
    }
    instants.dedup();
    instants
}

/// Text about a reading, if it needs a report.
fn text(interface: &str, found: Found, within_ns: u64) -> Option<String> {
    match found {
        Found::Follows(off_ns) if off_ns <= within_ns => None,
        Found::Follows(off_ns) => Some(format!(
            "{interface}: the NIC's stamps were up to {} off, more than the stated {}: its clock was steered hard",
            Ns(off_ns),
            Ns(within_ns)
        )),
        Found::Step(step) => {
            let (set, other) = match step.of_system {
                true => ("the system clock", "the NIC's"),
                false => ("the NIC's clock", "the system clock"),
            };
            let by = Ns(step.by_ns.unsigned_abs());
            Some(format!(
                "{interface}: {set} was set: it moved by {by} relative to {other}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockStep, Found, Reading, not_steady, noticed, stated, text};
    use model::STEP_NOTICED_NS;
    use units::Monotonic;

    #[test]
    fn a_clock_that_does_not_run_is_told_from_one_that_was_set() {
        let reading = |phc_ns, at_ns| Reading {
            phc_ns,
            offset_ns: 0,
            uncertainty_ns: 100,
            at_ns,
        };
        let step = ClockStep {
            by_ns: 20_000_000,
            of_system: false,
        };
        let before = reading(1_000, 0);
        let still = not_steady(step, Some(&before), &reading(3_000, 20_000_000));
        assert_eq!(still, "it does not run");
        let set = not_steady(step, Some(&before), &reading(40_000_000, 20_000_000));
        assert_eq!(set, "it and the system clock moved apart by 20.0 ms within 20.0 ms");
    }

    #[test]
    fn only_what_does_not_hold_is_told() {
        let within = stated(300);
        assert_eq!((within, stated(10)), (1_200, 500));
        assert_eq!(text("eth1", Found::Follows(1_200), within), None);
        let steered = text("eth1", Found::Follows(1_201), within).expect("told");
        assert!(steered.contains("1.20 µs"), "{steered}");
        let step = |of_system| {
            Found::Step(ClockStep {
                by_ns: -37_000_000_000,
                of_system,
            })
        };
        let nic = text("eth1", step(false), within).expect("told");
        assert!(
            nic.contains("the NIC's clock was set") && nic.contains("37.0 s"),
            "{nic}"
        );
        // Every instant since the previous reading is shortly before an event, or too late for any conversion.
        for span_ns in [100_000_000, 900_000_000, 60_000_000_000] {
            let before = Monotonic::from_ns(7);
            let told = noticed(before, before + span_ns);
            let mut at = before;
            while at - before < span_ns.min(1_000_000_000) {
                let covered = |event: &Monotonic| (0..=STEP_NOTICED_NS.cast_signed()).contains(&(*event - at));
                assert!(told.iter().any(covered), "{span_ns}: {at:?} of {told:?}");
                at = at + 10_000_000;
            }
            assert!(told.len() <= 8, "{told:?}");
        }
        let system = text("eth1", step(true), within).expect("told");
        assert!(system.contains("the system clock was set"), "{system}");
    }
}
