//! The relation of the NIC's clock and the system clock for the measuring threads, which read it without a lock and without
//! waiting for the writer.

use super::relation::StraightLine;
use model::setting;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};
use units::{Monotonic, Ns, Ptp, Realtime};

/// Longest time for which the programs in the kernel use one relation of the NIC's clock to the monotonic clock, in ns.
pub(crate) const IN_KERNEL_NS: i64 = 100_000_000;

/// Largest uncertainty of reading the system clock and the monotonic clock together, in ns.
const READING_NS: u64 = 500;

/// A line that one thread writes while others read it.
#[derive(Debug, Default)]
struct SharedLine {
    phc_ns: AtomicI64,
    offset_ns: AtomicI64,
    rate_bits: AtomicU64,
}

/// Two slots: the newest line is in one while the next is written into the other.
#[derive(Debug, Default)]
struct Shared {
    places: [SharedLine; 2],
    /// Number of lines so far; the newest is in the slot with that number modulo 2.
    lines: AtomicU64,
}

/// The clock of a NIC, which a thread follows.
#[derive(Debug, Clone)]
pub(crate) struct NicClock {
    shared: Arc<Shared>,
    /// Device of the clock, such as `/dev/ptp0`.
    device: Arc<str>,
    /// Largest error of stamps converted to the system clock, in ns; an event reports any larger one.
    within_ns: u64,
}

impl NicClock {
    /// Makes a clock whose stamps cannot be converted yet.
    pub(super) fn new(device: &str, within_ns: u64) -> Self {
        Self {
            shared: Arc::default(),
            device: device.into(),
            within_ns,
        }
    }

    /// Makes a clock with a constant difference to the system clock.
    #[cfg(test)]
    pub(crate) fn fixed(offset_ns: i64, within_ns: u64) -> Self {
        let clock = Self::new("/dev/ptp0", within_ns);
        clock.set(&StraightLine {
            phc_ns: 1_000_000_000,
            offset_ns,
            rate: 0.0,
        });
        clock
    }

    /// Uses `line` for the conversion of stamps from now on. Only one thread may call this.
    pub(super) fn set(&self, line: &StraightLine) {
        let next = self.shared.lines.load(Ordering::Relaxed) + 1;
        let place = &self.shared.places[(next % 2) as usize];
        place.phc_ns.store(line.phc_ns, Ordering::Relaxed);
        place.offset_ns.store(line.offset_ns, Ordering::Relaxed);
        place.rate_bits.store(line.rate.to_bits(), Ordering::Relaxed);
        self.shared.lines.store(next, Ordering::Release);
    }

    /// Converts a stamp to the system clock; `None` if the stamp is not near any reading of the two clocks.
    #[inline]
    pub(crate) fn on_system_clock(&self, stamp: Ptp) -> Option<Realtime> {
        let line = self.line()?;
        line.realtime_ns(stamp.as_ns()).map(Realtime::from_ns)
    }

    /// The monotonic clock minus this one, in ns, and the instant of that difference; `None` if it is not known.
    pub(crate) fn behind_monotonic(&self) -> Option<(i64, Monotonic)> {
        let line = self.line()?;
        let pair = sys::clock::pair();
        let phc_ns = line.phc_ns(pair.realtime.as_ns());
        line.realtime_ns(phc_ns)?;
        Some((pair.monotonic.as_ns() - phc_ns, pair.monotonic))
    }

    /// The newest line; `None` before the first.
    #[inline]
    fn line(&self) -> Option<StraightLine> {
        loop {
            let lines = self.shared.lines.load(Ordering::Acquire);
            if lines == 0 {
                return None;
            }
            let place = &self.shared.places[(lines % 2) as usize];
            let line = StraightLine {
                phc_ns: place.phc_ns.load(Ordering::Relaxed),
                offset_ns: place.offset_ns.load(Ordering::Relaxed),
                rate: f64::from_bits(place.rate_bits.load(Ordering::Relaxed)),
            };
            fence(Ordering::Acquire);
            // This slot is written again only after the other one, so it has not changed while the number is the same.
            if self.shared.lines.load(Ordering::Relaxed) == lines {
                return Some(line);
            }
        }
    }

    /// Largest error of stamps converted to the system clock, in ns.
    pub(crate) fn within_ns(&self) -> u64 {
        self.within_ns
    }

    /// Settings of a series whose samples are between stamps of this clock and instants of the system clock.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        self.within(self.within_ns)
    }

    /// The same settings for samples taken in the kernel, where the relation of the clocks is constant for [`IN_KERNEL_NS`].
    pub(crate) fn settings_in_kernel(&self) -> Vec<(String, String)> {
        let drift = self.line().map_or(0.0, |line| line.rate.abs());
        let drifted_ns = (2.0 * drift * IN_KERNEL_NS as f64).ceil() as u64;
        self.within(self.within_ns + drifted_ns + READING_NS)
    }

    fn within(&self, within_ns: u64) -> Vec<(String, String)> {
        let device = &self.device;
        let within = Ns(within_ns);
        vec![
            (
                setting::STAMPS.to_owned(),
                format!("the NIC's, by {device}, placed on the system clock within {within}"),
            ),
            (setting::NIC_UNCERTAINTY_NS.to_owned(), within_ns.to_string()),
        ]
    }

    /// Setting of a series whose samples are between two stamps of this clock.
    pub(crate) fn alone(&self) -> (String, String) {
        (setting::STAMPS.to_owned(), format!("the NIC's, by {}", self.device))
    }
}

#[cfg(test)]
mod tests {
    use super::{NicClock, StraightLine};
    use units::{Ptp, Realtime};

    #[test]
    fn stamps_are_placed_by_the_newest_line_and_never_by_half_of_two() {
        let clock = NicClock::new("/dev/ptp0", 500);
        assert_eq!(clock.on_system_clock(Ptp::from_ns(5)), None);
        let line = |n: i64| StraightLine {
            phc_ns: n,
            offset_ns: -n,
            rate: 0.0,
        };
        clock.set(&line(1));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let placed = |_| clock.on_system_clock(Ptp::from_ns(0)).expect("near").as_ns();
                (0..200_000).map(placed).collect::<Vec<i64>>()
            });
            // One half of the readings could have a wrong offset: for a clock far from the other, the offset is not near 0.
            (2..200_000).for_each(|n| clock.set(&line(n)));
            let placed = reader.join().expect("read");
            assert!(placed.is_sorted_by(|a, b| a >= b), "the lines come in order");
        });
        assert_eq!(
            clock.on_system_clock(Ptp::from_ns(0)),
            Some(Realtime::from_ns(-199_999))
        );
    }
}
