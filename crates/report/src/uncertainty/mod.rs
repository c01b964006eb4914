//! The uncertainty budget of a figure (GUM, JCGM 100:2008): the errors of this program's own clocks, stamps and storage.
//!
//! Each component is an error, measured minus true value. Reading a clock takes time, so an instant that a program reads is later
//! than the event: that makes latencies longer, never shorter, and is modelled as such. [`stats::uncertainty`] adds them up.
//! The model is described in `docs/statistics.md`.

mod clocks;
mod instants;
#[cfg(test)]
mod tests;

use crate::limits::{Profile, Quantity};
use crate::one_way::OneWay;
use crate::text::plural;
use crate::verdict::{Decided, Judgement, percent, starts};
use instants::Instant;
use model::{RunView, SeriesClock, SeriesView, kind, setting};
use stats::uncertainty::{COVERAGE, Combined, Shape};
use units::{Ns, format_ns};

/// A quantile is the upper edge of its bucket: by at most this share above the sample.
const BUCKET_SHARE: f64 = 0.001;

/// The clock may run wrong by a crystal's 100 ppm and the 500 ppm by which the kernel slews it.
const RATE: f64 = 600e-6;

/// How a component was evaluated, in the words of the GUM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    /// From a series of observations.
    A,
    /// From other knowledge.
    B,
}

/// One component.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Component {
    /// Its name.
    pub(crate) name: &'static str,
    pub(crate) evaluation: Evaluation,
    /// Its error in ns, or the reason why it is not known.
    pub(crate) shape: Result<Shape, String>,
    /// The origin of the figure, in words.
    pub(crate) from: String,
}

impl Component {
    /// The distribution, in words.
    pub(crate) fn distribution(&self) -> &'static str {
        match self.shape {
            Err(_) => "not known",
            Ok(Shape::Uniform { .. }) => "rectangular",
            Ok(Shape::Normal { .. }) => "normal",
        }
    }

    /// The error in words: `0 to 34 ns too long`.
    pub(crate) fn text(&self) -> String {
        match &self.shape {
            Err(why) => format!("not known: {why}"),
            Ok(Shape::Uniform { low, high }) if *low == -*high => format!("± {}", format_ns(*high)),
            Ok(Shape::Uniform { low, high }) if *low >= 0.0 => format!("up to {} too long", format_ns(*high)),
            Ok(Shape::Uniform { low, .. }) => format!("up to {} too short", format_ns(-low)),
            Ok(Shape::Normal { mean, deviation }) => {
                format!(
                    "{} too long, with a deviation of {}",
                    format_ns(*mean),
                    format_ns(*deviation)
                )
            }
        }
    }
}

/// The budget of one figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UncertaintyBudget {
    pub(crate) components: Vec<Component>,
}

impl UncertaintyBudget {
    /// The budget of a figure of a series; `None` if the series is no duration that this program models. `stamp_to_wire_ns` is the
    /// stated time between the wire and a stamp of the NIC.
    pub(crate) fn of(
        (run, series): (&RunView, &SeriesView),
        quantity: Quantity,
        value_ns: f64,
        stamp_to_wire_ns: Option<u64>,
    ) -> Option<Self> {
        let (begin, end) = instants::of(series.kind()?)?;
        let mut components = clocks::readings(run, series, (begin, end));
        components.extend(conversion(run, series, (begin, end)));
        components.extend(between_clocks(run, series));
        components.extend(stamp_to_wire(series, stamp_to_wire_ns));
        components.extend(sender(run, series));
        components.extend(start_of_fault(run, series));
        components.extend(rate(value_ns));
        components.push(storage(quantity, value_ns));
        Some(Self { components })
    }

    /// The errors together; `None` if a component is not known.
    pub(crate) fn combined(&self) -> Option<Combined> {
        let shapes: Result<Vec<Shape>, ()> = self
            .components
            .iter()
            .map(|one| one.shape.clone().map_err(drop))
            .collect();
        Some(Combined::of(shapes.ok()?))
    }

