//! Actions of a plan: commands of the site that run at times of a step while it is measured.

mod check;
mod course;
#[cfg(test)]
mod tests;

pub(crate) use course::{Actions, Group};

use crate::value::{Duration, in_words};
use serde::Deserialize;
use std::fmt;
use units::{Ns, shell};

/// Time that a command may take, unless the plan says otherwise: a minute.
const LIMIT_NS: u64 = 60_000_000_000;

/// Time after the end of a command that still counts as under it, unless the plan says otherwise: five seconds.
const SETTLE_NS: u64 = 5_000_000_000;

/// A time of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum At {
    /// A share of the step, in millionths of a percent.
    Share(u64),
    /// This long after the begin of the step, in ns.
    After(u64),
}

/// Millionths in a percent.
const MILLIONTHS: f64 = 1e6;

impl TryFrom<String> for At {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let Some(percent) = text.trim().strip_suffix('%') else {
            let wrong = |error| {
                format!(
                    "at = \"{text}\": use a share of the step (\"30%\") or a time after its begin (\"10m\"): {error}"
                )
            };
            return units::parse_ns(&text).map(Self::After).map_err(wrong);
        };
        match percent.trim().parse::<f64>() {
            Ok(percent) if (0.0..100.0).contains(&percent) => Ok(Self::Share((percent * MILLIONTHS) as u64)),
            _ => Err(format!(
                "at = \"{text}\": use a share of the step from 0% to below 100%"
            )),
        }
    }
}

impl At {
    /// The time after the begin of a step of this length, in ns.
    fn of(self, length_ns: u64) -> u64 {
        match self {
            Self::Share(share) => (u128::from(length_ns) * u128::from(share) / 100_000_000) as u64,
            Self::After(ns) => ns,
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(to, "{} %", *share as f64 / MILLIONTHS),
            Self::After(ns) => write!(to, "{} after its begin", Ns(*ns)),
        }
    }
}

/// One time, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Times {
    One(String),
    Several(Vec<String>),
}

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    run: Vec<String>,
    #[serde(default)]
    undo: Option<Vec<String>>,
    #[serde(default)]
    at: Option<Times>,
    #[serde(default)]
    every: Option<Duration>,
    #[serde(default)]
    limit: Option<Duration>,
    #[serde(default)]
    settle: Option<Duration>,
}

/// When an action runs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum When {
    /// At these times of the step.
    At(Vec<At>),
    /// Again and again, with this period in ns; first one period after the begin.
    Every(u64),
}

/// An action of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct PlanAction {
    /// Its name in rows and events.
    pub name: String,
    /// Program and arguments; no shell reads them.
    pub run: Vec<String>,
    /// The command that undoes it.
    pub undo: Option<Vec<String>>,
    /// Time that each of the two may take, in ns.
    pub limit_ns: u64,
    /// Time after the end of each that still counts as under it, in ns.
    pub settle_ns: u64,
    when: When,
}

impl TryFrom<toml::Table> for PlanAction {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Self, String> {
        let table: Written = toml::Value::Table(table).try_into().map_err(|error| in_words(&error))?;
        let name = table.name;
        let says = |problem: &str| format!("action \"{name}\": {problem}");
        if name.trim().is_empty() || name.len() > 60 || name.chars().any(char::is_control) {
            return Err("name of an action: use 1 to 60 characters".to_owned());
        }
        let of = |key: &str, words: &[String]| match words.first().is_none_or(String::is_empty) {
            true => Err(says(&format!(
                "{key}: no program: write {key} = [\"PROGRAM\", \"ARGUMENT\"]"
            ))),
            false if words.iter().any(|word| word.contains('\0')) => Err(says(&format!("{key}: a NUL character"))),
            false => Ok(()),
        };
        of("run", &table.run)?;
        table.undo.as_ref().map_or(Ok(()), |undo| of("undo", undo))?;
        let when = match (table.at, table.every) {
            (Some(_), Some(_)) => return Err(says("at and every: use one of them")),
            (None, None) => return Err(says("when? Add at = \"30%\", at = \"10m\" or every = \"10m\"")),
            (None, Some(every)) if every.0 < 1_000_000_000 => return Err(says("every: use at least 1s")),
            (None, Some(every)) => When::Every(every.0),
            (Some(at), None) => When::At(times(at).map_err(|problem| says(&problem))?),
        };
        let limit_ns = table.limit.map_or(LIMIT_NS, |limit| limit.0);
        if limit_ns == 0 {
            return Err(says("limit: must be more than 0"));
        }
        Ok(Self {
            run: table.run,
            undo: table.undo,
            limit_ns,
            settle_ns: table.settle.map_or(SETTLE_NS, |settle| settle.0),
            when,
            name,
        })
    }
}

fn times(at: Times) -> Result<Vec<At>, String> {
    let texts = match at {
        Times::One(text) => vec![text],
        Times::Several(texts) => texts,
    };
    match texts.is_empty() {
        true => Err("at: an empty list".to_owned()),
        false => texts.into_iter().map(At::try_from).collect(),
    }
}

impl PlanAction {
    /// Times after the begin of a step of this length at which it is due, in ns, in order; also those that the step is too short for.
    fn due_ns(&self, length_ns: u64) -> Vec<u64> {
        match &self.when {
            When::At(times) => {
                let mut due: Vec<u64> = times.iter().map(|at| at.of(length_ns)).collect();
                due.sort_unstable();
                due
            }
            When::Every(period_ns) => {
                let count = length_ns.saturating_sub(1) / period_ns;
                (1..=count).map(|number| number * period_ns).collect()
            }
        }
    }

    /// Its commands as a shell would read them, with their times: for the outline of a plan.
    pub(crate) fn words(&self) -> String {
        let when = match &self.when {
            When::At(times) => {
                let times: Vec<String> = times.iter().map(ToString::to_string).collect();
                format!("at {}", times.join(", "))
            }
            When::Every(period_ns) => format!("every {}", Ns(*period_ns)),
        };
        let undo = self
            .undo
            .as_ref()
            .map_or_else(|| "not undone".to_owned(), |undo| format!("undone by: {}", line(undo)));
        format!(
            "{}, {when}, each at most {}: {}; {undo}",
            self.name,
            Ns(self.limit_ns),
            line(&self.run)
        )
    }
}

/// A command as a shell would read it.
fn line(words: &[String]) -> String {
    shell::line(words.iter().map(String::as_str))
}

/// Indices of the actions that are to be undone, the one whose execution began last first: numbers of executions count up in the run.
fn last_first(done: impl Iterator<Item = Option<(u64, u64)>>) -> Vec<usize> {
    let mut begun: Vec<(u64, usize)> = done
        .enumerate()
        .filter_map(|(at, done)| done.map(|(id, _)| (id, at)))
        .collect();
    begun.sort_unstable_by(|a, b| b.cmp(a));
    begun.into_iter().map(|(_, at)| at).collect()
}
