//! Figures between two clocks that follow PTP: their maximum error, and times when it is not known.
//!
//! A one-way figure is the true time plus the difference of the two clocks. If the difference has a known bound, the
//! figure has that error at most; if something happened to a clock, the affected windows prove nothing about the host.

#[cfg(test)]
mod tests;

use crate::limits::Quantity;
use crate::text::plural;
use model::{Doubtful, Event, EventKind, RunView, STEP_NOTICED_NS, SeriesView, WindowRow, setting};
use units::Ns;

/// Series that a measured uncertainty is computed from: offset from the master, path delay, network card.
const OFFSET: &str = "clock/ptp-offset";
const DELAY: &str = "clock/ptp-delay";
const CARD: &str = "clock/phc-offset";

/// Maximum difference of two clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncertainty {
    /// The difference in ns.
    pub ns: u64,
    /// Its source.
    pub what: String,
}

/// The clocks of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct OneWay {
    /// Maximum difference of the clocks, or the reason why it is not known.
    pub uncertainty: Result<Uncertainty, String>,
    /// Spans in which it is not known that the clocks agree.
    pub doubtful: Vec<Doubtful>,
    /// Windows with samples.
    pub windows: usize,
    /// Number of windows that overlap such a span, or have a sample earlier than the uncertainty allows.
    pub touched: usize,
    /// Number of these windows that overlap such a span.
    unknown: usize,
    /// Number of these windows in which a sample arrived before it was due.
    pub faulty: usize,
    /// The earliest of these samples, in ns.
    pub earliest_ns: Option<i64>,
    clean_max_ns: Option<i64>,
    clean_mean_ns: Option<f64>,
}