    /// The components that are not known, each with its reason.
    pub(crate) fn unknown(&self) -> Vec<String> {
        let text = |one: &Component| Some(format!("{} ({})", one.name, one.shape.as_ref().err()?));
        self.components.iter().filter_map(text).collect()
    }

    /// Expanded uncertainty as text: `U = 64 ns (k = 2)`, or the components that are not known.
    pub(crate) fn text(&self) -> String {
        match self.combined() {
            Some(combined) => format!("U = {} (k = {COVERAGE})", format_ns(combined.expanded())),
            None => format!("U is not known: {}", self.unknown().join("; ")),
        }
    }
}

/// The stated time between wire and stamp of the first profile that states one.
pub(crate) fn stamp_to_wire_of(profiles: &[Profile]) -> Option<u64> {
    profiles.iter().find_map(|profile| profile.decision.stamp_to_wire_ns)
}

/// The decision rules of profiles in sentences, each with the name of its profile.
pub(crate) fn rules(profiles: &[Profile]) -> Vec<String> {
    let text = |profile: &Profile| format!("Profile {}: {}", profile.name, profile.decision.rule.sentence());
    profiles.iter().map(text).collect()
}

/// The same with the numbers of a judgement.
pub(crate) fn rules_with_numbers(profiles: &[Profile], judgement: &Judgement) -> Vec<String> {
    let rules = profiles.iter().zip(rules(profiles));
    let text = |(profile, rule): (&Profile, String)| {
        let of_profile = judgement.checks.iter().filter(|check| check.profile == profile.name);
        let decided: Vec<_> = of_profile.filter_map(|check| check.decision.as_ref()).collect();
        let largest =
            |figure: fn(&Decided) -> Option<f64>| decided.iter().filter_map(|one| figure(one)).reduce(f64::max);
        let numbers = [
            largest(|one| one.expanded_ns).map(|ns| format!(" Largest U of its durations: {}.", format_ns(ns))),
            largest(|one| one.guard_ns).map(|ns| format!(" Largest guard band: {}.", format_ns(ns))),
            largest(|one| one.risk_most).map(|most| {
                format!(
                    " Largest risk that it allows: {}.",
                    percent(most).trim_start_matches("below ")
                )
            }),
            largest(|one| one.risk).map(|risk| format!(" Largest risk of a pass: {}.", percent(risk))),
        ];
        let open = decided.iter().filter(|one| one.expanded_ns.is_none()).count();
        let open = (open > 0).then(|| format!(" U is not known for {}.", plural(open as u64, "duration")));
        numbers
            .into_iter()
            .chain([open])
            .flatten()
            .fold(rule, |all, next| all + &next)
    };
    rules.map(text).collect()
}

/// One instant on the wall clock, the other on the monotonic clock: one of them was converted.
fn conversion(run: &RunView, series: &SeriesView, (begin, end): (Instant, Instant)) -> Option<Component> {
    let is_mixed = (begin == Instant::Stamp) != (end == Instant::Stamp);
    if series.spec.clock != SeriesClock::Realtime || !is_mixed {
        return None;
    }
    let within = clocks::figure(run, series, &model::fact::CLOCKS_APART);
    Some(Component {
        name: "conversion of clocks",
        evaluation: Evaluation::A,
        shape: within.map(|ns| Shape::within(ns as f64)),
        from: "wall clock read between two readings of the monotonic clock, half the widest distance".to_owned(),
    })
}

/// The clocks of two machines, or of a NIC and the system.
fn between_clocks(run: &RunView, series: &SeriesView) -> Option<Component> {
    let clocks = OneWay::of(run, series)?;
    let from = clocks.text();
    Some(Component {
        name: "synchronisation of clocks",
        evaluation: Evaluation::B,
        shape: clocks.uncertainty.map(|known| Shape::within(known.ns as f64)),
        from,
    })
}

