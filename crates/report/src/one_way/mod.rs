//! Figures between two clocks that follow PTP: how large their error may be, and when this is not known.
//!
//! A one-way figure is the true time plus the distance of the two clocks. Where the distance is bounded, the figure is good to
//! that bound; where something happened to a clock, the windows it touches say nothing of the host.

#[cfg(test)]
mod tests;

use crate::limits::Quantity;
use crate::text::plural;
use model::{Event, EventKind, RunView, STEP_NOTICED_NS, SeriesView, WindowRow, setting};
use units::Ns;

/// Series that a measured uncertainty is taken from, and what each stands for.
const OFFSET: &str = "clock/ptp-offset";
const DELAY: &str = "clock/ptp-delay";
const CARD: &str = "clock/phc-offset";

/// A span of time in which the clocks are not known to agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubtful {
    /// Its start, in ns since the run's.
    pub from_ns: u64,
    /// Its end; `None` until the end of the run.
    pub to_ns: Option<u64>,
    /// The event.
    pub why: String,
}

impl Doubtful {
    fn touches(&self, window: &WindowRow) -> bool {
        window.end_ns > self.from_ns && self.to_ns.is_none_or(|to_ns| window.start_ns < to_ns)
    }

    /// `3.00 s to 4.50 s: port 1 is LISTENING`.
    pub fn text(&self) -> String {
        let from = Ns(self.from_ns);
        let to = self
            .to_ns
            .map_or_else(|| "the end".to_owned(), |to_ns| Ns(to_ns).to_string());
        format!("{from} to {to}: {}", self.why)
    }
}

/// How far two clocks may be apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncertainty {
    /// At the most, in ns.
    pub ns: u64,
    /// Its source.
    pub what: String,
}

/// The clocks of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct OneWay {
    /// How far they may be apart, or why that is not known.
    pub uncertainty: Result<Uncertainty, String>,
    /// Spans in which they are not known to agree.
    pub doubtful: Vec<Doubtful>,
    /// Windows with samples.
    pub windows: usize,
    /// Windows that such a span touches, or with a sample earlier than the uncertainty allows.
    pub touched: usize,
    /// Windows of these that such a span touches.
    unknown: usize,
    /// Windows of these in which a sample was there before it was due.
    pub faulty: usize,
    /// The earliest of these samples.
    pub earliest_ns: Option<i64>,
    clean_max_ns: Option<i64>,
    clean_mean_ns: Option<f64>,
}

impl OneWay {
    /// The clocks of `series`; `None` where its instants are of one clock.
    pub fn of(run: &RunView, series: &SeriesView) -> Option<Self> {
        let stated = setting_of(series, setting::CLOCK_UNCERTAINTY_NS);
        let nic = setting_of(series, setting::NIC_UNCERTAINTY_NS);
        let doubtful = match stated {
            None if nic.is_none() => return None,
            // Of one host: who follows the NIC's clock tells steps, and nothing else can part the two.
            None => steps(run),
            Some(setting::NOT_STATED) => Vec::new(),
            Some(_) => spans(run, series),
        };
        let uncertainty = match stated {
            None => Ok(None),
            Some(stated) => of_hosts(run, series, stated, &doubtful).map(Some),
        };
        let uncertainty = uncertainty.and_then(|hosts| with_nic(hosts, nic));
        let early = |window: &WindowRow| match &uncertainty {
            Ok(uncertainty) => window
                .min_ns
                .filter(|min| *min < 0 && min.unsigned_abs() > uncertainty.ns),
            Err(_) => window.min_ns.filter(|min| *min < 0),
        };
        let with_samples: Vec<&WindowRow> = series.windows.iter().filter(|w| w.counters.received > 0).collect();
        let in_doubt = |window: &WindowRow| doubtful.iter().any(|span| span.touches(window));
        let clean: Vec<&&WindowRow> = with_samples
            .iter()
            .filter(|window| !in_doubt(window) && early(window).is_none())
            .collect();
        // A clock that is off where it is known to be may be off: a sample before its time is a fault where none was known.
        let faults: Vec<i64> = with_samples.iter().filter_map(|window| early(window)).collect();
        Some(Self {
            windows: with_samples.len(),
            touched: with_samples.len() - clean.len(),
            unknown: with_samples.iter().filter(|window| in_doubt(window)).count(),
            faulty: faults.len(),
            earliest_ns: faults.into_iter().min(),
            clean_max_ns: clean.iter().filter_map(|window| window.max_ns).max(),
            clean_mean_ns: mean(&clean),
            uncertainty,
            doubtful,
        })
    }