impl OneWay {
    /// The clocks of `series`; `None` if all its instants come from one clock.
    pub fn of(run: &RunView, series: &SeriesView) -> Option<Self> {
        let stated = setting_of(series, setting::CLOCK_UNCERTAINTY_NS);
        let nic = setting_of(series, setting::NIC_UNCERTAINTY_NS);
        let doubtful = match stated {
            None if nic.is_none() => return None,
            // On one host: the program that follows the NIC's clock reports steps, and nothing else can separate the
            // two clocks.
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
        // A sample earlier than the uncertainty allows shows a fault of a clock. If no uncertainty is known, every
        // sample before its due time does.
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

    /// The figure over windows in which nothing happened to the clocks. Quantiles are not stored per window.
    pub(crate) fn clean(&self, quantity: Quantity, over_all: f64) -> Option<f64> {
        match quantity {
            _ if self.touched == 0 => Some(over_all),
            Quantity::Max => self.clean_max_ns.map(|ns| ns as f64),
            Quantity::Mean => self.clean_mean_ns,
            _ => None,
        }
    }

    /// A summary in one sentence, for people.
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

    /// Text such as ` ± 2.10 µs`; empty if the uncertainty is not known.
    pub fn plus_minus(&self) -> String {
        let known = self.uncertainty.as_ref();
        known.map_or_else(|_| String::new(), |uncertainty| format!(" ± {}", Ns(uncertainty.ns)))
    }

    /// Texts of the doubts about the figures of the affected windows.
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

/// Maximum difference of two hosts' clocks, as stated.
fn of_hosts(run: &RunView, series: &SeriesView, stated: &str, doubtful: &[Doubtful]) -> Result<Uncertainty, String> {
    match stated.parse() {
        Ok(ns) => Ok(match asked_ns(series).filter(|apart_ns| *apart_ns > ns) {
            Some(apart_ns) => Uncertainty {
                ns: apart_ns,
                what: "the largest distance found during the step".to_owned(),
            },
            None => Uncertainty {
                ns,
                what: setting_of(series, setting::CLOCK_RELATION)
                    .unwrap_or("as stated")
                    .to_owned(),
            },
        }),
        Err(_) if stated == setting::NOT_STATED => {
            Err("the relation of the two runs' clocks was not stated (merge --clock)".to_owned())
        }
        Err(_) => measured(run, series, doubtful),
    }
}

/// Adds the uncertainty of the NIC's time stamps.
fn with_nic(hosts: Option<Uncertainty>, nic: Option<&str>) -> Result<Uncertainty, String> {
    let Some(nic) = nic else {
        return hosts.ok_or_else(|| "nothing is known about the clocks".to_owned());
    };
    let Ok(nic_ns) = nic.parse::<u64>() else {
        return Err("the accuracy of reading the NIC's clock was not stated".to_owned());
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

/// Spans in which it is not known that the clocks agree: reported by the monitoring of this machine's clock and of the clock of the
/// series' place, by steps of the wall clock, and by the publisher about its own clock. No source ends the doubt of another.
fn spans(run: &RunView, series: &SeriesView) -> Vec<Doubtful> {
    let of_run = || run.events.iter().filter(|event| event.series.is_none());
    let of_series = run.events.iter().filter(|event| event.series == Some(series.id));
    let mut spans = match asked_ns(series) {
        // The distance of the two clocks was measured all through the step, whatever each of them follows.
        Some(_) => Vec::new(),
        None => watches(of_run(), series),
    };
    spans.extend(of_run().filter_map(step));
    spans.extend(of_run().filter_map(looked_back));
    spans.extend(of_series.clone().filter_map(step));
    spans.extend(of_series.clone().filter_map(looked_back));
    spans.extend(Doubtful::by_words(of_series));
    spans.sort_by_key(|span| span.from_ns);
    spans
}

/// The spans in which a watch over one of the clocks was in doubt, or there was none.
fn watches<'a>(of_run: impl Iterator<Item = &'a Event>, series: &SeriesView) -> Vec<Doubtful> {
    let mut spans = Doubtful::watched(of_run).unwrap_or_else(|| vec![unwatched("the clock was not monitored")]);
    if setting_of(series, setting::CLOCK_THERE) == Some(setting::NOT_WATCHED) {
        spans.push(unwatched("the clock of the other machine was not monitored"));
    }
    spans
}

/// The largest distance of the two clocks, if it was asked for all through the step.
fn asked_ns(series: &SeriesView) -> Option<u64> {
    setting_of(series, setting::CLOCK_APART_NS)?.parse().ok()
}

fn unwatched(why: &str) -> Doubtful {
    Doubtful {
        from_ns: 0,
        to_ns: None,
        why: why.to_owned(),
    }
}

/// The time around each step of the wall clock or of the NIC's clock.
fn steps(run: &RunView) -> Vec<Doubtful> {
    let of_run = run.events.iter().filter(|event| event.series.is_none());
    of_run.filter_map(step).collect()
}

/// The span of a doubt about another clock that was found at the end of its measurement. No word of the monitoring of this clock ends it.
fn looked_back(event: &Event) -> Option<Doubtful> {
    let from_ns = event.since_ns.filter(|_| event.kind == EventKind::ClockDoubt)?;
    Some(Doubtful {
        from_ns,
        to_ns: Some(event.at_ns),
        why: event.text.clone(),
    })
}

fn step(event: &Event) -> Option<Doubtful> {
    (event.kind == EventKind::ClockStep).then(|| Doubtful {
        from_ns: event.since_ns.unwrap_or(event.at_ns.saturating_sub(STEP_NOTICED_NS)),
        to_ns: Some(event.at_ns),
        why: event.text.clone(),
    })
}

/// Adds up this clock's largest offset from its master, the mean path delay, the network card's offset, and the
/// publisher's share. The path delay is included because the offset is wrong by that much if the whole delay is in one
/// direction.
fn measured(run: &RunView, series: &SeriesView, doubtful: &[Doubtful]) -> Result<Uncertainty, String> {
    let publisher_ns: u64 = setting_of(series, setting::PUBLISHER_UNCERTAINTY_NS)
        .and_then(|text| text.parse().ok())
        .ok_or("the publisher's share was not stated")?;
    let worst = |name: &str| worst(of_clock(run, series, name)?, doubtful);
    let publisher = format!("{} publisher's clock, as stated", Ns(publisher_ns));
    let Some(offset_ns) = worst(OFFSET) else {
        // The publisher's own word, at a series, does not show which clock this host follows.
        let is_good = |event: &Event| event.series.is_none() && event.kind == EventKind::ClockGood;
        let good = setting_of(series, setting::PLACE).is_none() && run.events.iter().any(is_good);
        let unmeasured = of_clock(run, series, OFFSET).is_none_or(|clock| clock.counters.expected == 0);
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

/// A series of the clock by which `series` was measured: one of the same place, whatever name was free for it in the run.
fn of_clock<'a>(run: &'a RunView, series: &SeriesView, name: &str) -> Option<&'a SeriesView> {
    let place = setting_of(series, setting::PLACE);
    run.series.iter().find(|clock| {
        let original = setting_of(clock, setting::ANOTHER_IS).unwrap_or(&clock.spec.name);
        original == name && setting_of(clock, setting::PLACE) == place
    })
}

/// The largest absolute value of a clock's figure in windows without doubt.
fn worst(series: &SeriesView, doubtful: &[Doubtful]) -> Option<u64> {
    let in_doubt = |window: &&WindowRow| doubtful.iter().any(|span| span.touches(window));
    let clean = series.windows.iter().filter(|window| !in_doubt(window));
    let extremes = clean.flat_map(|window| [window.min_ns, window.max_ns]);
    extremes.flatten().map(i64::unsigned_abs).max()
}
