//! The late samples that a run keeps one by one, and the kernel's events around them.

use crate::failure::Failure;
use model::{Flight, Spike};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::str::FromStr;
use store::RunFile;
use trace::Event;
use units::{Ns, SignedNs, parse_ns};

/// Number of samples named in a refusal.
const NAMED: usize = 8;

/// A sample of a run: `wakeup/cpu1:3` is the third largest, `wakeup/cpu1@12.5s` the one next to that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SampleArg {
    series: String,
    which: Wanted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Its place among the largest, from 1.
    Place(usize),
    /// Time in ns since the run's start.
    At(u64),
}

impl FromStr for SampleArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" names no sample: write its series and its place from the largest, wakeup/cpu1:3, or a time \
                 since the run began, wakeup/cpu1@12.5s"
            )
        };
        // A name may contain either sign, as hardware addresses do; the last one counts.
        let at = text.rfind([':', '@']).filter(|at| *at > 0).ok_or_else(wrong)?;
        let (series, rest) = (text[..at].to_owned(), &text[at + 1..]);
        let which = match text[at..].starts_with('@') {
            true => Wanted::At(parse_ns(rest).map_err(|_| wrong())?),
            false => Wanted::Place(rest.parse().ok().filter(|place| *place > 0).ok_or_else(wrong)?),
        };
        Ok(Self { series, which })
    }
}

impl SampleArg {
    /// The series with samples whose names are most like the wanted one.
    fn nearest(&self, kept: &Kept) -> String {
        let mut names: Vec<&str> = kept.series.iter().map(|series| series.name.as_str()).collect();
        let unlikeness = |name: &&str| (-1e6 * strsim::jaro_winkler(&self.series, name)) as i64;
        names.sort_by_key(unlikeness);
        match names.len() {
            0 => "none".to_owned(),
            1..=NAMED => names.join(", "),
            count => format!("{}, and {} more", names[..NAMED].join(", "), count - NAMED),
        }
    }

    /// The sample and its series.
    ///
    /// # Errors
    /// The run has no such series or sample; the text names those that it has.
    pub(crate) fn of<'a>(&self, kept: &'a Kept) -> Result<(&'a SeriesSamples, &'a Spike), Failure> {
        let series = kept.series.iter().find(|series| series.name == self.series);
        let series = series.ok_or_else(|| {
            Failure::Usage(format!(
                "--sample: the run keeps no samples of {}; of these it does: {}",
                self.series,
                self.nearest(kept)
            ))
        })?;
        let found = match self.which {
            Wanted::Place(place) => series.worst.get(place - 1),
            Wanted::At(at_ns) => series.worst.iter().min_by_key(|spike| spike.at_ns.abs_diff(at_ns)),
        };
        let found = found.ok_or_else(|| {
            let of = series.worst.len();
            Failure::Usage(format!(
                "--sample: the run keeps {of} samples of {} one by one",
                self.series
            ))
        })?;
        Ok((series, found))
    }
}

/// The kept samples of a series, the largest first.
pub(crate) struct SeriesSamples {
    pub(crate) name: String,
    worst: Vec<Spike>,
    /// Events around some of them, by the instant of the sample.
    flights: BTreeMap<u64, Flight>,
}

/// Everything that a run keeps of single samples.
pub(crate) struct Kept {
    series: Vec<SeriesSamples>,
}

impl Kept {
    /// # Errors
    /// The run file cannot be read.
    pub(crate) fn read(run: &RunFile) -> Result<Self, Failure> {
        let mut series = Vec::new();
        for (id, spec) in run.series()? {
            let mut worst = run.spikes(id)?;
            worst.sort_by_key(|spike| (Reverse(spike.value_ns), spike.at_ns));
            let flights = run.flights(id)?.into_iter().map(|flight| (flight.at_ns, flight));
            if !worst.is_empty() {
                series.push(SeriesSamples {
                    name: spec.name,
                    worst,
                    flights: flights.collect(),
                });
            }
        }
        Ok(Self { series })
    }

