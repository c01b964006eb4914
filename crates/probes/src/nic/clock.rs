//! The relation of the two clocks as the measuring threads read it: without a lock, and without waiting for who writes.

use super::relation::StraightLine;
use model::setting;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};
use units::{Monotonic, Ns, Ptp, Realtime};

/// How long the programs in the kernel may go by one relation of the NIC's clock with the monotonic one, in ns.
pub(crate) const IN_KERNEL_NS: i64 = 100_000_000;

/// How far apart the system clock and the monotonic one are read at the most.
const READING_NS: u64 = 500;

/// A line that one thread writes while others read it.
#[derive(Debug, Default)]
struct SharedLine {
    phc_ns: AtomicI64,
    offset_ns: AtomicI64,
    rate_bits: AtomicU64,
}

/// The newest line stands in one place while the next is written into the other.
#[derive(Debug, Default)]
struct Shared {
    places: [SharedLine; 2],
    /// How many lines there were so far; the newest is in the place of that number modulo 2.
    lines: AtomicU64,
}

/// A NIC's clock that is followed.
#[derive(Debug, Clone)]
pub(crate) struct NicClock {
    shared: Arc<Shared>,
    /// Its device, such as `/dev/ptp0`.
    device: Arc<str>,
    /// Its stamps are placed on the system clock to within this, in ns; when they are not, an event says so.
    within_ns: u64,
}

impl NicClock {
    /// A clock whose stamps cannot be placed yet.
    pub(super) fn new(device: &str, within_ns: u64) -> Self {
        Self {
            shared: Arc::default(),
            device: device.into(),
            within_ns,
        }
    }

    /// A clock that is always so far from the system clock.
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

    /// From now on stamps are placed by `line`. Only one thread may call this.
    pub(super) fn set(&self, line: &StraightLine) {
        let next = self.shared.lines.load(Ordering::Relaxed) + 1;
        let place = &self.shared.places[(next % 2) as usize];
        place.phc_ns.store(line.phc_ns, Ordering::Relaxed);
        place.offset_ns.store(line.offset_ns, Ordering::Relaxed);
        place.rate_bits.store(line.rate.to_bits(), Ordering::Relaxed);
        self.shared.lines.store(next, Ordering::Release);
    }

    /// When it was on the system clock; `None` for a stamp that is not near any reading of the two clocks.
    #[inline]
    pub(crate) fn on_system_clock(&self, stamp: Ptp) -> Option<Realtime> {
        let line = self.line()?;
        line.realtime_ns(stamp.as_ns()).map(Realtime::from_ns)
    }

    /// The monotonic clock minus this one, in ns, and when that was; `None` where it is not known.
    pub(crate) fn behind_monotonic(&self) -> Option<(i64, Monotonic)> {
        let line = self.line()?;
        let pair = sys::clock::pair();
        let phc_ns = line.phc_ns(pair.realtime.as_ns());
        line.realtime_ns(phc_ns)?;
        Some((pair.monotonic.as_ns() - phc_ns, pair.monotonic))
    }

    /// The newest line.
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
            // It is written again only after the other place was: not while the number stays.
            if self.shared.lines.load(Ordering::Relaxed) == lines {
                return Some(line);
            }
        }
    }

    /// Its stamps are placed on the system clock to within this, in ns.
    pub(crate) fn within_ns(&self) -> u64 {
        self.within_ns
    }

    /// Settings of a series whose samples lie between its stamps and instants of the system clock.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        self.within(self.within_ns)
    }

    /// The same of samples that are taken in the kernel, where the relation of the clocks stands still for [`IN_KERNEL_NS`].
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

    /// Setting of a series whose samples lie between two of its stamps.
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
            // A half would have an offset that is not the reading's: the clocks of one that is far off the other are not near 0.
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
