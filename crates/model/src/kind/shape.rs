//! Properties that all series of a kind share.

use super::ALL;
use crate::counters::Counter;

/// A kind of series.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Name in run files, and the first part of the names of its series.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// The two instants that a sample lies between, and what the sample means.
    pub what: &'static str,
    /// The nature of the samples.
    pub samples: Samples,
    /// The line of the trip-time budget that it measures.
    pub line: Option<BudgetLine>,
    /// The share of the measured time that its counters account for.
    pub accounts: Accounts,
    /// True if its samples are taken repeatedly under one condition, so that statistics of extremes apply.
    pub is_repeated: bool,
    /// The counters of its series in addition to those of every series. Any other counter is 0 because it is not counted.
    pub counts: &'static [Counter],
    /// Counters that mean more than the general text of [`Counter::what`].
    pub words: &'static [(Counter, &'static str)],
}

/// The nature of a kind's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Samples {
    /// How late a thread ran, or how long it took.
    OfThread,
    /// Readings of clocks.
    OfClocks,
    /// Frames given to an interface: it is not seen if they left the interface.
    Sent,
    /// Times between two frames of one stream; its sender may be part of the same run.
    Spacing,
    /// Ages of frames of one stream; its sender may be part of the same run.
    Transit,
    /// Times between points that a frame passes in this kernel, counted there in buckets.
    Hops,
    /// Other received frames.
    Frames,
}

/// The share of a series' measured time that its counters account for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accounts {
    /// Every period, if the series has one: each is received, lost or missed.
    Periods,
    /// The time for which it was watched.
    Watched,
    /// Not the whole time.
    None,
}

/// A line of the trip-time budget, in the order of the path from a fault to a trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetLine {
    /// Due instant at the merging unit to the frame on the wire.
    Publish,
    /// Wire to the host's NIC.
    Network,
    /// Host's NIC to the edge of guest or container.
    HostTransit,
    /// Guest's NIC to the application's socket.
    GuestDelivery,
    /// Due instant of the timer to the running thread.
    WakeUp,
    /// The protection task's own run time.
    Task,
    /// Due instant of the first faulted sample to the received trip GOOSE: the whole trip time.
    Trip,
    /// Publish, network and host transit as one.
    ToHostEdge,
    /// Round trip: shown next to the lines, never added to them.
    RoundTrip,
    /// Due instant to application as one: shown next to the lines, never added to them.
    Age,
}

impl Kind {
    /// The kind with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|kind| kind.name == name)
    }

    /// The kind of a series with this name, for run files that do not name the kind.
    pub fn of_series(name: &str) -> Option<&'static Self> {
        Self::named(name.split('/').next()?)
    }

    /// Position in a report.
    pub fn place(&self) -> usize {
        ALL.into_iter().position(|kind| kind == self).unwrap_or(ALL.len())
    }

    /// True if its series count this counter. Samples, samples out of range or over the threshold, and records lost on the way to
    /// the file are counted in every series.
    pub fn counts(&self, counter: Counter) -> bool {
        match counter {
            Counter::Expected | Counter::Received | Counter::Clipped | Counter::Overflow | Counter::Overrun => true,
            Counter::WatchedNs => self.accounts == Accounts::Watched,
            _ => self.counts.contains(&counter),
        }
    }

    /// True if its samples come from frames that pass through several threads: a delay of any of these threads shows in them.
    pub fn passes_threads(&self) -> bool {
        let is_of_one = matches!(self.samples, Samples::OfThread | Samples::OfClocks | Samples::Sent);
        // TURNAROUND is the reflector's own part, DELIVERY that of the receiving thread.
        !(is_of_one || *self == super::TURNAROUND || *self == super::DELIVERY)
    }

    /// Description of one of its counters.
    pub fn says(&self, counter: Counter) -> &'static str {
        let own = self.words.iter().find(|(own, _)| *own == counter);
        own.map_or(counter.what(), |(_, what)| what)
    }
}

/// Names of kinds without duplicates: known kinds in the order of a report, then others as they come.
pub fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found.sort_by_key(|name| Kind::named(name).map_or(ALL.len(), Kind::place));
    found
}

impl Samples {
    /// True if the samples are frames of a stream whose publisher or talker may be part of the same run.
    pub fn are_of_a_stream(self) -> bool {
        matches!(self, Self::Spacing | Self::Transit)
    }

    /// True if the frames come out of a socket of this program, so that frames which that socket drops are missing.
    pub fn are_received(self) -> bool {
        !matches!(self, Self::OfThread | Self::OfClocks | Self::Sent)
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Kind, in_order};
    use crate::counters::Counter;
    use crate::kind::{NOISE, PUBLISH, TRIP, WAKEUP};

    #[test]
    fn every_kind_is_found_by_its_name_and_has_its_place() {
        for (place, kind) in ALL.into_iter().enumerate() {
            assert_eq!(Kind::named(kind.name).map(Kind::place), Some(place), "{}", kind.name);
            assert!(
                kind.title.starts_with(char::is_uppercase) && kind.what.ends_with('.'),
                "{}",
                kind.name
            );
        }
        assert_eq!(Kind::of_series("wakeup/cpu1"), Some(&WAKEUP));
        assert_eq!(Kind::of_series("wakeups/cpu1"), None);
    }

    #[test]
    fn ours_first_then_others_as_they_come() {
        let names = ["zeta", "age", "wakeup", "alpha", "age"];
        assert_eq!(in_order(names.into_iter()), ["wakeup", "age", "zeta", "alpha"]);
    }

    #[test]
    fn a_counter_means_what_its_kind_says() {
        assert_eq!(WAKEUP.says(Counter::Expected), Counter::Expected.what());
        assert_ne!(PUBLISH.says(Counter::Lost), Counter::Lost.what());
    }

    #[test]
    fn a_counter_with_words_of_its_own_is_counted() {
        for kind in ALL {
            for (counter, _) in kind.words {
                assert!(kind.counts(*counter), "{}: {}", kind.name, counter.name());
            }
        }
        assert!(NOISE.counts(Counter::WatchedNs) && !TRIP.counts(Counter::WatchedNs));
        assert!(TRIP.counts(Counter::Received) && !TRIP.counts(Counter::Late));
    }
}
