//! Counts of the samples that were due, in one table from which files, reports and exports are made.

/// Makes [`Counters`] and [`Counter`] from one list: variant, field, and the description for a person.
macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident = $field:ident: $what:literal,)*) => {
        /// Counts of the samples that were due, since the start of the window (or of the run).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $field: u64,)*
        }

        /// One of the [`Counters`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Counter {
            $($(#[$doc])* $counter,)*
        }

        impl Counter {
            /// Every counter, in the order to show.
            pub const ALL: [Self; [$($what),*].len()] = [$(Self::$counter),*];

            /// Name in run files, limits and exports. The ending `_ns` marks a time in ns.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$counter => stringify!($field),)*
                }
            }

            /// The counted thing, in words for a person.
            pub const fn what(self) -> &'static str {
                match self {
                    $(Self::$counter => $what,)*
                }
            }
        }

        impl Counters {
            /// The value of one counter.
            pub const fn get(&self, counter: Counter) -> u64 {
                match counter {
                    $(Counter::$counter => self.$field,)*
                }
            }

            /// The value of one counter, for writing.
            pub const fn get_mut(&mut self, counter: Counter) -> &mut u64 {
                match counter {
                    $(Counter::$counter => &mut self.$field,)*
                }
            }
        }
    };
}

counters! {
    /// Samples that were due: cycles scheduled, frames sent, samples published.
    Expected = expected: "Samples that were due",
    /// Samples measured.
    Received = received: "Samples measured",
    /// Samples that were due and never came.
    Lost = lost: "Samples that were due and never came",
    /// Samples that came after their deadline (given in the settings of the series).
    Late = late: "Samples after their deadline",
    /// Samples that came again, with the same contents as far as these are known.
    Duplicate = duplicate: "Samples that came again",
    /// Samples with a number seen before, but other contents: one of the two is wrong.
    Conflicting = conflicting: "Samples with a number seen before, but other contents",
    /// Samples that came after a later one.
    Reordered = reordered: "Samples that came after a later one",
    /// Periods skipped because the thread overran: scheduled, not measured.
    Missed = missed: "Periods skipped because the thread overran",
    /// Samples outside the histogram's range, kept as its end value, so quantiles and extremes are only bounds.
    Clipped = clipped: "Samples outside the histogram's range, kept as its end value",
    /// Samples above the threshold of the series.
    Overflow = overflow: "Samples above the series' threshold",
    /// Records lost between the measuring thread and the recorder: the series is incomplete.
    Overrun = overrun: "Records lost between the measuring thread and the recorder",
    /// Reactions without a cause: for a relay, trips without a fault; for a device, answers without a ping.
    Unwanted = unwanted: "Trips without a fault",
    /// Trips with a phase or zone that differs from the fault's.
    Wrong = wrong: "Trips with the wrong phase or zone",
    /// For a series of gaps, how long the CPU was watched for them, in ns. Otherwise 0.
    WatchedNs = watched_ns: "Time that a CPU was watched for gaps",
}

impl Counter {
    /// Counters that the first run files do not have. They are last in lists by position.
    pub const ADDED: [Self; 4] = [Self::Conflicting, Self::WatchedNs, Self::Unwanted, Self::Wrong];

    /// True if a value other than 0 means trouble.
    pub const fn is_trouble(self) -> bool {
        !matches!(self, Self::Expected | Self::Received | Self::WatchedNs)
    }

    /// All counters except [`Counter::ADDED`].
    pub fn first() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|counter| !Self::ADDED.contains(counter))
    }
}

impl Counters {
    /// Adds `n` to a counter. Lost and missed samples are also added to the samples that were due.
    pub fn count(&mut self, counter: Counter, n: u64) {
        *self.get_mut(counter) += n;
        if matches!(counter, Counter::Lost | Counter::Missed) {
            self.expected += n;
        }
    }

    /// Adds another window's counts.
    pub fn add(&mut self, other: &Self) {
        for counter in Counter::ALL {
            *self.get_mut(counter) += other.get(counter);
        }
    }

    /// Same as [`Counters::add`]; `None` if a sum exceeds 2^64.
    pub fn checked_add(mut self, other: &Self) -> Option<Self> {
        for counter in Counter::ALL {
            let sum = self.get(counter).checked_add(other.get(counter))?;
            *self.get_mut(counter) = sum;
        }
        Some(self)
    }

    /// True if any counter that means trouble is not 0.
    pub fn has_trouble(&self) -> bool {
        Counter::ALL
            .into_iter()
            .any(|counter| counter.is_trouble() && self.get(counter) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Counter, Counters};

    #[test]
    fn every_counter_is_added() {
        let mut counters = Counters::default();
        for (n, counter) in (1..).zip(Counter::ALL) {
            *counters.get_mut(counter) = n;
        }
        let twice = counters.checked_add(&counters).expect("small");
        counters.add(&counters.clone());
        assert_eq!(counters, twice);
        assert_eq!((counters.expected, counters.lost, counters.watched_ns), (2, 6, 28));
        counters.lost = u64::MAX;
        assert_eq!(counters.checked_add(&twice), None);
    }

    /// Files that list counters by position rely on it.
    #[test]
    fn the_first_counters_keep_their_places() {
        let names: Vec<_> = Counter::first().map(Counter::name).collect();
        assert_eq!(
            names.join(","),
            "expected,received,lost,late,duplicate,reordered,missed,clipped,overflow,overrun"
        );
    }

    #[test]
    fn a_time_is_no_trouble() {
        let watched = Counters {
            expected: 1,
            received: 1,
            watched_ns: 5,
            ..Counters::default()
        };
        assert!(!watched.has_trouble());
        assert!(Counters { overrun: 1, ..watched }.has_trouble());
    }
}
