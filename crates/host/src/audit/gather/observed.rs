//! Counters of the kernel, read twice: a rate says what a single reading cannot.

use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

use super::{guest, interrupts, network, power};
use crate::audit::facts::{Class, Facts};
use crate::audit::parameters::Parameters;
use crate::audit::value::{Known, Unknown, Value};
use crate::error::HostError;
use crate::reader::Reader;

/// What is counted: a fact of the machine, or of the part that is named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Counter {
    pub(super) part: Option<(Class, String)>,
    pub(super) fact: String,
}

/// One reading of every counter.
pub(super) type Reading = BTreeMap<Counter, Result<f64, HostError>>;

/// Who has counters. Each notes the same ones at every reading, known or not.
const SOURCES: &[fn(&Reader, &Facts, &mut Reading)] = &[
    super::threads::count,
    interrupts::per_cpu,
    interrupts::smi,
    network::count,
    power::hardware_errors,
    guest::steal,
];

/// Notes how much each counter grew per second of the observation.
pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let time = parameters.observe.filter(|_| reader.is_live());
    // Both readings are of their own moment.
    let anew = || time.iter().for_each(|_| reader.keep_processes());
    anew();
    let before = read(reader, facts);
    let began = Instant::now();
    if let Some(time) = time {
        thread::sleep(time);
    }
    anew();
    let after = time.map(|_| read(reader, facts)).unwrap_or_default();
    let seconds = began.elapsed().as_secs_f64();
    for (counter, first) in before {
        let second = after.get(&counter).cloned();
        note(facts, &counter, rate(first, second, seconds));
    }
}

fn read(reader: &Reader, facts: &Facts) -> Reading {
    let mut reading = Reading::new();
    for source in SOURCES {
        source(reader, facts, &mut reading);
    }
    reading
}

/// A counter that went backwards was begun anew: nothing is known.
fn rate(first: Result<f64, HostError>, second: Option<Result<f64, HostError>>, seconds: f64) -> Known {
    let first = first?;
    let second =
        second.ok_or_else(|| Unknown::unclear("counters are read twice only on a live machine, with --observe"))??;
    if second < first {
        return Err(Unknown::unclear("the counter went backwards"));
    }
    Ok(Value::Number((second - first) / seconds))
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
