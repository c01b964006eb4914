//! Components of reading a clock.

use super::instants::Instant;
use super::{Component, Evaluation};
use model::fact::{CLOCK_LONG_READING, CLOCK_STEP, COUNTER_READING, FactOf, INSTRUMENT};
use model::{IMPORTED, RunView, SeriesView, setting};
use stats::uncertainty::Shape;

/// Reading and step of the clock at both ends. A reading shows an instant inside its call: at the end of a sample that is later than
/// the event, at its beginning earlier than the work that follows. Both make the sample longer. A clock that runs in steps shows the
/// step before: that makes the end too early, and the beginning too.
pub(super) fn readings(run: &RunView, series: &SeriesView, (begin, end): (Instant, Instant)) -> Vec<Component> {
    let mut components = Vec::new();
    for (at, name) in [
        (end, "reading the clock at the end"),
        (begin, "reading the clock at the begin"),
    ] {
        components.extend(reading(run, series, at, name));
    }
    if end != Instant::Due && end != Instant::Counter {
        components.push(step(run, series, "step of the clock at the end", |step| (-step, 0.0)));
    }
    if begin != Instant::Due && begin != Instant::Counter {
        components.push(step(run, series, "step of the clock at the begin", |step| (0.0, step)));
    }
    components
}

fn reading(run: &RunView, series: &SeriesView, at: Instant, name: &'static str) -> Option<Component> {
    let (of, from) = match at {
        Instant::Read => (&CLOCK_LONG_READING, "99 of 100 readings before the run took no longer"),
        Instant::Counter => (&COUNTER_READING, "mean of readings before the run"),
        Instant::Due | Instant::Stamp => return None,
    };
    Some(Component {
        name,
        evaluation: Evaluation::A,
        shape: figure(run, series, of).map(|ns| Shape::Uniform {
            low: 0.0,
            high: ns as f64,
        }),
        from: from.to_owned(),
    })
}

fn step(run: &RunView, series: &SeriesView, name: &'static str, ends: fn(f64) -> (f64, f64)) -> Component {
    let shape = figure(run, series, &CLOCK_STEP).map(|ns| {
        let (low, high) = ends(ns as f64);
        Shape::Uniform { low, high }
    });
    Component {
        name,
        evaluation: Evaluation::A,
        shape,
        from: "largest step that all readings before the run are multiples of".to_owned(),
    }
}

/// A figure of the instrument that measured a series, in ns. A series of another place was measured by the instrument there; if the
/// run does not tell which, the worst of all counts.
///
/// # Errors
/// The reason why it is not known.
pub(super) fn figure(run: &RunView, series: &SeriesView, of: &FactOf<u64>) -> Result<u64, String> {
    if run.info.command == IMPORTED {
        return Err("another tool measured".to_owned());
    }
    let is_here = series.setting(setting::PLACE).is_none() && !run.is_merged();
    let elsewhere = format!(": {INSTRUMENT}");
    let found: Vec<_> = run
        .facts
        .iter()
        .filter(|fact| fact.name == of.name)
        .filter(|fact| match is_here {
            true => fact.group == INSTRUMENT,
            false => fact.group.ends_with(&elsewhere),
        })
        .collect();
    let machines = run
        .facts
        .iter()
        .filter(|fact| fact.name == model::fact::KERNEL_RELEASE.name);
    let others = machines.filter(|fact| fact.group.ends_with(": kernel")).count();
    if found.is_empty() || (!is_here && found.len() < others) {
        return Err("not measured in this run".to_owned());
    }
    let mut worst = 0;
    for fact in found {
        let text = fact.value.as_ref().map_err(Clone::clone)?;
        let ns = text.strip_suffix(" ns").and_then(|ns| ns.parse().ok());
        worst = worst.max(ns.ok_or_else(|| format!("\"{text}\" is no number of ns"))?);
    }
    Ok(worst)
}