/// The NIC's stamp is not made at the wire. The kernel's own stamp needs no such component: it is what the series measures.
fn stamp_to_wire(series: &SeriesView, stated_ns: Option<u64>) -> Option<Component> {
    series.setting(setting::STAMPS)?;
    let unknown = || "no loop back measured it, and the profile states none (stamp_to_wire)".to_owned();
    Some(Component {
        name: "stamp to wire",
        evaluation: Evaluation::B,
        shape: stated_ns.map(|ns| Shape::within(ns as f64)).ok_or_else(unknown),
        from: "as the profile states it".to_owned(),
    })
}

/// Our own sender is late by some time, which the samples include. They are too long by it.
fn sender(run: &RunView, series: &SeriesView) -> Option<Component> {
    series.kind().filter(|of_kind| instants::includes_sender(of_kind))?;
    let senders = |of_kind| {
        run.series
            .iter()
            .filter(move |one| one.is(of_kind) && one.counters.received > 0)
    };
    let by_worst = |one: &&SeriesView| one.max_ns;
    let sender = senders(&kind::DEPARTURE).max_by_key(by_worst);
    let sender = sender.or_else(|| senders(&kind::PUBLISH).max_by_key(by_worst));
    // If another injector made the faults, its start is part of the rule by which it is seen.
    let sender = sender?;
    let spread = deviation(sender);
    let name = &sender.spec.name;
    Some(Component {
        name: "lateness of our sender",
        evaluation: Evaluation::A,
        shape: spread
            .map(|(mean, deviation)| Shape::Normal { mean, deviation })
            .ok_or_else(|| format!("{name} has no distribution")),
        from: format!("{name}: mean and standard deviation"),
    })
}

/// Another injector's fault began some time before the instant that is measured from: the sample is too short by it.
fn start_of_fault(run: &RunView, series: &SeriesView) -> Option<Component> {
    let ns = starts::uncertain_ns(run, series);
    let lacks = starts::lacks_shots(run, series);
    (ns > 0 || lacks).then(|| Component {
        name: "start of the fault",
        evaluation: Evaluation::B,
        shape: match lacks {
            true => Err("the run file lacks shots of this series".to_owned()),
            false => Ok(Shape::Uniform {
                low: -(ns as f64),
                high: 0.0,
            }),
        },
        from: "the largest of its shots".to_owned(),
    })
}

/// Mean and standard deviation of the samples of a series, in ns.
fn deviation(series: &SeriesView) -> Option<(f64, f64)> {
    let mean = series.histogram.mean()?;
    let (mut n, mut squares) = (0.0, 0.0);
    for bucket in series.histogram.buckets() {
        let distance = f64::midpoint(bucket.low_ns as f64, bucket.high_ns as f64) - mean;
        squares += bucket.count as f64 * distance * distance;
        n += bucket.count as f64;
    }
    Some((mean, f64::sqrt(squares / n)))
}

/// The rate of the clock. It is left out where it is below the nanosecond in which values are stored.
fn rate(value_ns: f64) -> Option<Component> {
    let error = value_ns.abs() * RATE;
    (error >= 0.5).then(|| Component {
        name: "rate of the clock",
        evaluation: Evaluation::B,
        shape: Ok(Shape::within(error)),
        from: "600 ppm of the figure: 100 of a crystal, 500 of slewing".to_owned(),
    })
}

/// Values are stored in whole ns; a quantile is the upper edge of its bucket.
fn storage(quantity: Quantity, value_ns: f64) -> Component {
    let (shape, from) = match quantity.quantile() {
        Some(_) => {
            let high = (value_ns.abs() * BUCKET_SHARE).max(1.0);
            let from = format!(
                "upper edge of a bucket of the histogram, within {}",
                Ns(high.ceil() as u64)
            );
            (Shape::Uniform { low: 0.0, high }, from)
        }
        None => (Shape::within(0.5), "whole nanoseconds".to_owned()),
    };
    Component {
        name: "storage",
        evaluation: Evaluation::B,
        shape: Ok(shape),
        from,
    }
}