    /// The figure over windows in which nothing happened to the clocks. Quantiles are not kept by window.
    pub(crate) fn clean(&self, quantity: Quantity, over_all: f64) -> Option<f64> {
        match quantity {
            _ if self.touched == 0 => Some(over_all),
            Quantity::Max => self.clean_max_ns.map(|ns| ns as f64),
            Quantity::Mean => self.clean_mean_ns,
            _ => None,
        }
    }

    /// The whole in one sentence, for a person.
    pub fn text(&self) -> String {
        let apart = match &self.uncertainty {
            Ok(known) => format!("± {} between the clocks ({})", Ns(known.ns), known.what),
            Err(why) => format!("uncertainty of the clocks not known: {why}"),
        };
        match self.touched {
            0 => apart,
            n => format!("{apart}; {n} of {} in doubt", plural(self.windows as u64, "window")),
        }
    }

    /// ` ± 2.10 µs`, or nothing where the uncertainty is not known.
    pub fn plus_minus(&self) -> String {
        let known = self.uncertainty.as_ref();
        known.map_or_else(|_| String::new(), |uncertainty| format!(" ± {}", Ns(uncertainty.ns)))
    }

    /// Events that put the figures of the touched windows in doubt.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if let Err(why) = &self.uncertainty {
            doubts.push(format!("the clocks' uncertainty is not known: {why}"));
        }
        if let Some(earliest_ns) = self.earliest_ns {
            doubts.push(format!(
                "clock fault: in {}, samples came up to {} before they were due",
                plural(self.faulty as u64, "window"),
                Ns(earliest_ns.unsigned_abs())
            ));
        }
        if self.unknown > 0 {
            let first = self.doubtful.first().map(Doubtful::text).unwrap_or_default();
            let more = match self.doubtful.len() {
                0 | 1 => String::new(),
                n => format!(", and {} more", n - 1),
            };
            doubts.push(format!(
                "the clocks are not known to agree in {} of {}: {first}{more}",
                self.unknown,
                plural(self.windows as u64, "window")
            ));
        }
        doubts
    }
}

/// How far the clocks of two hosts may be apart, by what was stated.
fn of_hosts(run: &RunView, series: &SeriesView, stated: &str, doubtful: &[Doubtful]) -> Result<Uncertainty, String> {
    match stated.parse() {
        Ok(ns) => Ok(Uncertainty {
            ns,
            what: setting_of(series, setting::CLOCK_RELATION)
                .unwrap_or("as stated")
                .to_owned(),
        }),
        Err(_) if stated == setting::NOT_STATED => {
            Err("the relation of the two runs' clocks was not stated (merge --clock)".to_owned())
        }
        Err(_) => measured(run, series, doubtful),
    }
}

/// With what stamps of the NIC's clock add to it.
fn with_nic(hosts: Option<Uncertainty>, nic: Option<&str>) -> Result<Uncertainty, String> {
    let Some(nic) = nic else {
        return hosts.ok_or_else(|| "nothing is known of the clocks".to_owned());
    };
    let Ok(nic_ns) = nic.parse::<u64>() else {
        return Err("how well the NIC's clock was read was not stated".to_owned());
    };
    let nic = format!("{} the NIC's clock from the system clock", Ns(nic_ns));
    Ok(match hosts {
        None => Uncertainty { ns: nic_ns, what: nic },
        Some(hosts) => Uncertainty {
            ns: hosts.ns.saturating_add(nic_ns),
            what: format!("{}, {nic}", hosts.what),
        },
    })
}

fn setting_of<'a>(series: &'a SeriesView, name: &str) -> Option<&'a str> {
    let mut settings = series.spec.settings.iter();
    settings
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.as_str())
}

fn mean(windows: &[&&WindowRow]) -> Option<f64> {
    let count: u64 = windows.iter().map(|window| window.counters.received).sum();
    let sum: f64 = windows
        .iter()
        .filter_map(|window| Some(window.mean_ns? * window.counters.received as f64))
        .sum();
    (count > 0).then(|| sum / count as f64)
}

