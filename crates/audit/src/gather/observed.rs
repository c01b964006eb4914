//! Kernel counters that are read twice: rates show more than a single reading. A capture keeps the rates.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use super::{guest, interrupts, network, power};
use crate::facts::{Class, Facts};
use crate::map;
use crate::parameters::Parameters;
use crate::value::{Known, Unknown, Value};
use host::error::HostError;
use host::reader::Reader;

/// A counter: a fact of the machine, or of the named part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Counter {
    pub(crate) part: Option<(Class, String)>,
    pub(crate) fact: String,
}

impl fmt::Display for Counter {
    /// Key in a capture: fact names are unique across classes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            None => f.write_str(&self.fact),
            Some((_, name)) => write!(f, "{} {name}", self.fact),
        }
    }
}

/// One reading of every counter.
pub(crate) type Reading = BTreeMap<Counter, Result<f64, HostError>>;

/// Name of the answer with the growth of the counters while a capture was made.
const ANSWER: &str = "observed";

/// Growth per second by the counter's key.
type Rates = BTreeMap<String, f64>;

/// Sources of counters. Each stores the same ones at every reading, known or not.
const SOURCES: &[fn(&Reader, &Facts, &mut Reading)] = &[
    super::threads::count,
    interrupts::per_cpu,
    interrupts::smi,
    network::count,
    power::hardware_errors,
    guest::steal,
    map::count,
];

/// Stores the growth of each counter per second of observation.
pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let time = parameters.observe.filter(|_| reader.is_live());
    // Reads all files again: both readings need their own instant.
    let anew = || time.iter().for_each(|_| reader.keep_processes());
    anew();
    let before = read(reader, facts);
    let known: BTreeMap<Counter, Known> = match time {
        Some(time) => {
            let began = Instant::now();
            thread::sleep(time);
            anew();
            let after = read(reader, facts);
            let grown = grown(before, &after, began.elapsed());
            // The rates come from this machine, so they are written, not read.
            let _ = reader.answer(ANSWER, || Ok(text(&grown)));
            grown
        }
        None => told(before, reader),
    };
    for (counter, known) in known {
        note(facts, &counter, known);
    }
}

fn read(reader: &Reader, facts: &Facts) -> Reading {
    let mut reading = Reading::new();
    for source in SOURCES {
        source(reader, facts, &mut reading);
    }
    reading
}

fn grown(before: Reading, after: &Reading, time: Duration) -> BTreeMap<Counter, Known> {
    let rate = |(counter, first)| {
        let rate = rate(first, after.get(&counter).cloned(), time.as_secs_f64());
        (counter, rate)
    };
    before.into_iter().map(rate).collect()
}

/// Growth of a counter; unknown if it is gone or was reset.
fn rate(first: Result<f64, HostError>, second: Option<Result<f64, HostError>>, seconds: f64) -> Known {
    let first = first?;
    let second = second.ok_or_else(|| Unknown::unclear("the counter was gone at the second reading"))??;
    if second < first {
        return Err(Unknown::unclear("the counter went backwards"));
    }
    Ok(Value::Number((second - first) / seconds))
}

/// Rates in a recorded tree for counters that the tree has, too.
fn told(before: Reading, reader: &Reader) -> BTreeMap<Counter, Known> {
    let rates = match reader.is_live() {
        true => Ok(None),
        false => recorded(reader),
    };
    let rate = |counter: &Counter, count: Result<f64, HostError>| {
        count?;
        let rates = rates.clone()?;
        let rates =
            rates.ok_or_else(|| Unknown::unclear("counters are read twice only on a live machine, with --observe"))?;
        let rate = rates.get(&counter.to_string()).copied();
        rate.map(Value::Number)
            .ok_or_else(|| Unknown::unclear("the capture has no rate for it: it was unknown on the machine itself"))
    };
    let known = |(counter, count)| (Counter::clone(&counter), rate(&counter, count));
    before.into_iter().map(known).collect()
}

/// Rates in a recorded tree; `None` if it was recorded without an observation.
fn recorded(reader: &Reader) -> Result<Option<Rates>, HostError> {
    let answer = match reader.answer(ANSWER, || Ok(String::new())) {
        Err(why) if why.is_absent() => return Ok(None),
        answer => answer?,
    };
    let rate = |line: &str| {
        let (key, rate) = line.rsplit_once(' ')?;
        let rate = rate
            .parse()
            .ok()
            .filter(|rate: &f64| rate.is_finite() && *rate >= 0.0)?;
        Some((key.to_owned(), rate))
    };
    let rates: Option<Rates> = answer.lines().map(rate).collect();
    let wrong = || HostError::unexpected("/.answers/observed", "counters and their growth per second", &answer);
    rates.map(Some).ok_or_else(wrong)
}

/// Formats a line for each counter that grew by a known amount: its key and the growth per second.
fn text(grown: &BTreeMap<Counter, Known>) -> String {
    let mut text = String::new();
    for (counter, known) in grown {
        if let Ok(Value::Number(rate)) = known {
            let _ = writeln!(text, "{counter} {rate}");
        }
    }
    text
}

fn note(facts: &mut Facts, counter: &Counter, known: Known) {
    match &counter.part {
        None => facts.set_known(&counter.fact, known),
        Some((class, name)) => {
            let part = facts.parts_mut(*class).iter_mut().find(|part| part.name == *name);
            if let Some(part) = part {
                part.set_known(&counter.fact, known);
            }
        }
    }
}