    /// The largest sample around which events were kept.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn longest(&self) -> Result<(&SeriesSamples, &Spike), Failure> {
        let all = self.with_events().max_by_key(|(_, spike)| spike.value_ns);
        all.ok_or_else(|| {
            Failure::CouldNotMeasure(
                "no events around late samples were kept: the flight recorder did not run, or nothing was late".into(),
            )
        })
    }

    /// Samples that have events of their own.
    fn with_events(&self) -> impl Iterator<Item = (&SeriesSamples, &Spike)> {
        self.series.iter().flat_map(|series| {
            let has = |spike: &&Spike| series.flights.contains_key(&spike.at_ns);
            series.worst.iter().filter(has).map(move |spike| (series, spike))
        })
    }

    /// Events around a sample: its own, or those of a sample that waited all that time too. A flight that cannot be read counts as missing.
    pub(crate) fn events(&self, of: &SeriesSamples, spike: &Spike) -> Option<Vec<Event>> {
        let own = of.flights.get(&spike.at_ns);
        let covers =
            |(_, other): &(&SeriesSamples, &Spike)| due_ns(other) <= due_ns(spike) && other.at_ns >= spike.at_ns;
        let others = self.with_events().filter(covers);
        let mut others: Vec<(&SeriesSamples, &Spike)> = others.collect();
        others.sort_by_key(|(_, other)| other.value_ns);
        let others = others
            .iter()
            .filter_map(|(series, other)| series.flights.get(&other.at_ns));
        own.into_iter().chain(others).find_map(|flight| {
            let events = trace::flight::decode(&flight.bytes).ok()?;
            (!events.is_empty()).then_some(events)
        })
    }

    /// The refusal for a sample without events.
    pub(crate) fn refusal(&self, of: &SeriesSamples, spike: &Spike) -> Failure {
        let has = |(_, spike): &(usize, &Spike)| of.flights.contains_key(&spike.at_ns);
        let places = of.worst.iter().enumerate().filter(has);
        let named: Vec<String> = places
            .take(NAMED)
            .map(|(at, _)| format!("{}:{}", of.name, at + 1))
            .collect();
        let named = if named.is_empty() {
            "none".to_owned()
        } else {
            named.join(", ")
        };
        Failure::CouldNotMeasure(format!(
            "no events were kept around this sample of {} ({} at {}): a window keeps those of its worst samples. These have some: {named}",
            of.name,
            SignedNs(spike.value_ns),
            Ns(spike.at_ns),
        ))
    }
}

/// Due instant of a sample in ns since the run's start; negative before it.
fn due_ns(spike: &Spike) -> i64 {
    i64::try_from(spike.at_ns)
        .unwrap_or(i64::MAX)
        .saturating_sub(spike.value_ns)
}

#[cfg(test)]
mod tests {
    use super::{Kept, SampleArg, SeriesSamples};
    use model::{Flight, SeriesId, Spike};
    use trace::flight::Packer;
    use trace::{Event, What};
    use units::Monotonic;

    fn spike(at_ns: u64, value_ns: i64) -> Spike {
        Spike {
            series: SeriesId(0),
            at_ns,
            value_ns,
            cpu: Some(1),
            sequence: None,
            explanation: None,
        }
    }

    /// A flight with one event on the CPU of this number.
    fn flight(at_ns: u64, cpu: u32) -> Flight {
        let event = Event {
            at: Monotonic::from_ns(1),
            cpu,
            what: What::SoftirqEntry(1),
        };
        Flight {
            series: SeriesId(0),
            at_ns,
            bytes: Packer::default().pack(&[event]),
        }
    }

    /// Of the first series the sample at 500 has events, of the second the one at 900.
    fn kept() -> Kept {
        let series = |name: &str, worst: &[Spike], flight: Flight| SeriesSamples {
            name: name.to_owned(),
            worst: worst.to_vec(),
            flights: [(flight.at_ns, flight)].into(),
        };
        Kept {
            series: vec![
                series(
                    "wakeup/cpu1",
                    &[spike(500, 300), spike(800, 100), spike(2_000, 50)],
                    flight(500, 1),
                ),
                series("rtt/reflect", &[spike(900, 250)], flight(900, 2)),
            ],
        }
    }

    fn cpu_of(kept: &Kept, text: &str) -> Result<u32, String> {
        let wanted: SampleArg = text.parse()?;
        let (series, spike) = wanted.of(kept).map_err(|error| error.to_string())?;
        let events = kept.events(series, spike);
        let events = events.ok_or_else(|| kept.refusal(series, spike).to_string())?;
        Ok(events[0].cpu)
    }

    #[test]
    fn a_sample_is_named_by_its_place_or_by_its_time() {
        let kept = kept();
        assert_eq!(cpu_of(&kept, "wakeup/cpu1:1"), Ok(1));
        assert_eq!(cpu_of(&kept, "wakeup/cpu1@510ns"), Ok(1));
        // It waited from 700 to 800; the other series' sample from 650 to 900.
        assert_eq!(cpu_of(&kept, "wakeup/cpu1:2"), Ok(2));
        assert_eq!(kept.longest().expect("one").1.at_ns, 500);
        let refused = cpu_of(&kept, "wakeup/cpu1:3").expect_err("no events");
        assert!(
            refused.contains("50 ns at 2.00 µs") && refused.ends_with("wakeup/cpu1:1"),
            "{refused}"
        );
        let unknown = cpu_of(&kept, "wakeup/cpu7:1").expect_err("no such series");
        assert!(unknown.contains("wakeup/cpu1, rtt/reflect"), "{unknown}");
        assert!(cpu_of(&kept, "wakeup/cpu1:4").is_err_and(|why| why.contains("keeps 3 samples")));
    }

    #[test]
    fn a_name_may_have_colons_and_a_wrong_one_is_refused() {
        let named: SampleArg = "listen/test-02:00:00:00:00:01:12".parse().expect("a sample");
        assert_eq!(named.series, "listen/test-02:00:00:00:00:01");
        for wrong in [
            "wakeup/cpu1",
            "wakeup/cpu1:0",
            "wakeup/cpu1:x",
            "wakeup/cpu1@5",
            ":3",
            "",
        ] {
            assert!(wrong.parse::<SampleArg>().is_err(), "{wrong}");
        }
    }
}