/// When the clocks are not known to agree: by the watch over this one, by steps of the wall clock, and by what the publisher
/// says of its own.
fn spans(run: &RunView, series: &SeriesView) -> Vec<Doubtful> {
    let of_run = || run.events.iter().filter(|event| event.series.is_none());
    let of_publisher = run.events.iter().filter(|event| event.series == Some(series.id));
    let mut spans = watched(of_run());
    spans.extend(of_run().filter_map(step));
    spans.extend(doubts(of_publisher));
    spans.sort_by_key(|span| span.from_ns);
    spans
}

/// Around each step of the wall clock or of the NIC's.
fn steps(run: &RunView) -> Vec<Doubtful> {
    let of_run = run.events.iter().filter(|event| event.series.is_none());
    of_run.filter_map(step).collect()
}

/// The doubts of the watch. Before its first word nothing is received, since its first look comes first: a doubt from there
/// on is one from the start on.
fn watched<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<Doubtful> {
    let mut words = events.filter(|event| is_word(event)).peekable();
    let Some(first) = words.peek().copied() else {
        return vec![Doubtful {
            from_ns: 0,
            to_ns: None,
            why: "nobody watched the clock".to_owned(),
        }];
    };
    let mut spans = doubts(words);
    if let Some(span) = spans.first_mut().filter(|_| first.kind == EventKind::ClockDoubt) {
        span.from_ns = 0;
    }
    spans
}

fn is_word(event: &Event) -> bool {
    matches!(event.kind, EventKind::ClockDoubt | EventKind::ClockGood)
}

/// From each doubt to the next word.
fn doubts<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<Doubtful> {
    let mut spans: Vec<Doubtful> = Vec::new();
    for event in events.filter(|event| is_word(event)) {
        if let Some(open) = spans.last_mut().filter(|span| span.to_ns.is_none()) {
            open.to_ns = Some(event.at_ns);
        }
        if event.kind == EventKind::ClockDoubt {
            spans.push(Doubtful {
                from_ns: event.at_ns,
                to_ns: None,
                why: event.text.clone(),
            });
        }
    }
    spans
}

fn step(event: &Event) -> Option<Doubtful> {
    (event.kind == EventKind::ClockStep).then(|| Doubtful {
        from_ns: event.since_ns.unwrap_or(event.at_ns.saturating_sub(STEP_NOTICED_NS)),
        to_ns: Some(event.at_ns),
        why: event.text.clone(),
    })
}

/// This clock's largest distance from its master, as much for the path as its mean delay (were both ways' delay on one of
/// them, the distance would be wrong by that), the network card's distance, and the publisher's share.
fn measured(run: &RunView, series: &SeriesView, doubtful: &[Doubtful]) -> Result<Uncertainty, String> {
    let publisher_ns: u64 = setting_of(series, setting::PUBLISHER_UNCERTAINTY_NS)
        .and_then(|text| text.parse().ok())
        .ok_or("the publisher's share was not stated")?;
    let worst = |name: &str| worst(run.series_named(name)?, doubtful);
    let publisher = format!("{} publisher's clock, as stated", Ns(publisher_ns));
    let Some(offset_ns) = worst(OFFSET) else {
        let good = run.events.iter().any(|event| event.kind == EventKind::ClockGood);
        let unmeasured = run
            .series_named(OFFSET)
            .is_none_or(|series| series.counters.expected == 0);
        return match good && unmeasured {
            true => Ok(Uncertainty {
                ns: publisher_ns,
                what: format!("this host is the grandmaster; {publisher}"),
            }),
            false => Err("no distance from the master was measured while the clock was good".to_owned()),
        };
    };
    let delay_ns = worst(DELAY).ok_or("the path delay was not measured")?;
    let card_ns = worst(CARD).unwrap_or(0);
    let card = match card_ns {
        0 => String::new(),
        ns => format!(", {} system clock from the network card's", Ns(ns)),
    };
    Ok(Uncertainty {
        ns: offset_ns + delay_ns + card_ns + publisher_ns,
        what: format!(
            "{} largest distance from the master, {} for an asymmetric path (its mean delay){card}, {publisher}",
            Ns(offset_ns),
            Ns(delay_ns)
        ),
    })
}

/// The largest size of a clock's figure in windows that no doubt touches.
fn worst(series: &SeriesView, doubtful: &[Doubtful]) -> Option<u64> {
    let in_doubt = |window: &&WindowRow| doubtful.iter().any(|span| span.touches(window));
    let clean = series.windows.iter().filter(|window| !in_doubt(window));
    let extremes = clean.flat_map(|window| [window.min_ns, window.max_ns]);
    extremes.flatten().map(i64::unsigned_abs).max()
}
