//! Properties that all series of a kind share.

use super::ALL;
use crate::counters::Counter;

/// A kind of series.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// The word for it in run files, and the first part of the names of its series.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Between which two instants a sample lies, and what that means.
    pub what: &'static str,
    /// The nature of the samples.
    pub samples: Samples,
    /// The line of the trip-time budget that it measures.
    pub line: Option<BudgetLine>,
    /// The share of the measured time that its counters account for.
    pub accounts: Accounts,
    /// True if its samples are taken again and again under one condition, so that statistics of extremes apply.
    pub is_repeated: bool,
    /// The counters of its series beside those of every series. Any other counter is 0 because nobody looked.
    pub counts: &'static [Counter],
    /// Counters that mean more than [`Counter::what`] says.
    pub words: &'static [(Counter, &'static str)],
}

/// The nature of a kind's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Samples {
    /// How late a thread ran, or how long it took.
    OfThread,
    /// Readings of clocks.
    OfClocks,
    /// Frames given to an interface: nobody there sees whether they left it.
    Sent,
    /// Times between two frames of one stream, which a sender of the same run may have sent.
    Spacing,
    /// How old frames of one stream were, which a sender of the same run may have sent.
    Transit,
    /// Times between points that a frame passes in this kernel, counted there in buckets.
    Hops,
    /// Other received frames.
    Frames,
}

/// The share of a series' measured time that is in its counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accounts {
    /// Every period, where it has one: it is received, lost or missed.
    Periods,
    /// The time that it was watched for.
    Watched,
    /// Not all of it.
    None,
}

/// A line of the trip-time budget, in the order of the way from a fault to a trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetLine {
    /// Merging unit's due instant to frame on the wire.
    Publish,
    /// Wire to the host's NIC.
    Network,
    /// Host's NIC to the edge of guest or container.
    HostTransit,
    /// Guest's NIC to the application's socket.
    GuestDelivery,
    /// Timer due to thread running.
    WakeUp,
    /// The protection task's own run time.
    Task,
    /// Faulted sample due to trip GOOSE back: the whole of it.
    Trip,
    /// Publish, network and host transit in one.
    ToHostEdge,
    /// There and back: beside the lines, never added.
    RoundTrip,
    /// Due instant to application in one: beside the lines, never added.
    Age,
}

impl Kind {
    /// The kind of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|kind| kind.name == name)
    }

    /// The kind of a series of that name: of a run file that does not say.
    pub fn of_series(name: &str) -> Option<&'static Self> {
        Self::named(name.split('/').next()?)
    }

    /// Its place in a report.
    pub fn place(&self) -> usize {
        ALL.into_iter().position(|kind| kind == self).unwrap_or(ALL.len())
    }

    /// True where its series count this. Samples, those out of range or over the threshold, and records lost on the way to the file
    /// are counted of all.
    pub fn counts(&self, counter: Counter) -> bool {
        match counter {
            Counter::Expected | Counter::Received | Counter::Clipped | Counter::Overflow | Counter::Overrun => true,
            Counter::WatchedNs => self.accounts == Accounts::Watched,
            _ => self.counts.contains(&counter),
        }
    }

    /// True where its samples are made by frames on their way through several threads: a delay of any of these shows in them.
    pub fn passes_threads(&self) -> bool {
        let is_of_one = matches!(self.samples, Samples::OfThread | Samples::OfClocks | Samples::Sent);
        // The reflector's own part, and that of the thread that receives.
        !(is_of_one || *self == super::TURNAROUND || *self == super::DELIVERY)
    }

    /// The thing that one of its counters counts.
    pub fn says(&self, counter: Counter) -> &'static str {
        let own = self.words.iter().find(|(own, _)| *own == counter);
        own.map_or(counter.what(), |(_, what)| what)
    }
}

/// Names of kinds, each once: ours in the order of a report, then others as they come.
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
    /// True if they are frames of a stream that a publisher or talker of the same run may have sent.
    pub fn are_of_a_stream(self) -> bool {
        matches!(self, Self::Spacing | Self::Transit)
    }

    /// True if they come out of a socket, so that frames which our own socket drops are missing there.
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
